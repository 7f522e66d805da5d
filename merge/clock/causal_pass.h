// One reading of all local traces in an order in which causes come before their effects: what the
// controlled logical clock is made from, and checked with.
//
// Each process is read on its own, its threads by time; one that reaches an effect whose cause has
// not been read waits for it. Dependencies: send to receive; the entering of a collective call, or
// the begin of a non-blocking or persistent one, to the leaving, or completion, of those who
// provably need it (call_parts.h); entering a fence that ends an epoch to
// leaving it; post to complete (and to start, as far as the clocks' error bounds allow: a start
// need not wait for the post); complete to wait or true test; unlock to the first proof of the next
// holder (LockEdge). An effect whose cause was not recorded, or is not known, is not checked, but
// counted. References must outlive the pass. Memory: the input buffers, and causes and calls that
// are open. Errors: those of the spill file. Source: docs/merge.md.
#pragma once

#include <memory>
#include <vector>

#include "merge/clock/causes.h"
#include "merge/clock/controlled_clock.h"
#include "merge/complete/survey.h"
#include "merge/input/local_input.h"

namespace kojak::merge {

// Two conflicting lock epochs: the first holder begins its unlock, the next one proves that it
// holds the lock, each in the record at that position of a trace.
struct LockEdge {
  std::uint32_t from_trace = 0, to_trace = 0;
  std::uint64_t from_position = 0, to_position = 0;
};

struct CausalInputs {
  const std::vector<LocalTrace>& traces;  // by rank and thread
  const Survey& survey;
  FileCache& files;
  const std::vector<LinearClock>& clocks;
  const std::vector<LockEdge>& locks;
  bool pauses;  // somebody paused the recording
  InputBuffers buffers;
  const std::function<void(std::uint64_t)>& progress;
};

// Dependencies that were checked, and those that ran backwards.
struct CausalCounts {
  std::uint64_t checked = 0;
  std::uint64_t violations = 0;
  double worst = 0;             // by how much, in seconds
  std::uint64_t unchecked = 0;  // effects whose cause is not known
};

using Timelines = std::vector<std::unique_ptr<ControlledTimeline>>;  // by rank; null: no trace

// The forward pass: fills the timelines.
CausalCounts correct_forward(const CausalInputs& in, Timelines& timelines);
// Counts again, with final times.
CausalCounts check_corrected(const CausalInputs& in, const Timelines& timelines);

}  // namespace kojak::merge
