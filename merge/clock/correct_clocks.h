// The controlled logical clock over a whole run: what `--clock clc` does between the two passes.
//
// correct_clocks() reads all traces twice: forward, to find the events that come before their
// causes, and again, to count what is left; the backward amortisation in between needs the items of
// the timelines only. The result tells every reader of a trace the final times of its events; it
// owns the timelines, whose items lie in the spill file of the FileCache. Errors: the spill file's
// (exit code 4). Source: controlled_clock.h.
#pragma once

#include <optional>

#include "merge/clock/causal_pass.h"

namespace kojak::merge {

class CorrectedClocks {
 public:
  // Final times of a trace's events, before `base` is taken off; none where the linear correction
  // stands.
  std::optional<ControlledCursor> cursor(std::size_t trace) const;
  double base = 0;  // so that the first event is at 0

  CausalCounts before, after;
  ClockShape shape;

 private:
  friend Result<CorrectedClocks> correct_clocks(const CausalInputs& in, std::uint32_t processes);
  Timelines timelines_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places_;  // rank and thread, by trace
};

Result<CorrectedClocks> correct_clocks(const CausalInputs& in, std::uint32_t processes);

}  // namespace kojak::merge
