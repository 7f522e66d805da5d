// What an analysis of a part of a run adds up, and the parts together.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "earl/findings.h"
#include "expert/patterns/notes.h"
#include "expert/sums/processors.h"
#include "expert/sums/severity.h"
#include "expert/sums/unexplained.h"

namespace kojak::expert {

struct PartSums {
  SeverityStore severities;
  Unexplained unexplained;
  std::optional<Processors> processors;  // of a part
  std::vector<CallPath> paths;
  std::array<std::uint64_t, kNotes> notes{};
  earl::Findings findings;
  bool late = false;  // something of it is decided by what the whole run shows

  // The part behind this one. A call path that is new there appears first there in the run.
  void add(PartSums& part) {
    std::map<std::tuple<std::size_t, RegionId, CallSiteId>, CallPathIndex> known;
    for (CallPathIndex p = 0; p < paths.size(); ++p) {
      known[{paths[p].parent, paths[p].region, paths[p].site}] = p;
    }
    std::vector<CallPathIndex> here;
    for (const CallPath& path : part.paths) {
      const std::size_t parent = path.parent == kNone ? kNone : here[path.parent];
      const auto next = static_cast<CallPathIndex>(paths.size());
      const auto [at, fresh] = known.try_emplace({parent, path.region, path.site}, next);
      if (fresh) paths.push_back({path.region, path.site, parent});
      here.push_back(at->second);
    }
    severities.add(part.severities, here);
    unexplained.add(part.unexplained, here);
    if (processors && part.processors) processors->add(*part.processors, here);
    for (std::size_t n = 0; n < kNotes; ++n) notes[n] += part.notes[n];
    findings.add(part.findings);
    late = late || part.late;
  }
};

}  // namespace kojak::expert
