#include "earl/aspects/call_tree.h"

#include <array>

#include "earl/detail/flat_index.h"

namespace kojak::earl {
namespace {

std::uint64_t hash(CallPathId parent, RegionId region, CallSiteId csite, bool jumps) {
  return detail::mix(std::uint64_t{raw(parent)} << 32 | raw(region),
                     std::uint64_t{jumps} << 32 | raw(csite));
}

}  // namespace

CallTree::CallTree(const Definitions* definitions) : definitions_(definitions), table_(256) {}

bool CallTree::has_caller(CallSiteId csite) const {
  if (is_absent(csite) || definitions_ == nullptr) return false;
  const CallSiteDef* const site = definitions_->call_sites.find(csite);
  return site != nullptr && !is_absent(site->caller);
}

CallPathId CallTree::find_or_add(CallPathId open, RegionId region, CallSiteId csite,
                                 std::uint64_t pos) {
  const CallPathId found = entry({open, region, csite, pos}, has_caller(csite));
  (is_absent(open) ? last_root_ : last_[raw(open)]) = {region, csite, found};
  return found;
}

// Finds what a region entered from a site leads to, or makes it.
CallPathId CallTree::entry(const CallPath& path, bool jumps) {
  const std::size_t mask = table_.size() - 1;
  std::size_t i = hash(path.parent, path.region, path.csite, jumps) & mask;
  for (; table_[i] != 0; i = (i + 1) & mask) {
    const Entry& e = entries_[table_[i] - 1];
    if (e.parent == path.parent && e.region == path.region && e.csite == path.csite &&
        e.jumps == jumps) {
      return e.child;
    }
  }
  const std::size_t own = entries_.size();
  entries_.push_back({path.parent, path.region, path.csite, jumps, absent<CallPathId>()});
  table_[i] = static_cast<std::uint32_t>(entries_.size());
  if (entries_.size() * 2 > table_.size()) grow();
  CallPathId child;
  if (jumps) {
    child = add_with_callers(path.parent, path.region, path.csite, path.first_enter);
  } else {
    child = static_cast<CallPathId>(static_cast<std::uint32_t>(paths_.size()));
    paths_.push_back(path);
    last_.emplace_back();
  }
  entries_[own].child = child;
  return child;
}

CallPathId CallTree::add_with_callers(CallPathId open, RegionId region, CallSiteId csite,
                                      std::uint64_t pos) {
  std::array<CallPath, kMostSiteCallers> callers;  // innermost first
  std::size_t count = 0;
  definitions_->for_each_caller(*definitions_->call_sites.find(csite),
                                [&](CallSiteId id, const CallSiteDef& def) {
                                  callers[count++] = {open, def.entered, id, pos};
                                });
  CallPathId parent = open;
  while (count != 0) {
    callers[--count].parent = parent;
    parent = entry(callers[count], false);
  }
  return entry({parent, region, csite, pos}, false);
}

void CallTree::grow() {
  std::vector<std::uint32_t> old(table_.size() * 2);
  old.swap(table_);
  const std::size_t mask = table_.size() - 1;
  for (std::uint32_t n = 1; n <= entries_.size(); ++n) {
    const Entry& e = entries_[n - 1];
    std::size_t i = hash(e.parent, e.region, e.csite, e.jumps) & mask;
    while (table_[i] != 0) i = (i + 1) & mask;
    table_[i] = n;
  }
}

}  // namespace kojak::earl
