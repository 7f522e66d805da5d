// All that finds waits, told of a trace's events in their order (earl::Sink): the patterns of the
// catalogue, and what keeps state of its own for those that one event does not show. Says to which
// operation the waits belong that follow.
//
// What the trace has nothing for is not there and costs nothing. Not thread-safe; nothing fails.
#pragma once

#include <optional>
#include <vector>

#include "expert/metrics/switched_off.h"
#include "expert/patterns/arrivals.h"
#include "expert/patterns/catalogue.h"
#include "expert/patterns/mpi/begun_waits.h"
#include "expert/patterns/openmp/waits.h"
#include "expert/patterns/rma/notifications.h"
#include "expert/patterns/rma/passive/waits.h"
#include "expert/patterns/upc/read_series.h"
#include "expert/waits/poll_stretches.h"

namespace kojak::expert {

// `Out`: where waits go, see expert/patterns/out.h.
template <class Out>
class WaitFinders {
 public:
  WaitFinders(const earl::Trace& trace, Out& out)
      : out_(out),
        asked_for_arrivals_(out.asks_for_arrivals()),
        stretches_(trace.location_count()),
        notifications_(trace) {
    if (RmaWaits::concerns(trace.definitions())) {
      hides_progress_ = SwitchedOff(trace.definitions()).hides_progress();
      rma_.emplace(trace, out.services(), !hides_progress_, out);
    }
    if (OmpTeams::concerns(trace.definitions())) omp_.emplace(trace, out);
    if (has_functions_of(trace.definitions(), PgasModel::kUpc)) upc_.emplace(trace);
  }
  // Whether they need every region instance.
  bool follow_calls() const { return rma_ || omp_ || upc_; }
  // Of one-sided communication; null: there is none.
  const RmaWaits* rma() const { return rma_ ? &*rma_ : nullptr; }
  std::vector<CreatedTasks> take_tasks() {
    return omp_ ? omp_->take_tasks() : std::vector<CreatedTasks>();
  }

  template <int kStep>
  KOJAK_INLINED void fetch(LocationIndex location, ProcessId process) const {
    if (rma_) rma_->template fetch<kStep>(location, process);
  }
  void on_enter(const earl::OpenCall& call) {
    if (rma_) rma_->on_enter(call);
    if (rma_) notifications_.on_enter(call);
    if (omp_) omp_->on_enter(call);
    if (upc_) upc_->on_enter(call, out_);
  }
  // Also where they need no others.
  KOJAK_INLINED void on_every_call(const Call& call) { stretches_.on_call(call); }
  void on_polled(const earl::OpenCall& call, const earl::PolledSeries& series) {
    stretches_.on_polled(call, series);
    if (rma_) rma_->on_polled(call, series);
  }
  void on_call(const Call& call) {
    if (rma_) rma_->on_call(call);
    if (rma_) notifications_.on_call(call);
    if (omp_) omp_->on_call(call);
    if (upc_) upc_->polls.on_call(call);
  }

#define KOJAK_TELL_PATTERNS(handler, ...) \
  KOJAK_TELL_EACH(patterns_, for_each, handler, __VA_ARGS__, out_)
  void on_send(const earl::SendEvent& send) {
    KOJAK_TELL_PATTERNS(on_send, send);
  }
  void on_receive(const earl::RecvEvent& receive) {
    KOJAK_TELL_PATTERNS(on_receive, receive);
  }
  KOJAK_INLINED void on_transfer(const earl::Transfer& transfer) {
    KOJAK_TELL_PATTERNS(on_transfer, transfer);
    if (rma_) rma_->on_transfer(transfer);
    notifications_.on_transfer(transfer);
    if (upc_) upc_->on_transfer(transfer, out_);
  }
  void on_polls_moved(const earl::OpenCall& at, const earl::MovedBytes& bytes) {
    out_.add(BytesGot{}, at, bytes.got);
    out_.add(BytesPut{}, at, bytes.put);
  }
  void on_rma_place(const earl::RmaPlace& place) {
    notifications_.on_place(place);
  }
  bool wants_ends() const {
    return notifications_.wants_ends() || (upc_ && upc_->polls.wants_ends());
  }
  void on_transfer_end(const earl::TransferEnd& end) {
    notifications_.on_end_of(end);
    if (upc_) upc_->polls.on_end_of(end);
  }
  void on_value(const earl::OpenCall& call, const MpiValue& found) {
    out_.begin_operation(Operation::Object::kNothing, 0);
    notifications_.on_value(call, found, stretches_.latest(call.index), rma(), out_);
  }
  void on_marked_transfer(ProcessId origin, RmaId rmaid, const earl::AccessEpoch* epoch) {
    KOJAK_TELL_PATTERNS(on_marked_transfer, rmaid, epoch);
    if (rma_) rma_->on_marked_transfer(origin, rmaid);
  }
  void on_message_call(const earl::MessageCall& m) {
    if (!m.call->polled) [[likely]]
      return message_call(m);
    const Call call = from_first_poll(*m.call);
    message_call({&call, m.received, m.sent});
    const earl::Message* const late =
        call.paused ? nullptr : LateSender::deciding(call, m.received);
    if (late != nullptr)
      waited_before(LateSender{}, call, late->send_call, asked_for(call, late->recv_request));
  }
  void message_call(const earl::MessageCall& m) {
    // (Of a call that completed several, one message decided how long it waited.)
    out_.begin_operation(Operation::Object::kCommunicator,
                         raw(!m.received.empty() ? m.received.front()->com
                             : !m.sent.empty()   ? m.sent.front()->com
                                                 : absent<CommId>()));
    if (asked_for_arrivals_) arrivals_.on_message_call(m, out_);
    KOJAK_TELL_PATTERNS(on_message_call, m);
  }
  void on_collective_exit(const earl::CollectiveExit& exit) {
    KOJAK_TELL_PATTERNS(on_collective_exit, exit);
  }
  void on_collective(const earl::CollectiveInstance& instance) {
    out_.begin_operation(Operation::Object::kCommunicator, raw(instance.com));
    // When the last member came is unknown if one is missing.
    if (!instance.complete || instance.mixed) return;
    view_.look_at(instance, out_.definitions());
    if (asked_for_arrivals_) arrivals_.on_collective(view_, out_);
    KOJAK_TELL_PATTERNS(on_collective, view_);
  }
  void on_collective_begun(const earl::CollectiveInstance& instance) {
    if (instance.mixed) return;
    view_.look_at(instance, out_.definitions());
    out_.begin_operation(Operation::Object::kCommunicator, raw(instance.com));
    begun_waits_.on_begun(view_, out_.operation().number);
    if (asked_for_arrivals_ && view_.notified()) arrivals_.on_notified(view_, out_);
  }
  void on_collective_wait(const earl::CollectiveWait& wait) {
    if (!wait.call->polled) return begun_waits_.on_collective_wait(wait, out_);
    const Call call = from_first_poll(*wait.call);
    earl::CollectiveWait polled = wait;
    polled.call = &call;
    begun_waits_.on_collective_wait(polled, out_);
  }
  void on_probe(const Call& call, const earl::OpenCall& send) {
    out_.begin_operation(Operation::Object::kNothing, 0);
    if (!call.polled) {
      KOJAK_TELL_PATTERNS(on_probe, call, send);
      return;
    }
    const Call asked = from_first_poll(call);
    KOJAK_TELL_PATTERNS(on_probe, asked, send);
    if (!call.paused)
      waited_before(LateSender{}, asked, send, asked_for(asked, absent<RequestId>()));
  }
  void on_partitioned(const Call& call, const earl::OpenCall& ready) {
    out_.begin_operation(Operation::Object::kNothing, 0);
    KOJAK_TELL_PATTERNS(on_partitioned, call, ready);
  }
  void on_window_collective(const earl::WindowInstance& instance) {
    if (!instance.complete) return;
    out_.begin_operation(Operation::Object::kWindow, raw(instance.window));
    if (asked_for_arrivals_) arrivals_.on_window_collective(instance, out_);
    KOJAK_TELL_PATTERNS(on_window_collective, instance);
    if (rma_) rma_->on_window_collective(instance);
  }
  void on_fence_epoch(const earl::FenceEpoch& epoch) {
    KOJAK_TELL_PATTERNS(on_fence_epoch, epoch);
  }
  void on_epoch_call(const Call& call, const earl::AccessEpoch& epoch) {
    KOJAK_TELL_PATTERNS(on_epoch_call, call, epoch);
  }
  void on_access_epoch(const earl::AccessEpoch& epoch) {
    KOJAK_TELL_PATTERNS(on_access_epoch, epoch);
    if (rma_) rma_->on_access_epoch(epoch);
  }
  void on_access_transaction(const earl::AccessEpoch& epoch) {
    out_.begin_operation(Operation::Object::kWindow, raw(epoch.window));
    if (asked_for_arrivals_) arrivals_.on_access_transaction(epoch, out_);
    KOJAK_TELL_PATTERNS(on_access_transaction, epoch);
    if (!rma_) return;
    rma_->on_access_transaction(epoch, [&](const Call& call, std::vector<Cause>& posts) {
      collect_posts(epoch, call, out_, posts);
    });
  }
  void on_exposure_transaction(const earl::ExposureEpoch& epoch) {
    out_.begin_operation(Operation::Object::kWindow, raw(epoch.window), raw(epoch.target));
    if (asked_for_arrivals_) arrivals_.on_exposure_transaction(epoch, out_);
    KOJAK_TELL_PATTERNS(on_exposure_transaction, epoch);
    if (rma_) rma_->on_exposure_transaction(epoch, EarlyWait::last_completed(epoch));
  }
  void on_passive_step(const earl::PassiveStep& step) {
    if (!rma_) return;
    with_first_poll(step, [&](const earl::PassiveStep& seen) { rma_->on_passive_step(seen); });
  }
  void on_quiet(const Call& call, const earl::Quiet& quiet) {
    if (rma_) rma_->on_quiet(call, quiet);
    if (upc_) upc_->transfers.on_quiet(call);
  }
  void on_symmetric_lock(const earl::SymmetricLock& lock) {
    if (!rma_) return;
    with_first_poll(lock, [&](const earl::SymmetricLock& seen) { rma_->on_symmetric_lock(seen); });
  }
  void on_symmetric_wait(const earl::SymmetricWait& wait) {
    out_.begin_operation(Operation::Object::kNothing, 0);
    if (!wait.call->polled) {
      KOJAK_TELL_PATTERNS(on_symmetric_wait, wait);
      return;
    }
    const Call call = from_first_poll(*wait.call);
    const earl::SymmetricWait polled{&call, wait.variables};
    KOJAK_TELL_PATTERNS(on_symmetric_wait, polled);
    if (const earl::SymmetricWrite* const write = ShmemLateNotification::ended_by(polled, out_)) {
      waited_before(ShmemLateNotification{}, call, write->call,
                    [&](const PollStretches::Part& part) { return part.since(wait.variables); });
    }
  }
#undef KOJAK_TELL_PATTERNS
  void on_omp_fork(const earl::OpenCall& call, Seconds time) {
    if (omp_) omp_->on_omp_fork(call, time);
  }
  void on_omp_join(const earl::OpenCall& call) {
    if (omp_) omp_->on_omp_join(call);
  }
  void on_omp_team(const earl::OpenCall& call, std::uint64_t team, std::uint32_t index,
                   std::uint32_t size) {
    if (omp_) omp_->on_omp_team(call, team, index, size);
  }
  void on_omp_task(const earl::OpenCall& task, ThreadId creator) {
    if (omp_) omp_->on_omp_task(task, creator);
  }
  void on_omp_lock(const earl::OpenCall& call, LockId lock, Seconds time, bool acquired) {
    if (omp_) omp_->on_omp_lock(call, lock, time, acquired);
  }

  // Whether nothing is open that goes on behind the last event so far.
  bool at_rest() const {
    return !rma_ || rma_->at_rest();
  }
  // Whether something is open that was so before the first event.
  bool holds_standing() const {
    return rma_ && rma_->holds_standing();
  }
  // After the last event.
  void on_end() {
    if (upc_) upc_->finish(out_);
    if (rma_) rma_->on_end();
    if (omp_) omp_->on_end();
  }
  // What this shows of what the whole run decides.
  PassiveEvidence evidence() const {
    return rma_ ? rma_->evidence() : PassiveEvidence();
  }
  // Whether nothing of what is added up depends on that.
  bool decided() const {
    return !rma_ || rma_->decided();
  }
  // Then: tells what could not be told before. `of_run`: what that shows, if this is a part of it.
  void finish(const PassiveEvidence* of_run) {
    if (!rma_) return;
    rma_->finish(of_run);
    notifications_.finish(*rma_, out_);
    if (!hides_progress_) out_.count_at_end(Note::kProgressIsAsynchronous, rma_->voided());
    out_.count_at_end(Note::kCallsLeftOut, rma_->left_out());
  }

 private:
  // The patterns see a series of polls and its end as a call that begins when what it found was
  // first asked for.
  static Call from_first_poll(const Call& call) {
    Call result = call;
    result.enter = call.waits_from();
    return result;
  }
  // tell(what is told of a call), which the patterns see like that.
  template <class T, class Tell>
  static void with_first_poll(const T& told, Tell&& tell) {
    if (!told.call->polled) return tell(told);
    const Call call = from_first_poll(*told.call);
    T seen = told;
    seen.call = &call;
    tell(seen);
  }
  // When a part first asked for that request, or at the place of the call that found it.
  static auto asked_for(const Call& found, RequestId request) {
    return
        [&found, request](const PollStretches::Part& part) { return part.since(request, found); };
  }
  // The same in the parts of a stretch before the one that the call ended; `other`: the call of
  // another process that ended the wait; `first`: when a part first asked for what was found.
  template <class Pattern, class First>
  void waited_before(Pattern pattern, const Call& found, const earl::OpenCall& other,
                     First&& first) {
    const PollStretches::Parts* const parts = stretches_.before(found);
    if (parts == nullptr) return;
    for (const PollStretches::Part& part : *parts) {
      const std::optional<Seconds> since = first(part);
      if (!since) continue;
      Call call = part.call;
      call.polled_from = *since;
      call.enter = call.waits_from();
      const Seconds waited = Pattern::severity(call, other.enter);
      if (waited > Seconds{0}) out_.add(pattern, call, waited, enter_of(other));
    }
  }

  // What keeps state of UPC's accesses.
  struct Upc {
    UpcTransfers transfers;
    UpcNotifications polls;

    explicit Upc(const earl::Trace& trace) : transfers(trace), polls(trace) {}
    void on_enter(const earl::OpenCall& call, Out& out) {
      transfers.on_enter(call);
      polls.on_enter(call, out);
    }
    void on_transfer(const earl::Transfer& transfer, Out& out) {
      transfers.on_transfer(transfer, out);
      polls.on_transfer(transfer, out);
    }
    void finish(Out& out) {
      polls.finish(out);
      transfers.finish([&](auto pattern, CallPathIndex path, LocationIndex location, double bytes) {
        out.add(pattern, path, location, bytes);
      });
    }
  };

  Out& out_;
  const bool asked_for_arrivals_;  // see Out
  bool hides_progress_ = false;    // Wait for Progress is not to be had
  Catalogue patterns_;
  CollectiveView view_;
  Arrivals arrivals_;
  BegunWaits begun_waits_;
  PollStretches stretches_;
  Notifications notifications_;
  std::optional<RmaWaits> rma_;  // only where the trace has such epochs
  std::optional<Upc> upc_;
  std::optional<OmpWaits<Out>> omp_;  // only where it has OpenMP constructs
};

}  // namespace kojak::expert
