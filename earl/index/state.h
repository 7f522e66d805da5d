// All state aspects together: the state after an event.
//
// A state sequence starts empty; apply() adds the next event of the trace and fills in the event's
// region and enterptr. Each aspect can also be used alone: give it events that RegionStacks has
// filled in. Random access does not replay: while the index is built, each aspect writes down what
// was there from which event to which (record()); the state after an event is restored from these
// columns (earl/access/archive.h), only answers, and nothing can be applied to it. Memory: what is
// open. Source: docs/earl.md.
#pragma once

#include "earl/index/call_paths.h"
#include "earl/index/collectives.h"
#include "earl/index/epochs.h"
#include "earl/index/locks.h"
#include "earl/index/message_queues.h"
#include "earl/index/poll_series.h"
#include "earl/index/region_stacks.h"
#include "earl/index/shmem_waits.h"
#include "earl/index/state_columns.h"
#include "earl/index/symmetric_memory.h"
#include "earl/index/transfer_queues.h"
#include "earl/index/window_values.h"

namespace kojak::earl::sequence {

struct State {
  explicit State(const Trace& trace) : State(trace, MessageQueues(trace)) {}
  // Follows an index.
  State(const Trace& trace, const MessageColumns& columns)
      : State(trace, MessageQueues(trace, columns)) {}
  void apply(Event& e) {
    regions.apply(e);
    paths.apply(e);
    symmetric.apply(e);
    shmem_waits.apply(e);
    polls.apply(e);
    values.apply(e);
    // To the others a call's beginning or end says only that the event before is past.
    const bool plain =
        e.type == EventType::kExit || (e.type == EventType::kEnter && e.reg != pausing_region_);
    if (plain && plain_) return;
    plain_ = plain;
    messages.apply(e);
    transfers.apply(e);
    origins.apply(e);
    mpi_collectives.apply(e);
    window_collectives.apply(e);
    shmem_collectives.apply(e);
    omp_collectives.apply(e);
    epochs.apply(e);
    window_locks.apply(e);
    thread_locks.apply(e);
    teams.apply(e);
  }
  // While events are applied: what passes is written down, so that the state after any of them can
  // be put together later. end_record() is for after the last of `events`; it finishes messages.
  void record(StateColumns& columns) {
    regions.record(&columns.calls);
    paths.record(&columns.visits);
    messages.record(&columns.sends);
    transfers.record(&columns.transfers);
    origins.record(&columns.origins);
    mpi_collectives.record(&columns.mpi_collectives);
    window_collectives.record(&columns.window_collectives);
    shmem_collectives.record(&columns.shmem_collectives);
    omp_collectives.record(&columns.omp_collectives);
    epochs.record(&columns.epochs);
    window_locks.record(&columns.window_locks);
    thread_locks.record(&columns.thread_locks);
    shmem_waits.record(&columns.shmem_waits);
    polls.record(&columns.polls);
    symmetric.record(&columns.symmetric);
    teams.record(&columns.teams);
  }
  void end_record(std::uint64_t events) {
    regions.end_record(events);
    messages.end_record(events);
    transfers.end_record(events);
    origins.end_record(events);
    mpi_collectives.end_record(events);
    window_collectives.end_record(events);
    shmem_collectives.end_record(events);
    omp_collectives.end_record(events);
    epochs.end_record(events);
    window_locks.end_record(events);
    thread_locks.end_record(events);
    shmem_waits.end_record(events);
    symmetric.end_record(events);
    teams.end_record(events);
  }

  RegionStacks regions;
  CallPaths paths;
  MessageQueues messages;
  TransferQueues transfers;
  OriginQueues origins;
  CollectiveInstances<MpiExit> mpi_collectives;
  CollectiveInstances<WindowExit> window_collectives;
  CollectiveInstances<ShmemExit> shmem_collectives;
  CollectiveInstances<OmpExit> omp_collectives;
  Epochs epochs;
  WindowLocks window_locks;
  ThreadLocks thread_locks;
  ShmemWaits shmem_waits;
  ThreadTeams teams;
  SymmetricMemory symmetric;
  PollSeries polls;
  WindowValues values;

 private:
  State(const Trace& trace, MessageQueues queues)
      : regions(trace),
        paths(trace),
        messages(std::move(queues)),
        transfers(trace),
        origins(trace),
        mpi_collectives(trace),
        window_collectives(trace),
        shmem_collectives(trace),
        omp_collectives(trace),
        epochs(trace),
        window_locks(trace),
        thread_locks(trace),
        shmem_waits(trace),
        teams(trace),
        symmetric(trace),
        polls(trace),
        values(trace),
        pausing_region_(trace.pausing_region()) {}
  RegionId pausing_region_;
  bool plain_ = false;  // the latest event was such a one
};

}  // namespace kojak::earl::sequence
