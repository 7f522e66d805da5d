// First bytes of displacements: each process said what one step of a displacement is in its own
// part of a window (MPI_WIN_PART).
//
// Made before pass 2 from what the first pass has read; not changed then.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "merge/write/engine.h"

namespace kojak::merge {

class WindowParts {
 public:
  explicit WindowParts(const EngineInputs& in) {
    for (std::size_t i = 0; i < in.traces.size(); ++i) {
      const TraceFacts& facts = in.survey.traces[i];
      for (const auto& [wid, part] : facts.window_parts) {
        units_[{facts.translation->windows[wid], in.traces[i].rank}] = part.unit;
      }
    }
  }
  // Of windows and processes of the run; all bits set: unknown.
  Count64 first_byte(std::uint32_t window, std::uint32_t target, Count64 displacement) const {
    const auto unit = units_.find({window, target});
    if (unit == units_.end() || displacement == kUnknown64) return kUnknown64;
    return Count64{raw(displacement) * unit->second};
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> units_;
};

}  // namespace kojak::merge
