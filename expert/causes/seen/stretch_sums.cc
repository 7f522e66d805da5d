#include "expert/causes/seen/stretch_sums.h"

#include <algorithm>

namespace kojak::expert {

template <class Value>
void StretchSums<Value>::compare_as(CallPathIndex path, CallPathIndex as) {
  if (path >= compared_as_.size()) compared_as_.resize(path + 1, kNoCallPath);
  compared_as_[path] = as;
}

template <class Value>
void StretchSums<Value>::enter(LocationIndex location, CallPathIndex path, Timeline::Kind kind) {
  Location& l = locations_[location];
  l.open.push_back({compared_as(path), kind});
  if (kind == Timeline::Kind::kComputing && l.calls == 0) l.bounds.computes();
  if (kind != Timeline::Kind::kCall || l.calls++ != 0) return;
  l.bounds.enter(l.open.back().path, *library_);
  name(location);
}

template <class Value>
void StretchSums<Value>::on_goes_on(const earl::Call& from) {
  enter_around(from, *library_->tree(), *classes_,
               [&](CallPathIndex path, Timeline::Kind kind) { enter(from.index, path, kind); });
  on_enter(from);
  on_call(from);
}

template <class Value>
void StretchSums<Value>::on_call(const earl::Call& call) {
  Location& l = locations_[call.index];
  if (l.open.empty()) return;  // a damaged trace
  if (l.open.back().kind == Timeline::Kind::kCall && --l.calls == 0) l.bounds.leave();
  if (l.open.back().kind == Timeline::Kind::kComputing && l.calls == 0) l.bounds.computes();
  l.open.pop_back();
}

template <class Value>
std::span<Value> StretchSums<Value>::now(LocationIndex location) {
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

template <class Value>
void StretchSums<Value>::name(LocationIndex location) {
  Location& l = locations_[location];
  if (l.bounds.inside() != kNoCallPath) {  // the library's
    l.paths.clear();
    l.values.clear();
  }
  for (std::size_t p = 0; p < l.paths.size(); ++p) {
    add_to({l.paths[p], l.bounds.before(), l.bounds.after()}, location, &l.values[p * count_]);
  }
  l.paths.clear();
  l.values.clear();
}

template <class Value>
void StretchSums<Value>::add_to(const Between& stretch, LocationIndex location,
                                const Value* values) {
  std::vector<Row>& rows = rows_[stretch];
  auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.location == location; });
  if (row == rows.end()) {
    rows.push_back({location, sums_.size()});
    sums_.resize(sums_.size() + count_, 0);
    row = rows.end() - 1;
  }
  for (std::size_t i = 0; i < count_; ++i) sums_[row->first + i] += values[i];
}

template <class Value>
void StretchSums<Value>::add(const StretchSums& other, std::span<const CallPathIndex> paths) {
  const auto here = [&](CallPathIndex path) { return path == kNoCallPath ? path : paths[path]; };
  for (const auto& [s, rows] : other.rows_) {
    const Between stretch{here(s.path), here(s.before), here(s.after)};
    for (const Row& row : rows) add_to(stretch, row.location, &other.sums_[row.first]);
  }
}

template <class Value>
void StretchSums<Value>::finish() {
  for (std::size_t l = 0; l < locations_.size(); ++l) {
    locations_[l].bounds.finish();
    name(static_cast<LocationIndex>(l));
  }
}

template <class Value>
auto StretchSums<Value>::rows(const Stretch& s) const -> std::span<const Row> {
  if (s.kind != Stretch::Kind::kComputing) return {};
  const auto found = rows_.find({compared_as(s.path), compared_as(s.before), compared_as(s.after)});
  return found == rows_.end() ? std::span<const Row>() : found->second;
}

template class StretchSums<double>;
template class StretchSums<Ticks>;

}  // namespace kojak::expert
