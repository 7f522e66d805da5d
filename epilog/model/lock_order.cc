#include "epilog/model/lock_order.h"

#include <algorithm>
#include <cmath>

namespace kojak::model {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// At equal times the lower rank's events come first in the file.
Seconds not_before(Seconds release, std::uint32_t holder, std::uint32_t next) {
  return holder < next ? release : Seconds{std::nextafter(release.value, kNever.value)};
}
Seconds not_after(Seconds proof, std::uint32_t holder, std::uint32_t next) {
  return holder < next ? proof : Seconds{std::nextafter(proof.value, -kNever.value)};
}

template <class Release>
Release later_of(const Release& a, const Release& b) {
  return a.time < b.time || (a.time == b.time && a.origin < b.origin) ? b : a;
}

}  // namespace

void UnlockCalls::enter(std::uint32_t process, Seconds time) {
  if (process >= open_.size()) open_.resize(process + 1);
  open_[process].push_back({calls_.begin(time), time});
}

void UnlockCalls::leave(std::uint32_t process) {
  if (process >= open_.size() || open_[process].empty()) return;
  // Where several threads call, the latest call is taken to end: the others keep the order waiting.
  calls_.end(open_[process].back().ticket);
  open_[process].pop_back();
}

void UnlockCalls::forget(std::uint32_t process) {
  while (since(process) < kNever) leave(process);
}

LockOrder::Proof LockOrder::prove(std::uint32_t origin, bool exclusive, Seconds time) {
  ProofList& list = proofs_;
  Proof made;
  if (!list.free.empty()) {
    made = list.free.back();
    list.free.pop_back();
  } else {
    made = static_cast<Proof>(list.nodes.size());
    list.nodes.emplace_back();
  }
  list.nodes[made] = {time, origin, list.tail[exclusive], kNoProof, exclusive};
  (list.tail[exclusive] == kNoProof ? list.head[exclusive]
                                    : list.nodes[list.tail[exclusive]].after) = made;
  list.tail[exclusive] = made;
  ++list.live;
  return made;
}

// Out of the order; its owner still has it.
void LockOrder::unlink(Proof proof) {
  ProofList& list = proofs_;
  ProofList::Node& node = list.nodes[proof];
  if (node.time == kNever) return;
  (node.before == kNoProof ? list.head[node.exclusive] : list.nodes[node.before].after) =
      node.after;
  (node.after == kNoProof ? list.tail[node.exclusive] : list.nodes[node.after].before) =
      node.before;
  node.time = kNever;
}

void LockOrder::withdraw(Proof proof) {
  if (proof == kNoProof) return;
  unlink(proof);
  proofs_.free.push_back(proof);
  --proofs_.live;
}

void LockOrder::insert(Sorted& list, Seconds key, std::uint32_t slot) {
  const Entry made{key, slot, slots_[slot].serial};
  auto at = list.entries.end();
  while (at != list.entries.begin() + static_cast<std::ptrdiff_t>(list.head) &&
         key < std::prev(at)->key) {
    --at;
  }
  list.entries.insert(at, made);
}

void LockOrder::trim(Sorted& list) {
  while (list.head < list.entries.size() && gone(list.entries[list.head])) ++list.head;
  if (list.head == list.entries.size()) {
    list.entries.clear();
    list.head = 0;
  } else if (list.head > 32 && 2 * list.head > list.entries.size()) {
    list.entries.erase(list.entries.begin(),
                       list.entries.begin() + static_cast<std::ptrdiff_t>(list.head));
    list.head = 0;
  }
}

void LockOrder::first_two(const Sorted& list, std::uint32_t (&two)[2]) const {
  two[0] = two[1] = kNone;
  std::size_t found = 0;
  for (std::size_t i = list.head; i < list.entries.size() && found < 2; ++i) {
    if (!gone(list.entries[i])) two[found++] = list.entries[i].slot;
  }
}

void LockOrder::close(const LockHold& hold, Proof proof) {
  withdraw(proof);
  std::uint32_t slot;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  slots_[slot].hold = hold;
  slots_[slot].live = true;
  slots_[slot].by_request = false;
  ++slots_[slot].serial;
  ++live_;
  insert(by_unlock_, hold.unlock_enter, slot);
  insert(by_proof_[hold.exclusive], hold.proof, slot);
}

Seconds LockOrder::bound(const LockHold& hold) const {
  const Seconds before = hold.exclusive ? std::max(held_[0], held_[1]) : held_[1];
  return std::max(hold.unlock_enter, std::min(before, hold.unlock_exit));
}

Seconds LockOrder::lasted(const LockHold& hold) const {
  const Seconds since = hold.exclusive ? std::max(held_[0], held_[1]) : held_[1];
  const Seconds locking = hold.lock_exit - std::max(hold.lock_enter, since);
  const Seconds proving = hold.proof - std::max(hold.proof_enter, since);
  return std::max(locking, Seconds{0}) + std::max(proving, Seconds{0});
}

// Whether one that has proved its lock, and is still inside its unlock call, may come before it.
bool LockOrder::blocked(const LockHold& hold, const UnlockCalls& unlocks) const {
  for (const bool exclusive : {true, false}) {
    if (!exclusive && !hold.exclusive) break;
    for (Proof p = proofs_.head[exclusive]; p != kNoProof; p = proofs_.nodes[p].after) {
      const ProofList::Node& node = proofs_.nodes[p];
      if (hold.proof < node.time) break;
      if (node.origin != hold.origin && unlocks.since(node.origin) <= hold.proof) return true;
    }
  }
  return false;
}

Seconds LockOrder::together(const LockHold& hold, const UnlockCalls& unlocks) const {
  const Sorted& list = by_proof_[0];
  Seconds until = bound(hold);
  std::size_t i = list.head;
  Proof p = proofs_.head[0];
  for (;;) {
    if (i < list.entries.size() && list.entries[i].key < until) {
      const Entry& e = list.entries[i++];
      if (!gone(e)) until = std::max(until, slots_[e.slot].hold.unlock_enter);
    } else if (p != kNoProof && proofs_.nodes[p].time < until) {
      until = std::max(until, unlocks.since(proofs_.nodes[p].origin));
      p = proofs_.nodes[p].after;
    } else {
      return until;
    }
  }
}

bool LockOrder::find_ready(const UnlockCalls& unlocks) {
  ready_.clear();
  trim(by_unlock_);
  trim(by_proof_[0]);
  trim(by_proof_[1]);
  std::uint32_t exclusive[2], shared[2];
  first_two(by_proof_[1], exclusive);
  first_two(by_proof_[0], shared);
  const auto proof_of = [&](std::uint32_t slot) {
    return slot == kNone ? kNever : slots_[slot].hold.proof;
  };
  // Nobody who enters unlock later than this may come next.
  const Seconds limit =
      std::max(proof_of(exclusive[0]), std::min(proof_of(exclusive[1]), proof_of(shared[0])));
  Seconds first_exclusive = kNever;  // the earliest unlock of an exclusive one
  for (std::size_t i = by_unlock_.head; exclusive[0] != kNone; ++i) {
    const Entry& entry = by_unlock_.entries[i];
    if (gone(entry) || !slots_[entry.slot].hold.exclusive) continue;
    first_exclusive = entry.key;
    break;
  }
  for (std::size_t i = by_unlock_.head; i < by_unlock_.entries.size(); ++i) {
    const Entry& entry = by_unlock_.entries[i];
    if (limit < entry.key) break;
    if (gone(entry)) continue;
    const LockHold& hold = slots_[entry.slot].hold;
    Seconds earliest = proof_of(exclusive[0]);
    if (hold.exclusive) {
      if (entry.slot == exclusive[0]) earliest = proof_of(exclusive[1]);
      earliest = std::min(earliest, proof_of(shared[0]));
    }
    // One that is open and has proved its lock has not begun to release it: it comes before this
    // one, and not after it, or the clocks are wrong.
    earliest = std::min(earliest, first_open_proof(true));
    if (hold.exclusive) earliest = std::min(earliest, first_open_proof(false));
    if (earliest < bound(hold)) continue;
    if (!hold.exclusive && earliest < kNever && earliest < together(hold, unlocks)) continue;
    const Candidate candidate{entry.slot, lasted(hold)};
    if (!hold.exclusive && hold.proof < first_exclusive) {
      ready_.assign(1, candidate);  // all exclusive ones come after it, whatever comes next
      return true;
    }
    ready_.push_back(candidate);
  }
  return false;
}

Seconds LockOrder::choose(Seconds most) {
  circle_ = ready_.empty();
  if (circle_) {
    chosen_ = by_unlock_.entries[by_unlock_.head].slot;
    return Seconds{0};
  }
  const Candidate* best = nullptr;
  for (const Candidate& c : ready_) {
    if (most < c.lasted) continue;
    if (best != nullptr) {
      const LockHold& a = slots_[c.slot].hold;
      const LockHold& b = slots_[best->slot].hold;
      if (b.lock_enter < a.lock_enter || (b.lock_enter == a.lock_enter && b.origin < a.origin)) {
        continue;
      }
    }
    best = &c;
  }
  chosen_ = best->slot;
  return best->lasted;
}

bool LockOrder::next(Seconds now, const UnlockCalls& unlocks, Open open, Seconds& due) {
  due = kNever;
  if (live_ == 0) return false;
  const bool alone = find_ready(unlocks);
  Seconds least = kNever;
  for (const Candidate& c : ready_) least = std::min(least, c.lasted);
  const Seconds most{kClear * least.value};
  const Seconds lasts = choose(most);
  const LockHold& hold = slots_[chosen_].hold;
  const bool rivals = open.exclusive || (!alone && open.shared);
  if (now < kNever && rivals) {
    if (!(hold.proof < now)) {  // somebody may enter unlock at this very time
      due = hold.proof;
      return false;
    }
    if (!(hold.proof < unlocks.first())) {
      const Seconds surely{hold.proof.value + kClear * lasts.value};
      if (blocked(hold, unlocks)) return false;
      // Who leaves unlock later than these times is no rival, and comes after all of them.
      const Seconds held = hold.exclusive ? surely : together(hold, unlocks);
      due = std::max(surely, held);
      if (!(due < now)) return false;
    }
  }
  for (const Candidate& c : ready_) {
    Slot& other = slots_[c.slot];
    if (c.slot == chosen_ || most < c.lasted || !(hold.exclusive || other.hold.exclusive)) continue;
    other.by_request = true;
  }
  return true;
}

// The earliest proof of those that come later and conflict.
Seconds LockOrder::first_later_proof(const LockHold& hold, std::uint32_t slot,
                                     std::uint32_t& origin) const {
  Seconds first = kNever;
  const auto take = [&](Seconds proof, std::uint32_t of) {
    if (of == hold.origin || first < proof || (first == proof && origin < of)) return;
    first = proof;
    origin = of;
  };
  for (const bool exclusive : {true, false}) {
    if (!exclusive && !hold.exclusive) break;
    const Sorted& list = by_proof_[exclusive];
    for (std::size_t i = list.head; i < list.entries.size(); ++i) {
      const Entry& e = list.entries[i];
      if (hold.unlock_exit < e.key || first < e.key) break;
      if (!gone(e) && e.slot != slot) take(e.key, slots_[e.slot].hold.origin);
    }
    for (Proof p = proofs_.head[exclusive]; p != kNoProof; p = proofs_.nodes[p].after) {
      if (first < proofs_.nodes[p].time) break;
      take(proofs_.nodes[p].time, proofs_.nodes[p].origin);
    }
  }
  return first;
}

bool LockOrder::may_be_earlier(const Placed& shared, Open open) {
  trim(by_proof_[1]);
  if (!by_proof_[1].entries.empty()) return true;
  if (!open.exclusive) return false;
  trim(by_proof_[0]);
  const Proof first = proofs_.head[0];
  return (first != kNoProof && proofs_.nodes[first].time < shared.release) ||
         (!by_proof_[0].entries.empty() &&
          by_proof_[0].entries[by_proof_[0].head].key < shared.release);
}

void LockOrder::place(Open open) {
  told_.clear();
  Slot& slot = slots_[chosen_];
  const LockHold& hold = slot.hold;
  const bool exclusive = hold.exclusive;
  const Seconds earliest = bound(hold);
  std::uint32_t later = 0;
  const Seconds proof = first_later_proof(hold, chosen_, later);
  Placed placed;
  placed.hold = hold;
  const auto latest = [&](const Seconds(&times)[2]) {
    return exclusive ? std::max(times[0], times[1]) : times[1];
  };
  placed.decision = circle_                                ? LockDecision::kCircle
                    : slot.by_request                      ? LockDecision::kRequests
                    : hold.unlock_enter <= latest(proved_) ? LockDecision::kDurations
                    : hold.lock_enter < latest(left_)      ? LockDecision::kProof
                                                           : LockDecision::kAlone;
  Seconds release = hold.unlock_exit;
  if (proof < kNever) {
    Seconds limit = not_after(proof, hold.origin, later);
    // Room for turns between this one and that: each may need the smallest step.
    for (int step = 0; step < 16; ++step) {
      limit = Seconds{std::nextafter(limit.value, -kNever.value)};
    }
    release = std::min(release, limit);
  }
  release = std::max(release, earliest);
  if (exclusive) {
    // The shared ones before it had released when it proved its lock, or released it for others.
    const Seconds granted = std::min(hold.proof, release);
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      Placed& s = shared_[i];
      if (s.hold.origin != hold.origin) {
        s.release = std::min(s.release, not_after(granted, s.hold.origin, hold.origin));
        s.release = std::max({s.release, shared_bounds_[i], s.grant});
      }
      freed_[0] = later_of(freed_[0], {s.release, s.hold.origin});
      told_.push_back(s);
    }
    shared_.clear();
    shared_bounds_.clear();
  }
  const Release before = exclusive ? later_of(freed_[0], freed_[1]) : freed_[1];
  placed.free = before.time;
  Seconds grant = hold.lock_enter;
  if (before.time.value > -kNever.value) {
    grant = std::max(grant, not_before(before.time, before.origin, hold.origin));
  }
  placed.grant = std::min(grant, hold.proof);
  placed.release = std::max(release, placed.grant);
  held_[exclusive] = std::max(held_[exclusive], earliest);
  left_[exclusive] = std::max(left_[exclusive], hold.unlock_exit);
  proved_[exclusive] = std::max(proved_[exclusive], hold.proof);
  slot.live = false;
  free_.push_back(chosen_);
  --live_;
  if (!exclusive && may_be_earlier(placed, open)) {
    shared_.push_back(placed);
    shared_bounds_.push_back(earliest);
    return;
  }
  freed_[exclusive] = later_of(freed_[exclusive], {placed.release, hold.origin});
  told_.push_back(placed);
}

void LockOrder::tell_shared() {
  told_.clear();
  for (const Placed& s : shared_) {
    freed_[0] = later_of(freed_[0], {s.release, s.hold.origin});
    told_.push_back(s);
  }
  shared_.clear();
  shared_bounds_.clear();
}

}  // namespace kojak::model
