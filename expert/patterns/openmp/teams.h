// OpenMP: which barriers of a team's threads belong together, and when a master is alone.
//
// The n-th barrier of one thread of a team is the n-th of all. Where the trace numbers its teams
// (OMP_TEAM), a team has the threads that say so, and its barriers are evaluated when all have
// come, or have left. Otherwise a team lasts from the master's FORK to its JOIN and has the threads
// that entered the parallel region. Barriers of which a thread is missing are evaluated at the next
// FORK, or at the end, with those present. A parallel region that a thread opens within another has
// barriers of its own, which are left out. The master's time outside parallel regions is summed up
// by call path. Memory: open barriers x threads; call paths x processes.
// Source: docs/patterns.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "earl/trace.h"
#include "expert/metrics/amount.h"
#include "expert/metrics/metric.h"
#include "expert/metrics/time_class.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

class OmpTeams {
 public:
  // barrier(members, complete): one barrier, by all threads of a team that took part. Complete: by
  // all that the team has.
  using Barrier = std::function<void(const std::vector<Call>& members, bool complete)>;
  // A numbered team of several threads, all of which have entered the parallel region.
  struct Member {
    earl::OpenCall parallel;
    Seconds before;  // its latest event before that; 0: there was none
  };
  using Begun =
      std::function<void(std::uint32_t master, Seconds fork, const std::vector<Member>& members)>;
  OmpTeams(const earl::Trace& trace, Barrier barrier, Begun begun);
  static bool concerns(const Definitions& definitions);

  void on_enter(const earl::OpenCall& call);
  void on_team(const earl::OpenCall& call, std::uint64_t number, std::uint32_t index,
               std::uint32_t size);
  void on_call(const Call& call);
  bool is_worker(std::uint32_t location) const { return worker_[location]; }
  // The outermost region of a thread that is no master has been left.
  bool between_regions(const Call& call) const;
  // The latest end of a task of another thread of the process within the call; null if there is
  // none.
  const Call* task_of_another(const Call& call) const;
  // OMP_FORK, OMP_JOIN of the master, while it is in `call`.
  void on_fork(const earl::OpenCall& call, Seconds time);
  void on_join(const earl::OpenCall& call);
  void on_end();

  // The last FORK of the call's location whose parallel region has not been entered; taken. `fork`:
  // its time, later by what other regions took in between. Within MPI all time is MPI's: no FORK.
  bool take_fork(const earl::OpenCall& parallel, Seconds& fork, CallPathId& caller);
  // f(call path, location of another thread, TimeSum) for the master's time alone.
  template <class F>
  void for_each_idle(F&& f) const {
    for (CallPathIndex path = 0; path < alone_.size(); ++path) {
      for (std::size_t p = 0; p < alone_[path].size(); ++p) {
        if (!alone_[path][p]) continue;
        for (const std::uint32_t location : processes_[p].others)
          f(path, location, alone_[path][p]);
      }
    }
  }

 private:
  struct Process {
    std::vector<std::uint32_t> others;  // locations of its threads but the master
    std::optional<std::uint32_t> master;
    std::uint32_t parallel = 0;              // open parallel regions of the master
    std::uint32_t team = 0;                  // threads that entered the parallel region
    std::uint64_t first = 0;                 // ordinal of the first open barrier
    std::deque<std::vector<Call>> barriers;  // open ones
  };
  std::uint8_t type(RegionId region) const {
    const std::uint8_t* known = types_.find(region);
    return known != nullptr ? *known : std::uint8_t{0};
  }
  void close(Process& process);
  void on_barrier(const Call& call, std::uint64_t team);
  void leave_team(std::uint64_t team);

  Barrier barrier_;
  Begun begun_;
  IdTable<RegionId, std::uint8_t> types_;  // of OpenMP's regions
  bool parallel_ = false;                  // there are parallel regions
  std::vector<Process> processes_;
  std::vector<bool> master_;             // by location
  std::vector<std::uint64_t> barriers_;  // by location: those left in the open team
  std::vector<std::uint32_t> depth_;     // by location: its open parallel regions
  struct Fork {
    bool open = false;   // its region has not been entered yet
    bool fresh = false;  // no team has been told of since
    Seconds time;
    Seconds nested;  // of other regions since then
    CallPathId caller{};
  };
  std::vector<Fork> forks_;                  // by location
  std::vector<std::vector<TimeSum>> alone_;  // by call path and process
  // Where teams are numbered.
  struct Team {
    std::uint32_t size = 0, left = 0;
    std::vector<Member> members;  // until all have entered
    std::uint32_t master = 0;
    std::optional<Seconds> fork;  // none if it was not recorded
    std::uint64_t first = 0;      // ordinal of the first open barrier
    std::deque<std::vector<Call>> barriers;
  };
  struct Membership {
    std::uint64_t team = 0;  // its key; 0: not numbered
    std::uint64_t barriers = 0;
    Member entered;
  };
  bool numbered_ = false;
  std::unordered_map<std::uint64_t, Team> teams_;     // by number and process
  std::vector<std::vector<Membership>> memberships_;  // by location: of its open parallel regions
  std::vector<bool> worker_;                          // by location
  std::vector<std::uint32_t> level_;                  // by location: open regions
  std::vector<Seconds> latest_;                       // by location: its newest enter or exit
  std::vector<std::optional<Call>> last_task_;        // by location
};

}  // namespace kojak::expert
