#include "expert/sums/unexplained.h"

#include <algorithm>
#include <cmath>

namespace kojak::expert {

const Unexplained::Steps& Unexplained::steps() {
  static const Steps all = [] {
    Steps s{};
    // Exact where tens are: ten times an end is an end.
    for (unsigned i = 0; i < kSteps; ++i) {
      s.ends[i] = std::pow(10.0, static_cast<double>((i + 1) % 10) / 10) *
                  std::pow(10.0, static_cast<double>((i + 1) / 10) - 9);
    }
    for (int e = 0; e < 2048; ++e) {
      const double least = std::ldexp(1.0, std::max(e - 1023, -1022));
      unsigned step = 0;
      while (step + 1 < kSteps && s.ends[step] <= least) ++step;
      s.first_of[static_cast<std::size_t>(e)] = static_cast<std::uint8_t>(step);
    }
    return s;
  }();
  return all;
}

void Unexplained::add_long(const earl::Call& call) {
  const CallPathIndex path = raw(call.cnode);
  if (path >= functions_.size()) functions_.resize(path + 1);
  functions_[path] = call.function;
  move(path, call.index, TimeSum::of(call.exclusive.value), 1);
}

// Adds a rest, or takes one away that was added before.
void Unexplained::move(CallPathIndex path, LocationIndex location, TimeSum rest,
                       std::int64_t calls) {
  if (rest <= TimeSum::of(kLong)) return;
  const unsigned step = step_of({rest.seconds()});
  Rests& rests = rests_.row(path)[location];
  const auto at =
      std::find_if(rests.begin(), rests.end(), [&](const Rest& r) { return r.step == step; });
  Rest& sum = at != rests.end() ? *at : rests.emplace_back(Rest{step});
  sum.calls += calls;
  calls > 0 ? sum.sum += rest : sum.sum -= rest;
}

void Unexplained::claim(const earl::Call& call, Seconds seconds) {
  if (call.function == nullptr || !concerns(*call.function) || call.joined ||
      call.exclusive.value <= kLong) {
    return;
  }
  std::vector<Claimed>& recent = recent_[call.index];
  const auto at = std::find_if(recent.rbegin(), recent.rend(),
                               [&](const Claimed& c) { return c.enter_pos == call.enter_pos; });
  if (at != recent.rend()) {
    at->claimed.add(seconds.value);
    return;
  }
  if (recent.size() == kRecent) {
    settle(call.index, recent.front());
    recent.erase(recent.begin());
  }
  recent.push_back({call.enter_pos, raw(call.cnode), TimeSum::of(call.exclusive.value),
                    TimeSum::of(seconds.value)});
}

void Unexplained::settle(LocationIndex location, const Claimed& claimed) {
  move(claimed.path, location, claimed.duration, -1);
  move(claimed.path, location, claimed.duration - claimed.claimed, 1);
}

void Unexplained::settle_all(LocationIndex location) {
  for (const Claimed& claimed : recent_[location]) settle(location, claimed);
  recent_[location].clear();
}

TimeSum Unexplained::left_of(const MpiFunction& function, const Rests& rests) const {
  const auto histogram = histograms_.find(&function);
  if (histogram == histograms_.end()) return {};
  const Histogram& h = histogram->second;
  double median = 0;
  if (h.calls >= kFew) {
    std::uint64_t below = 0;
    unsigned step = 0;
    while (below += h.counts[step], 2 * below < h.calls) ++step;
    median = upper_end(step);
  }
  // Rests below 1 ms were never added; ten medians are the end of a step, too.
  const double least = looked_at(function) ? 10 * median : median;
  TimeSum left;
  for (const Rest& rest : rests) {
    const double begin = rest.step == 0 ? 0 : upper_end(rest.step - 1);
    if (rest.calls <= 0 || begin < least * (1 - 1e-9)) continue;
    left += rest.sum - TimeSum(rest.calls * in_ticks(median));
  }
  return left;
}

}  // namespace kojak::expert
