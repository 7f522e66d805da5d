// What expert and kojak run print by default: twelve lines with what ran, the verdict, the bar, and
// the groups that make others wait.
//
// Plain text in at most the width less one, ASCII but for names; nothing is wider than a terminal
// of 46 columns or more. Below 80 the verdict may take more lines. Deterministic; nothing fails;
// not thread-safe for one stream.
#pragma once

#include <iosfwd>
#include <string>

#include "expert/output/terminal.h"
#include "expert/profile/report.h"

namespace kojak::expert {

struct VerdictPlace {
  std::string trace;  // as it was named, for a run that does not say its command
  std::string last;   // where the rest is: the last line; empty: none
};
void print_verdict(std::ostream& out, const Report& report, const SummaryStyle& style,
                   const VerdictPlace& place);

}  // namespace kojak::expert
