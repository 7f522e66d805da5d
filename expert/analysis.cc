#include "expert/analysis.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "expert/causes/cause_metrics.h"
#include "expert/findings/processor_words.h"
#include "expert/findings/report_metrics.h"
#include "expert/findings/trace_findings.h"
#include "expert/metrics/switched_off.h"
#include "expert/pass.h"
#include "expert/sums/waiting_counters.h"

namespace kojak::expert {
namespace {

// What the trace or the caller's wishes leave out.
struct LeftOut {
  std::vector<std::string> wrong;  // patterns
  bool causes = false;
};
LeftOut left_out(const earl::Trace& trace, AnalysisOptions& options) {
  LeftOut left;
  left.wrong = SwitchedOff(trace.definitions()).wrong_patterns(all_metrics());
  left.causes = options.root_causes && !left.wrong.empty();
  if (left.causes) options.root_causes = false;
  return left;
}

// One pass over a trace, or a part of one.
class Reading {
 public:
  Reading(const TracePart& part, const AnalysisOptions& options, bool last)
      : trace_(*part.trace), analysis(trace_, options, part.gate), replay_(trace_, analysis) {
    const Seconds first = part.standing != nullptr ? part.standing->run_began
                                                   : trace_.next_time().value_or(Seconds{0});
    if (part.gate != nullptr) {
      trace_.findings().count_only(
          [gate = part.gate, &trace = trace_](std::uint64_t pos, LocationId loc) {
            return gate->own(is_absent(loc) ? Gate::kNowhere : trace.index(loc), pos);
          });
    }
    analysis.begin(replay_.call_tree(), first);
    if (part.standing != nullptr) {
      replay_.begin(*part.standing);
      analysis.go_on_from(*part.standing);
    }
    replay_.run(!last);
    const auto& finders = analysis.finders();
    at_rest_ = last ? !finders.holds_standing() : replay_.at_rest() && finders.at_rest();
    analysis.end(replay_.call_tree(), std::max(replay_.now(), first));
  }
  // The parts before and behind it know all that began before it and goes on behind it.
  bool at_rest() const { return at_rest_; }
  PartSums take_sums() { return analysis.take_sums(replay_.call_tree(), trace_.findings()); }

 private:
  earl::Trace& trace_;

 public:
  Analysis analysis;

 private:
  earl::Replay<Analysis> replay_;
  bool at_rest_ = false;
};

Report report_of(const earl::Trace& trace, Analysis& analysis, PartSums sums, LeftOut left,
                 const AnalysisOptions& options, CauseParts* others = nullptr) {
  SeverityStore& severities = sums.severities;
  sums.unexplained.finish([&](CallPathIndex path, LocationIndex location, TimeSum time) {
    severities.add(metric_index<NotExplained>(), path, location, time);
  });
  std::vector<LocationId> locations;
  for (std::uint32_t i = 0; i < trace.location_count(); ++i) locations.push_back(trace.location(i));
  std::vector<ReportMetric> metrics = metrics_of(trace.definitions());
  if (analysis.finders().rma() != nullptr) {
    add_wait_remarks(sums.sureness, sums.lock_decisions, trace.definitions(), metrics);
  }
  Selection selection = options.selection;
  std::move(left.wrong.begin(), left.wrong.end(), std::back_inserter(selection.exclude));
  selection.apply(metrics);
  std::vector<Finding> findings =
      findings_of(trace, sums.findings, sums.notes, analysis.of<Unbegun>());
  add_limits(severities, findings);
  if (left.causes) findings.push_back(causes_are_left_out());
  const Processors& readings = sums.processors ? *sums.processors : analysis.of<Processors>();
  WaitResults waits;
  if (sums.instances) waits = sums.instances->finish();
  readings.add_to(waits);
  std::optional<RootCauses> root_causes = analysis.root_causes(waits, sums, others);
  if (root_causes && root_causes->until) findings.push_back(causes_end_early(*root_causes->until));
  std::vector<CallPath>& paths = sums.paths;
  std::map<RegionId, std::string> stretches;
  ProcessorUse processors = readings.finish(trace.definitions(), paths);
  add_processor_metric(processors, severities, metrics);
  add_processor_findings(processors, findings);
  add_waiting_counters(severities, metrics, paths.size());
  const Samples& samples = sums.samples ? *sums.samples : analysis.of<Samples>();
  samples.add_metric(severities, metrics, paths);
  if (root_causes) {
    name_sampled_functions(*root_causes, trace.definitions());
    add_cause_metrics(*root_causes, {trace.definitions(), severities, metrics, paths, stretches,
                                     analysis.of<LastCallFinder>().any()});
  }
  return {trace.definitions(),
          std::move(locations),
          metrics,
          paths,
          std::move(severities),
          std::move(findings),
          std::move(waits),
          analysis.take_last_calls(),
          std::move(root_causes),
          std::move(stretches),
          std::move(processors),
          analysis.finders().take_tasks(),
          sums.failed.take()};
}

}  // namespace

Report analyse(earl::Trace& trace, const AnalysisOptions& wanted) {
  AnalysisOptions options = wanted;
  LeftOut left = left_out(trace, options);
  if (options.page != nullptr) options.page->open(trace);
  Reading reading({&trace}, options, true);
  reading.analysis.finish();
  return report_of(trace, reading.analysis, reading.take_sums(), std::move(left), options);
}

struct PartAnalysis::State {
  State(const TracePart& part, const AnalysisOptions& wanted, bool is_last)
      : trace(*part.trace),
        options(wanted),
        last(is_last),
        left(left_out(trace, options)),
        reading(opened(part, options), options, is_last) {}
  static const TracePart& opened(const TracePart& part, const AnalysisOptions& options) {
    if (options.page != nullptr) options.page->open(*part.trace, part.standing, part.gate);
    return part;
  }
  earl::Trace& trace;
  AnalysisOptions options;
  bool last;
  LeftOut left;
  Reading reading;
};

PartAnalysis::PartAnalysis(const TracePart& part, const AnalysisOptions& options, bool last)
    : state_(std::make_unique<State>(part, options, last)) {
  Analysis& analysis = state_->reading.analysis;
  if (part.trace->damage()) {
    why_ = "the trace is damaged";
  } else if (!state_->reading.at_rest() || (!last && analysis.of<Unbegun>().any())) {
    why_ = "something is open where it was to be cut";
  } else if (const auto& causes = analysis.of<std::optional<CauseFinder>>(); causes) {
    why_ = causes->why_apart();
  }
}

PartAnalysis::~PartAnalysis() = default;
PassiveEvidence PartAnalysis::evidence() const {
  return state_->reading.analysis.finders().evidence();
}
bool PartAnalysis::decided() const {
  return state_->reading.analysis.finders().decided();
}
PartSums PartAnalysis::take_sums(const PassiveEvidence& of_run) {
  state_->reading.analysis.finish(&of_run);
  PartSums sums = state_->reading.take_sums();
  if (!state_->last) sums.leave_to_last();
  return sums;
}
PartSums PartAnalysis::no_sums() const {
  return state_->reading.analysis.no_sums();
}
CausePart* PartAnalysis::causes() {
  auto& causes = state_->reading.analysis.of<std::optional<CauseFinder>>();
  return causes ? &causes->part(!state_->last) : nullptr;
}
Report PartAnalysis::report(PartSums all, CauseParts* others) {
  if (all.send_modes) *state_->options.send_modes = *all.send_modes;
  if (all.page) state_->options.page->sums() = std::move(*all.page);
  return report_of(state_->trace, state_->reading.analysis, std::move(all), std::move(state_->left),
                   state_->options, others);
}

}  // namespace kojak::expert
