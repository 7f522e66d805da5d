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

void Unexplained::claim(const Wait& wait) {
  const bool looked_at =
      wait.call_path < functions_.size() && functions_[wait.call_path] != nullptr;
  if (!looked_at) return;
  std::vector<Claimed>& recent = recent_[wait.location];
  const auto at = std::find_if(recent.rbegin(), recent.rend(),
                               [&](const Claimed& c) { return c.enter_pos == wait.enter_pos; });
  if (at != recent.rend()) {
    at->claimed.add(wait.waiting.value);
    return;
  }
  if (recent.size() == kRecent) {
    settle(wait.location, recent.front());
    recent.erase(recent.begin());
  }
  recent.push_back({wait.enter_pos, wait.call_path, TimeSum::of(wait.exclusive.value),
                    TimeSum::of(wait.waiting.value)});
}

void Unexplained::settle(LocationIndex location, const Claimed& claimed) {
  move(claimed.path, location, claimed.duration, -1);
  move(claimed.path, location, claimed.duration - claimed.claimed, 1);
}

void Unexplained::settle_all(LocationIndex location) {
  for (const Claimed& claimed : recent_[location]) settle(location, claimed);
  recent_[location].clear();
}

void Unexplained::add(Unexplained& other, std::span<const CallPathIndex> paths) {
  for (const auto& [function, theirs] : other.histograms_) {
    Histogram& ours = histograms_[function];
    ours.calls += theirs.calls;
    for (unsigned step = 0; step < kSteps; ++step) ours.counts[step] += theirs.counts[step];
  }
  for (LocationIndex l = 0; l < other.recent_.size(); ++l) other.settle_all(l);
  for (CallPathIndex p = 0; p < other.functions_.size(); ++p) {
    if (other.functions_[p] == nullptr) continue;
    if (paths[p] >= functions_.size()) functions_.resize(paths[p] + 1);
    functions_[paths[p]] = other.functions_[p];
    const std::span<const Rests> row = other.rests_.find(p);
    for (LocationIndex l = 0; l < row.size(); ++l) {
      Rests& rests = rests_.row(paths[p])[l];
      for (const Rest& theirs : row[l]) {
        const auto at = std::find_if(rests.begin(), rests.end(),
                                     [&](const Rest& r) { return r.step == theirs.step; });
        Rest& sum = at != rests.end() ? *at : rests.emplace_back(Rest{theirs.step});
        sum.calls += theirs.calls;
        sum.sum += theirs.sum;
      }
    }
  }
  for (const auto& [place, time] : other.late_) late_[{paths[place.first], place.second}] += time;
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
