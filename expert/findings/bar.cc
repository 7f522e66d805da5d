#include "expert/findings/bar.h"

#include <algorithm>

#include "expert/findings/numbers.h"
#include "expert/findings/rules.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/efficiency.h"
#include "expert/profile/shares.h"

namespace kojak::expert {
namespace {

bool waits_in_bar(const Report& report, std::size_t metric) {
  const Metric& m = report.metrics()[metric].metric;
  return report.is_wait(metric) && !m.nobody_awaited && !m.of_causes;
}

// Threads of a team that nobody needs wait, too, for the next region.
bool is_idle(const Metric& metric) {
  return metric.name == OmpIdleThreads::kMetric.name ||
         metric.name == OmpBetweenRegions::kMetric.name;
}

}  // namespace

std::vector<OutsideOfCalls> outside_of_calls(const Report& report) {
  std::vector<OutsideOfCalls> outside(report.threads());
  const std::vector<double> seconds = computing_of(report);
  for (std::size_t t = 0; t < seconds.size(); ++t) outside[t].seconds = std::max(seconds[t], 0.0);
  // The kernel's counts lie 0.1 s apart or more: what is between two of them is spread evenly.
  for (const ProcessorUse::Thread& p : report.processors().threads) {
    const std::size_t t = report.thread_at(p.location);
    if (t == kNone || !(p.covered > 0)) continue;
    if (report.processors().is_looked_at(p.location)) {
      outside[t].at_least = outside[t].without_processor =
          std::min(p.no_processor, outside[t].seconds);
      outside[t].exact = true;
      outside[t].blocked = std::min(p.blocked, outside[t].seconds - outside[t].without_processor);
      continue;
    }
    const double share = std::clamp(p.wanted / p.covered, 0.0, 1.0);
    outside[t].without_processor = share * outside[t].seconds;
    const double in_calls = std::max(p.covered - outside[t].seconds, 0.0);
    outside[t].at_least = std::clamp(p.wanted - in_calls, 0.0, outside[t].without_processor);
  }
  return outside;
}

Bar bar_of(const Report& report) {
  Bar bar;
  const Shares shares(report);
  bar.base = in_ticks(shares.time.whole);
  const std::size_t execution = report.find_metric(Execution::kMetric.name);
  double calls = 0, waiting = 0, in_calls = 0, measurement = 0;
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    const MetricNode& node = report.metrics()[m];
    if (execution != kNone && node.parent == execution) calls += shares.part(report, m);
    if (node.metric.name == Overhead::kMetric.name) measurement = shares.part(report, m);
    if (is_idle(node.metric)) waiting += shares.part(report, m);
    if (!waits_in_bar(report, m)) continue;
    std::size_t above = m;
    while (above != kNone && above != execution) above = report.metrics()[above].parent;
    const double seconds = shares.part(report, m);
    waiting += seconds;
    if (above != kNone) in_calls += seconds;
  }
  double blocked = 0, without = 0;
  for (const OutsideOfCalls& o : outside_of_calls(report)) {
    blocked += o.blocked;
    without += o.without_processor;
  }
  // Each takes what is left by those before it.
  Ticks left = bar.base;
  const auto take = [&](Bar::Part part, double seconds) {
    bar.parts[part] = std::clamp(in_ticks(seconds), Ticks{0}, left);
    left -= bar.parts[part];
  };
  take(Bar::kWaiting, waiting);
  take(Bar::kMeasurement, measurement);
  take(Bar::kMpi, calls - in_calls);
  take(Bar::kBlocked, blocked);
  take(Bar::kNoProcessor, without);
  bar.parts[Bar::kComputing] = left;
  return bar;
}

std::string name_of(Bar::Part part, const Report& report) {
  if (part == Bar::kMpi) return library_of(report);
  std::string name(Bar::kNames[part]);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string share_words(const Bar& bar, Bar::Part part) {
  const unsigned share = shares_of(bar)[part];
  return (share == 100 && bar.parts[part] < bar.base ? ">99" : std::to_string(share)) + " %";
}

std::array<unsigned, Bar::kParts> shares_of(const Bar& bar) {
  std::array<double, Bar::kParts> parts{};
  for (std::size_t p = 0; p < Bar::kParts; ++p) parts[p] = bar.seconds(static_cast<Bar::Part>(p));
  const std::vector<unsigned> whole = whole_parts(parts, 100, kPartOfBar);
  std::array<unsigned, Bar::kParts> shares{};
  std::copy(whole.begin(), whole.end(), shares.begin());
  return shares;
}

std::string library_of(const Report& report) {
  const auto any = [&](std::string_view name) {
    const std::size_t m = report.find_metric(name);
    return m != kNone && report.total(m) > 0;
  };
  std::vector<std::string_view> names;
  if (any(Mpi::kMetric.name)) names.push_back("MPI");
  for (std::size_t m = 0; m < kPgasModels; ++m) {
    const PgasModel model{static_cast<std::uint8_t>(m)};
    if (any(all_metrics()[in_model(metric_index<Shmem>(), model)].name))
      names.push_back(name_of(model));
  }
  if (names.empty()) return "MPI";
  std::string words(names.front());
  for (std::size_t n = 1; n < names.size(); ++n) {
    (words += n + 1 < names.size() ? ", " : " and ") += names[n];
  }
  return words;
}

}  // namespace kojak::expert
