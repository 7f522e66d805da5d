// What an analysis of a part of a run adds up, and the parts together.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "earl/findings.h"
#include "expert/causes/seen/stretch_times.h"
#include "expert/ends/failed_calls.h"
#include "expert/page/kept/trace_sums.h"
#include "expert/patterns/notes.h"
#include "expert/patterns/rma/passive/wait_claims.h"
#include "expert/sums/dispatchers.h"
#include "expert/sums/instances.h"
#include "expert/sums/processors.h"
#include "expert/sums/samples.h"
#include "expert/sums/send_modes.h"
#include "expert/sums/severity.h"
#include "expert/sums/unexplained.h"

namespace kojak::expert {

struct PartSums {
  SeverityStore severities;
  Unexplained unexplained;
  // Of a part; of a whole run the first three, and the page, stay where they are.
  std::optional<Processors> processors{};
  std::optional<Dispatchers> dispatchers{};
  std::optional<Samples> samples{};
  std::optional<Instances> instances{};   // where they are wanted
  std::optional<SendModes> send_modes{};  // likewise
  std::optional<StretchTimes> spent{};    // likewise, for root causes
  std::optional<html::TraceSums> page{};  // likewise
  std::vector<CallPath> paths{};
  std::array<std::uint64_t, kNotes> notes{};
  FailedCallCounter failed{};
  earl::Findings findings{};
  ProgressSureness sureness{};
  model::LockDecisions lock_decisions{};
  bool late = false;  // something of it is decided by what the whole run shows

  // What is no part's but the run's is told by its last part alone.
  void leave_to_last() {
    sureness.confirmed = 0;
    notes[static_cast<std::size_t>(Note::kProgressIsAsynchronous)] = 0;
  }
  // The part behind this one. A call path that is new there appears first there in the run. Returns
  // the numbers in the run of that part's call paths.
  std::vector<CallPathIndex> add(PartSums& part) {
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
    if (processors && !processors->add(*part.processors, here)) late = true;
    if (dispatchers) dispatchers->add(*part.dispatchers, here);
    if (samples) samples->add(*part.samples, here);
    if (instances) instances->add(*part.instances, here);
    if (send_modes && !send_modes->add(*part.send_modes, here)) late = true;
    if (page) page->add(*part.page, here);
    for (std::size_t n = 0; n < kNotes; ++n) notes[n] += part.notes[n];
    failed.add(part.failed, here);
    findings.add(part.findings);
    sureness.add(part.sureness);
    lock_decisions.add(part.lock_decisions);
    if (spent) spent->add(*part.spent, here);
    late = late || part.late || (dispatchers && !dispatchers->none());
    return here;
  }
  template <class Archive>
  void visit(Archive& archive) {
    std::vector<std::pair<earl::Finding, earl::Findings::Row>> found;
    findings.for_each(
        [&](earl::Finding f, const earl::Findings::Row& row) { found.emplace_back(f, row); });
    archive(severities, unexplained, paths, notes, failed, found, sureness, lock_decisions, late);
    if constexpr (Archive::kReads) {
      for (const auto& [f, row] : found) findings.add(f, row.first_pos, row.first_loc, row.count);
    }
    // (Who reads has the same ones, empty.)
    if (processors) archive(*processors);
    if (dispatchers) archive(*dispatchers);
    if (samples) archive(*samples);
    if (instances) archive(*instances);
    if (send_modes) archive(*send_modes);
    if (spent) archive(*spent);
    if (page) archive(*page);
  }
};

// Parts one after the other. Returns the numbers in the run of this one's call paths.
inline std::vector<CallPathIndex> add_part(std::optional<PartSums>& all, PartSums& part) {
  if (all) return all->add(part);
  all.emplace(std::move(part));
  std::vector<CallPathIndex> same(all->paths.size());
  std::iota(same.begin(), same.end(), CallPathIndex{0});
  return same;
}

}  // namespace kojak::expert
