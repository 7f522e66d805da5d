#include "earl/filter/selection.h"

#include <algorithm>

namespace kojak::filter {
namespace {

Error no_such(const std::string& what) {
  Error error;
  error.code = ExitCode::kUsage;
  error.reason = "the trace has " + what;
  error.remedy = "elg_print and elg_stat tell what it has";
  return error;
}

// A rank of the run whose location the trace has not, or no longer.
Error lacks_rank(const earl::Trace& trace, std::uint32_t rank) {
  return {ExitCode::kBadInput,
          trace.path(),
          std::nullopt,
          "",
          "",
          "the trace lacks rank " + std::to_string(rank) + " of its run",
          "its local trace was missing when the run was merged, or the definitions are damaged: "
          "elg_print --verify tells"};
}

}  // namespace

Result<Selection> Selection::make(const Cut& cut, const earl::Trace& trace) {
  const Definitions& definitions = trace.definitions();
  const std::uint32_t locations = trace.location_count();
  const bool damaged = trace.findings()[earl::Finding::kBadDefinition].count > 0;
  const std::uint32_t ranks = definitions.merged_run ? raw(definitions.merged_run->size) : 0;
  Selection selection(cut);
  for (std::uint32_t index = 0; index < locations; ++index) {
    selection.threads_[trace.process(index)].push_back(index);
  }
  for (const std::uint32_t rank : cut.ranks) {
    if (selection.threads_.count(ProcessId{rank}) != 0) continue;
    if (damaged || rank < ranks) return lacks_rank(trace, rank);
    return no_such("no rank " + std::to_string(rank));
  }
  std::set<std::string> missing = cut.regions;
  const std::size_t dense = 2 * definitions.regions.size() + 64;
  definitions.regions.for_each([&](RegionId id, const RegionDef& region) {
    if (cut.regions.count(region.name) == 0) return;
    missing.erase(region.name);
    if (raw(id) >= dense) {
      selection.far_.insert(id);
    } else {
      if (raw(id) >= selection.named_.size()) selection.named_.resize(raw(id) + 1);
      selection.named_[raw(id)] = true;
    }
  });
  if (!missing.empty()) return no_such("no region called `" + *missing.begin() + "`");
  definitions.call_sites.for_each([&](CallSiteId id, const CallSiteDef& site) {
    bool any = false;
    definitions.for_each_caller(site, [&](CallSiteId, const CallSiteDef& caller) {
      any = any || selection.named(caller.entered);
    });
    if (any) selection.sites_.insert(id);
  });
  selection.instances_.resize(locations);
  selection.depth_.resize(locations);
  return selection;
}

bool Selection::all(const RankList& ranks) const {
  return cut_.ranks.empty() ||
         std::all_of(ranks.begin(), ranks.end(), [&](std::uint32_t r) { return process(r); });
}

bool Selection::whole(const CommDef* comm) const {
  return comm == nullptr || (all(comm->ranks) && all(comm->remote));
}

void Selection::enter(const earl::OpenCall& call) {
  if (!named(call.region, call.csite) || depth_[call.index]++ != 0) return;
  instances_[call.index].push_back({call.enter_pos, earl::kNoEvent});
}

void Selection::leave(const earl::Call& call) {
  if (!named(call.region, call.csite) || depth_[call.index] == 0 || --depth_[call.index] != 0)
    return;
  instances_[call.index].back().end = call.exit_pos;
}

const Selection::Instance* Selection::before(std::uint32_t index, std::uint64_t pos) const {
  const std::vector<Instance>& list = instances_[index];
  const auto after =
      std::upper_bound(list.begin(), list.end(), pos,
                       [](std::uint64_t p, const Instance& i) { return p < i.begin; });
  return after == list.begin() ? nullptr : &*(after - 1);
}

bool Selection::event(std::uint32_t index, ProcessId rank, Seconds time, std::uint64_t pos) const {
  if (!(time.value >= cut_.from && time.value <= cut_.to) || !process(raw(rank))) return false;
  if (!by_region()) return true;
  const Instance* instance = before(index, pos);
  return instance != nullptr && pos <= instance->end;
}

bool Selection::between(const earl::Call& first, const earl::Call& last) const {
  if (!process(raw(first.process)) || last.exit.value < cut_.from || first.exit.value > cut_.to) {
    return false;
  }
  if (!by_region()) return true;
  const std::vector<std::uint32_t>& threads = threads_.at(first.process);
  return std::any_of(threads.begin(), threads.end(), [&](std::uint32_t index) {
    const Instance* instance = before(index, last.exit_pos);
    return instance != nullptr && instance->end >= first.exit_pos;
  });
}

}  // namespace kojak::filter
