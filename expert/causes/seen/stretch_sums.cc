#include "expert/causes/seen/stretch_sums.h"

#include <algorithm>

namespace kojak::expert {

void StretchSums::compare_as(CallPathIndex path, CallPathIndex as) {
  if (path >= compared_as_.size()) compared_as_.resize(path + 1, kNoCallPath);
  compared_as_[path] = as;
}

void StretchSums::on_enter(const earl::OpenCall& call) {
  const Timeline::Kind kind = kind_of(call, classes_);
  Location& l = locations_[call.index];
  l.open.push_back({compared_as(raw(call.cnode)), kind});
  if (kind == Timeline::Kind::kComputing && l.calls == 0) l.bounds.computes();
  if (kind != Timeline::Kind::kCall || l.calls++ != 0) return;
  l.bounds.enter(l.open.back().path, *library_);
  name(call.index);
}

void StretchSums::on_call(const earl::Call& call) {
  Location& l = locations_[call.index];
  if (l.open.empty()) return;  // a damaged trace
  if (l.open.back().kind == Timeline::Kind::kCall && --l.calls == 0) l.bounds.leave();
  if (l.open.back().kind == Timeline::Kind::kComputing && l.calls == 0) l.bounds.computes();
  l.open.pop_back();
}

std::span<double> StretchSums::now(LocationIndex location) {
  Location& l = locations_[location];
  if (l.open.empty() || l.calls != 0 || l.open.back().kind != Timeline::Kind::kComputing) return {};
  const CallPathIndex path = l.open.back().path;
  const auto known = std::find(l.paths.begin(), l.paths.end(), path);
  const auto at = static_cast<std::size_t>(known - l.paths.begin());
  if (known == l.paths.end()) {
    l.paths.push_back(path);
    l.values.resize(l.paths.size() * count_, 0);
  }
  return {&l.values[at * count_], count_};
}

void StretchSums::name(LocationIndex location) {
  Location& l = locations_[location];
  if (l.bounds.inside() != kNoCallPath) {  // the library's
    l.paths.clear();
    l.values.clear();
  }
  for (std::size_t p = 0; p < l.paths.size(); ++p) {
    std::vector<Row>& rows = rows_[{l.paths[p], l.bounds.before(), l.bounds.after()}];
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const Row& r) { return r.location == location; });
    if (row == rows.end()) {
      rows.push_back({location, sums_.size()});
      sums_.resize(sums_.size() + count_, 0);
      row = rows.end() - 1;
    }
    for (std::size_t i = 0; i < count_; ++i) {
      sums_[row->first + i] += l.values[p * count_ + i];
    }
  }
  l.paths.clear();
  l.values.clear();
}

void StretchSums::finish() {
  for (std::size_t l = 0; l < locations_.size(); ++l) {
    locations_[l].bounds.finish();
    name(static_cast<LocationIndex>(l));
  }
}

std::span<const StretchSums::Row> StretchSums::rows(const Stretch& s) const {
  if (s.kind != Stretch::Kind::kComputing) return {};
  const auto found = rows_.find({compared_as(s.path), compared_as(s.before), compared_as(s.after)});
  return found == rows_.end() ? std::span<const Row>() : found->second;
}

}  // namespace kojak::expert
