#include "expert/causes/gain_finder.h"

#include <algorithm>
#include <limits>

namespace kojak::expert {

GainFinder::Thing* GainFinder::next_of(Location& location) const {
  Thing* next = nullptr;
  location.next = kNever;
  for (Thing& thing : location.things) {
    if (thing.next == thing.end || thing.cases == 0) continue;
    if (left_out_[thing.next].until >= location.next) continue;
    location.next = left_out_[thing.next].until;
    next = &thing;
  }
  return next;
}

GainFinder::RowId GainFinder::add_row() {
  if (free_.empty()) {
    rows_.emplace_back();
    return static_cast<RowId>(rows_.size() - 1);
  }
  const RowId row = free_.back();
  free_.pop_back();
  return row;
}

void GainFinder::change_to(Location& location, Ticks time, RowId row) {
  use(row);
  const Row &next = rows_[row], &now = rows_[location.now];
  const bool same = next.most == now.most && next.earlier == now.earlier;
  std::vector<Change>& changes = location.changes;
  if (!same && changes.empty()) {
    use(location.now);
    changes.push_back({-1, location.now});
  }
  drop(location.now);
  location.now = row;
  if (same) return;
  use(row);
  if (time <= changes.back().time) {
    drop(changes.back().row);
    changes.back().row = row;
    return;
  }
  if (changes.size() == 2 * kKept) {
    for (std::size_t i = 0; i < kKept; ++i) drop(changes[i].row);
    changes.erase(changes.begin(), changes.begin() + kKept);
  }
  changes.push_back({time, row});
}

void GainFinder::leave_out_until(Location& location, Ticks time) {
  for (;;) {
    Thing* const thing = next_of(location);
    if (thing == nullptr || location.next > time) return;
    const LeftOut& left_out = left_out_[thing->next++];
    if (left_out.time == 0) continue;
    const RowId row = add_row();
    Row& earlier = rows_[row];
    earlier = rows_[location.now];
    earlier.uses = 0;
    for (std::size_t i = 0; i < cases_; ++i) {
      if ((thing->cases >> i & 1) == 0) continue;
      earlier.earlier[i] += left_out.time;
      earlier.most = std::max(earlier.most, earlier.earlier[i]);
    }
    change(location, left_out.until, row);
  }
}

GainFinder::RowId GainFinder::at(Location& location, Ticks time) {
  advance(location, time);
  if (location.changes.empty() || location.changes.back().time <= time) return location.now;
  // (The latest, wherever others were dropped.)
  const auto first = location.changes.end() -
                     static_cast<std::ptrdiff_t>(std::min(location.changes.size(), kKept));
  const auto later =
      std::upper_bound(first, location.changes.end(), time,
                       [](Ticks t, const Change& change) { return t < change.time; });
  return later == first ? later->row : (later - 1)->row;
}

GainFinder::RowId GainFinder::least(RowId first, RowId second, Ticks slack, bool& own) {
  // (Nobody is later than in the run.)
  if (first == second || slack >= rows_[first].most) return first;
  if (!own) {
    const RowId copy = add_row();
    rows_[copy] = rows_[first];
    rows_[copy].uses = 0;
    first = copy;
    own = true;
  }
  Row& row = rows_[first];
  const Earlier& other = rows_[second].earlier;
  Ticks most = 0;
  for (std::size_t i = 0; i < cases_; ++i) {
    row.earlier[i] = std::min(row.earlier[i], slack + other[i]);
    most = std::max(most, row.earlier[i]);
  }
  row.most = most;
  return first;
}

void GainFinder::end_call(const DependentCall& call, std::span<const Dependency> dependencies) {
  Location& own = locations_[call.location];
  // That by which all went on: nobody has to wait from then on.
  Ticks ready = call.enter;
  const Dependency* last = nullptr;
  for (const Dependency& d : dependencies) {
    advance(locations_[d.by], d.awaited);
    if (d.awaited <= ready) continue;
    ready = d.awaited;
    last = &d;
  }
  advance(own, ready);
  bool made = false;
  RowId row = last == nullptr ? own.now : at(locations_[last->by], last->awaited);
  if (last != nullptr) row = least(row, own.now, ready - call.enter, made);
  for (const Dependency& d : dependencies) {
    if (&d == last) continue;
    row = least(row, at(locations_[d.by], d.awaited), ready - d.awaited, made);
  }
  change(own, call.exit, row);
  if (made && rows_[row].uses == 0) free_.push_back(row);
}

void GainFinder::meet(std::span<const Member> members) {
  const Member* last = members.data();
  for (const Member& m : members) {
    Location& location = locations_[m.location];
    advance(location, m.enter);
    if (last->enter < m.enter) last = &m;
  }
  bool made = false;
  RowId row = locations_[last->location].now;
  // Of those that are earlier by the same, who came last counts.
  for (const Member* m = members.data(); m != members.data() + members.size();) {
    const RowId now = locations_[m->location].now;
    Ticks latest = m->enter;
    for (++m; m != members.data() + members.size() && locations_[m->location].now == now; ++m) {
      latest = std::max(latest, m->enter);
    }
    row = least(row, now, last->enter - latest, made);
  }
  use(row);
  // (From when they could go on: by clocks that differ, others may await them before they left.)
  for (const Member& m : members) change(locations_[m.location], last->enter, row);
  drop(row);
}

std::array<Ticks, GainFinder::kMost> GainFinder::finish(std::span<const Ticks> ends) {
  const Ticks last = ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end());
  Earlier gains;
  gains.fill(last);
  for (std::size_t l = 0; l < locations_.size(); ++l) {
    advance(locations_[l], ends[l]);
    for (std::size_t i = 0; i < cases_; ++i) {
      gains[i] = std::min(gains[i], last - (ends[l] - rows_[locations_[l].now].earlier[i]));
    }
  }
  return gains;
}

}  // namespace kojak::expert
