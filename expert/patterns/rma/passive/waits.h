// Lock Contention and Wait for Progress: follows passive target epochs, access epochs and who is
// inside MPI, and tells for each call how long it waited.
//
// Told of a trace's events in their order. A call is looked at when it has ended: if it may have
// waited, it is kept until the epochs that it belongs to know their predecessors, and until the
// clocks' error has passed, so that every MPI call of a target that may have let it go is known.
// Memory: what is open, at most kMostKept calls (of more, transfers are left out and counted).
// Source: docs/patterns.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "earl/aspects/polls.h"
#include "earl/replay.h"
#include "epilog/format/shmem_functions.h"
#include "expert/patterns/rma/marked_transfers.h"
#include "expert/patterns/rma/passive/lock_queue.h"
#include "expert/patterns/rma/passive/presence.h"
#include "expert/patterns/rma/passive/wait_claims.h"
#include "expert/waits/services.h"

namespace kojak::expert {

class RmaWaits {
 public:
  // `known`: whether the trace tells who is outside MPI.
  RmaWaits(const earl::Trace& trace, const Services& services, bool known, WaitStream& out);
  // Whether a trace has anything that these patterns look at.
  static bool concerns(const Definitions& definitions);

  // Fetches what enters and exits of this location need.
  template <int kStep>
  KOJAK_INLINED void fetch(LocationIndex location, ProcessId process) const {
    if (location >= locations_.size() || raw(process) >= processes_.size()) return;
    presence_.template fetch<kStep>(process);
    if constexpr (kStep == 0) __builtin_prefetch(&locations_[location], 1);
  }
  // In the order of earl::Sink.
  void on_enter(const earl::OpenCall& call) {
    forget_tickets();
    const bool pausing = call.region == pausing_;
    const ShmemFunction* const shmem = shmem_function(call);
    presence_.enter(call, pausing, can_progress(call, shmem), remembered_.earliest());
    if (call.function != nullptr || pausing) enter_function(call, pausing);
    if (shmem != nullptr) [[unlikely]]
      enter_shmem(call, *shmem);
    locks_.wake(call.enter);
  }
  void on_call(const Call& call) {
    forget_tickets();
    const bool pausing = call.region == pausing_;
    if (!due_.empty() && due_.front().time < call.exit) settle(call.exit);
    locks_.wake(call.exit);  // while it is known that this call is an unlock that has not ended
    const ShmemFunction* const shmem = shmem_function(call);
    presence_.leave(call, pausing, can_progress(call, shmem), remembered_.earliest());
    if (call.function != nullptr) leave_function(call);
    if (shmem != nullptr) [[unlikely]]
      leave_shmem(call, *shmem);
    locks_.forget_before(turns_.earliest());
  }
  // Of an instance that has not ended.
  void on_polled(const earl::OpenCall& call, const earl::PolledSeries& series);
  void on_transfer(const earl::Transfer& transfer);
  void on_passive_step(const earl::PassiveStep& step);
  void on_access_epoch(const earl::AccessEpoch& epoch);
  void on_marked_transfer(ProcessId origin, RmaId rmaid) {
    marks_.add(&processes_[raw(origin)], rmaid);
  }
  // posts: the enters of Win_post in the transaction.
  template <class Posts>
  void on_access_transaction(const earl::AccessEpoch& epoch, Posts&& collect_posts) {
    tell_exposures(epoch);
    std::vector<Id> calls;
    if (const auto waiting = access_calls_.find(&epoch); waiting != access_calls_.end()) {
      calls = std::move(waiting->second);
      access_calls_.erase(waiting);
    } else if (!epoch.has_finish) {
      calls = take_access_calls(epoch);  // its Win_complete is not in the trace
    }
    for (const Id id : calls) {
      WaitingCall& w = calls_[id];
      if (epoch.paused) w.dropped = true;
      collect_posts(w.call, posts_);
      if (const auto post = latest_cause(w.call, posts_)) {
        w.taken.push_back({w.call.enter, *post});
        make_set(w.taken);
      }
      release(id);
    }
  }
  // An exposure transaction; `last`: the access epoch whose Win_complete came last, if the wait for
  // it counts.
  void on_exposure_transaction(const earl::ExposureEpoch& epoch, const earl::AccessEpoch* last);
  // Of SHMEM, in the order of earl::Sink.
  void on_quiet(const Call& call, const earl::Quiet& quiet);
  void on_symmetric_lock(const earl::SymmetricLock& lock);
  void on_window_collective(const earl::WindowInstance& instance) {
    if (instance.role != MpiRole::kWinFree) return;
    for (const earl::WindowMember& m : instance.members) {
      locks_.give_up(m.call.process, instance.window);
    }
  }
  // Nothing is open that goes on behind the last event so far. Then what is told does not depend on
  // what follows, but on what the whole run shows.
  bool at_rest() const;
  // Whether a lock is held that was held before the first event.
  bool holds_standing() const { return locks_.holds_standing(); }
  // After the last event: what that shows; then, once, what the whole run does, if it is a part.
  void on_end();
  PassiveEvidence evidence() const;
  bool decided() const { return claims_.decided(); }
  void finish(const PassiveEvidence* of_run) { claims_.finish(of_run); }

  // Whether some time of a series that has ended may be Wait for Progress; and, after the last
  // event, how much of a wait in it is.
  bool may_claim_of(const Call& series) const { return of_series_.count(key_of(series)) != 0; }
  Seconds claimed_of(const Call& series, Seconds begin, Seconds end) const;

  // Calls left out because too many had to be kept; times of processes forgotten; void claims.
  std::uint64_t left_out() const { return left_out_ + presence_.forgotten() + claims_.left_out(); }
  std::uint64_t voided() const { return claims_.voided(); }
  const ProgressSureness& sureness() const { return claims_.sureness(); }
  const model::LockDecisions& lock_decisions() const { return locks_.decisions(); }

 private:
  using Id = std::uint32_t;
  static constexpr std::size_t kMostKept = 1 << 16;
  // So many turns at a lock, the latest, are kept apart for each call that waited for them.
  static constexpr std::size_t kTurnsApart = 16;
  static constexpr std::size_t kFewTargets = 16;
  static constexpr std::size_t kMostParts = 4096;  // of a stretch of polls
  // So many targets, those that came back last, are named for each call that waited for them.
  static constexpr std::size_t kTargetsNamed = 64;  // of operations of one kind
  using Ticket = model::OpenTimes::Ticket;
  static constexpr Ticket kNoTicket = LockEpoch::kNoTicket;

  struct Request {  // of a request-based operation
    RmaId rmaid{};
    ProcessId target{};
    bool get = false, done = false;
    Seconds issued;
    Id epoch = 0;
    std::uint32_t serial = 0;
    std::uint32_t flushes = 0;  // of its target before it
  };
  struct Process {
    std::vector<Request> requests;  // by operation, ascending
    std::size_t first_request = 0;  // before it all are done
    std::vector<Id> access;         // calls of open access epochs
    // SHMEM: what is not known to be complete, by context and target. Of those that the quiets
    // which are open now tell from no other the last one.
    struct Outstanding {
      std::uint64_t enter_pos;
      Seconds enter;
      bool get;
      bool left;  // of a put: it is complete at its origin
      std::uint32_t allocation;
      bool is_like(const Outstanding& other) const {
        return get == other.get && left == other.left;
      }
    };
    std::map<std::uint32_t, std::map<ProcessId, std::vector<Outstanding>>> outstanding;
    std::vector<std::uint64_t> open_quiets;  // enter_pos of calls, ascending
    bool waits_for_requests() const { return first_request < requests.size(); }
  };
  struct Issued {  // an operation of the call that a location is in
    WindowId window{};
    ProcessId target{};
    earl::EpochKind epoch{};
    Id lock = 0;
    std::uint32_t allocation = 0;
  };
  // When targets that long calls of a series needed were outside MPI.
  struct OfSeries {
    WindowId window{};
    ProgressKind kind{};
    bool same_node = false;
    Intervals outside;
  };
  using SeriesKey = std::pair<LocationIndex, std::uint64_t>;  // with the instance's enter_pos
  static SeriesKey key_of(const earl::OpenCall& call) { return {call.index, call.enter_pos}; }
  struct Location {
    std::vector<MpiPoll> members;  // of the latest series
    std::uint64_t members_of = earl::kNoEvent;
    std::uint64_t call = earl::kNoEvent;  // enter_pos of the call that issued them
    std::vector<Issued> issued;
    earl::SymmetricPlace read;  // by the last upc_get, and of whom at which call path
    ProcessId read_of{};
    CallPathId read_at{};
    bool polls = false;  // the one that it is in reads the same again
    Ticket ticket = kNoTicket, turns = kNoTicket, asked = kNoTicket;
    // Of tests of locks of SHMEM: series that may go on, each with when it first tested a lock.
    using TestedLocks = std::vector<std::pair<std::uint64_t, Seconds>>;
    struct Part {
      Call call;
      TestedLocks tested;
      Ticket ticket, turns;
      const Seconds* since(LockId lock) const {
        const auto is = [lock](const auto& one) { return one.first == raw(lock); };
        const auto found = std::find_if(tested.begin(), tested.end(), is);
        return found == tested.end() ? nullptr : &found->second;
      }
    };
    TestedLocks tested;  // by the latest series
    std::vector<Part> parts;
  };
  struct ShmemLock {  // followed like that of a window
    WindowId window{};
    ProcessId granted_by{};
  };
  struct Found {  // a needed target that was outside, at times_[first] and those up to `end`
    WaitingCall::Absent absent;
    std::size_t first = 0, end = 0;
  };
  struct Due {
    Seconds time;
    Id call;
  };

  // Null: none of SHMEM.
  const ShmemFunction* shmem_function(const earl::OpenCall& call) const {
    if (!shmem_ || call.function != nullptr) [[likely]]
      return nullptr;
    return trace_.definitions().shmem(call.region);
  }
  ShmemRole shmem_role(const earl::OpenCall& call) const {
    const ShmemFunction* const function = shmem_function(call);
    return function == nullptr ? ShmemRole::kOther : function->role;
  }
  // The memory that the call is about.
  WindowId memory_of(const earl::OpenCall& call) const {
    const ShmemFunction* const function = shmem_function(call);
    return symmetric_memory(function == nullptr ? PgasModel::kShmem : function->model);
  }
  // A call that returns when what was issued before it is complete, here or there.
  static bool waits_for_issued(const ShmemFunction& function) {
    switch (function.role) {
      case ShmemRole::kQuiet:
      case ShmemRole::kLocalWait:
      case ShmemRole::kNotify:
        return true;
      case ShmemRole::kGet:  // strict accesses
      case ShmemRole::kPut:
      case ShmemRole::kClearLock:
        return function.model == PgasModel::kUpc;
      default:
        return false;
    }
  }
  bool can_progress(const earl::OpenCall& call, const ShmemFunction* shmem) const {
    // A thread that serves is always in MPI, which tells nothing of its process.
    if (services_.any_thread()) [[unlikely]] {
      const bool thread = raw(trace_.location_def(call.index).thread) != 0;
      if (thread && services_.at(call.index, call.enter)) return false;
    }
    if (call.function != nullptr) return call.function->can_progress;
    return shmem != nullptr && shmem->can_progress;
  }
  // The call that a location has entered may ask who was outside, or held a lock, since then.
  void remember(Location& location, Seconds enter) {
    if (location.ticket != kNoTicket) return;
    location.ticket = remembered_.begin(enter);
    location.turns = turns_.begin(enter);
  }
  // It asks for a lock; it has asked.
  void enter_lock_call(const earl::OpenCall& call);
  void leave_lock_call(const Call& call);
  void enter_shmem(const earl::OpenCall& call, const ShmemFunction& function);
  void leave_shmem(const Call& call, const ShmemFunction& function);
  void shmem_transfer(const earl::Transfer& transfer);
  void forget_parts(Location& location);
  ShmemLock& shmem_lock(const earl::SymmetricLock& lock);
  void enter_function(const earl::OpenCall& call, bool pausing);
  void leave_function(const Call& call);
  void leave_transfer(const Call& call);
  void leave_polls(const Call& call);
  void need_of_long(const Call& call, const MpiPoll& poll);
  static void forget(model::OpenTimes& times, Ticket& ticket) {
    if (ticket != kNoTicket) times.end(std::exchange(ticket, kNoTicket));
  }
  void forget_tickets() {
    forget(remembered_, ticket_);
    forget(turns_, turns_ticket_);
    forget(asked_, asked_ticket_);
  }
  // The call that has just ended, as a call that may have waited; kNone if there are too many.
  Id keep(const Call& call, WindowId window, ProgressKind kind);
  void attach(Id id, LockQueue::Id epoch);
  // The kept calls of an access epoch, which its process has no longer open.
  std::vector<Id> take_access_calls(const earl::AccessEpoch& epoch);
  // What an ended call of a lock epoch may have waited for.
  void look(const Call& call, LockQueue::Id epoch, ProgressKind kind, bool contended);
  // `issued`: when the call entered that issued the last operation which needs the target. `epoch`:
  // of a transfer call, the lock epoch that it belongs to. `allocation`: that it is about.
  void need(const Call& call, WindowId window, ProcessId target, ProgressKind kind, Seconds issued,
            LockQueue::Id epoch = earl::kNone, std::uint32_t allocation = 0);
  void flush(const earl::PassiveStep& step);
  void flush_target(const earl::PassiveStep& step, LockQueue::Id epoch, LockTarget& target);
  // Those to whom the epoch has nothing outstanding before the call: of all that it locked, or
  // `only` one. Into idle_.
  void find_idle(const LockEpoch& epoch, ProcessId only, ProgressKind kind);
  void need_idle(const Call& call, WindowId window, ProgressKind kind);
  const CommDef* members_of(WindowId window) const;
  void complete_request(const earl::PassiveStep& step);
  void begin_lock(const earl::PassiveStep& step);
  void end_lock(const earl::PassiveStep& step);
  // How many exposure epochs the complete of an access transaction has.
  void tell_exposures(const earl::AccessEpoch& epoch);
  void settle(Seconds now);
  // Who was outside MPI when, of all whom a call needed: sets apart for whom it waited last.
  void name_absent(WaitingCall::Outside& outside);
  static WaitingCall::Outside& outside_of(WaitingCall& w, WindowId window, ProgressKind kind);
  void settle_call(Id id);
  void release(Id id);
  void finish_call(Id id);
  void epoch_placed(LockEpoch& epoch, ProcessId target, const LockQueue::Turns& turns);
  void epoch_over(LockEpoch& epoch);
  bool same_node(ProcessId a, ProcessId b) const;

  const earl::Trace& trace_;
  RegionId pausing_;
  const Services& services_;
  const WaitStream& out_;
  Presence presence_;
  WaitClaims claims_;
  LockQueue locks_;
  earl::Pool<WaitingCall> calls_;
  std::vector<Process> processes_;
  std::vector<Location> locations_;
  model::OpenTimes remembered_;  // enters of calls that will ask who was outside
  model::OpenTimes turns_;       // enters of calls that may ask who held a lock
  model::OpenTimes asked_;       // enters of calls that asked for a lock that is open
  std::deque<Due> due_;          // calls to be settled, by time
  std::map<const earl::AccessEpoch*, std::vector<Id>> access_calls_;
  // Calls of Win_complete that are kept, by location and the number of their ENTER.
  std::map<std::pair<LocationIndex, std::uint64_t>, Id> completes_;
  std::vector<Cause> posts_;

  std::map<SeriesKey, std::vector<OfSeries>> of_series_;
  std::vector<ProcessId> idle_;
  std::vector<Found> found_;
  Intervals times_, named_;

  MarkedTransfers marks_;  // by process
  // Of the trace's SHMEM functions; and its locks, whose windows have numbers above those of MPI.
  bool shmem_ = false;  // the trace has functions of SHMEM
  std::map<LockId, ShmemLock> shmem_locks_;
  struct NamedLock {
    LockId id;
    WindowId memory;
  };
  std::vector<NamedLock> lock_ids_;  // in the order of those numbers
  std::uint32_t first_lock_ = 0;
  // Of the call that has just ended.
  Ticket ticket_ = kNoTicket, turns_ticket_ = kNoTicket, asked_ticket_ = kNoTicket;
  Id kept_ = earl::kNone;  // the call kept last
  std::uint64_t left_out_ = 0;
  std::size_t most_live_ = 0;   // of calls_, so far
  std::size_t held_ = 0;        // of these, when the trace was over
  bool stands_ = false;         // a lock was held before its first event, or behind its last one
  bool foreign_locks_ = false;  // some belong to calls of which nobody is told
};

}  // namespace kojak::expert
