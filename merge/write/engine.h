// Pass 2: all events in the order of corrected time, translated, with transfers' ends where the
// model wants them.
//
// run() reads every trace once, through one buffer for each, and writes events behind the
// definitions that are in the writer already. It may be called again with another writer: it starts
// from the beginning each time, and writes the same. Memory: the buffers, one state for each
// location, open epochs, and the pool of held ends.
// Errors: what can no longer be read is counted and ends that trace; the writer keeps its own.
// Source: docs/merge.md.
#pragma once

#include <functional>
#include <vector>

#include "epilog/format/io/writer.h"
#include "merge/clock/correct_clocks.h"
#include "merge/clock/lock_grants.h"
#include "merge/complete/survey.h"
#include "merge/merge.h"
#include "merge/write/slice.h"

namespace kojak::merge {

struct EngineInputs {
  const std::vector<LocalTrace>& traces;
  Survey& survey;
  FileCache& files;
  std::vector<LinearClock> clocks;   // of the traces, rebased
  const CorrectedClocks* corrected;  // beyond `clocks`, or null
  const LockGrants* locks;           // where lock records go, or null: as recorded
  bool extended = true;
  InputBuffers buffers;
  std::size_t pool = 8u << 20;  // for held ends
  const std::function<void(std::uint64_t)>& progress;
  const std::function<Status()>& good;  // whether to go on; asked now and then
  const Slice* slice = nullptr;         // what of the run; null: all of it
};

// Returns the number of events written; findings and counts go into the summary. An error means
// that held ends could not be read again or spilled: the output is not complete. What is still held
// where a slice ends that does not end the run is counted in Summary::open_ends and not written.
Result<std::uint64_t> run_engine(const EngineInputs& inputs, TraceWriter& writer, Summary& summary);

}  // namespace kojak::merge
