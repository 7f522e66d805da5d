// In a classic trace counts begin anew with each recording segment of a process: an ordinal has the
// number of the segment above it, so that those of different segments never meet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "epilog/format/record/types.h"

namespace kojak::earl::detail {

class RecordingSegments {
 public:
  RecordingSegments(std::uint32_t processes, bool native) : native_(native), pauses_(processes) {}

  // Recording of the process was switched off.
  void pause(ProcessId process) { ++pauses_[raw(process)]; }
  std::uint32_t number(ProcessId process) const { return pauses_[raw(process)]; }
  // Raises an ordinal of the process to the first one of its segment. Native traces count on.
  void begin(std::uint64_t& ordinal, ProcessId process) const {
    if (!native_) [[unlikely]]
      ordinal = std::max(ordinal, std::uint64_t{pauses_[raw(process)]} << 40);
  }
  // What must be saved to go on later.
  std::vector<std::uint32_t>& numbers() { return pauses_; }
  const std::vector<std::uint32_t>& numbers() const { return pauses_; }

 private:
  bool native_;
  std::vector<std::uint32_t> pauses_;  // by process
};

}  // namespace kojak::earl::detail
