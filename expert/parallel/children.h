// Processes of this machine that each do a part of the work and give back bytes.
//
// Each is a copy of this process (fork), so that it knows all that this one knows: before any
// thread. What a child gives comes through a socket, when it is done with a step of its part; a
// child waits until it is taken, and for what it asks. Who makes this object must have no other
// children. Errors: a child that fails says why; of one that dies, by which signal. The end of this
// object ends children that are still there; so does the end of this process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "epilog/format/error.h"
#include "expert/parallel/patience.h"
#include "expert/parallel/work.h"

namespace kojak::parallel {

class Children {
 public:
  // Gives what a child has to its parent, and returns what that answers.
  using Ask = std::function<std::vector<std::byte>(Bytes)>;
  using Work = std::function<Bytes(std::size_t, const Ask&)>;  // what a child does

  // For the numbers from 0 to n - 1.
  Status start(std::size_t n, const Work& work);
  // What child k has given next; as often as it asks, and once more.
  Bytes hear(std::size_t k);
  // Answers it.
  void tell(std::size_t k, const std::vector<std::byte>& answer);

  explicit Children(Patience patience = Patience()) : patience_(std::move(patience)) {}
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

 private:
  struct Child {
    pid_t pid = -1;
    int socket = -1;
  };
  int end(Child& child);  // waits for its end; its status
  Error failed(std::size_t k, const std::string& why) const;
  std::string part(std::size_t k) const;
  std::vector<Child> children_;
  Patience patience_;
};

}  // namespace kojak::parallel
