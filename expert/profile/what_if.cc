#include "expert/profile/what_if.h"

#include <algorithm>

#include "expert/profile/shares.h"

namespace kojak::expert {

std::optional<double> gain_seconds(const Report& report, double run,
                                   const std::optional<Ticks>& gain) {
  if (!gain || !report.last_calls().empty()) return std::nullopt;
  return std::min(in_seconds(*gain), run);
}

std::vector<WhatIf> what_if(const Report& report) {
  std::vector<WhatIf> cases;
  if (!report.root_causes()) return cases;
  const CauseGroups& groups = report.root_causes()->groups;
  const double run = run_seconds(report);
  const auto add = [&](std::string name, const std::optional<Ticks>& ticks) {
    const std::optional<double> gain = gain_seconds(report, run, ticks);
    if (gain) cases.push_back({std::move(name), run - *gain, *gain});
  };
  for (std::size_t i = 0; i < groups.listed.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    add(number, groups.listed[i].gain);
    for (std::size_t p = 0; p < groups.listed[i].parts.size(); ++p) {
      add(number + static_cast<char>('a' + p % 26), groups.listed[i].parts[p].gain);
    }
  }
  for (std::size_t i = 1; i < groups.listed.size(); ++i) {
    add("1-" + std::to_string(i + 1), groups.listed[i].cumulated);
  }
  return cases;
}

}  // namespace kojak::expert
