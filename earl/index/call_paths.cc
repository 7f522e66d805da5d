#include "earl/index/call_paths.h"

#include "earl/access/event_index.h"

namespace kojak::earl::sequence {

void CallPaths::mark(std::uint64_t pos, std::uint32_t index) {
  (*log_)[index].add(pos, tree_.size(), [&](std::uint32_t path) {
    return path < visits_.size() && index < visits_[path].size() ? visits_[path][index] : 0;
  });
}

std::uint64_t CallPaths::indexed_visits(CallPathId path, std::uint32_t index) const {
  return index_->visits(path, index, pos_);
}

void CallPaths::restore(const EventIndex& index, std::uint64_t pos, CallPathId current) {
  index_ = &index;
  pos_ = pos;
  current_ = current;
  const CallTree& all = index.call_tree();
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const CallPath& path = all[static_cast<CallPathId>(i)];
    if (path.first_enter > pos) break;
    tree_.add(path.parent, path.region, path.csite, path.first_enter);
  }
}

}  // namespace kojak::earl::sequence
