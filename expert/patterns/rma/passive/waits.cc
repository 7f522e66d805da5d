// Long because each kind of call that may wait is followed here from its enter to its claim.
#include "expert/patterns/rma/passive/waits.h"

#include <utility>

#include "epilog/format/mpi_roles.h"
#include "expert/patterns/rma/passive/async_progress.h"

namespace kojak::expert {

using Step = earl::PassiveStep;

namespace {

bool is_transfer(MpiRole role) {
  return role >= MpiRole::kPut && role <= MpiRole::kRequestTransfer;
}
bool is_completion(MpiRole role) {
  return role >= MpiRole::kWait && role <= MpiRole::kRequestGetStatus;
}

}  // namespace

RmaWaits::RmaWaits(const earl::Trace& trace, const Services& services, bool known, WaitStream& out)
    : trace_(trace),
      pausing_(trace.pausing_region()),
      services_(services),
      out_(out),
      presence_(trace.process_count()),
      claims_(known, out),
      locks_(trace.process_count(), presence_,
             {[this](LockEpoch& epoch, ProcessId target, const LockQueue::Turns& turns) {
                epoch_placed(epoch, target, turns);
              },
              [this](LockEpoch& epoch) { epoch_over(epoch); },
              [this](ProcessId a, ProcessId b) { return same_node(a, b); }}),
      processes_(trace.process_count()),
      locations_(trace.location_count()) {
  trace.definitions().regions.for_each(
      [&](RegionId, const RegionDef& region) { shmem_ = shmem_ || region.shmem != nullptr; });
  trace.definitions().windows.for_each(
      [&](WindowId id, const WindowDef&) { first_lock_ = std::max(first_lock_, raw(id) + 1); });
  const AsyncProgress environment(trace.definitions());
  for (std::uint32_t p = 0; p < trace.process_count(); ++p) {
    if (environment.of(ProcessId{p})) presence_.progresses_alone(ProcessId{p});
  }
}

bool RmaWaits::concerns(const Definitions& definitions) {
  bool any = false, shmem = false;
  definitions.regions.for_each([&](RegionId, const RegionDef& region) {
    shmem = shmem || region.shmem != nullptr;
    const MpiRole role = region.role();
    any = any || role == MpiRole::kWinLock || role == MpiRole::kWinLockAll ||
          role == MpiRole::kWinStart;
  });
  return shmem || (any && !definitions.windows.empty());
}

void RmaWaits::enter_function(const earl::OpenCall& call, bool pausing) {
  if (pausing) {
    locks_.give_up(call.process);
    Process& p = processes_[raw(call.process)];
    p.requests.clear();
    p.first_request = 0;
    p.outstanding.clear();
    for (const Id id : p.access) calls_[id].dropped = true;
    return;
  }
  const MpiRole role = call.role();
  bool asks = is_transfer(role);
  switch (role) {
    case MpiRole::kWinLock:
    case MpiRole::kWinLockAll:
      enter_lock_call(call);
      asks = true;
      break;
    case MpiRole::kWinUnlock:
    case MpiRole::kWinUnlockAll:
      locks_.enter_unlock(call.process, call.enter);
      asks = true;
      break;
    case MpiRole::kWinFlush:
    case MpiRole::kWinFlushAll:
    case MpiRole::kWinFlushLocal:
    case MpiRole::kWinFlushLocalAll:
    case MpiRole::kWinComplete:
      asks = true;
      break;
    default:
      if (is_completion(role)) asks = processes_[raw(call.process)].waits_for_requests();
  }
  if (asks) remember(locations_[call.index], call.enter);
}

void RmaWaits::enter_lock_call(const earl::OpenCall& call) {
  locks_.enter_lock(call.process);
  if (Ticket& asked = locations_[call.index].asked; asked == kNoTicket) {
    asked = asked_.begin(call.enter);
  }
  presence_.lock_call(call.enter, asked_.earliest());
}

void RmaWaits::leave_lock_call(const Call& call) {
  locks_.leave_lock(call.process);
  asked_ticket_ = std::exchange(locations_[call.index].asked, kNoTicket);
  presence_.lock_call(call.exit, asked_.earliest());
}

void RmaWaits::leave_function(const Call& call) {
  Location& location = locations_[call.index];
  ticket_ = std::exchange(location.ticket, kNoTicket);
  turns_ticket_ = std::exchange(location.turns, kNoTicket);
  switch (call.role()) {
    case MpiRole::kWinLock:
    case MpiRole::kWinLockAll:
      leave_lock_call(call);
      break;
    case MpiRole::kWinUnlock:
    case MpiRole::kWinUnlockAll:
      locks_.leave_unlock(call.process);
      break;
    default:
      if (location.call == call.enter_pos) leave_transfer(call);
  }
  if (call.joined) [[unlikely]]
    leave_polls(call);
}

void RmaWaits::on_transfer(const earl::Transfer& transfer) {
  if (is_absent(transfer.window)) [[unlikely]]
    return shmem_transfer(transfer);
  const earl::OpenCall& call = *transfer.call;
  Location& location = locations_[call.index];
  if (location.call != call.enter_pos) {
    location.call = call.enter_pos;
    location.issued.clear();
  }
  Issued issued{transfer.window, transfer.target, transfer.epoch, earl::kNone};
  if (transfer.epoch == earl::EpochKind::kLock || transfer.epoch == earl::EpochKind::kLockAll) {
    const ProcessId locked =
        transfer.epoch == earl::EpochKind::kLock ? transfer.target : absent<ProcessId>();
    issued.lock = locks_.find(transfer.origin, transfer.window, locked);
    if (issued.lock == earl::kNone) return;
    LockEpoch& epoch = locks_[issued.lock];
    LockTarget& target = epoch.targets[epoch.targets.get(transfer.target)];
    target.operations.issue(transfer.get);
    target.issued = call.enter;
    if (call.role() == MpiRole::kRequestTransfer) {
      processes_[raw(transfer.origin)].requests.push_back(
          {transfer.rmaid, transfer.target, transfer.get, false, call.enter, issued.lock,
           epoch.serial, target.flushes});
    }
  } else if (transfer.epoch != earl::EpochKind::kAccess) {
    return;
  }
  location.issued.push_back(issued);
}

void RmaWaits::on_polled(const earl::OpenCall& call, const earl::PolledSeries& series) {
  Location& location = locations_[call.index];
  location.members_of = call.enter_pos;
  location.members.clear();
  location.tested.clear();
  if (!series.goes_on()) forget_parts(location);
  if (!series.waits()) return;  // it is told of before its polls were over
  for (const MpiPoll& m : series.members) {
    if (!is_absent(m.wid)) location.members.push_back(m);
    if (raw(m.kind) == raw(PollKind::kShmem) && raw(m.bytes) == 0) {
      location.tested.emplace_back(raw(m.disp), m.first_enter);
    }
  }
}

// A series tells of its calls that waited long; and one whose target was outside all the time tells
// that its reads need nobody.
void RmaWaits::leave_polls(const Call& call) {
  const Location& location = locations_[call.index];
  if (location.members_of != call.enter_pos || call.paused) return;
  kept_ = earl::kNone;
  const MpiPoll* before = nullptr;
  for (const MpiPoll& m : location.members) {
    if (raw(m.kind) == raw(PollKind::kLong)) {
      // One call is told of once for each of its targets: its time is claimed once.
      const bool same = before != nullptr && before->first_enter == m.first_enter &&
                        before->last_enter == m.last_enter;
      if (!same) kept_ = earl::kNone;
      before = &m;
      need_of_long(call, m);
      continue;
    }
    before = nullptr;
    const bool reads = raw(m.kind) == raw(PollKind::kRead) || raw(m.kind) == raw(PollKind::kSwap);
    if (!reads || raw(m.count) < 2) continue;
    const ProcessId target{raw(m.tlid)};
    const LocationIndex there = trace_.main_index(target);
    if (target == call.process || there == kAbsent) continue;
    const Seconds delta = trace_.has_clock_errors() ? trace_.delta(call.index, there) : Seconds{0};
    if (m.last_enter + delta <= call.exit &&
        presence_.throughout(target, m.first_enter - delta, m.last_enter + delta)) {
      claims_.asynchronous(m.wid, ProgressKind::kPoll, same_node(call.process, target));
    }
  }
  kept_ = earl::kNone;
}

void RmaWaits::need_of_long(const Call& call, const MpiPoll& poll) {
  const bool reads = raw(poll.bytes) != 0;
  const ProgressKind kind = reads ? ProgressKind::kPoll : ProgressKind::kIdleFlush;
  Call alone = call;
  alone.enter = std::max(poll.first_enter, call.enter);
  alone.exit = std::min(poll.last_enter, call.exit);
  if (!(alone.enter < alone.exit)) return;
  const bool kept = kept_ != earl::kNone;
  if (!is_absent(poll.tlid)) {
    need(alone, poll.wid, ProcessId{raw(poll.tlid)}, kind, alone.enter);
  } else if (const CommDef* members = members_of(poll.wid); members != nullptr) {
    for (const std::uint32_t rank : members->ranks) {
      need(alone, poll.wid, ProcessId{rank}, kind, alone.enter);
    }
  }
  if (kept || kept_ == earl::kNone) return;
  // Times outside are remembered as long as those of the whole series.
  due_.back().time = call.exit + trace_.max_delta();
  of_series_.try_emplace(key_of(call));
}

Seconds RmaWaits::claimed_of(const Call& series, Seconds begin, Seconds end) const {
  Intervals claimed;
  if (const auto found = of_series_.find(key_of(series)); found != of_series_.end()) {
    for (const OfSeries& s : found->second) {
      const WaitClaims::Open open = claims_.open(s.window, s.kind);
      if (!(s.same_node ? open.same_node : open.other_node)) continue;
      for (const Interval& i : s.outside) {
        const Interval within{std::max(i.begin, begin), std::min(i.end, end)};
        if (within.begin < within.end) claimed.push_back(within);
      }
    }
  }
  make_set(claimed);
  return length_within(series, claimed);
}

void RmaWaits::leave_transfer(const Call& call) {
  if (!(call.enter < call.exit)) return;
  for (const Issued& issued : locations_[call.index].issued) {
    if (issued.lock != earl::kNone) {
      look(call, issued.lock, ProgressKind::kPassiveTransfer,
           locks_.contended(issued.lock, call.enter));
      need(call, issued.window, issued.target, ProgressKind::kPassiveTransfer, call.enter,
           issued.lock);
    } else {
      need(call, issued.window, issued.target, ProgressKind::kAccessTransfer, call.enter);
    }
  }
}

RmaWaits::Id RmaWaits::keep(const Call& call, WindowId window, ProgressKind kind) {
  if (kept_ != earl::kNone && calls_.live() != 0) {
    WaitingCall& last = calls_[kept_];
    if (last.call.enter_pos == call.enter_pos && last.call.index == call.index) {
      if (kind < last.kind) last.kind = kind;
      return kept_;
    }
  }
  const bool transfer = kind == ProgressKind::kPassiveTransfer ||
                        kind == ProgressKind::kAccessTransfer || kind == ProgressKind::kShmemGet ||
                        kind == ProgressKind::kShmemFetch || kind == ProgressKind::kShmemAtomic ||
                        kind == ProgressKind::kShmemPut || kind == ProgressKind::kPoll;
  if (transfer && calls_.live() >= kMostKept) {
    ++left_out_;
    return earl::kNone;
  }
  kept_ = calls_.take();
  most_live_ = std::max<std::size_t>(most_live_, calls_.live());
  WaitingCall& w = calls_[kept_];
  w.call = call;
  w.window = window;
  w.kind = kind;
  w.settled = w.contended = w.dropped = false;
  w.refs = 0;
  w.epoch = earl::kNone;
  w.ticket = std::exchange(ticket_, kNoTicket);
  w.turns = kNoTicket;
  w.targets.clear();
  w.outside.window = window;
  w.outside.same.clear();
  w.outside.other.clear();
  w.outside.absent.clear();
  w.elsewhere.clear();
  w.taken.clear();
  w.held.clear();
  w.waiters.clear();
  w.exposures = WaitingCall::kUnknown;
  w.told = 0;
  if (kind == ProgressKind::kAccessTransfer) {
    ++w.refs;
    processes_[raw(call.process)].access.push_back(kept_);
  }
  due_.push_back({call.exit + trace_.max_delta(), kept_});
  return kept_;
}

void RmaWaits::attach(Id id, LockQueue::Id epoch) {
  ++calls_[id].refs;
  locks_[epoch].calls.push_back(id);
}

bool RmaWaits::same_node(ProcessId a, ProcessId b) const {
  const std::uint32_t here = trace_.main_index(a), there = trace_.main_index(b);
  if (here == kAbsent || there == kAbsent) return true;
  return trace_.location_def(here).node == trace_.location_def(there).node;
}

void RmaWaits::look(const Call& call, LockQueue::Id epoch, ProgressKind kind, bool contended) {
  if (!contended) return;
  const Id id = keep(call, is_shmem(kind) ? memory_of(call) : locks_[epoch].window, kind);
  if (id == earl::kNone) return;
  if (turns_ticket_ != kNoTicket) calls_[id].turns = std::exchange(turns_ticket_, kNoTicket);
  attach(id, epoch);
}

void RmaWaits::need(const Call& call, WindowId window, ProcessId target, ProgressKind kind,
                    Seconds issued, LockQueue::Id epoch, std::uint32_t allocation) {
  if (target == call.process || trace_.main_index(target) == kAbsent ||
      !presence_.maybe_outside_after(target, call.enter)) {
    return;
  }
  const Id id = keep(call, window, kind);
  if (id == earl::kNone) return;
  WaitingCall& w = calls_[id];
  // A lock_all, and a call with nothing outstanding, names each member once.
  const bool once = kind == ProgressKind::kLock || is_idle(kind);
  const auto known =
      once ? w.targets.end()
           : std::find_if(w.targets.begin(), w.targets.end(), [&](const auto& needed) {
               return needed.window == window && needed.target == target;
             });
  if (known == w.targets.end()) {
    w.targets.push_back({window, target, issued, kind, allocation});
  } else {
    known->issued = std::max(known->issued, issued);
    if (known->allocation != allocation) known->allocation = 0;
  }
  if (epoch == earl::kNone || w.epoch != earl::kNone) return;
  w.epoch = epoch;
  w.epoch_serial = locks_[epoch].serial;
}

void RmaWaits::on_passive_step(const Step& step) {
  switch (step.kind) {
    case Step::Kind::kLock:
    case Step::Kind::kLockAll:
      return begin_lock(step);
    case Step::Kind::kUnlock:
    case Step::Kind::kUnlockAll:
      return end_lock(step);
    case Step::Kind::kFlush:
      return flush(step);
    case Step::Kind::kRequestComplete:
      return complete_request(step);
  }
}

void RmaWaits::begin_lock(const Step& step) {
  const Call& call = *step.call;
  if (call.paused) return;
  if (step.standing) {
    stands_ = true;
    locks_[locks_.begin(call, step.window, absent<ProcessId>(), false)].standing = true;
    return;
  }
  foreign_locks_ = foreign_locks_ || !out_.own(call);
  const ProcessId target = step.kind == Step::Kind::kLock ? step.target : absent<ProcessId>();
  const LockQueue::Id epoch = locks_.begin(call, step.window, target, step.exclusive);
  locks_[epoch].asked = std::exchange(asked_ticket_, kNoTicket);
  look(call, epoch, ProgressKind::kLock, locks_.contended(epoch, call.enter));
  if (!is_absent(target)) {
    return need(call, step.window, target, ProgressKind::kLock, call.enter);
  }
  if (!(call.enter < call.exit)) return;
  const CommDef* members = members_of(step.window);
  if (members == nullptr) return;
  for (const std::uint32_t rank : members->ranks) {
    need(call, step.window, ProcessId{rank}, ProgressKind::kLock, call.enter);
  }
}

const CommDef* RmaWaits::members_of(WindowId window) const {
  const WindowDef* const found = trace_.definitions().windows.find(window);
  return found == nullptr ? nullptr : trace_.definitions().comms.find(found->comm);
}

void RmaWaits::find_idle(const LockEpoch& epoch, ProcessId only, ProgressKind kind) {
  idle_.clear();
  const WaitClaims::Open open = claims_.open(epoch.window, kind);
  if (!open.same_node && !open.other_node) return;
  const auto look_at = [&](ProcessId target) {
    if (target == epoch.origin) return;
    const std::uint32_t used = epoch.targets.find(target);
    if (used != earl::kNone && epoch.targets[used].operations.any()) return;
    if (!presence_.maybe_outside(target)) return;
    if (same_node(epoch.origin, target) ? open.same_node : open.other_node) idle_.push_back(target);
  };
  if (!epoch.all()) return look_at(epoch.target);
  if (!is_absent(only)) return look_at(only);
  if (const CommDef* members = members_of(epoch.window); members != nullptr) {
    for (const std::uint32_t rank : members->ranks) look_at(ProcessId{rank});
  }
}

void RmaWaits::need_idle(const Call& call, WindowId window, ProgressKind kind) {
  for (const ProcessId target : idle_) need(call, window, target, kind, call.enter);
}

void RmaWaits::end_lock(const Step& step) {
  const Call& call = *step.call;
  const ProcessId target = step.kind == Step::Kind::kUnlock ? step.target : absent<ProcessId>();
  const LockQueue::Id id = locks_.find(call.process, step.window, target);
  if (id == earl::kNone) return;
  look(call, id, ProgressKind::kUnlock, locks_.contended(id, call.enter));
  for (const LockTarget& t : locks_[id].targets.items()) {
    if (t.operations.any()) {
      need(call, step.window, t.target, ProgressKind::kUnlock, t.issued);
    }
  }
  find_idle(locks_[id], absent<ProcessId>(), ProgressKind::kIdleUnlock);
  need_idle(call, step.window, ProgressKind::kIdleUnlock);
  locks_.end(id, call);
}

void RmaWaits::flush(const Step& step) {
  const Call& call = *step.call;
  for (const LockQueue::Id id : locks_.open(call.process)) {
    LockEpoch& epoch = locks_[id];
    if (epoch.window != step.window) continue;
    if (!is_absent(step.target) && !epoch.all() && epoch.target != step.target) continue;
    look(call, id, step.local ? ProgressKind::kFlushLocal : ProgressKind::kFlush,
         locks_.contended(id, call.enter));
    idle_.clear();
    if (!step.local) find_idle(epoch, step.target, ProgressKind::kIdleFlush);
    if (is_absent(step.target)) {
      for (LockTarget& t : epoch.targets.items()) flush_target(step, id, t);
    } else if (const std::uint32_t t = epoch.targets.find(step.target); t != earl::kNone) {
      flush_target(step, id, epoch.targets[t]);
    }
    need_idle(call, step.window, ProgressKind::kIdleFlush);
  }
}

void RmaWaits::flush_target(const Step& step, LockQueue::Id epoch, LockTarget& target) {
  const Call& call = *step.call;
  // A local flush may wait for puts, too.
  const bool any = target.operations.any();
  if (target.operations.flush(step.local)) locks_.prove(epoch, target, call);
  if (any) {
    need(call, step.window, target.target,
         step.local ? ProgressKind::kFlushLocal : ProgressKind::kFlush, target.issued);
  }
  ++target.flushes;
}

void RmaWaits::complete_request(const Step& step) {
  const Call& call = *step.call;
  Process& process = processes_[raw(call.process)];
  const auto begin = process.requests.begin() + static_cast<std::ptrdiff_t>(process.first_request);
  const auto request =
      std::lower_bound(begin, process.requests.end(), step.rmaid,
                       [](const Request& r, RmaId rmaid) { return raw(r.rmaid) < raw(rmaid); });
  if (request == process.requests.end() || request->rmaid != step.rmaid || request->done) return;
  const Request found = *request;
  request->done = true;
  while (process.waits_for_requests() && process.requests[process.first_request].done) {
    ++process.first_request;
  }
  if (2 * process.first_request > process.requests.size()) {
    process.requests.erase(
        process.requests.begin(),
        process.requests.begin() + static_cast<std::ptrdiff_t>(process.first_request));
    process.first_request = 0;
  }
  const auto& open = locks_.open(call.process);
  const bool there = std::find(open.begin(), open.end(), found.epoch) != open.end() &&
                     locks_[found.epoch].serial == found.serial;
  if (!there) return;
  auto& targets = locks_[found.epoch].targets;
  LockTarget& target = targets[targets.get(found.target)];
  const bool flushed = found.flushes != target.flushes;  // a get: it was complete before
  if (call.completed == earl::kCompletedRma && (call.polled || is_wait(call.role()))) {
    look(call, found.epoch, ProgressKind::kNobody, locks_.contended(found.epoch, call.enter));
    if (found.get && !flushed) {
      need(call, step.window, found.target, ProgressKind::kGetWait, found.issued);
    }
  }
  if (!found.get || flushed) return;
  if (target.operations.complete_get()) locks_.prove(found.epoch, target, call);
}

std::vector<RmaWaits::Id> RmaWaits::take_access_calls(const earl::AccessEpoch& epoch) {
  std::vector<Id> mine;
  std::erase_if(processes_[raw(epoch.origin)].access, [&](Id id) {
    const WaitingCall& w = calls_[id];
    if (w.window != epoch.window) return false;
    if (epoch.has_start && w.call.enter_pos < epoch.start.enter_pos) return false;
    mine.push_back(id);
    return true;
  });
  return mine;
}

void RmaWaits::on_access_epoch(const earl::AccessEpoch& epoch) {
  std::vector<Id> mine = take_access_calls(epoch);
  for (const earl::AccessTarget& t : epoch.targets) {
    const Seconds issued = t.transfers.unmarked().last_enter;
    if (issued == earl::TargetTransfers::kNever) continue;
    need(epoch.finish, epoch.window, t.target, ProgressKind::kComplete, issued);
  }
  if (kept_ != earl::kNone && calls_.live() != 0) {
    WaitingCall& last = calls_[kept_];
    if (last.call.enter_pos == epoch.finish.enter_pos && last.kind == ProgressKind::kComplete &&
        last.refs == 0 && !last.settled) {
      last.refs += 2;  // its transaction, and the exposure transactions
      mine.push_back(kept_);
      completes_[{epoch.finish.index, epoch.finish.enter_pos}] = kept_;
    }
  }
  if (!mine.empty()) access_calls_[&epoch] = std::move(mine);
}

void RmaWaits::tell_exposures(const earl::AccessEpoch& epoch) {
  if (completes_.empty() || !epoch.has_finish) return;
  const auto kept = completes_.find({epoch.finish.index, epoch.finish.enter_pos});
  if (kept == completes_.end()) return;
  const Id id = kept->second;
  WaitingCall& w = calls_[id];
  w.exposures = 0;
  for (const earl::AccessTarget& t : epoch.targets) w.exposures += t.exposure != nullptr;
  if (w.told < w.exposures) return;
  completes_.erase(kept);
  release(id);
}

void RmaWaits::on_exposure_transaction(const earl::ExposureEpoch& epoch,
                                       const earl::AccessEpoch* last) {
  if (completes_.empty()) return;
  for (const earl::ExposureOrigin& o : epoch.origins) {
    if (o.access == nullptr || !o.access->has_finish) continue;
    const auto kept = completes_.find({o.access->finish.index, o.access->finish.enter_pos});
    if (kept == completes_.end()) continue;
    const Id id = kept->second;
    WaitingCall& w = calls_[id];
    if (o.access == last) w.waiters.push_back(epoch.finish);
    if (++w.told != w.exposures) continue;
    completes_.erase(kept);
    release(id);
  }
}

void RmaWaits::settle(Seconds now) {
  while (!due_.empty() && due_.front().time < now) {
    const Id id = due_.front().call;
    due_.pop_front();
    settle_call(id);
  }
}

WaitingCall::Outside& RmaWaits::outside_of(WaitingCall& w, WindowId window, ProgressKind kind) {
  if (window == w.window && kind == w.outside.kind) return w.outside;
  for (WaitingCall::Outside& outside : w.elsewhere) {
    if (outside.window == window && outside.kind == kind) return outside;
  }
  w.elsewhere.push_back({window, kind, {}, {}, {}});
  return w.elsewhere.back();
}

void RmaWaits::name_absent(WaitingCall::Outside& outside) {
  for (const bool same : {true, false}) {
    named_.clear();
    std::size_t named = 0;
    for (Found& f : found_) {
      if (f.absent.window != outside.window || f.absent.kind != outside.kind) continue;
      if (++named > kTargetsNamed) break;
      if (f.absent.same_node != same) continue;
      const auto begin = times_.begin() + static_cast<std::ptrdiff_t>(f.first);
      const auto end = times_.begin() + static_cast<std::ptrdiff_t>(f.end);
      for (auto time = begin; time != end; ++time) {
        const auto add = [&](const Interval& when) {
          outside.absent.push_back(f.absent);
          outside.absent.back().when = when;
        };
        if (named_.empty()) {
          add(*time);
        } else {
          for (const Interval& rest : without({*time}, named_)) add(rest);
        }
      }
      if (found_.size() == 1) return;
      named_.insert(named_.end(), begin, end);
      make_set(named_);
    }
  }
}

void RmaWaits::settle_call(Id id) {
  WaitingCall& w = calls_[id];
  w.settled = true;
  found_.clear();
  times_.clear();
  const auto is_main = [&](const WaitingCall::Needed& needed) {
    return needed.window == w.window && needed.kind == w.kind;
  };
  w.outside.kind = w.targets.empty() || std::any_of(w.targets.begin(), w.targets.end(), is_main)
                       ? w.kind
                       : w.targets.front().kind;
  const bool own = out_.own(w.call);
  for (const auto& [window, target, issued, kind, allocation] : w.targets) {
    const std::uint32_t there = trace_.main_index(target);
    const Seconds delta =
        trace_.has_clock_errors() ? trace_.delta(w.call.index, there) : Seconds{0};
    const bool same = trace_.location_def(w.call.index).node == trace_.location_def(there).node;
    // A lock that is not checked asks nobody, and a call without duration tells nothing.
    const bool asks =
        kind == ProgressKind::kLock && !w.call.nocheck() && w.call.enter < w.call.exit;
    // upc_lock, which may have been late for another holder: it can only tell against it.
    const bool lock_of_upc =
        kind == ProgressKind::kShmemLock && window == symmetric_memory(PgasModel::kUpc) &&
        shmem_role(w.call) == ShmemRole::kSetLock && w.call.enter < w.call.exit;
    if (own && (is_evidence(kind) || asks || lock_of_upc)) {
      if (presence_.throughout(target, issued - delta, w.call.exit + delta)) {
        claims_.asynchronous(window, kind, same);
      } else if (!lock_of_upc &&
                 presence_.came_back(target, issued + delta, {w.call.enter, w.call.exit},
                                     w.call.exit + delta)) {
        claims_.confirmed(window, kind, same);
      }
    }
    const std::size_t first = times_.size();
    const Presence::Absence* const absence =
        presence_.outside(target, {w.call.enter, w.call.exit}, w.call.exit + delta, times_);
    if (absence == nullptr) continue;
    WaitingCall::Outside& outside = outside_of(w, window, kind);
    Intervals& set = same ? outside.same : outside.other;
    set.insert(set.end(), times_.begin() + static_cast<std::ptrdiff_t>(first), times_.end());
    found_.push_back(
        {{{}, window, kind, same, target, absence->ended_by, absence->number, allocation},
         first,
         times_.size()});
  }
  if (!found_.empty()) {
    const auto later = [](const Found& a, const Found& b) {
      if (a.absent.ended_by.time != b.absent.ended_by.time)
        return b.absent.ended_by.time < a.absent.ended_by.time;
      return a.absent.target < b.absent.target;
    };
    if (!std::is_sorted(found_.begin(), found_.end(), later)) {
      std::stable_sort(found_.begin(), found_.end(), later);
    }
    name_absent(w.outside);
    for (WaitingCall::Outside& outside : w.elsewhere) name_absent(outside);
  }
  // A lock_all names all members of its window, and may have to be kept for long.
  w.targets.clear();
  if (w.targets.capacity() > kFewTargets) w.targets.shrink_to_fit();
  const auto make_sets = [](WaitingCall::Outside& outside) {
    make_set(outside.same);
    make_set(outside.other);
    return outside.same.empty() && outside.other.empty();
  };
  bool inside = make_sets(w.outside);
  for (WaitingCall::Outside& outside : w.elsewhere) inside = make_sets(outside) && inside;
  if (w.ticket != kNoTicket) remembered_.end(w.ticket);
  w.ticket = kNoTicket;
  if (const auto series = of_series_.find(key_of(w.call)); series != of_series_.end()) {
    for (const bool same : {true, false}) {
      const Intervals& outside = same ? w.outside.same : w.outside.other;
      if (!outside.empty()) series->second.push_back({w.window, w.kind, same, outside});
    }
  }
  if (w.refs == 0 && w.kind == ProgressKind::kPassiveTransfer && !inside) {
    // It may still be marked: wait for the end of its epoch.
    const auto& open = locks_.open(w.call.process);
    if (std::find(open.begin(), open.end(), w.epoch) != open.end() &&
        locks_[w.epoch].serial == w.epoch_serial) {
      attach(id, w.epoch);
    }
  }
  if (w.refs == 0) finish_call(id);
}

void RmaWaits::epoch_placed(LockEpoch& epoch, ProcessId target, const LockQueue::Turns& turns) {
  const std::size_t lock = std::size_t{raw(epoch.window)} - first_lock_;
  const bool shmem = raw(epoch.window) >= first_lock_ && lock < lock_ids_.size();
  for (const Id id : epoch.calls) {
    WaitingCall& w = calls_[id];
    std::size_t apart = 0;
    turns.for_each(w.call, [&](const LockTurn& turn, Seconds begin, Seconds end) {
      const WaitingCall::Held held{shmem ? lock_ids_[lock].memory : epoch.window,
                                   target,
                                   {std::max(begin, turn.asked), std::min(end, turn.release)},
                                   turn.service,
                                   turn.same_node,
                                   turn.location,
                                   turn.call_path,
                                   turn.release,
                                   turn.number,
                                   shmem ? raw(lock_ids_[lock].id) : kAbsent};
      if (++apart > kTurnsApart && w.held.back().joins(held)) return;
      w.held.push_back(held);
    });
  }
}

void RmaWaits::epoch_over(LockEpoch& epoch) {
  for (const Id id : epoch.calls) {
    calls_[id].contended = true;
    release(id);
  }
  epoch.calls.clear();
  forget(asked_, epoch.asked);
}

void RmaWaits::release(Id id) {
  WaitingCall& w = calls_[id];
  if (--w.refs == 0 && w.settled) finish_call(id);
}

void RmaWaits::finish_call(Id id) {
  WaitingCall& w = calls_[id];
  make_set(w.taken);
  const bool serves = services_.at(w.call.index, w.call.enter);
  if (!w.dropped && !serves && !w.call.paused && out_.own(w.call) &&
      !marks_.any(&processes_[raw(w.call.process)], w.call)) {
    claims_.add(w);
  }
  if (w.turns != kNoTicket) turns_.end(w.turns);
  if (kept_ == id) kept_ = earl::kNone;
  calls_.give_back(id);
}

void RmaWaits::on_end() {
  forget_tickets();
  held_ = calls_.live();
  stands_ = stands_ || locks_.any_open();
  settle(kNever);
  locks_.finish();
  for (auto& [epoch, ids] : access_calls_) {
    for (const Id id : ids) release(id);
  }
  access_calls_.clear();
  for (const auto& [call, id] : completes_) release(id);
  completes_.clear();
  for (Process& process : processes_) {
    for (const Id id : process.access) release(id);  // of epochs that nothing is known of
    process.access.clear();
  }
}

bool RmaWaits::at_rest() const {
  const auto rests = [](const Process& p) {
    return p.access.empty() && !p.waits_for_requests() && p.outstanding.empty();
  };
  return locks_.at_rest() && access_calls_.empty() && completes_.empty() &&
         std::all_of(processes_.begin(), processes_.end(), rests);
}

PassiveEvidence RmaWaits::evidence() const {
  PassiveEvidence all = claims_.evidence();
  all.most_live = most_live_;
  all.held = held_;
  all.served = presence_.most_served();
  all.standing = stands_;
  all.left_out = left_out() != 0 || foreign_locks_;
  return all;
}

}  // namespace kojak::expert
