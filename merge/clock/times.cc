#include "merge/clock/times.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kojak::merge {
namespace {

// Sets each clock's base so that the first event of all is at 0.
void rebase(std::vector<LinearClock>& clocks, const Survey& survey) {
  double base = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    if (survey.traces[i].events == 0) continue;
    const double first = clocks[i](survey.traces[i].first_time);
    if (std::isfinite(first)) base = std::min(base, first);
  }
  if (!std::isfinite(base)) base = 0;
  for (LinearClock& clock : clocks) clock.base = base;
}

bool paused(const Survey& survey) {
  return std::any_of(survey.processes.begin(), survey.processes.end(),
                     [](const auto& process) { return process && process->gap() != 0; });
}

bool locked(const Survey& survey) {
  return std::any_of(survey.traces.begin(), survey.traces.end(),
                     [](const TraceFacts& facts) { return facts.locks; });
}

void report(const CorrectedClocks& clocks, Summary& summary) {
  ClockReport r;
  r.checked = clocks.before.checked;
  r.violations_before = clocks.before.violations;
  r.violations_after = clocks.after.violations;
  r.worst_before = clocks.before.worst;
  r.unchecked = clocks.before.unchecked;
  r.stretched = clocks.shape.stretched;
  r.largest_step = clocks.shape.largest_step;
  r.largest_shift = clocks.shape.largest_shift;
  summary.clocks = r;
  summary.add(Finding::kStillBackwards, r.violations_after);
}

}  // namespace

std::uint64_t readings(const MergeOptions& options) {
  // Who held a lock after whom, forward, and to count again.
  const std::uint64_t clocks = options.clock == ClockCorrection::kControlled ? 3 : 0;
  return clocks + (options.lock_grants ? 1 : 0);
}

Result<Times> find_times(const MergeOptions& options, const std::vector<LocalTrace>& traces,
                         const Survey& survey, FileCache& files, const InputBuffers& buffers,
                         Summary& summary, const std::function<void(std::uint64_t)>& progress) {
  Times times;
  times.clocks.resize(traces.size());
  if (options.clock != ClockCorrection::kNone) {
    std::vector<ClockRecord> records;
    records.reserve(traces.size());
    for (const TraceFacts& facts : survey.traces) records.push_back(facts.clock);
    std::uint64_t without = 0;
    times.clocks = linear_clocks(records, without);
    if (survey.definitions.nodes.size() > 1) summary.add(Finding::kNoOffset, without);
  }
  rebase(times.clocks, survey);

  std::uint64_t bytes = 0, done = 0;
  for (const LocalTrace& trace : traces) bytes += trace.size;
  const std::function<void(std::uint64_t)> behind = [&](std::uint64_t n) { progress(done + n); };
  if (options.clock == ClockCorrection::kControlled) {
    std::vector<LockEdge> edges;
    std::uint64_t unchecked = 0;
    if (locked(survey)) {
      auto order =
          find_lock_grants({traces, survey, files, times.clocks, nullptr, buffers, behind});
      if (!order) return order.error();
      edges = std::move(order->edges);
      unchecked = order->without_edge;
    }
    done += bytes;
    auto corrected = correct_clocks(
        {traces, survey, files, times.clocks, edges, paused(survey), buffers, behind},
        traces.front().run_size);
    if (!corrected) return corrected.error();
    times.corrected = std::move(*corrected);
    times.corrected->before.unchecked += unchecked;
    report(*times.corrected, summary);
    done += 2 * bytes;
  }
  if (options.lock_grants) {
    const CorrectedClocks* corrected = times.corrected ? &*times.corrected : nullptr;
    auto locks =
        find_lock_grants({traces, survey, files, times.clocks, corrected, buffers, behind});
    if (!locks) return locks.error();
    summary.lock_epochs = locks->epochs;
    summary.locks_by_duration = locks->decisions.durations;
    summary.locks_by_request = locks->decisions.requests;
    summary.add(Finding::kCircularLocks, locks->decisions.circles);
    times.locks = std::move(*locks);
  }
  return times;
}

}  // namespace kojak::merge
