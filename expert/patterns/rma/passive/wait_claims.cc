#include "expert/patterns/rma/passive/wait_claims.h"

#include <algorithm>
#include <tuple>

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

bool WaitClaims::may_count(const Window& window, const WaitingCall& waiting) const {
  const WaitingCall::Outside& outside = waiting.outside;
  if (outside.kind == ProgressKind::kNobody || !known_) return false;
  const ProgressEvidence& evidence = window.evidence;
  // One that does not count is enough to say that such were left out.
  if (!evidence.is_claimed(outside.kind) && !is_idle(outside.kind)) return true;
  return (!outside.same.empty() && !evidence.stays_void(outside.kind, true)) ||
         (!outside.other.empty() && !evidence.stays_void(outside.kind, false));
}

bool WaitClaims::locks_elsewhere(const WaitingCall& waiting) {
  return std::any_of(waiting.held.begin(), waiting.held.end(),
                     [&](const Held& h) { return h.window != waiting.window; });
}

void WaitClaims::add(WaitingCall& waiting) {
  order_ = waiting.call.exit_pos;
  std::erase_if(waiting.elsewhere,
                [&](const auto& outside) { return counts_for_nothing(outside); });
  if (several(waiting) && kept_.size() >= kMostKept) {
    ++left_out_;
    std::erase_if(waiting.elsewhere, [](const auto& outside) { return is_idle(outside.kind); });
  }
  if (!several(waiting)) return claim(waiting, waiting.contended, true);
  if (!locks_elsewhere(waiting)) {
    claim(waiting, waiting.contended, false);  // its locks are this window's matter
  }
  if (kept_.size() < kMostKept) kept_.push_back(waiting);
}

void WaitClaims::claim(const WaitingCall& waiting, bool contended, bool progress) {
  const Call& call = waiting.call;
  Window& window = windows_[waiting.window];
  unsigned matter = 0;  // the bits of the rule that make a difference for this call
  for (const Held& h : waiting.held) {
    if (h.may_need()) matter |= h.same_node ? 1u : 2u;
  }
  if (!known_) matter = 0;
  const unsigned open = known_ ? window.evidence.open_rule() : 0u;  // what it may be in the end
  const bool counts = may_count(window, waiting);
  const ProgressKind kind = waiting.outside.kind;
  std::array<Seconds, kGrantRules> held{};
  ByRule amounts{};
  bool any = false;
  for (unsigned rule = 0; rule < kGrantRules; ++rule) {
    const unsigned same = rule & matter;
    if (rule != same) {
      held[rule] = held[same];
      amounts[rule] = amounts[same];
    } else if (contended || (counts && (rule & ~open) == 0)) {
      held_times(
          waiting.held, [&](WindowId) { return rule; }, set_);
      held[rule] = length_within(call, set_);
      if (counts) {
        set_.insert(set_.end(), waiting.taken.begin(), waiting.taken.end());
        make_set(set_);
        amounts[rule] = left_over(call, waiting.outside, set_);
        if (amounts[rule].both > 0) taken_[rule] = set_;
      }
    }
    if (!(amounts[rule].both > 0)) continue;
    any = true;
    window.evidence.claimed(kind, rule);
  }
  if (contended) claim_contention(waiting, held, matter, open);
  if (!any || !progress) return;
  if (!waiting.waiters.empty()) claim_indirect(waiting, waiting.taken);
  Progress& claims = window.progress[index(kind)];
  SumsByRule& sums = claims.sums[place(call)];
  for (unsigned rule = 0; rule < kGrantRules; ++rule) {
    const Amounts& a = amounts[rule];
    sums[rule].add(a);
    if (rule == (rule & matter) && (rule & ~open) == 0) {
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
    if (a.ended_by.time != b.ended_by.time) return b.ended_by.time < a.ended_by.time;
    const auto who = [](const WaitPart& part) {
      return std::tuple(part.ended_by.location, part.operation.process, part.operation.number);
    };
    return who(a) < who(b);
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

void WaitClaims::keep_parts(const Call& call, double seconds, Waits& waits, std::size_t nth) {
  if (out_.memory() == nullptr) return;
  if (waits == nullptr) waits = std::make_unique<KeptWaits>(*out_.memory());
  for_each_part(0, call, Seconds{seconds}, parts_, unnamed(nth),
                [&](const Wait& wait) { waits->add(wait, order_); });
}

void WaitClaims::tell_parts(MetricIndex metric, const Call& call, Seconds waited,
                            Wait::Known known) {
  for_each_part(metric, call, waited, parts_, unnamed(), [&](Wait& wait) {
    wait.known = known;
    out_.wait(wait);
  });
}

void WaitClaims::take_kept(MetricIndex metric, const Waits& waits) {
  if (waits != nullptr) counted_[metric].push_back(waits.get());
}

void WaitClaims::tell_kept() {
  for (const auto& [metric, lists] : counted_) {
    KeptWaits::for_each(metric, lists, [&](const Wait& wait) { out_.wait(wait); });
  }
  counted_.clear();
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
  std::size_t nth = 0;
  for (const Call& wait : waiting.waiters) {
    ++nth;
    const std::array<double, 3> waits{length_within(wait, same).value,
                                      length_within(wait, other).value,
                                      length_within(wait, both).value};
    if (!(waits[2] > 0)) continue;
    claims.sums[place(wait)].add({waits[0], waits[1], waits[2]});
    constexpr std::array<Side, 3> kSidesOf{kMixedSame, kMixedOther, kMixedBoth};
    for (std::size_t i = 0; i < 3; ++i) {
      if (!(waits[i] > 0)) continue;
      find_absent(waiting.outside, kSidesOf[i], not_its_own);
      keep_parts(wait, waits[i], claims.waits[i], nth);
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
                                  const std::array<Seconds, kGrantRules>& held, unsigned matter,
                                  unsigned open) {
  const Call& call = waiting.call;
  if (!can_contend(call, waiting.kind)) return;
  const LockSide side = side_of(call, waiting.kind);
  if (held[0] == held[1] && held[1] == held[2] && held[2] == held[3]) {
    if (!(held[0] > Seconds{0})) return;
    find_parts(waiting.held, [](WindowId) { return 0u; });
    tell_contention(side, waiting.window, call, held[0], false);
    return;
  }
  Contention& claims = windows_[waiting.window].contention[static_cast<std::size_t>(side)];
  std::array<TimeSum, kGrantRules>& sums = claims.sums[place(call)];
  for (unsigned rule = 0; rule < kGrantRules; ++rule) {
    sums[rule].add(held[rule].value);
    const bool may_be = rule == (rule & matter) && (rule & ~open) == 0;
    if (!may_be || !(held[rule] > Seconds{0})) continue;
    find_parts(waiting.held, [rule](WindowId) { return rule; });
    keep_parts(call, held[rule].value, claims.waits[matter][rule]);
  }
}

void WaitClaims::count(WindowId window, ProgressKind kind, bool same_node, TimeSum waited) {
  (windows_[window].evidence.is_sure(kind, same_node) ? sureness_.sure : sureness_.unsure) +=
      waited;
}

void WaitClaims::finish_kept(const WaitingCall& kept) {
  const auto rule = [&](WindowId window) { return known_ ? windows_[window].evidence.rule() : 0u; };
  const bool at_end = depends_on_grants(kept.call, kept.held);
  held_times(kept.held, rule, set_);
  if (kept.contended && locks_elsewhere(kept) && can_contend(kept.call, kept.kind)) {
    const Seconds waited = length_within(kept.call, set_);
    if (waited > Seconds{0}) {
      find_parts(kept.held, rule);
      tell_contention(side_of(kept.call, kept.kind), kept.window, kept.call, waited, at_end);
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
  std::vector<const WaitingCall::Outside*> all_outside;
  for (const WaitingCall::Outside& o : kept.elsewhere) all_outside.push_back(&o);
  all_outside.push_back(&kept.outside);
  for (const WaitingCall::Outside* const o : all_outside) {
    const ProgressEvidence& w = windows_[o->window].evidence;
    for (const bool same : {true, false}) {
      const Intervals& set = same ? o->same : o->other;
      if (set.empty() || w.is_void(o->kind, same)) continue;
      outside.insert(outside.end(), set.begin(), set.end());
      if (sure) {
        window = o->window;
        kind = o->kind;
        same_node = same;
      }
      sure = sure && w.is_sure(o->kind, same);
    }
  }
  make_set(outside);
  const Seconds waited = length_within(kept.call, without(outside, taken));
  if (!(waited > Seconds{0})) return;
  absent_.clear();
  for (const WaitingCall::Outside* const o : all_outside) {
    const ProgressEvidence& w = windows_[o->window].evidence;
    for (const WaitingCall::Absent& absent : o->absent) {
      if (!w.is_void(o->kind, absent.same_node)) absent_.push_back(absent);
    }
  }
  WaitingCall::Outside all{window, kind, {}, {}, absent_};
  find_absent(all, kMixedBoth, taken);
  tell_parts(progress_metric(kept.kind, window), kept.call, waited, Wait::Known::kAtEnd);
  count(window, kind, same_node, TimeSum::of(waited.value));
}

template <class AllSums, class Value>
void WaitClaims::tell_sums(MetricIndex metric, const AllSums& sums, Value&& value) {
  for (const auto& [where, all] : sums) {
    const TimeSum waited = value(all);
    if (!waited) continue;
    out_.sum(metric, static_cast<CallPathIndex>(where >> 32), static_cast<LocationIndex>(where),
             waited);
  }
}

void WaitClaims::finish_contention(WindowId id, Window& window) {
  const unsigned rule = known_ ? window.evidence.rule() : 0u;
  for (const LockSide side : {LockSide::kTransfer, LockSide::kSync, LockSide::kShmem}) {
    Contention& claims = window.contention[static_cast<std::size_t>(side)];
    const MetricIndex metric = contention_metric(side, id);
    tell_sums(metric, claims.sums, [&](const auto& by_rule) { return by_rule[rule]; });
    for (unsigned matter = 0; matter < kGrantRules; ++matter) {
      for (unsigned other = 0; other < kGrantRules; ++other) {
        if (other != (rule & matter)) claims.waits[matter][other].reset();
      }
      take_kept(metric, claims.waits[matter][rule & matter]);
    }
  }
}

void WaitClaims::finish_progress(WindowId id, Window& window) {
  const ProgressEvidence& evidence = window.evidence;
  const unsigned rule = known_ ? evidence.rule() : 0u;
  for (std::size_t k = 0; k < kProgressKinds; ++k) {
    const auto kind = static_cast<ProgressKind>(k);
    for (const bool same_node : {false, true}) {
      sureness_.confirmed += evidence.confirmations(kind, same_node);
    }
    const bool same = !evidence.is_void(kind, true), other = !evidence.is_void(kind, false);
    if (!same && !other) continue;
    const std::size_t which = same && other ? 2 : (same ? 0 : 1);
    Progress& claims = window.progress[k];
    const MetricIndex metric = progress_metric(kind, id);
    tell_sums(metric, claims.sums, [&](const auto& by_rule) {
      const TimeSum all = by_rule[rule].of(which);
      // What those on the same node account for; the rest is the others'.
      const TimeSum here = which == 1 ? TimeSum{} : by_rule[rule].same;
      count(id, kind, true, here);
      count(id, kind, false, all - here);
      return all;
    });
    for (unsigned matter = 0; matter < kGrantRules; ++matter) {
      const std::array<Waits, kSides>& waits = claims.waits[matter][rule & matter];
      if (which != 1) take_kept(metric, waits[kSame]);
      if (which != 0) take_kept(metric, waits[kOther]);
      take_kept(metric, waits[which == 0 ? kMixedSame : which == 1 ? kMixedOther : kMixedBoth]);
    }
    if (kind != ProgressKind::kComplete) continue;
    for (const MetricIndex of : kIndirect) {
      tell_sums(of, window.indirect.sums, [&](const Sums& sums) { return sums.of(which); });
      take_kept(of, window.indirect.waits[which]);
    }
  }
}

PassiveEvidence WaitClaims::evidence() const {
  PassiveEvidence all;
  for (const auto& [id, window] : windows_) all.windows[id] = window.evidence;
  all.kept = kept_.size();
  return all;
}

// (Each wait that is kept has a sum.)
bool WaitClaims::decided() const {
  const auto nothing = [](const auto& claims) { return claims.sums.empty(); };
  return kept_.empty() && std::ranges::all_of(windows_, [&](const auto& known) {
           const Window& window = known.second;
           return std::ranges::all_of(window.progress, nothing) &&
                  std::ranges::all_of(window.contention, nothing) && nothing(window.indirect);
         });
}

void WaitClaims::finish(const PassiveEvidence* of_run) {
  if (of_run != nullptr) {
    for (const auto& [id, evidence] : of_run->windows) windows_[id].evidence = evidence;
  }
  out_.begin_stage();
  std::sort(kept_.begin(), kept_.end(), [](const WaitingCall& a, const WaitingCall& b) {
    return a.call.exit_pos < b.call.exit_pos;
  });
  for (WaitingCall& kept : kept_) {
    order_ = kept.call.exit_pos;
    std::erase_if(kept.elsewhere, [&](const auto& outside) { return counts_for_nothing(outside); });
    several(kept) ? finish_kept(kept) : claim(kept, false, true);
  }
  kept_.clear();
  out_.begin_stage();
  for (auto& [id, window] : windows_) {
    finish_contention(id, window);
    finish_progress(id, window);
  }
  tell_kept();
  for (auto& [id, window] : windows_) {
    window.progress = {};
    window.contention = {};
    window.indirect = {};
  }
}

std::uint64_t WaitClaims::voided() const {
  std::uint64_t count = 0;
  for (const auto& [id, window] : windows_) count += window.evidence.voided(known_);
  return count;
}

}  // namespace kojak::expert
