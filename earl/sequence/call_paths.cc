#include "earl/sequence/call_paths.h"

namespace kojak::earl::sequence {

void CallPaths::save(BlobWriter& out) const {
  out.number(tree_.size());
  for (std::uint32_t i = 0; i < tree_.size(); ++i) {
    const CallPath& path = tree_[static_cast<CallPathId>(i)];
    out.numbers(raw(path.parent), raw(path.region), raw(path.csite), path.first_enter);
    out.number(visits_[i].size());
    for (const std::uint64_t n : visits_[i]) out.number(n);
  }
  for (const std::vector<CallPathId>& open : open_) {
    out.number(open.size());
    for (const CallPathId path : open) out.number(raw(path));
  }
  out.number(raw(current_));
}

void CallPaths::load(BlobReader& in) {
  tree_ = CallTree(&trace_->definitions());
  visits_.assign(in.count(), {});
  for (std::vector<std::uint64_t>& visits : visits_) {
    CallPath path;
    in.numbers(path.parent, path.region, path.csite, path.first_enter);
    if (!in.ok() || (!is_absent(path.parent) && raw(path.parent) >= tree_.size())) return;
    tree_.add(path.parent, path.region, path.csite, path.first_enter);
    visits.resize(in.count());
    for (std::uint64_t& n : visits) in.get(n);
  }
  for (std::vector<CallPathId>& open : open_) {
    open.resize(in.count());
    for (CallPathId& path : open) in.get(path);
  }
  in.get(current_);
}

}  // namespace kojak::earl::sequence
