// Calls that all members of a group make together and that wait for the last of them: creation of
// communicators, MPI_Finalize, collective calls on files. SHMEM's patterns use the rule, too.
#pragma once

#include "expert/metrics/metric.h"
#include "expert/patterns/notes.h"
#include "expert/waits/collective_view.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

// How long a call waited for the last one of its group to enter.
inline Seconds group_wait(const Call& c, Seconds latest_enter) {
  return overlap(c, c.enter, latest_enter);
}
template <class Pattern, class Analysis>
void add_group_waits(const CollectiveView& view, Analysis& out) {
  const Call& last = view.last_in().call;
  for (const earl::CollectiveMember& m : view.members()) {
    out.add(Pattern{}, m.call, Pattern::severity(m.call, last.enter), enter_of(last));
  }
}

// Of calls that may end without the others: an instance that a process left before the last one
// came did not synchronise.
inline bool synchronised(Seconds earliest_exit, Seconds latest_enter, Seconds delta) {
  return !(earliest_exit + delta < latest_enter);
}
template <class Pattern, class Analysis>
void add_group_waits_if_synchronised(const CollectiveView& view, Note otherwise, Analysis& out) {
  const Call& last = view.last_in().call;
  const Call& first_out = view.first_out().call;
  if (!synchronised(first_out.exit, last.enter, out.delta(first_out, last))) {
    out.count(otherwise, last);
    return;
  }
  add_group_waits<Pattern>(view, out);
}

// What a pattern of SHMEM does whose calls, all of one class, wait for the last of their group.
template <class Pattern, TimeClass kClass>
struct ShmemGroupWait {
  static Seconds severity(const Call& c, Seconds latest_enter) {
    return group_wait(c, latest_enter);
  }
  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (out.is_shmem(view.instance(), kClass, false)) add_group_waits<Pattern>(view, out);
  }
};

struct CommCreateWait {
  static constexpr Metric kMetric{
      .name = "mpi_comm_create_wait",
      .title = "Wait at Communicator Creation",
      .parent = "mpi_management",
      .summary = "Time in the creation of a communicator before the last process entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter of the instance",
      .meaning =
          "Duplicating, splitting and creating communicators, also with a topology or between "
          "groups, needs all processes that take part: the early ones wait for the last.",
      .advice = "Create communicators once, where all processes pass at the same time anyway.",
      .timeline = "rank 0: MPI_Comm_dup 1-6 ~1-5; rank 1: MPI_Comm_dup 5-6",
      .for_the_last = true};

  static Seconds severity(const Call& c, Seconds latest_enter) {
    return group_wait(c, latest_enter);
  }
  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.role() == MpiRole::kCommCreate) add_group_waits<CommCreateWait>(view, out);
  }
};

struct FinalizeWait {
  static constexpr Metric kMetric{
      .name = "mpi_finalize_wait",
      .title = "Wait at Finalize",
      .parent = "mpi_init_exit",
      .summary = "Time in MPI_Finalize before the last process entered it.",
      .formula = "overlap(c, [c.enter, L]), L = latest enter of the instance",
      .meaning =
          "MPI_Finalize ends when every process has called it. Processes that are done early wait "
          "there for those that have more to do.",
      .advice =
          "The work up to the end of the program is not balanced: give the early processes a part "
          "of what the last one does.",
      .timeline = "rank 0: MPI_Finalize 1-6 ~1-5; rank 1: MPI_Finalize 5-6",
      .for_the_last = true};

  static Seconds severity(const Call& c, Seconds latest_enter) {
    return group_wait(c, latest_enter);
  }
  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    if (view.role() == MpiRole::kFinalize) add_group_waits<FinalizeWait>(view, out);
  }
};

struct CollectiveIoWait {
  static constexpr Metric kMetric{
      .name = "mpi_io_wait",
      .title = "Wait at Collective I/O",
      .parent = "mpi_io",
      .summary = "Time in a collective call on a file before the last process entered it.",
      .formula =
          "overlap(c, [c.enter, L]), L = latest enter of the instance; 0 for an instance that some "
          "process left before L: it did not wait for all",
      .meaning =
          "Opening, closing and setting the view of a file, and reads and writes of all together, "
          "need all processes that opened the file, if the MPI library exchanges data between "
          "them.",
      .advice =
          "Let all processes come to the call at the same time; or write independently, where the "
          "pieces are large.",
      .timeline = "rank 0: MPI_File_write_all 1-7 ~1-4; rank 1: MPI_File_write_all 4-7",
      .for_the_last = true};

  static Seconds severity(const Call& c, Seconds latest_enter) {
    return group_wait(c, latest_enter);
  }
  // MPI lets collective file operations return without the others.
  template <class Analysis>
  static void on_collective(const CollectiveView& view, Analysis& out) {
    const MpiFunction* const function = view.instance().function;
    if (function == nullptr || function->cls != MpiClass::kIo) return;
    add_group_waits_if_synchronised<CollectiveIoWait>(view, Note::kFileCallDidNotSynchronise, out);
  }
};

}  // namespace kojak::expert
