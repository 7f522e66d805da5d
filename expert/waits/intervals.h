// Sets of times: disjoint intervals in ascending order.
//
// Free functions on vectors, so that callers keep the memory. Nothing fails; any thread.
// Source: docs/patterns.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "expert/waits/interval.h"

namespace kojak::expert {

using Intervals = std::vector<Interval>;

// Makes a set of any intervals: sorted, merged, without empty ones.
inline void make_set(Intervals& intervals) {
  if (intervals.empty()) return;
  std::erase_if(intervals, [](const Interval& i) { return !(i.begin < i.end); });
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < intervals.size(); ++i) {
    if (intervals[i].begin <= intervals[last].end) {
      intervals[last].end = std::max(intervals[last].end, intervals[i].end);
    } else {
      intervals[++last] = intervals[i];
    }
  }
  if (!intervals.empty()) intervals.resize(last + 1);
}

// Adds to `rest` what of an interval is not in the set `taken`, of which those before number `t`
// are known to end before it. Returns the next such number.
inline std::size_t add_without(Interval i, const Intervals& taken, std::size_t t, Intervals& rest) {
  while (t < taken.size() && taken[t].end <= i.begin) ++t;
  for (std::size_t k = t; k < taken.size() && taken[k].begin < i.end; ++k) {
    if (i.begin < taken[k].begin) rest.push_back({i.begin, taken[k].begin});
    i.begin = std::max(i.begin, taken[k].end);
  }
  if (i.begin < i.end) rest.push_back(i);
  return t;
}

// What of the set `from` is not in the set `taken`.
inline Intervals without(const Intervals& from, const Intervals& taken) {
  Intervals rest;
  std::size_t t = 0;
  for (const Interval& i : from) t = add_without(i, taken, t, rest);
  return rest;
}

// Adds to the set an interval of which nothing is in it yet.
inline void add_to_set(Intervals& set, const Interval& fresh) {
  const auto next =
      std::lower_bound(set.begin(), set.end(), fresh.begin,
                       [](const Interval& i, Seconds begin) { return i.begin < begin; });
  const bool joins_next = next != set.end() && next->begin <= fresh.end;
  if (next != set.begin() && fresh.begin <= std::prev(next)->end) {
    std::prev(next)->end = joins_next ? next->end : fresh.end;
    if (joins_next) set.erase(next);
  } else if (joins_next) {
    next->begin = fresh.begin;
  } else {
    set.insert(next, fresh);
  }
}

// Length of the set within the call's exclusive time.
inline Seconds length_within(const Call& call, const Intervals& set) {
  Seconds length;
  for (const Interval& i : set) length += overlap(call, i.begin, i.end);
  return length;
}

}  // namespace kojak::expert
