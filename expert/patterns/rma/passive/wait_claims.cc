#include "expert/patterns/rma/passive/wait_claims.h"

#include <algorithm>

namespace kojak::expert {
namespace {

using Held = WaitingCall::Held;

// Indirect Wait is a part of Early Wait: what is told of it is told of both.
constexpr std::array<MetricIndex, 2> kIndirect{metric_index<IndirectWait>(),
                                               metric_index<EarlyWait>()};

// When locks were held by others, if the rule of each window is known: rule(WindowId).
template <class Rule>
void held_times(const std::vector<Held>& held, Rule&& rule, Intervals& set) {
  set.clear();
  for (const Held& h : held) {
    h.under(rule(h.window), [&](const Interval& when) { set.push_back(when); });
  }
  make_set(set);
}

}  // namespace

bool WaitClaims::depends_on_grants(const Call& call, const std::vector<Held>& held) {
  if (!known_ || std::none_of(held.begin(), held.end(), [](const Held& h) { return h.may_need(); }))
    return false;
  const auto length = [&](unsigned rule) {
    held_times(
        held, [rule](WindowId) { return rule; }, set_);
    return length_within(call, set_);
  };
  return !(length(0) == length(kGrantRules - 1));
}

// Transfers, locks and local flushes may return early: they stand or fall with the calls that
// complete. But that data need nobody says nothing of locks where lock calls wait for their target.
bool WaitClaims::Window::is_void(ProgressKind kind, bool same_node) const {
  if (kind == ProgressKind::kLock) {
    return is_void(ProgressKind::kPassiveTransfer, same_node) && !locks_wait(same_node);
  }
  return stays_void(kind, same_node);
}

bool WaitClaims::Window::stays_void(ProgressKind kind, bool same_node) const {
  const auto seen = [&](ProgressKind k) { return asynchronous[index(k)][same_node] != 0; };
  switch (kind) {
    case ProgressKind::kAccessTransfer:
      return seen(ProgressKind::kComplete);
    case ProgressKind::kLock:
      return seen(ProgressKind::kLock) && stays_void(ProgressKind::kPassiveTransfer, same_node);
    case ProgressKind::kPassiveTransfer:
    case ProgressKind::kFlushLocal:
      return seen(ProgressKind::kFlush) || seen(ProgressKind::kUnlock) ||
             seen(ProgressKind::kGetWait);
    case ProgressKind::kShmemPut:
      return seen(ProgressKind::kShmemGet) || seen(ProgressKind::kShmemQuiet);
    case ProgressKind::kShmemAtomic:
      return seen(ProgressKind::kShmemFetch);
    case ProgressKind::kShmemLock:  // of UPC, which has no such operations, by the locks themselves
      return seen(ProgressKind::kShmemFetch) || seen(ProgressKind::kShmemLock);
    default:
      return seen(kind);
  }
}

bool WaitClaims::Window::is_sure(ProgressKind kind, bool same_node) const {
  if (is_idle(kind)) return confirmations(kind, same_node) != 0;
  for (std::size_t k = 0; k < kProgressKinds; ++k) {
    const auto other = static_cast<ProgressKind>(k);
    if (!is_idle(other) && confirmations(other, same_node) != 0) return true;
  }
  return false;
}

bool WaitClaims::Window::locks_wait(bool same_node) const {
  constexpr std::size_t kLock = index(ProgressKind::kLock);
  return confirmed[kLock][same_node] != 0 && asynchronous[kLock][same_node] == 0;
}

// Locks confirm something only where nothing else tells of them. Where no one is asked that nothing
// is outstanding to, a call did not end after its return but by chance.
std::uint64_t WaitClaims::Window::confirmations(ProgressKind kind, bool same_node) const {
  if (is_idle(kind) && is_void(kind, same_node)) return 0;
  if (kind == ProgressKind::kLock &&
      !(is_void(ProgressKind::kPassiveTransfer, same_node) && locks_wait(same_node)))
    return 0;
  return confirmed[index(kind)][same_node];
}

unsigned WaitClaims::Window::rule() const {
  const auto needed = [&](bool same_node) {
    return !is_void(ProgressKind::kLock, same_node) &&
           !is_void(ProgressKind::kShmemLock, same_node);
  };
  return (needed(true) ? 1u : 0u) | (needed(false) ? 2u : 0u);
}

unsigned WaitClaims::Window::open_rule() const {
  const auto open = [&](bool same_node) {
    return !stays_void(ProgressKind::kLock, same_node) &&
           !stays_void(ProgressKind::kShmemLock, same_node);
  };
  return (open(true) ? 1u : 0u) | (open(false) ? 2u : 0u);
}

WaitClaims::Amounts WaitClaims::left_over(const Call& call, const WaitingCall::Outside& outside,
                                          const Intervals& taken) {
  if (taken.empty() && (outside.same.empty() || outside.other.empty())) [[likely]] {
    const double same = length_within(call, outside.same).value;
    const double other = length_within(call, outside.other).value;
    return {same, other, same + other};
  }
  const Intervals same = without(outside.same, taken);
  const Intervals other = without(outside.other, taken);
  Intervals both = same;
  both.insert(both.end(), other.begin(), other.end());
  make_set(both);
  return {length_within(call, same).value, length_within(call, other).value,
          length_within(call, both).value};
}

bool WaitClaims::may_count(const Window& window, const WaitingCall& waiting) {
  const WaitingCall::Outside& outside = waiting.outside;
  // One that does not count is enough to say that such were left out.
  if (window.progress[index(outside.kind)].sums.empty() && !is_idle(outside.kind)) return true;
  return (!outside.same.empty() && !window.stays_void(outside.kind, true)) ||
         (!outside.other.empty() && !window.stays_void(outside.kind, false));
}

void WaitClaims::add(WaitingCall& waiting) {
  const Call& call = waiting.call;
  std::erase_if(waiting.elsewhere,
                [&](const auto& outside) { return counts_for_nothing(outside); });
  const auto several = [&] {
    return !waiting.elsewhere.empty() ||
           std::any_of(waiting.held.begin(), waiting.held.end(),
                       [&](const Held& h) { return h.window != waiting.window; });
  };
  if (several() && kept_.size() >= kMostKept) {
    ++left_out_;
    std::erase_if(waiting.elsewhere, [](const auto& outside) { return is_idle(outside.kind); });
    if (several()) return;
  }
  if (several()) {
    Kept kept{call,          waiting.kind, waiting.contended, waiting.elsewhere,
              waiting.taken, waiting.held};
    kept.outside.push_back(waiting.outside);
    kept_.push_back(std::move(kept));
    return;
  }
  Window& window = windows_[waiting.window];
  unsigned matter = 0;  // the bits of the rule that make a difference for this call
  for (const Held& h : waiting.held) {
    if (h.may_need()) matter |= h.same_node ? 1u : 2u;
  }
  // Where it is known for good that grants need nobody, the end tells nothing else.
  matter &= known_ ? window.open_rule() : 0u;
  const bool progress =
      waiting.outside.kind != ProgressKind::kNobody && known_ && may_count(window, waiting);
  std::array<Seconds, kGrantRules> held{};
  ByRule amounts{};
  bool any = false;
  for (unsigned rule = 0; rule < kGrantRules; ++rule) {
    if (rule != (rule & matter)) {
      held[rule] = held[rule & matter];
      amounts[rule] = amounts[rule & matter];
      continue;
    }
    held_times(
        waiting.held, [&](WindowId) { return rule; }, set_);
    held[rule] = length_within(call, set_);
    if (!progress) continue;
    set_.insert(set_.end(), waiting.taken.begin(), waiting.taken.end());
    make_set(set_);
    amounts[rule] = left_over(call, waiting.outside, set_);
    any = any || amounts[rule].both > 0;
    if (amounts[rule].both > 0) taken_[rule] = set_;
  }
  if (waiting.contended) claim_contention(waiting, held, matter);
  if (!any) return;
  if (!waiting.waiters.empty()) claim_indirect(waiting, waiting.taken);
  Progress& claims = window.progress[index(waiting.outside.kind)];
  SumsByRule& sums = claims.sums[place(call)];
  for (unsigned rule = 0; rule < kGrantRules; ++rule) {
    const Amounts& a = amounts[rule];
    sums[rule].add(a);
    if (rule == (rule & matter)) {
      claim_progress(waiting, a, taken_[rule], claims.waits[matter][rule]);
    }
  }
}

void WaitClaims::claim_progress(const WaitingCall& waiting, const Amounts& amounts,
                                const Intervals& taken, std::array<Waits, kSides>& waits) {
  const WaitingCall::Outside& outside = waiting.outside;
  const auto claim = [&](Side side, double seconds) {
    if (!(seconds > 0)) return;
    find_absent(outside, side, taken);
    keep_parts(waiting.call, seconds, waits[side]);
  };
  if (outside.other.empty()) return claim(kSame, amounts.same);
  if (outside.same.empty()) return claim(kOther, amounts.other);
  claim(kMixedSame, amounts.same);
  claim(kMixedOther, amounts.other);
  claim(kMixedBoth, amounts.both);
}

void WaitClaims::find_absent(const WaitingCall::Outside& outside, Side side,
                             const Intervals& taken) {
  parts_.clear();
  for (const WaitingCall::Absent& absent : outside.absent) {
    const bool counts =
        side == kMixedBoth || absent.same_node == (side == kSame || side == kMixedSame);
    if (!counts) continue;
    Operation of{.object = Operation::Object::kWindow,
                 .scattered = true,
                 .id = raw(absent.window),
                 .process = raw(absent.target),
                 .number = absent.number};
    if (is_symmetric(absent.window)) of.object = Operation::Object::kNothing;
    if (absent.allocation != 0) {
      of.object = Operation::Object::kAllocation;
      of.id = absent.allocation;
    }
    parts_.push_back({absent.when, absent.ended_by, of});
  }
  leave_to_latest(taken);
}

void WaitClaims::leave_to_latest(const Intervals& taken) {
  const auto later = [](const WaitPart& a, const WaitPart& b) {
    return b.ended_by.time < a.ended_by.time;
  };
  if (!std::is_sorted(parts_.begin(), parts_.end(), later)) {
    std::stable_sort(parts_.begin(), parts_.end(), later);
  }
  if (parts_.size() > kMostParts) parts_.resize(kMostParts);
  whole_.swap(parts_);
  parts_.clear();
  left_ = taken;
  for (WaitPart& part : whole_) {
    pieces_.clear();
    add_without(part.when, left_, 0, pieces_);
    for (const Interval& piece : pieces_) {
      part.when = piece;
      parts_.push_back(part);
      add_to_set(left_, piece);
    }
  }
  std::reverse(parts_.begin(), parts_.end());  // those that let go first come first
}

void WaitClaims::keep_parts(const Call& call, double seconds, Waits& waits) {
  if (out_.memory() == nullptr) return;
  if (waits == nullptr) waits = std::make_unique<KeptWaits>(*out_.memory());
  for_each_part(0, call, Seconds{seconds}, parts_, ++unnamed_,
                [&](const Wait& wait) { waits->add(wait); });
}

void WaitClaims::tell_parts(MetricIndex metric, const Call& call, Seconds waited,
                            Wait::Known known) {
  for_each_part(metric, call, waited, parts_, ++unnamed_, [&](Wait& wait) {
    wait.known = known;
    out_.wait(wait);
  });
}

void WaitClaims::tell_kept(MetricIndex metric, const Waits& waits) {
  if (waits == nullptr) return;
  waits->for_each([&](Wait& wait) {
    wait.metric = metric;
    out_.wait(wait);
  });
}

void WaitClaims::claim_indirect(const WaitingCall& waiting, const Intervals& taken) {
  const Call& call = waiting.call;
  Intervals not_its_own = taken;  // what it did in nested calls, and outside of it
  for (const earl::Interval& hole : call.holes.span()) not_its_own.push_back(hole);
  not_its_own.push_back({Seconds{-Presence::kNever.value}, call.enter});
  not_its_own.push_back({call.exit, Presence::kNever});
  make_set(not_its_own);
  const Intervals same = without(waiting.outside.same, not_its_own);
  const Intervals other = without(waiting.outside.other, not_its_own);
  Intervals both = same;
  both.insert(both.end(), other.begin(), other.end());
  make_set(both);
  Indirect& claims = windows_[waiting.window].indirect;
  for (const Call& wait : waiting.waiters) {
    const std::array<double, 3> waits{length_within(wait, same).value,
                                      length_within(wait, other).value,
                                      length_within(wait, both).value};
    if (!(waits[2] > 0)) continue;
    claims.sums[place(wait)].add({waits[0], waits[1], waits[2]});
    constexpr std::array<Side, 3> kSidesOf{kMixedSame, kMixedOther, kMixedBoth};
    for (std::size_t i = 0; i < 3; ++i) {
      if (!(waits[i] > 0)) continue;
      find_absent(waiting.outside, kSidesOf[i], not_its_own);
      keep_parts(wait, waits[i], claims.waits[i]);
    }
  }
}

template <class Rule>
void WaitClaims::find_parts(const std::vector<Held>& held, Rule&& rule) {
  parts_.clear();
  for (const Held& h : held) {
    h.under(rule(h.window), [&](const Interval& when) {
      parts_.push_back(
          {when,
           {h.location, h.call_path, h.release, true},
           {.object = h.lock != kAbsent ? Operation::Object::kLock : Operation::Object::kWindow,
            .scattered = true,
            .id = h.lock != kAbsent ? h.lock : raw(h.window),
            .process = h.lock != kAbsent ? kNoLocation : raw(h.target),
            .number = h.turn}});
    });
  }
  leave_to_latest({});
}

void WaitClaims::claim_contention(const WaitingCall& waiting,
                                  const std::array<Seconds, kGrantRules>& held, unsigned matter) {
  const Call& call = waiting.call;
  if (!can_contend(call, waiting.kind)) return;
  const LockSide side = side_of(call, waiting.kind);
  if (held[0] == held[1] && held[1] == held[2] && held[2] == held[3]) {
    if (!(held[0] > Seconds{0})) return;
    const bool at_end = depends_on_grants(call, waiting.held);
    find_parts(waiting.held, [](WindowId) { return 0u; });
    tell_contention(side, waiting.window, call, held[0], at_end);
    return;
  }
  Contention& claims = windows_[waiting.window].contention[static_cast<std::size_t>(side)];
  std::array<TimeSum, kGrantRules>& sums = claims.sums[place(call)];
  for (unsigned rule = 0; rule < kGrantRules; ++rule) {
    sums[rule].add(held[rule].value);
    if (rule != (rule & matter) || !(held[rule] > Seconds{0})) continue;
    find_parts(waiting.held, [rule](WindowId) { return rule; });
    keep_parts(call, held[rule].value, claims.waits[matter][rule]);
  }
}

void WaitClaims::count(WindowId window, ProgressKind kind, bool same_node, TimeSum waited) {
  (windows_[window].is_sure(kind, same_node) ? sureness_.sure : sureness_.unsure) += waited;
}

void WaitClaims::finish_kept(const Kept& kept) {
  const auto rule = [&](WindowId window) { return known_ ? windows_[window].rule() : 0u; };
  const bool at_end = depends_on_grants(kept.call, kept.held);
  held_times(kept.held, rule, set_);
  if (kept.contended && can_contend(kept.call, kept.kind)) {
    const Seconds waited = length_within(kept.call, set_);
    if (waited > Seconds{0}) {
      find_parts(kept.held, rule);
      tell_contention(side_of(kept.call, kept.kind), kept.outside.front().window, kept.call, waited,
                      at_end);
    }
  }
  if (kept.kind == ProgressKind::kNobody || !known_) return;
  Intervals taken = kept.taken;
  taken.insert(taken.end(), set_.begin(), set_.end());
  make_set(taken);
  Intervals outside;
  bool sure = true;
  WindowId window{};
  ProgressKind kind{};
  bool same_node = false;
  for (const WaitingCall::Outside& o : kept.outside) {
    const Window& w = windows_[o.window];
    for (const bool same : {true, false}) {
      const Intervals& set = same ? o.same : o.other;
      if (set.empty() || w.is_void(o.kind, same)) continue;
      outside.insert(outside.end(), set.begin(), set.end());
      if (sure) {
        window = o.window;
        kind = o.kind;
        same_node = same;
      }
      sure = sure && w.is_sure(o.kind, same);
    }
  }
  make_set(outside);
  const Seconds waited = length_within(kept.call, without(outside, taken));
  if (!(waited > Seconds{0})) return;
  absent_.clear();
  for (const WaitingCall::Outside& o : kept.outside) {
    for (const WaitingCall::Absent& absent : o.absent) {
      if (!windows_[o.window].is_void(o.kind, absent.same_node)) absent_.push_back(absent);
    }
  }
  WaitingCall::Outside all{window, kind, {}, {}, absent_};
  find_absent(all, kMixedBoth, taken);
  tell_parts(progress_metric(kept.kind, window), kept.call, waited, Wait::Known::kAtEnd);
  count(window, kind, same_node, TimeSum::of(waited.value));
}

void WaitClaims::finish_progress(Progress& claims, MetricIndex metric, unsigned rule,
                                 std::size_t which) {
  const auto tell = [&](Side side) {
    for (unsigned matter = 0; matter < kGrantRules; ++matter) {
      Waits& waits = claims.waits[matter][rule & matter][side];
      tell_kept(metric, waits);
      waits.reset();
    }
  };
  if (which != 1) tell(kSame);
  if (which != 0) tell(kOther);
  tell(which == 0 ? kMixedSame : which == 1 ? kMixedOther : kMixedBoth);
}

void WaitClaims::finish() {
  for (const Kept& kept : kept_) finish_kept(kept);
  kept_.clear();
  for (auto& [id, window] : windows_) {
    const unsigned rule = known_ ? window.rule() : 0u;
    for (const LockSide side : {LockSide::kTransfer, LockSide::kSync, LockSide::kShmem}) {
      Contention& claims = window.contention[static_cast<std::size_t>(side)];
      for (const auto& [where, sums] : claims.sums) {
        if (!sums[rule]) continue;
        out_.sum(contention_metric(side, id), static_cast<CallPathIndex>(where >> 32),
                 static_cast<LocationIndex>(where), sums[rule]);
      }
      for (unsigned matter = 0; matter < kGrantRules; ++matter) {
        for (unsigned other = 0; other < kGrantRules; ++other) {
          if (other != (rule & matter)) claims.waits[matter][other].reset();
        }
        Waits& waits = claims.waits[matter][rule & matter];
        tell_kept(contention_metric(side, id), waits);
        waits.reset();
      }
    }
    for (std::size_t k = 0; k < kProgressKinds; ++k) {
      const auto kind = static_cast<ProgressKind>(k);
      for (const bool same_node : {false, true}) {
        sureness_.confirmed += window.confirmations(kind, same_node);
      }
      const bool same = !window.is_void(kind, true), other = !window.is_void(kind, false);
      if (!same && !other) continue;
      const std::size_t which = same && other ? 2 : (same ? 0 : 1);
      Progress& claims = window.progress[k];
      for (const auto& [where, sums] : claims.sums) {
        const Sums& a = sums[rule];
        const TimeSum value = a.of(which);
        if (!value) continue;
        out_.sum(progress_metric(kind, id), static_cast<CallPathIndex>(where >> 32),
                 static_cast<LocationIndex>(where), value);
        count(id, kind, which != 1 && a.same, value);
      }
      finish_progress(claims, progress_metric(kind, id), rule, which);
      if (kind == ProgressKind::kComplete) {
        for (const auto& [where, a] : window.indirect.sums) {
          const TimeSum waited = a.of(which);
          if (!waited) continue;
          for (const MetricIndex metric : kIndirect) {
            out_.sum(metric, static_cast<CallPathIndex>(where >> 32),
                     static_cast<LocationIndex>(where), waited);
          }
        }
        Waits& waits = window.indirect.waits[which];
        for (const MetricIndex metric : kIndirect) tell_kept(metric, waits);
        waits.reset();
      }
    }
  }
}

std::uint64_t WaitClaims::voided() const {
  std::uint64_t count = 0;
  for (const auto& [id, window] : windows_) {
    for (std::size_t k = 0; k < kProgressKinds; ++k) {
      const auto kind = static_cast<ProgressKind>(k);
      if (is_idle(kind)) continue;  // that nobody asks is the rule
      count += !window.progress[k].sums.empty() &&
               (window.is_void(kind, true) || window.is_void(kind, false));
    }
  }
  return count;
}

}  // namespace kojak::expert
