// OpenMP: which barriers of a team's threads belong together, and when a master is alone.
//
// The n-th barrier of one thread of a team is the n-th of all; a team lasts from the master's FORK
// to its JOIN and has the threads that entered the parallel region. Barriers of which a thread is
// missing are evaluated at the next FORK, or at the end, with those present. A parallel region that
// a thread opens within another has barriers of its own, which are left out. The master's time
// outside parallel regions is summed up by call path. Memory: open barriers x threads; call paths x
// processes. Not thread-safe; nothing fails. Source: docs/patterns.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "earl/trace.h"
#include "expert/interval.h"
#include "expert/region_class.h"
#include "expert/severity.h"

namespace kojak::expert {

class OmpTeams {
 public:
  // barrier(members): one barrier, by all threads of a team that took part.
  using Barrier = std::function<void(const std::vector<Call>& members)>;
  OmpTeams(const earl::Trace& trace, Barrier barrier);
  static bool concerns(const Definitions& definitions);

  void on_enter(const earl::OpenCall& call);
  void on_call(const Call& call);
  // OMP_FORK, OMP_JOIN of the master, while it is in `call`.
  void on_fork(const earl::OpenCall& call, Seconds time);
  void on_join(const earl::OpenCall& call);
  void on_end();

  // The last FORK of the call's location whose parallel region has not been entered; taken. `fork`:
  // its time, later by what other regions took in between. Within MPI all time is MPI's: no FORK.
  bool take_fork(const earl::OpenCall& parallel, Seconds& fork, CallPathId& caller);
  // f(call path, location of another thread, seconds) for the master's time alone.
  template <class F>
  void for_each_idle(F&& f) const {
    for (CallPathIndex path = 0; path < alone_.size(); ++path) {
      for (std::size_t p = 0; p < alone_[path].size(); ++p) {
        if (!(alone_[path][p] > 0)) continue;
        for (const std::uint32_t location : processes_[p].others)
          f(path, location, alone_[path][p]);
      }
    }
  }

 private:
  struct Process {
    std::vector<std::uint32_t> others;  // locations of its threads but the master
    std::uint32_t parallel = 0;         // open parallel regions of the master
    bool forked = false;                // a fork's region has not been entered yet
    Seconds fork;
    Seconds nested;  // of other regions since then
    CallPathId caller{};
    std::uint32_t team = 0;                  // threads that entered the parallel region
    std::uint64_t first = 0;                 // ordinal of the first open barrier
    std::deque<std::vector<Call>> barriers;  // open ones
  };
  std::uint8_t type(RegionId region) const {
    const std::uint8_t* known = types_.find(region);
    return known != nullptr ? *known : std::uint8_t{0};
  }
  void close(Process& process);

  Barrier barrier_;
  IdTable<RegionId, std::uint8_t> types_;  // of OpenMP's regions
  bool parallel_ = false;                  // there are parallel regions
  std::vector<Process> processes_;
  std::vector<bool> master_;                // by location
  std::vector<std::uint64_t> barriers_;     // by location: those left in the open team
  std::vector<std::uint32_t> depth_;        // by location: its open parallel regions
  std::vector<std::vector<double>> alone_;  // by call path and process
};

}  // namespace kojak::expert
