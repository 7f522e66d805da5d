#include "expert/sums/masters.h"

#include <algorithm>
#include <array>

#include "expert/patterns/catalogue.h"

namespace kojak::expert {
namespace {

constexpr std::uint8_t kLate = 1, kIdle = 2;

constexpr std::array<std::uint8_t, kMetrics> rules() {
  std::array<std::uint8_t, kMetrics> rules{};
  rules[metric_index<UpcLateBroadcast>()] = kLate;
  rules[metric_index<UpcReduceWait>()] = kIdle;
  rules[metric_index<InUpc<ShmemLockContention>>()] = kLate | kIdle;
  rules[metric_index<UpcLateNotification>()] = kLate | kIdle;
  rules[metric_index<InUpc<ShmemRmaWaitForProgress>>()] = kLate;
  rules[metric_index<InUpc<ShmemQuietWaitForProgress>>()] = kLate;
  return rules;
}
constexpr std::array<std::uint8_t, kMetrics> kOfMetrics = rules();

// Of all waits for anybody, and of the time of all threads.
constexpr double kShareOfWaits = 0.5, kShareOfTime = 0.01;

}  // namespace

const std::span<const std::uint8_t> UpcMasters::kRules = kOfMetrics;

void UpcMasters::note(const Wait& wait) {
  const LocationIndex by = wait.ended_by.location;
  if (by == kNoLocation || by == wait.location) return;
  const TimeSum time = TimeSum::of(wait.waiting.value);
  if ((kRules[wait.metric] & kLate) != 0) late_[{by, wait.call_path, wait.location}] += time;
  if ((kRules[wait.metric] & kIdle) != 0) idle_[{by, wait.call_path, wait.location}] += time;
}

void UpcMasters::finish(SeverityStore& severities) const {
  std::map<LocationIndex, TimeSum> sums;  // of waits for a thread
  TimeSum all;
  for (const auto& [where, time] : late_) {
    sums[where.awaited] += time;
    all += time;
  }
  const auto most = std::max_element(
      sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == sums.end()) return;
  const auto& [master, waits] = *most;
  const double whole = (last_ - first_).value * static_cast<double>(locations_);
  if (waits.seconds() < kShareOfWaits * all.seconds()) return;
  if (waits.seconds() < kShareOfTime * whole) return;
  for (const auto& [where, time] : late_) {
    if (where.awaited != master) continue;
    severities.add(metric_index<UpcLateMaster>(), where.path, where.location, time);
  }
  for (const auto& [where, time] : idle_) {
    if (where.location != master) continue;
    severities.add(metric_index<UpcIdleMaster>(), where.path, where.location, time);
  }
}

}  // namespace kojak::expert
