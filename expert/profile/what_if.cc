#include "expert/profile/what_if.h"

#include <algorithm>

#include "expert/profile/shares.h"

namespace kojak::expert {

std::vector<WhatIf> what_if(const Report& report) {
  std::vector<WhatIf> cases;
  if (!report.root_causes() || !report.last_calls().empty()) return cases;
  const CauseGroups& groups = report.root_causes()->groups;
  const double run = run_seconds(report);
  const auto add = [&](std::string name, const std::optional<Ticks>& ticks) {
    if (!ticks) return;
    const double gain = std::min(in_seconds(*ticks), run);
    cases.push_back({std::move(name), run - gain, gain});
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
