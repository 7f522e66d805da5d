// OpenMP: the classes of its time, waiting at barriers, and idle threads. Source: EXPERT patterns
// 2006, OpenMP.
#pragma once

#include <algorithm>
#include <vector>

#include "epilog/format/openmp_constructs.h"
#include "expert/metrics/metric.h"
#include "expert/patterns/rma/group_calls.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

struct OpenMp {
  static constexpr Metric kMetric{.name = "omp",
                                  .title = "OpenMP",
                                  .parent = "execution",
                                  .unit = Unit::kSeconds,
                                  .kind = Metric::Kind::kSummand,
                                  .own = {},
                                  .summary = "Time in OpenMP: forks, flushes, barriers and locks.",
                                  .formula = "",
                                  .meaning =
                                      "The time that OpenMP itself takes. The work inside of "
                                      "parallel regions and loops is execution.",
                                  .advice = "",
                                  .needs = Needs::kOpenMp};
};

struct OmpFork {
  static constexpr Metric kMetric{
      .name = "omp_fork",
      .title = "Fork",
      .parent = "omp",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = {},
      .summary = "Time from the fork of a team until its master enters the parallel region.",
      .formula = "master: [FORK, enter of the parallel region], at the call path of the fork",
      .meaning = "Creating or waking the threads of a team.",
      .advice = "Fewer and longer parallel regions.",
      .needs = Needs::kOpenMp};
};

struct OmpFlush {
  static constexpr Metric kMetric{.name = "omp_flush",
                                  .title = "Flush",
                                  .parent = "omp",
                                  .unit = Unit::kSeconds,
                                  .kind = Metric::Kind::kSummand,
                                  .own = TimeClass::kOmpFlush,
                                  .summary = "Time in the flush construct.",
                                  .formula = "",
                                  .meaning = "Making memory consistent between threads.",
                                  .advice = "",
                                  .needs = Needs::kOpenMp};
};

struct OmpSynchronization {
  static constexpr Metric kMetric{.name = "omp_synchronization",
                                  .title = "Synchronization",
                                  .parent = "omp",
                                  .unit = Unit::kSeconds,
                                  .kind = Metric::Kind::kSummand,
                                  .own = {},
                                  .summary = "Time in barriers and in waiting for locks.",
                                  .formula = "",
                                  .meaning = "Threads wait for each other.",
                                  .advice = "",
                                  .needs = Needs::kOpenMp};
};

struct OmpBarrier {
  static constexpr Metric kMetric{
      .name = "omp_barrier",
      .title = "Barrier",
      .parent = "omp_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = {},
      .summary = "Time in barriers of teams.",
      .formula = "",
      .meaning = "Explicit barriers, and those at the ends of constructs.",
      .advice = "",
      .needs = Needs::kOpenMp};
};

struct OmpExplicitBarrier {
  static constexpr Metric kMetric{.name = "omp_explicit_barrier",
                                  .title = "Explicit",
                                  .parent = "omp_barrier",
                                  .unit = Unit::kSeconds,
                                  .kind = Metric::Kind::kSummand,
                                  .own = TimeClass::kOmpExplicitBarrier,
                                  .summary = "Time in the barrier construct.",
                                  .formula = "",
                                  .meaning = "Barriers that the program asks for.",
                                  .advice = "Check whether the barrier is needed.",
                                  .needs = Needs::kOpenMp};
};

struct OmpExplicitBarrierWait {
  static constexpr Metric kMetric{
      .name = "omp_ebarrier_wait",
      .title = "Wait at Barrier",
      .parent = "omp_explicit_barrier",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in the barrier construct before the last thread of the team entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter in the team",
      .meaning = "Threads that come early wait for the last one.",
      .advice = "Balance the work of the threads.",
      .timeline = "thread 0: barrier 1-6 ~1-5; thread 1: barrier 5-6",
      .needs = Needs::kOpenMp};

  static Seconds severity(const Call& c, Seconds latest_enter) {
    return group_wait(c, latest_enter);
  }
};

struct OmpImplicitBarrier {
  static constexpr Metric kMetric{
      .name = "omp_implicit_barrier",
      .title = "Implicit",
      .parent = "omp_barrier",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kOmpImplicitBarrier,
      .summary =
          "Time in the barriers at the ends of parallel regions, loops, sections and "
          "single.",
      .formula = "",
      .meaning = "Every work-sharing construct ends with a barrier unless it says nowait.",
      .advice = "Say nowait where threads need not wait.",
      .needs = Needs::kOpenMp};
};

struct OmpImplicitBarrierWait {
  static constexpr Metric kMetric{
      .name = "omp_ibarrier_wait",
      .title = "Wait at Barrier",
      .parent = "omp_implicit_barrier",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in an implicit barrier before the last thread of the team entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter in the team",
      .meaning = "The work of the construct is spread unevenly over the threads.",
      .advice = "Use another schedule, or smaller pieces of work.",
      .timeline = "thread 0: end of loop 1-6 ~1-5; thread 1: end of loop 5-6",
      .needs = Needs::kOpenMp};

  static Seconds severity(const Call& c, Seconds latest_enter) {
    return group_wait(c, latest_enter);
  }
};

// One barrier, by all threads of a team that took part.
template <class Analysis>
void add_barrier_waits(const std::vector<Call>& members, Analysis& out) {
  const Call& last =
      *std::max_element(members.begin(), members.end(),
                        [](const Call& a, const Call& b) { return a.enter < b.enter; });
  const EndedBy by = enter_of(last);
  for (const Call& call : members) {
    const RegionDef* region = out.definitions().regions.find(call.region);
    if (region != nullptr && region->type == kOmpBarrier) {
      out.add(OmpExplicitBarrierWait{}, call, OmpExplicitBarrierWait::severity(call, last.enter),
              by);
    } else {
      out.add(OmpImplicitBarrierWait{}, call, OmpImplicitBarrierWait::severity(call, last.enter),
              by);
    }
  }
}

struct OmpLockCompetition {
  static constexpr Metric kMetric{
      .name = "omp_lock_competition",
      .title = "Lock Competition",
      .parent = "omp_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = {},
      .summary = "Time in waiting for locks and critical sections.",
      .formula = "",
      .meaning = "Threads wait for a lock that another thread holds.",
      .advice = "Hold locks for a shorter time; use atomic or reductions.",
      .needs = Needs::kOpenMp};
};

struct OmpLockApi {
  static constexpr Metric kMetric{.name = "omp_lock_api",
                                  .title = "API",
                                  .parent = "omp_lock_competition",
                                  .unit = Unit::kSeconds,
                                  .kind = Metric::Kind::kSummand,
                                  .own = TimeClass::kOmpLockApi,
                                  .summary = "Time in omp_set_lock and omp_set_nest_lock.",
                                  .formula = "",
                                  .meaning = "The calls return when the thread has got the lock.",
                                  .advice = "See Lock Competition.",
                                  .needs = Needs::kOpenMp};
};

struct OmpLockCritical {
  static constexpr Metric kMetric{
      .name = "omp_lock_critical",
      .title = "Critical",
      .parent = "omp_lock_competition",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kOmpCritical,
      .summary = "Time at the entry of critical sections, and in atomic constructs.",
      .formula = "",
      .meaning = "The time of the critical construct without the section itself.",
      .advice = "See Lock Competition.",
      .needs = Needs::kOpenMp};
};

struct OmpLockApiWait {
  static constexpr Metric kMetric{
      .name = "omp_lock_api_wait",
      .title = "Lock Contention",
      .parent = "omp_lock_api",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in omp_set_lock and omp_set_nest_lock while another thread held the lock.",
      .formula =
          "overlap(c, times between c.enter and its getting the lock in which another "
          "thread held it)",
      .meaning = "The report names the threads that held the lock, and where they gave it back.",
      .advice = "Hold the lock for a shorter time, or use one lock for each part of the data.",
      .timeline = "thread 0: omp_set_lock 0-1, holds 1-5; thread 1: omp_set_lock 2-5 ~2-5",
      .needs = Needs::kOpenMp};
};

struct OmpCriticalWait {
  static constexpr Metric kMetric{
      .name = "omp_lock_critical_wait",
      .title = "Lock Contention",
      .parent = "omp_lock_critical",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time at the entry of critical sections while another thread was in the section.",
      .formula =
          "overlap(c, times between c.enter and its entering the section in which another "
          "thread was in it)",
      .meaning =
          "The report names the threads that were in the section. Critical sections without "
          "a name are one section.",
      .advice =
          "Do less within the section, give unrelated sections names, use atomic or "
          "reductions.",
      .timeline = "thread 0: critical 1-5; thread 1: critical 2-8 ~2-5",
      .needs = Needs::kOpenMp};
};

struct OmpOrdered {
  static constexpr Metric kMetric{
      .name = "omp_ordered",
      .title = "Ordered",
      .parent = "omp_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kOmpOrdered,
      .summary = "Time at ordered constructs before the thread's turn came.",
      .formula = "the construct without its block",
      .meaning = "Iterations wait for those before them.",
      .advice = "Put less into the ordered part, or use a schedule of small chunks.",
      .needs = Needs::kOpenMp};
};

struct OmpTaskwait {
  static constexpr Metric kMetric{
      .name = "omp_taskwait",
      .title = "Taskwait",
      .parent = "omp_synchronization",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = TimeClass::kOmpTaskwait,
      .summary = "Time in taskwait and at the end of taskgroup, without the tasks done there.",
      .formula = "",
      .meaning = "A thread looks for tasks to do, and waits for those that others do.",
      .advice = "",
      .needs = Needs::kOpenMp};
};

struct OmpTaskwaitWait {
  static constexpr Metric kMetric{
      .name = "omp_taskwait_wait",
      .title = "Wait at Taskwait",
      .parent = "omp_taskwait",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary = "Time in taskwait until another thread ended the last task.",
      .formula =
          "overlap(c, [c.enter, T]), T = the latest end of a task of another thread of the "
          "process that came before c.exit",
      .meaning =
          "There are fewer tasks left than threads: some do the last tasks, the others "
          "wait.",
      .advice = "Make more and smaller tasks, and begin with the longest.",
      .timeline = "thread 0: task 0-2, taskwait 2-6 ~2-6; thread 1: task 0-6",
      .needs = Needs::kOpenMp};

  static Seconds severity(const Call& c, Seconds latest_end) {
    return overlap(c, c.enter, latest_end);
  }
};

struct OmpBetweenRegions {
  static constexpr Metric kMetric{
      .name = "omp_between_regions",
      .title = "Between Regions",
      .parent = "time",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kSummand,
      .own = {},
      .summary = "Time of OpenMP's other threads outside of parallel regions.",
      .formula =
          "exclusive time of the outermost region of a thread that has been in a team as "
          "another than its master",
      .meaning =
          "These threads wait for the next parallel region. Idle Threads says what their "
          "master does meanwhile.",
      .advice = "",
      .needs = Needs::kOpenMp};
};

struct OmpIdleThreads {
  static constexpr Metric kMetric{
      .name = "omp_idle_threads",
      .title = "Idle Threads",
      .parent = "time",
      .unit = Unit::kSeconds,
      .kind = Metric::Kind::kPattern,
      .own = {},
      .summary =
          "The master's time outside parallel regions, for each other thread of its "
          "process.",
      .formula =
          "time of the master outside parallel regions, and outside the start and end of "
          "MPI, x other threads",
      .meaning =
          "Threads that have no work while the master computes alone, at the call paths of "
          "the master. It is not part of any other time.",
      .advice =
          "Put more of the program into parallel regions; while one thread is in MPI, let the "
          "others compute what does not need the result.",
      .timeline =
          "master: parallel 0-2, serial work 2-6, parallel 6-8; thread 1: parallel 0-2, "
          "no work 2-6 ~2-6, parallel 6-8",
      .needs = Needs::kOpenMp};
};

}  // namespace kojak::expert
