#include "expert/findings/report_metrics.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilog/format/field_values.h"
#include "epilog/format/service.h"
#include "epilog/format/text/counts.h"
#include "expert/findings/trace_findings.h"
#include "expert/metrics/switched_off.h"
#include "expert/metrics/time_class.h"
#include "expert/metrics/upc_events.h"
#include "expert/patterns/catalogue.h"
#include "expert/patterns/openmp/teams.h"

namespace kojak::expert {
namespace {

std::string progress_remark(const ProgressSureness& s) {
  if (!s.sure && !s.unsure) return {};
  if (s.confirmed == 0) {
    return "Not sure: no call shows whether transfers need their target to call MPI here.";
  }
  std::string text = s.unsure ? "In part sure: " : "Sure: ";
  return text + counted(s.confirmed, "call", "calls") +
         " ended only after the target, which had been computing, called MPI again; none ended "
         "before.";
}

// What a node of the tree lacks because of functions that were left out.
std::string functions_off_remark(const SwitchedOff& off, const Metric& metric) {
  const SwitchedOff::Missing missing = off.missing(metric);
  if (missing.processes == 0) return {};
  return counted(missing.processes, "process", "processes") +
         " did not record its calls of the groups that ELG_MPI left out: " +
         SwitchedOff::names(missing.groups) + ".";
}

std::string order_remark(const model::LockDecisions& d) {
  if (d.durations + d.requests + d.circles == 0) return {};
  std::string text = "Order of lock holders: " + counted(d.proof, "epoch", "epochs") +
                     " placed by proof, " + std::to_string(d.durations) +
                     " by what their calls lasted, " + std::to_string(d.requests) +
                     " by when they asked";
  if (d.circles != 0) text += ", " + std::to_string(d.circles) + " against their proofs (clocks)";
  return text + '.';
}

// Which models of communication the trace has, by PgasModel.
std::array<bool, kPgasModels> models_of(const Definitions& definitions) {
  std::array<bool, kPgasModels> models{};
  definitions.regions.for_each([&](RegionId, const RegionDef& region) {
    if (region.function != nullptr) return;
    if (const auto known = shmem_class(region.name)) models[index_of(*model_of(*known))] = true;
  });
  return models;
}

// Without metrics, and what is below them, for which why(metric) is not empty; their parents say
// so.
template <class F>
void leave_out(std::vector<ReportMetric>& metrics, F&& why) {
  std::vector<std::string_view> gone;
  std::vector<ReportMetric> left;
  for (ReportMetric& m : metrics) {
    const std::string reason = why(m.metric);
    const bool below = std::find(gone.begin(), gone.end(), m.metric.parent) != gone.end();
    if (reason.empty() && !below) {
      left.push_back(std::move(m));
      continue;
    }
    gone.push_back(m.metric.name);
    const auto parent = std::find_if(left.begin(), left.end(), [&](const ReportMetric& p) {
      return p.metric.name == m.metric.parent;
    });
    if (below || parent == left.end()) continue;
    if (!parent->remark.empty()) parent->remark += ' ';
    parent->remark += std::string(m.metric.title) + " is left out: " + reason;
  }
  metrics = std::move(left);
}

}  // namespace

std::vector<ReportMetric> metrics_of(const Definitions& definitions) {
  const auto models = models_of(definitions);
  const bool omp = OmpTeams::concerns(definitions), serves = any_service(definitions);
  const SwitchedOff off(definitions);
  std::vector<ReportMetric> metrics = metrics_where([&](Needs needs) {
    if (needs == Needs::kAllProgress) return !off.hides_progress();
    if (needs == Needs::kService) return serves;
    const std::optional<PgasModel> model = model_needed(needs);
    return model ? models[index_of(*model)] : omp;
  });
  for (ReportMetric& m : metrics) m.remark = functions_off_remark(off, m.metric);
  for (const Metric& left_out : all_metrics()) {
    if (left_out.needs != Needs::kAllProgress || !off.hides_progress()) continue;
    const auto parent = std::find_if(metrics.begin(), metrics.end(), [&](const ReportMetric& m) {
      return m.metric.name == left_out.parent;
    });
    if (!parent->remark.empty()) parent->remark += ' ';
    parent->remark += std::string(left_out.title) + " is left out (ELG_MPI).";
  }
  const UpcEvents events(definitions);
  leave_out(metrics, [&](const Metric& metric) { return events.missing(metric); });
  MetricIndex index = kMetrics;
  definitions.metrics.for_each([&](MetricId, const MetricDef& counter) {
    if (adds_up(counter)) {
      metrics.push_back({{.name = counter.name,
                          .title = counter.name,
                          .unit = Unit::kOccurrences,
                          .kind = Metric::Kind::kSummand,
                          .summary = counter.description,
                          .meaning = "A hardware counter of the trace, without nested regions.",
                          .fractions = counter.dtype == kFloatCounter},
                         index});
    }
    ++index;
  });
  return metrics;
}

void add_wait_remarks(const ProgressSureness& sureness, const model::LockDecisions& order,
                      const Definitions& definitions, std::vector<ReportMetric>& metrics) {
  for (ReportMetric& m : metrics) {
    std::string text;
    const bool there = model_needed(m.metric.needs) || !definitions.windows.empty();
    if (there && m.metric.sureness == Metric::Sureness::kProgress) {
      text = progress_remark(sureness);
    }
    if (m.metric.sureness == Metric::Sureness::kLockOrder) {
      text = order_remark(order);
    }
    if (text.empty()) continue;
    if (!m.remark.empty()) m.remark += ' ';
    m.remark += text;
  }
}

}  // namespace kojak::expert
