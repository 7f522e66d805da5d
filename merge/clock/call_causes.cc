#include "merge/clock/call_causes.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kojak::merge {
namespace {

using Members = std::vector<CallMember>;

bool later(const CallMember& a, const CallMember& b) {
  return a.enter > b.enter || (a.enter == b.enter && a.process > b.process);
}

std::vector<std::size_t> sorted(const Members& members,
                                bool (*before)(const CallMember&, const CallMember&)) {
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return before(members[a], members[b]); });
  return order;
}
std::vector<std::size_t> by_enter(const Members& members) {
  return sorted(members, [](const CallMember& a, const CallMember& b) { return later(b, a); });
}
std::vector<std::size_t> by_order(const Members& members) {
  return sorted(members,
                [](const CallMember& a, const CallMember& b) { return a.order < b.order; });
}

std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
  return a > ~std::uint64_t{0} - b ? ~std::uint64_t{0} : a + b;
}

// How many of those who entered first must have entered before each member leaves.
std::vector<std::size_t> supply_needed(const Members& members,
                                       const std::vector<std::size_t>& order) {
  std::vector<std::uint64_t> sum(order.size() + 1, 0);
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sum[i + 1] = sum_of(sum[i], members[order[i]].sent);
  }
  std::vector<std::size_t> needed(order.size(), 0);
  for (std::size_t m = 0; m < members.size(); ++m) {
    const CallMember& member = members[m];
    if (!member.effect || member.got <= member.sent) continue;
    // What the first k have, with its own whether or not it is among them.
    const auto has = [&](std::size_t k) {
      return k > place[m] ? sum[k] : sum_of(sum[k], member.sent);
    };
    std::size_t from = 0, to = order.size();
    while (from < to) {
      const std::size_t middle = from + (to - from) / 2;
      if (has(middle) >= member.got) {
        to = middle;
      } else {
        from = middle + 1;
      }
    }
    if (has(from) >= member.got) needed[m] = from;  // else the traces contradict each other
  }
  return needed;
}

// Across two groups: what flows to one of them, as the same rule within one group.
CallRule within(CallRule rule) {
  return rule == CallRule::kAcrossSupply ? CallRule::kSupply : CallRule::kAll;
}
Members towards(const Members& members, std::uint32_t group) {
  Members result = members;
  for (CallMember& m : result) {
    if (m.order == group) {
      m.cause = false;
      m.sent = 0;
    } else {
      m.effect = false;
    }
  }
  return result;
}

// Whom of its neighbours a member needs, the last one last.
std::vector<std::size_t> near_needed(const Members& members, std::size_t m, CallRule rule,
                                     const std::vector<std::size_t>& neighbours) {
  std::vector<std::size_t> needed;
  if (!members[m].effect) return needed;
  std::uint64_t has = 0;
  for (const std::size_t n : neighbours) {
    if (n == m) {
      has = members[m].sent;
    } else if (n != kNoMember && members[n].cause) {
      needed.push_back(n);
    }
  }
  std::sort(needed.begin(), needed.end(),
            [&](std::size_t a, std::size_t b) { return later(members[b], members[a]); });
  if (rule == CallRule::kNear) return needed;
  std::size_t count = 0;
  while (count < needed.size() && has < members[m].got) {
    has = sum_of(has, members[needed[count++]].sent);
  }
  needed.resize(has >= members[m].got ? count : 0);  // else the traces contradict each other
  return needed;
}

}  // namespace

std::vector<std::size_t> last_needed(const Members& members, CallRule rule,
                                     const CallNeighbours& neighbours) {
  std::vector<std::size_t> needed(members.size(), kNoMember);
  const auto latest = [&](std::size_t a, std::size_t b) {
    return a == kNoMember || (b != kNoMember && later(members[b], members[a])) ? b : a;
  };
  if (rule == CallRule::kLower) {
    std::size_t lower = kNoMember;
    for (const std::size_t m : by_order(members)) {
      if (members[m].effect) needed[m] = lower;
      if (members[m].cause) lower = latest(lower, m);
    }
  } else if (rule == CallRule::kSupply) {
    const std::vector<std::size_t> order = by_enter(members);
    const std::vector<std::size_t> count = supply_needed(members, order);
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (count[m] != 0) needed[m] = order[count[m] - 1];
    }
  } else if (rule == CallRule::kAcross || rule == CallRule::kAcrossSupply) {
    for (const std::uint32_t group : {0u, 1u}) {
      const std::vector<std::size_t> there = last_needed(towards(members, group), within(rule));
      for (std::size_t m = 0; m < members.size(); ++m) {
        if (members[m].order == group) needed[m] = there[m];
      }
    }
  } else if (rule == CallRule::kNear || rule == CallRule::kNearSupply) {
    for (std::size_t m = 0; m < members.size(); ++m) {
      const std::vector<std::size_t> list = near_needed(members, m, rule, neighbours[m]);
      if (!list.empty()) needed[m] = list.back();
    }
  } else {
    std::size_t last = kNoMember, other = kNoMember;  // the last, and the last but one
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (!members[m].cause) continue;
      if (latest(last, m) == m) {
        other = last;
        last = m;
      } else {
        other = latest(other, m);
      }
    }
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (members[m].effect) needed[m] = m == last ? other : last;
    }
  }
  return needed;
}

std::vector<double> latest_enters(const Members& members, CallRule rule,
                                  const std::vector<double>& exits,
                                  const CallNeighbours& neighbours) {
  std::vector<double> limits(members.size(), kNoLimit);
  double first = kNoLimit;
  if (rule == CallRule::kLower) {
    const std::vector<std::size_t> order = by_order(members);
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      if (members[*at].cause) limits[*at] = first;
      if (members[*at].effect) first = std::min(first, exits[*at]);
    }
  } else if (rule == CallRule::kSupply) {
    const std::vector<std::size_t> order = by_enter(members);
    const std::vector<std::size_t> count = supply_needed(members, order);
    std::vector<double> until(order.size() + 1, kNoLimit);  // exit of who needs the first so many
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (count[m] != 0) until[count[m]] = std::min(until[count[m]], exits[m]);
    }
    for (std::size_t i = order.size(); i > 0; --i) {
      first = std::min(first, until[i]);
      if (members[order[i - 1]].cause) limits[order[i - 1]] = first;
    }
  } else if (rule == CallRule::kAcross || rule == CallRule::kAcrossSupply) {
    for (const std::uint32_t group : {0u, 1u}) {
      const std::vector<double> there = latest_enters(towards(members, group), within(rule), exits);
      for (std::size_t m = 0; m < members.size(); ++m) {
        if (members[m].order != group) limits[m] = there[m];
      }
    }
  } else if (rule == CallRule::kNear || rule == CallRule::kNearSupply) {
    for (std::size_t m = 0; m < members.size(); ++m) {
      for (const std::size_t n : near_needed(members, m, rule, neighbours[m])) {
        limits[n] = std::min(limits[n], exits[m]);
      }
    }
  } else {
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (members[m].effect) first = std::min(first, exits[m]);
    }
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (members[m].cause) limits[m] = first;
    }
  }
  return limits;
}

}  // namespace kojak::merge
