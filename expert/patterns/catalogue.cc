#include "expert/patterns/catalogue.h"

namespace kojak::expert {
namespace {

constexpr const std::array<Metric, kMetrics>& kAll = kAllMetrics;

constexpr std::size_t find(std::string_view name, std::size_t before) {
  for (std::size_t i = 0; i < before; ++i) {
    if (kAll[i].name == name) return i;
  }
  return kMetrics;
}

constexpr bool well_formed() {
  for (std::size_t i = 0; i < kMetrics; ++i) {
    if (kAll[i].name.empty() || kAll[i].title.empty() || kAll[i].summary.empty()) return false;
    if (find(kAll[i].name, i) != kMetrics) return false;  // a name given twice
    if (!kAll[i].parent.empty() && find(kAll[i].parent, i) == kMetrics) return false;
    if (kAll[i].kind != Metric::Kind::kPattern) continue;
    if (kAll[i].parent.empty()) return false;
    if (kAll[i].unit == Unit::kSeconds && kAll[i].timeline.empty()) return false;
  }
  return true;
}
static_assert(well_formed());

constexpr std::array<MetricIndex, kTimeClasses> owners() {
  std::array<MetricIndex, kTimeClasses> result{};
  for (MetricIndex& m : result) m = kMetrics;
  for (std::size_t i = 0; i < kMetrics; ++i) {
    if (!kAll[i].own) continue;
    MetricIndex& owner = result[static_cast<std::size_t>(*kAll[i].own)];
    if (owner != kMetrics) return {};  // two owners: caught below
    owner = static_cast<MetricIndex>(i);
  }
  return result;
}
constexpr std::array<MetricIndex, kTimeClasses> kOwners = owners();

// Each class of time belongs to exactly one node.
constexpr bool all_owned() {
  for (std::size_t c = 0; c < kTimeClasses; ++c) {
    if (kOwners[c] == kMetrics || kAll[kOwners[c]].own != static_cast<TimeClass>(c)) return false;
  }
  return true;
}
static_assert(all_owned());

}  // namespace

std::span<const Metric, kMetrics> all_metrics() {
  return kAll;
}

MetricIndex metric_of(TimeClass c) {
  return kOwners[static_cast<std::size_t>(c)];
}

}  // namespace kojak::expert
