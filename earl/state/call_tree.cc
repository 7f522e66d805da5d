#include "earl/state/call_tree.h"

#include "earl/detail/flat_index.h"

namespace kojak::earl {
namespace {

std::uint64_t hash(CallPathId parent, RegionId region, CallSiteId csite) {
  return detail::mix(std::uint64_t{raw(parent)} << 32 | raw(region), raw(csite));
}

}  // namespace

CallTree::CallTree() : table_(256) {}

CallPathId CallTree::find_or_add(CallPathId parent, RegionId region, CallSiteId csite,
                                 std::uint64_t pos) {
  const std::size_t mask = table_.size() - 1;
  std::size_t i = hash(parent, region, csite) & mask;
  for (; table_[i] != 0; i = (i + 1) & mask) {
    const CallPath& path = paths_[table_[i] - 1];
    if (path.parent == parent && path.region == region && path.csite == csite) break;
  }
  if (table_[i] == 0) {
    paths_.push_back({parent, region, csite, pos});
    last_.emplace_back();
    table_[i] = static_cast<std::uint32_t>(paths_.size());
  }
  const auto found = static_cast<CallPathId>(table_[i] - 1);
  (is_absent(parent) ? last_root_ : last_[raw(parent)]) = {region, csite, found};
  if (paths_.size() * 2 > table_.size()) grow();
  return found;
}

void CallTree::grow() {
  std::vector<std::uint32_t> old(table_.size() * 2);
  old.swap(table_);
  const std::size_t mask = table_.size() - 1;
  for (std::uint32_t n = 1; n <= paths_.size(); ++n) {
    const CallPath& path = paths_[n - 1];
    std::size_t i = hash(path.parent, path.region, path.csite) & mask;
    while (table_[i] != 0) i = (i + 1) & mask;
    table_[i] = n;
  }
}

}  // namespace kojak::earl
