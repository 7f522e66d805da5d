#include "earl/file_gaps.h"

namespace kojak::earl {

std::vector<TraceGap> gaps_of(const Trace& trace) {
  const Findings& found = trace.findings();
  return kojak::gaps_of({.damaged = found[Finding::kShortRecord].count,
                         .definitions = found[Finding::kBadDefinition].count,
                         .unknown = found[Finding::kUnknownRecord].count},
                        trace.definitions());
}

}  // namespace kojak::earl
