// The analysis as JSON, for scripts: what the summary says, in full. docs/expert_json.md is its
// schema; a field never changes its meaning, new ones may be added.
//
// Writes the file complete or not at all. Deterministic. Not thread-safe; fails by its Status.
#pragma once

#include <string>
#include <vector>

#include "expert/profile/report.h"
#include "expert/sums/send_modes.h"

namespace kojak::expert {

struct JsonInput {
  std::string trace;         // its name
  std::uint64_t events = 0;  // in it
  std::vector<SendModeFinding> send_modes;
  SendCost send_cost;
};

// path "-": standard output.
Status write_json(const Report& report, const JsonInput& input, const std::string& path);

}  // namespace kojak::expert
