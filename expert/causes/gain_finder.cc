#include "expert/causes/gain_finder.h"

#include <algorithm>
#include <limits>

namespace kojak::expert {

void GainFinder::start() {
  for (Location& l : locations_) {
    std::stable_sort(l.left_out.begin(), l.left_out.end(),
                     [](const LeftOut& a, const LeftOut& b) { return a.until < b.until; });
  }
}

void GainFinder::change(Location& location, Ticks time, const Earlier& earlier) {
  if (earlier == location.now) return;
  std::vector<Change>& changes = location.changes;
  if (changes.empty()) changes.push_back({-1, location.now});
  location.now = earlier;
  if (time <= changes.back().time) {
    changes.back().earlier = earlier;
    return;
  }
  if (changes.size() == kKept) changes.erase(changes.begin(), changes.begin() + kKept / 2);
  changes.push_back({time, earlier});
}

void GainFinder::advance(Location& location, Ticks time) {
  while (location.next < location.left_out.size() &&
         location.left_out[location.next].until <= time) {
    const LeftOut& left_out = location.left_out[location.next++];
    Earlier earlier = location.now;
    earlier[left_out.cause] += left_out.time;
    change(location, left_out.until, earlier);
  }
}

const GainFinder::Earlier& GainFinder::at(Location& location, Ticks time) {
  advance(location, time);
  if (location.changes.empty() || location.changes.back().time <= time) return location.now;
  const auto later =
      std::upper_bound(location.changes.begin(), location.changes.end(), time,
                       [](Ticks t, const Change& change) { return t < change.time; });
  return later == location.changes.begin() ? later->earlier : (later - 1)->earlier;
}

void GainFinder::end_call(std::span<const Dependency> dependencies) {
  const Dependency& call = dependencies.front();
  Location& own = locations_[call.location];
  Ticks ready = call.enter;
  for (const Dependency& d : dependencies) ready = std::max(ready, d.awaited);
  advance(own, ready);
  Earlier earlier{};
  for (std::size_t i = 0; i < causes_; ++i) earlier[i] = ready - (call.enter - own.now[i]);
  for (const Dependency& d : dependencies) {
    const Earlier& other = at(locations_[d.by], d.awaited);
    for (std::size_t i = 0; i < causes_; ++i) {
      earlier[i] = std::min(earlier[i], ready - (d.awaited - other[i]));
    }
  }
  change(own, call.exit, earlier);
}

void GainFinder::meet(std::span<const Member> members) {
  Ticks ready = 0;
  for (const Member& m : members) ready = std::max(ready, m.enter);
  Earlier earlier{};
  std::fill_n(earlier.begin(), causes_, std::numeric_limits<Ticks>::max());
  for (const Member& m : members) {
    Location& location = locations_[m.location];
    advance(location, m.enter);
    for (std::size_t i = 0; i < causes_; ++i) {
      earlier[i] = std::min(earlier[i], ready - (m.enter - location.now[i]));
    }
  }
  for (const Member& m : members) change(locations_[m.location], m.exit, earlier);
}

std::array<Ticks, GainFinder::kMost> GainFinder::finish(std::span<const Ticks> ends) {
  const Ticks last = ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end());
  Earlier gains;
  gains.fill(last);
  for (std::size_t l = 0; l < locations_.size(); ++l) {
    advance(locations_[l], ends[l]);
    for (std::size_t i = 0; i < causes_; ++i) {
      gains[i] = std::min(gains[i], last - (ends[l] - locations_[l].now[i]));
    }
  }
  return gains;
}

}  // namespace kojak::expert
