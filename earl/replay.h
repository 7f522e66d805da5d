// One forward pass over a trace that keeps all state aspects and tells a sink what happened.
//
//   struct MySink : earl::Sink {
//     void on_call(const earl::Call& call, std::span<const std::uint64_t>) {
//       time[call.cnode] += call.exclusive;
//     }
//   };
//   Trace trace = ...;  MySink sink;  earl::Replay replay(trace, sink);  replay.run();
//
// A sink redefines (hides) the handlers that it wants; they are called directly, not virtually, and
// those left out cost nothing. Replay owns the aspects; the trace and the sink must outlive it.
// References handed to a handler live until it returns, unless stated otherwise; copy what must be
// kept. Memory: what is open, and (call paths + channels in use). No allocation per event.
// Faults in the trace are counted in Trace::findings(), never thrown. Single-threaded.
// Source: docs/earl.md.
//
// A sink may also have fetch<kStep>(location index, ProcessId), const and always inlined, which is
// told of events that come soon, in steps 0, 1 and 2, to prefetch what it will need (event_loop.h).
//
// And wants_transfer_ends(): whether on_transfer_end is worth its cost in this trace.
//
// Order at one exit record: on_call; then on_collective_exit, or the epoch that it closed
// (on_fence_epoch, on_access_epoch); then on_epoch_call; then what became complete:
// on_message_call, on_collective, on_window_collective, on_exposure_transaction,
// on_access_transaction, on_passive_epoch.
#pragma once

#include <cstdint>
#include <span>

#include "earl/aspects/call_tree.h"
#include "earl/aspects/collectives.h"
#include "earl/aspects/fence_epochs.h"
#include "earl/aspects/gats_epochs.h"
#include "earl/aspects/messages.h"
#include "earl/aspects/passive_epochs.h"
#include "earl/aspects/symmetric_memory.h"
#include "earl/aspects/transfers.h"
#include "earl/aspects/window_collectives.h"
#include "earl/call.h"
#include "earl/detail/replay_handlers.h"
#include "earl/standing.h"
#include "earl/trace.h"

namespace kojak::earl {

struct Sink {
  // Every region instance, at its ENTER and at its exit. metrics: exclusive values of the trace's
  // hardware counters (bits of a double where METRIC says float), empty if it has none. A call that
  // the trace does not close comes at the end, marked incomplete. TRACING and PAUSING are region
  // instances like others (Trace::tracing_region).
  void on_enter(const OpenCall&) {}
  void on_call(const Call&, std::span<const std::uint64_t> /*metrics*/) {}
  // Before these, where the trace has counters: what they counted in the region instance that was
  // innermost up to here, since the location's last event of the kind.
  void on_counted(const OpenCall&, std::span<const std::uint64_t> /*metrics*/) {}

  // Immediately at the record, paired or not: for bytes and counts.
  void on_send(const SendEvent&) {}
  void on_receive(const RecvEvent&) {}
  void on_transfer(const Transfer&) {}
  void on_transfer_end(const TransferEnd&) {}
  // Before the start of an operation of a few bytes.
  void on_rma_place(const RmaPlace&) {}
  void on_collective_exit(const CollectiveExit&) {}

  // Once for each call that completed messages, when all of them are final.
  void on_message_call(const MessageCall&) {}
  // Completed instances; at the end of the trace also those that stay incomplete.
  void on_collective(const CollectiveInstance&) {}
  // A non-blocking or persistent operation that all members have begun. It stays valid, with its
  // slot, as long as on_collective_wait may name it.
  void on_collective_begun(const CollectiveInstance&) {}
  // Once for each call that found such operations complete, when all of these are begun by all.
  void on_collective_wait(const CollectiveWait&) {}
  // A blocking MPI_Probe or MPI_Mprobe found a message: the call that sent it.
  void on_probe(const Call&, const OpenCall& /*send*/) {}
  // Once for each call that received partitioned messages and no others: the call that gave the
  // last part of the one away that decided when it could end.
  void on_partitioned(const Call&, const OpenCall& /*ready*/) {}
  void on_window_collective(const WindowInstance&) {}

  // At the exit of a fence (also the first, whose epoch is empty).
  void on_fence_epoch(const FenceEpoch&) {}
  // At the exit of Win_complete: targets and transfers are final, exposures may not be there yet.
  void on_access_epoch(const AccessEpoch&) {}
  // A transfer call of an access epoch, as soon as all Win_post calls of the epoch's transaction
  // with enter <= call.exit + delta are known (targets[i].exposure->post.enter). Not called when no
  // such post entered after call.enter: nothing can have blocked the call then. A call whose
  // transfers lie in several access epochs is offered for each. Calls of marked transfers may be
  // offered: see on_marked_transfer.
  void on_epoch_call(const Call&, const AccessEpoch&) {}
  // The transfer (origin process, rmaid) could not be placed by the merge; comes with its end.
  // epoch: its access epoch if it had one that is still kept, else null; its target's `marked`
  // counts.
  void on_marked_transfer(ProcessId /*origin*/, RmaId, ProcessId /*target*/, const AccessEpoch*) {}
  // Complete with the last constituent, on either side; at the end of the trace also those that
  // stay incomplete (complete == false; null pointers and has_... say what is missing).
  void on_access_transaction(const AccessEpoch&) {}
  void on_exposure_transaction(const ExposureEpoch&) {}
  void on_passive_step(const PassiveStep&) {}
  void on_passive_epoch(const PassiveEpoch&) {}

  // SHMEM and ARMCI. The call has completed what its process had issued, or a part of it; has got a
  // lock, or given it back; has found variables as it wanted them.
  void on_quiet(const Call&, const Quiet&) {}
  void on_symmetric_lock(const SymmetricLock&) {}
  void on_symmetric_wait(const SymmetricWait&) {}

  // At a team's FORK and JOIN; the region instance in which its master forks.
  void on_omp_fork(const OpenCall&, Seconds) {}
  void on_omp_join(const OpenCall&, Seconds) {}
  // The parallel region that has just been entered is executed by this team of the process.
  void on_omp_team(const OpenCall&, std::uint64_t /*team*/, std::uint32_t /*index*/,
                   std::uint32_t /*size*/) {}
  // The task that has just been entered was created by this thread of the process.
  void on_omp_task(const OpenCall&, ThreadId /*creator*/) {}
  // A lock of OpenMP's is got, or given back, in that region instance.
  void on_omp_lock(const OpenCall&, LockId, Seconds, bool /*acquired*/) {}

  // The next sample of the location is the first since another event of it.
  void on_first_sample(const OpenCall&) {}
  // What the region instance computed when another interval of processor time had passed, and for
  // how many intervals that stands.
  void on_sample(const OpenCall&, Seconds /*time*/, CallSiteId, std::uint32_t /*count*/) {}
  // Whether the thread had a processor so far.
  void on_processor(const OpenCall&, Seconds /*time*/, const ProcessorTimes&) {}
  // The call failed, before it ends: its error class as in epilog/format/mpi_errors.h, and what it
  // returned. Once for each class that its statuses tell of.
  void on_failed_call(const OpenCall&, Seconds /*time*/, std::uint8_t /*error_class*/,
                      std::uint32_t /*code*/) {}
  // The call has asked for the request, or for several of which this is the first, and none was
  // complete.
  void on_request_tested(const OpenCall&, RequestId) {}
  // The instance is, or ends, this series of polls, of which all is known; before its exit.
  // (Targets in it are processes.)
  void on_polled(const OpenCall&, const PolledSeries&) {}
  // So many calls of that call path and location are part of such an instance, and make no other
  // events; before on_polled().
  void on_polls(const OpenCall& /*at*/, std::uint64_t /*calls*/) {}
  // They have got and put so many bytes, likewise.
  void on_polls_moved(const OpenCall& /*at*/, const MovedBytes&) {}
  // The call has completed that operation, which has read another value than the polls before it,
  // or has swapped it.
  void on_value(const OpenCall&, const MpiValue&) {}
  // MPI_Iprobe or MPI_Improbe has found a message.
  void on_found(const OpenCall&, const FoundMessage&) {}
  // The call has made the communicator.
  void on_comm_created(const OpenCall&, CommId) {}

  // A call that did not return: what it is about, and each of those that it waits for. Peers are
  // processes here, absent where they are unknown.
  void on_open_call(const OpenCall&, const MpiOpenCall&) {}
  void on_awaits(const OpenCall&, const MpiAwaits&) {}
  // A process was ended from outside, in the midst of `call`: the MPI call that it was in, or else
  // its innermost region. `last`: its latest event before that is no sample.
  void on_process_end(const OpenCall& /*call*/, Seconds /*last*/, Seconds /*time*/) {}
  // At the end: messages that were sent and not received, receives that are posted and have got no
  // message, begun collective operations that a member has not begun.
  void on_unreceived(const Message&) {}
  void on_unmet_receive(ProcessId, ProcessId /*source*/, CommId, Tag, RequestId) {}
  void on_collective_unbegun(const CollectiveInstance&) {}

  // Once, after everything else.
  void on_end() {}
};

template <class S>
class Replay {
 public:
  Replay(Trace& trace, S& sink) : trace_(trace), handlers_(trace, sink) {}

  // Before run(), of a trace that begins in the midst: the sink is told of what is open, at event
  // number 0.
  void begin(const Standing& standing) { handlers_.begin(standing); }
  // Reads to the end of the trace, or up to its damage (Trace::damage()).
  // `goes_on`: the run does behind it, if it is at rest there.
  void run(bool goes_on = false) {
    EventLoop::run(trace_, handlers_);
    at_rest_ = handlers_.at_rest();
    if (goes_on && at_rest_) handlers_.leave_open();
    handlers_.finish();
  }
  // Whether, where the trace ended, nothing was open but regions and what else a Standing tells:
  // the run may go on behind it in another trace.
  bool at_rest() const { return at_rest_; }
  // The tree so far, also from within handlers.
  const CallTree& call_tree() const { return handlers_.call_tree(); }
  // The latest time so far.
  Seconds now() const { return handlers_.now(); }

 private:
  Trace& trace_;
  detail::ReplayHandlers<S> handlers_;
  bool at_rest_ = false;
};

}  // namespace kojak::earl
