// Collective operations that not all members began, or came to: which, on what, and who is missing.
//
// Filled at the end of a replay; memory: kinds of operations on each communicator. Not thread-safe;
// nothing fails.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "earl/state/collectives.h"
#include "epilog/format/definitions.h"

namespace kojak::expert {

class Unbegun {
 public:
  // Non-blocking and persistent operations; calls that all members make together, as the creation
  // of a communicator. Others are left to a finding of their own.
  void add(const earl::CollectiveInstance& instance, const Definitions& definitions);
  // "MPI_Ibarrier on communicator 0, not by rank 2"; the most frequent first, at most three.
  std::string words() const;

 private:
  struct Kind {
    std::uint64_t count = 0;
    std::string missing;  // of the first
  };
  std::map<std::pair<std::string, std::uint32_t>, Kind> kinds_;  // by name and communicator
};

}  // namespace kojak::expert
