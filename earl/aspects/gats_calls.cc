// Transfers of access epochs, and the calls that a Win_post may have blocked.
#include <algorithm>
#include <limits>

#include "earl/aspects/gats.h"

namespace kojak::earl {
namespace {

// Whether it issues a get and a put.
bool is_atomic(const Call& call) {
  if (call.role() == MpiRole::kGetAccumulate) return true;
  return call.role() == MpiRole::kRequestTransfer && call.function->name == "MPI_Rget_accumulate";
}

}  // namespace

std::uint32_t Gats::index_of(Access& a, ProcessId target) {
  if (a.hint < a.targets.size() && a.targets[a.hint].target == target) [[likely]]
    return a.hint;
  if (a.info != nullptr) {
    const std::uint32_t rank = a.info->ranks.find(target);
    if (rank < a.targets.size() && a.targets[rank].target == target) return a.hint = rank;
  }
  for (std::uint32_t i = 0; i < a.targets.size(); ++i) {
    if (a.targets[i].target == target) return a.hint = i;
  }
  return kNone;
}

TransferSlot Gats::issue(ProcessId process, WindowId window, ProcessId target, RmaId rmaid,
                         bool get) {
  const std::uint32_t open = find_open(EpochSide::kAccess, process, window);
  if (open == kNone) return {};
  Access& a = accesses_[open];
  const std::uint32_t i = index_of(a, target);
  if (i == kNone) return {};
  TargetTransfers& transfers = a.targets[i].transfers;
  ++transfers.ops;
  if (!get && a.partners[i] == Partner::kClosed && raw(rmaid) < transfers.late_from) [[unlikely]]
    transfers.late_from = raw(rmaid);
  a.first_rmaid = std::min(a.first_rmaid, raw(rmaid));
  a.last_rmaid = std::max(a.last_rmaid, raw(rmaid));
  ++a.refs;
  return {open, i, 0, EpochKind::kAccess, get};
}

void Gats::leave_transfer(const TransferSlot& slot, const Call& call) {
  Access& a = accesses_[slot.epoch];
  TargetTransfers& transfers = a.targets[slot.index].transfers;
  transfers.last_exit = std::max(transfers.last_exit, call.exit);
  // The put of an atomic operation is its second transfer.
  if (is_atomic(call)) {
    if (!slot.get && raw(call.rmaid) + 1 < transfers.late_from) transfers.both.add(call);
  } else if (slot.get) {
    transfers.gets.add(call);
  } else if (raw(call.rmaid) < transfers.late_from) {
    transfers.puts.add(call);
  }
  // Nothing can have blocked it unless a post came during the call, or may still turn out to have.
  if (a.latest_post > call.enter || a.awaited != 0) [[unlikely]]
    offer(call, slot.epoch);
  unref_access(slot.epoch);
}

// Is a target whose post is not known inside Win_post, entered during the call?
bool Gats::may_be_posting(const Access& a, const Call& call) const {
  if (a.awaited == 0) return false;
  for (const Posting& p : posting_) {
    if (p.enter <= call.enter || p.enter > call.exit + trace_.delta(call.index, p.index)) continue;
    for (std::uint32_t i = 0; i < a.targets.size(); ++i) {
      if (a.targets[i].target == p.process && a.partners[i] == Partner::kAwaited) return true;
    }
  }
  return false;
}

// Has a post that is known entered during the call, as far as the clocks can tell?
bool Gats::may_be_blocked(const Access& a, const Call& call) const {
  if (a.latest_post <= call.enter) return false;
  for (const AccessTarget& target : a.targets) {
    if (target.exposure == nullptr || !target.exposure->has_post) continue;
    const Call& post = target.exposure->post;
    if (post.enter > call.enter && post.enter <= call.exit + trace_.delta(call.index, post.index)) {
      return true;
    }
  }
  return false;
}

void Gats::offer(const Call& call, std::uint32_t epoch) {
  Access& a = accesses_[epoch];
  if (a.offered == call.enter_pos) return;  // an atomic operation: a get and a put, but one call
  a.offered = call.enter_pos;
  if (a.awaited != 0) {
    // A post may still be entered at this very time, or within the clocks' error.
    ++a.refs;
    ++a.calls;
    late_.push_back({call, epoch, call.exit + trace_.max_delta()});
    next_due_ = late_[late_head_].due;
  } else if (a.latest_post > call.enter) {
    ++a.refs;
    ready_calls_.push_back({call, epoch, {}});
    any_ready_ = true;
  }
}

void Gats::settle_late_calls(Seconds now) {
  while (late_head_ < late_.size() && late_[late_head_].due < now) {
    const WaitingCall w = std::move(late_[late_head_++]);
    Access& a = accesses_[w.epoch];
    if (may_be_posting(a, w.call)) {
      pending_.push_back(w);
      continue;
    }
    --a.calls;
    if (may_be_blocked(a, w.call)) {
      ready_calls_.push_back(w);
      any_ready_ = true;
    } else {
      unref_access(w.epoch);
    }
  }
  if (late_head_ == late_.size()) {
    late_.clear();
    late_head_ = 0;
  } else if (late_head_ >= 64 && late_head_ * 2 >= late_.size()) {
    late_.erase(late_.begin(), late_.begin() + static_cast<std::ptrdiff_t>(late_head_));
    late_head_ = 0;
  }
  next_due_ = late_.empty() ? kNever : late_[late_head_].due;
}

void Gats::settle_pending() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    WaitingCall& w = pending_[i];
    Access& a = accesses_[w.epoch];
    if (may_be_posting(a, w.call)) {
      if (kept != i) pending_[kept] = std::move(w);
      ++kept;
      continue;
    }
    --a.calls;
    if (may_be_blocked(a, w.call)) {
      ready_calls_.push_back(std::move(w));
      any_ready_ = true;
    } else {
      unref_access(w.epoch);
    }
  }
  pending_.resize(kept);
}

// Everything is known of the epoch's posts: its calls need not wait any longer.
void Gats::offer_all(std::uint32_t epoch) {
  if (accesses_[epoch].calls == 0) return;
  const auto move_out = [&](std::vector<WaitingCall>& list, std::size_t from) {
    Access& a = accesses_[epoch];
    for (std::size_t i = from; i < list.size(); ++i) {
      if (list[i].epoch != epoch) continue;
      --a.calls;
      if (may_be_blocked(a, list[i].call)) {
        ready_calls_.push_back(list[i]);
      } else {
        --a.refs;  // the epoch itself has not been delivered yet
      }
    }
    list.erase(std::remove_if(list.begin() + static_cast<std::ptrdiff_t>(from), list.end(),
                              [&](const WaitingCall& w) { return w.epoch == epoch; }),
               list.end());
  };
  move_out(late_, late_head_);
  move_out(pending_, 0);
  next_due_ = late_head_ < late_.size() ? late_[late_head_].due : kNever;
}

void Gats::leave_post(const OpenCall& call) {
  std::erase_if(posting_, [&](const Posting& p) { return p.index == call.index; });
  if (!pending_.empty()) settle_pending();
}

const AccessEpoch* Gats::mark(ProcessId origin, WindowId window, ProcessId target, RmaId rmaid,
                              bool get) {
  for (std::uint32_t epoch = live_access_[raw(origin)]; epoch != kNone;
       epoch = accesses_[epoch].older) {
    Access& a = accesses_[epoch];
    if (a.window != window || raw(rmaid) < a.first_rmaid || raw(rmaid) > a.last_rmaid) continue;
    const std::uint32_t i = index_of(a, target);
    if (i == kNone || a.targets[i].transfers.marked >= a.targets[i].transfers.ops) continue;
    TargetTransfers& transfers = a.targets[i].transfers;
    ++transfers.marked;
    if (get) {
      transfers.marked_gets = true;
    } else if (raw(rmaid) < transfers.late_from) {
      transfers.marked_puts = true;
    }
    return &a;
  }
  return nullptr;
}

}  // namespace kojak::earl
