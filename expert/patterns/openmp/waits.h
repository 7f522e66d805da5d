// OpenMP: what is made of the events of teams, tasks and locks: forks, time between regions, and
// waits at barriers, at taskwait, and for locks.
//
// Told of a trace's events in their order. Memory: as its parts say.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "expert/patterns/arrivals.h"
#include "expert/patterns/catalogue.h"
#include "expert/patterns/openmp/locks.h"
#include "expert/patterns/openmp/paths.h"
#include "expert/patterns/openmp/tasks.h"
#include "expert/patterns/openmp/teams.h"
#include "expert/waits/stream.h"

namespace kojak::expert {

// `Out`: where waits go, see expert/patterns/out.h.
template <class Out>
class OmpWaits {
 public:
  OmpWaits(const earl::Trace& trace, Out& out)
      : out_(out),
        asked_for_arrivals_(out.asks_for_arrivals()),
        teams_(
            trace,
            [this](const std::vector<Call>& members, bool complete) { barrier(members, complete); },
            [this](LocationIndex master, Seconds fork,
                   const std::vector<OmpTeams::Member>& members) {
              KOJAK_TELL(out_.listeners(), on_team, master, fork, members);
            }),
        locks_(trace.location_count()),
        tasks_(trace),
        paths_(trace.location_count()) {}

  void on_enter(const earl::OpenCall& call) {
    teams_.on_enter(call);
    const bool parallel = is_parallel(call);
    if (asked_for_arrivals_) {
      const CallPathIndex as = paths_.on_enter(call, parallel);
      if (as != raw(call.cnode)) KOJAK_TELL(out_.listeners(), compare_as, raw(call.cnode), as);
    }
    Seconds fork;
    CallPathId caller{};
    if (!parallel || !teams_.take_fork(call, fork, caller) || !(fork < call.enter)) return;
    // Up to here the profile counts it as the caller's own time.
    move_time(metric_index<OmpFork>(), raw(caller), call.index, (call.enter - fork).value);
  }
  void on_call(const Call& call) {
    if (asked_for_arrivals_) {
      paths_.on_exit(call);
      if (is_parallel(call) && teams_.is_worker(call.index)) {
        KOJAK_TELL(out_.listeners(), on_left_team, call.index, call.exit);
      }
    }
    teams_.on_call(call);
    tasks_.on_call(call);
    // Calls of MPI and what the measurement does are no execution, there as elsewhere.
    if (teams_.between_regions(call) && out_.class_of(call) == TimeClass::kUser &&
        call.exclusive > Seconds{0}) {
      move_time(metric_index<OmpBetweenRegions>(), raw(call.cnode), call.index,
                call.exclusive.value);
    }
    if (const Call* task = teams_.task_of_another(call)) {
      out_.begin_operation(Operation::Object::kNothing, 0);
      out_.add(OmpTaskwaitWait{}, call, OmpTaskwaitWait::severity(call, task->exit),
               exit_of(*task));
    }
    wait_for_locks(call);
  }
  void on_omp_fork(const earl::OpenCall& call, Seconds time) { teams_.on_fork(call, time); }
  void on_omp_join(const earl::OpenCall& call) { teams_.on_join(call); }
  void on_omp_team(const earl::OpenCall& call, std::uint64_t team, std::uint32_t index,
                   std::uint32_t size) {
    teams_.on_team(call, team, index, size);
  }
  void on_omp_task(const earl::OpenCall& task, ThreadId creator) { tasks_.on_task(task, creator); }
  void on_omp_lock(const earl::OpenCall& call, LockId lock, Seconds time, bool acquired) {
    locks_.on_lock(call, raw(lock), time, acquired, lock_metric(call).has_value());
  }
  void on_end() {
    teams_.on_end();
    teams_.for_each_idle([&](CallPathIndex path, LocationIndex location, TimeSum time) {
      KOJAK_TELL(out_.listeners(), on_time, metric_index<OmpIdleThreads>(), path, location, time);
    });
  }
  std::vector<CreatedTasks> take_tasks() { return tasks_.take(); }

 private:
  bool is_parallel(const earl::OpenCall& call) const {
    const RegionDef* region = out_.definitions().regions.find(call.region);
    return region != nullptr && region->type == kOmpParallel;
  }
  // What counts as execution until then.
  void move_time(MetricIndex to, CallPathIndex path, LocationIndex location, double seconds) {
    KOJAK_TELL(out_.listeners(), on_time, to, path, location, seconds);
    KOJAK_TELL(out_.listeners(), on_time, metric_index<Execution>(), path, location, -seconds);
  }
  // Which pattern claims waiting for a lock in such a call.
  std::optional<MetricIndex> lock_metric(const earl::OpenCall& call) const {
    switch (out_.class_of(call)) {
      case TimeClass::kOmpCritical:
        return metric_index<OmpCriticalWait>();
      case TimeClass::kOmpLockApi:
        return metric_index<OmpLockApiWait>();
      default:
        return std::nullopt;
    }
  }
  void wait_for_locks(const Call& call) {
    const std::vector<WaitPart> parts = locks_.take_waits(call);
    if (parts.empty()) return;
    const std::optional<MetricIndex> metric = lock_metric(call);
    Seconds waited{};
    for (const WaitPart& part : parts) waited += part.when.length();
    if (!metric || !(waited > Seconds{0})) return;
    for_each_part(*metric, call, waited, parts, ++unnamed_,
                  [this](const Wait& wait) { out_.wait(wait); });
  }
  void barrier(const std::vector<Call>& members, bool complete) {
    out_.begin_operation(Operation::Object::kNothing, 0);
    if (asked_for_arrivals_ && complete && members.size() > 1) {
      arrivals_.came_together(members, out_);
    }
    add_barrier_waits(members, out_);
  }

  Out& out_;
  const bool asked_for_arrivals_;
  OmpTeams teams_;
  OmpLocks locks_;
  OmpTasks tasks_;
  OmpPaths paths_;
  Arrivals arrivals_;
  std::uint64_t unnamed_ = std::uint64_t{1} << 63;  // numbers of waits for nobody who is known
};

}  // namespace kojak::expert
