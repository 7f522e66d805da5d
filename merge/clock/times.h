// The times of all events, as far as they are not the recorded ones: what stands between the two
// passes of a merge.
//
// Linear clocks always; the controlled logical clock and the grants of locks where they are asked
// for, each with readings of the traces of its own. Reports into the summary. Owns its results; the
// spill file and the traces must outlive them. Errors: the spill file's.
#pragma once

#include <optional>

#include "merge/clock/correct_clocks.h"
#include "merge/clock/lock_grants.h"
#include "merge/merge.h"

namespace kojak::merge {

struct Times {
  std::vector<LinearClock> clocks;  // by trace; the first event of all is at 0
  std::optional<CorrectedClocks> corrected;
  std::optional<LockGrants> locks;
};

// How often all traces are read for it.
std::uint64_t readings(const MergeOptions& options);

// `progress` gets the bytes read, of all readings.
Result<Times> find_times(const MergeOptions& options, const std::vector<LocalTrace>& traces,
                         const Survey& survey, FileCache& files, const InputBuffers& buffers,
                         Summary& summary, const std::function<void(std::uint64_t)>& progress);

}  // namespace kojak::merge
