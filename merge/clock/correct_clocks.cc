#include "merge/clock/correct_clocks.h"

#include <limits>

namespace kojak::merge {

std::optional<ControlledCursor> CorrectedClocks::cursor(std::size_t trace) const {
  const auto [rank, thread] = places_[trace];
  if (!timelines_[rank]->moved()) return std::nullopt;
  return ControlledCursor(*timelines_[rank], thread);
}

Result<CorrectedClocks> correct_clocks(const CausalInputs& in, std::uint32_t processes) {
  CorrectedClocks clocks;
  clocks.timelines_.resize(processes);
  std::uint32_t thread = 0;
  for (std::size_t i = 0; i < in.traces.size(); ++i) {
    const std::uint32_t rank = in.traces[i].rank;
    std::unique_ptr<ControlledTimeline>& timeline = clocks.timelines_[rank];
    thread = timeline ? thread + 1 : 0;
    if (!timeline) timeline = std::make_unique<ControlledTimeline>(in.files);
    clocks.places_.emplace_back(rank, thread);
  }
  std::uint64_t bytes = 0;
  for (const LocalTrace& trace : in.traces) bytes += trace.size;
  clocks.before = correct_forward(in, clocks.timelines_);
  for (const auto& timeline : clocks.timelines_) {
    if (!timeline) continue;
    if (timeline->moved()) clocks.shape.add(timeline->amortise());
    if (timeline->items().error()) return *timeline->items().error();
  }
  const std::function<void(std::uint64_t)> progress = [&](std::uint64_t n) {
    in.progress(bytes + n);
  };
  const CausalInputs again{in.traces, in.survey, in.files,   in.clocks,
                           in.locks,  in.pauses, in.buffers, progress};
  clocks.after = check_corrected(again, clocks.timelines_);
  for (const auto& timeline : clocks.timelines_) {
    if (timeline && timeline->items().error()) return *timeline->items().error();
  }
  double first = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < in.traces.size(); ++i) {
    const TraceFacts& facts = in.survey.traces[i];
    if (facts.events == 0) continue;
    double time = in.clocks[i](facts.first_time);
    if (auto cursor = clocks.cursor(i)) time = cursor->at(0, time);
    first = std::min(first, time);
  }
  if (std::isfinite(first)) clocks.base = first;
  return clocks;
}

}  // namespace kojak::merge
