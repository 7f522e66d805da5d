#include "expert/sums/time_profile.h"

#include <algorithm>

#include "expert/metrics/time_class.h"
#include "expert/patterns/catalogue.h"

namespace kojak::expert {

MetricIndex TimeProfile::metric_of_class(TimeClass c) {
  return metric_of(c);
}

void TimeProfile::learn(const earl::OpenCall& call) {
  const auto call_path = static_cast<CallPathIndex>(raw(call.cnode));
  if (call_path >= paths_.size()) paths_.resize(call_path + 1);
  Path& path = paths_[call_path];
  path.row = cells_.row(call_path);
  if (call.function != nullptr) {
    path.time_class = time_class(call.function->cls);
    path.by_completion = completes_requests(call.function->role);
    return;
  }
  const RegionDef* region = definitions_->regions.find(call.region);
  path.time_class = region != nullptr ? region_class(*region) : TimeClass::kUser;
}

double TimeProfile::take_service(const earl::Call& call, CallPathIndex path, double time) {
  const Seconds since = services_.since(call.index);
  if (!(since < call.exit)) return 0;
  if (call.index >= served_.size()) served_.resize(call.index + 1);
  double& served = served_[call.index];
  double own = time;
  if (call.enter < since) {  // what is left by all that lay within it
    const double all = (call.exit - since).value;
    own = std::clamp(all - served, 0.0, time);
    served = all;
  } else {
    served += own;
  }
  severities_.add(metric_of_class(TimeClass::kService), path, call.index, own);
  return own;
}

void TimeProfile::finish(const earl::CallTree& tree) {
  constexpr MetricIndex kVisits = metric_index<Visits>();
  for (CallPathIndex c = 0; c < paths_.size(); ++c) {
    const std::span<const Cell> row = cells_.find(c);
    for (LocationIndex l = 0; l < row.size(); ++l) {
      if (row[l].visits == 0 && row[l].time == TimeSum()) continue;
      severities_.add(metric_of(paths_[c].time_class), c, l, row[l].time);
      if (row[l].visits == 0) continue;
      severities_.add_whole(kVisits, c, l, row[l].visits);
      tree.for_each_entered_with(CallPathId{c}, [&](CallPathId caller) {
        severities_.add_whole(kVisits, raw(caller), l, row[l].visits);
      });
    }
    if (!row.empty()) cells_.release(c);
  }
  paths_.clear();
}

std::vector<CallPath> call_paths_of(const earl::CallTree& tree) {
  std::vector<CallPath> paths;
  paths.reserve(tree.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const earl::CallPath& path = tree[static_cast<CallPathId>(static_cast<std::uint32_t>(i))];
    paths.push_back(
        {path.region, path.csite, is_absent(path.parent) ? kNone : std::size_t{raw(path.parent)}});
  }
  return paths;
}

}  // namespace kojak::expert
