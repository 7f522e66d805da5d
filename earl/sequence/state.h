// All state aspects together: the state after an event.
//
// A state sequence starts empty; apply() adds the next event of the trace and fills in the event's
// region and enterptr. Each aspect can also be used alone: give it events that RegionStacks has
// filled in. save() and load() turn a state into bytes and back (into an object that nothing has
// been applied to). Memory: what is open. Not thread-safe; nothing fails. Source: docs/earl.md.
#pragma once

#include "earl/sequence/call_paths.h"
#include "earl/sequence/collectives.h"
#include "earl/sequence/epochs.h"
#include "earl/sequence/locks.h"
#include "earl/sequence/message_queues.h"
#include "earl/sequence/region_stacks.h"
#include "earl/sequence/transfer_queues.h"

namespace kojak::earl::sequence {

struct State {
  explicit State(const Trace& trace) : State(trace, MessageQueues(trace)) {}
  // Follows an index.
  State(const Trace& trace, const MessageColumns& columns)
      : State(trace, MessageQueues(trace, columns)) {}
  void apply(Event& e) {
    regions.apply(e);
    paths.apply(e);
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
  void save(std::vector<std::byte>& to) const {
    BlobWriter out(to);
    each(*this, [&](const auto& aspect) { aspect.save(out); });
  }
  // False if the bytes are not what save() wrote.
  bool load(std::span<const std::byte> bytes) {
    BlobReader in(bytes);
    each(*this, [&](auto& aspect) { aspect.load(in); });
    return in.ok() && in.at_end();
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
  ThreadTeams teams;

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
        teams(trace),
        pausing_region_(trace.pausing_region()) {}
  template <class Self, class F>
  static void each(Self& s, F&& f) {
    f(s.regions);
    f(s.paths);
    f(s.messages);
    f(s.transfers);
    f(s.origins);
    f(s.mpi_collectives);
    f(s.window_collectives);
    f(s.shmem_collectives);
    f(s.omp_collectives);
    f(s.epochs);
    f(s.window_locks);
    f(s.thread_locks);
    f(s.teams);
  }
  RegionId pausing_region_;
  bool plain_ = false;  // the latest event was such a one
};

}  // namespace kojak::earl::sequence
