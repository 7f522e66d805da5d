// By what CUBE's tools tell functions of a report from each other: two that agree in all of it are
// one to them (cube_diff, cube_merge, cube_mean, cube_cmp).
//
// Pure functions; thread-safe.
#pragma once

#include <compare>
#include <string>

#include "epilog/format/definitions.h"

namespace kojak::expert {

struct RegionIdentity {
  std::string name, module;
  Line begin{}, end{};  // absent: unknown
  auto operator<=>(const RegionIdentity&) const = default;
};

// `name`: as the report shows it. A region that is not defined has nothing else.
RegionIdentity identity_of(const Definitions& definitions, RegionId region,
                           const std::string& name);

}  // namespace kojak::expert
