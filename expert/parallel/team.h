// The processes that a launcher has started with the same analysis ("mpirun -n 4 expert run"): who
// they are, and how they end.
//
// Without a launcher, and where it started one process, nothing is loaded and nothing changes. Else
// all of them meet, and compare what they are to do: version, arguments, and the names, sizes and
// times of the input's files. Where that is equal, rank 0 leads: it alone prints and writes, and
// all end with its status. Where it is not ("mpirun -n 4 sh -c 'expert run$OMPI_COMM_WORLD_RANK'"),
// each works for itself.
//
// Used by the main thread only. A process that ends without end() ends the others.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "epilog/format/error.h"
#include "expert/parallel/patience.h"
#include "expert/parallel/work.h"

namespace kojak::parallel {

struct ExpertMpi;

class Team {
 public:
  Team() = default;  // of one process
  ~Team();
  Team(Team&& other) noexcept;
  Team& operator=(Team&&) = delete;

  struct Options {
    std::vector<std::string> command;  // its words
    std::string input;                 // the run's folder or the trace
    std::vector<std::filesystem::path>
        libraries;  // folders in which kojak/libexpert_mpi.so may lie
    std::function<void(const std::string&)> note;  // says a line; by another thread
  };
  // Who belongs together. Waits for all that the launcher started; says once when that takes long.
  // Fails where they cannot be asked.
  static Result<Team> join(const Options& options);

  int size() const { return size_; }
  int rank() const { return rank_; }
  bool leads() const { return rank_ == 0; }

  // The leader's: has work done by another one, and takes what that gives back, in this order.
  void ask(int rank, const std::vector<std::byte>& work) { ask(rank, rank, work); }
  void ask(int first, int last, const std::vector<std::byte>& work);  // each of these
  Bytes answer_of(int rank);
  // The leader's: ends the others with this status.
  void end(ExitCode status);

  // Ends them as they are.
  void abort();

  // The others': what the leader asks for next; nothing: it has ended.
  std::optional<std::vector<std::byte>> next_work();
  void answer(Bytes result);
  // The leader's status, when it has ended. Whatever it asks for before is answered by this reason
  // why it cannot be done.
  ExitCode wait_for_leader(const std::string& why);

 private:
  void send(int first, int last, std::vector<std::byte> bytes);
  std::vector<std::byte> receive(int from);
  Patience patience_;
  ExitCode status_{};               // the leader's, when it has ended
  const ExpertMpi* mpi_ = nullptr;  // null: there is nobody else, or not any more
  int rank_ = 0, size_ = 1;
};

}  // namespace kojak::parallel
