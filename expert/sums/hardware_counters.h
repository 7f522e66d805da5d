// What the trace's hardware counters counted, by call path and location. Their metrics follow those
// of the catalogue, in the order of their definitions.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "earl/call.h"
#include "epilog/format/field_values.h"
#include "expert/patterns/catalogue.h"
#include "expert/sums/setting.h"

namespace kojak::expert {

class HardwareCounters {
 public:
  // Adds the metrics to the store.
  explicit HardwareCounters(const Setting& setting) : severities_(setting.severities) {
    setting.definitions().metrics.for_each([&](MetricId, const MetricDef& def) {
      const bool real = def.dtype == kFloatCounter;
      severities_.add_metric(real ? SeverityStore::Cells::kFractions
                                  : SeverityStore::Cells::kWhole);
      kinds_.push_back(!adds_up(def) ? Kind::kLeftOut : real ? Kind::kReal : Kind::kInteger);
    });
  }
  // `values`: of a float counter the bits of a double.
  void on_call(const earl::Call& call, std::span<const std::uint64_t> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == 0 || kinds_[i] == Kind::kLeftOut) continue;
      const auto metric = static_cast<MetricIndex>(kMetrics + i);
      if (kinds_[i] == Kind::kReal) {
        severities_.add(metric, raw(call.cnode), call.index, std::bit_cast<double>(values[i]));
      } else {
        severities_.add_count(metric, raw(call.cnode), call.index, values[i]);
      }
    }
  }

 private:
  enum class Kind : std::uint8_t { kInteger, kReal, kLeftOut };

  SeverityStore& severities_;
  std::vector<Kind> kinds_;
};

}  // namespace kojak::expert
