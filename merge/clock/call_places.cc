#include "merge/clock/call_places.h"

#include <algorithm>

namespace kojak::merge {
namespace {

// The grid has just so many places.
bool holds(const CallGrid& grid, std::size_t members) {
  std::uint64_t count = 1;
  for (const std::uint32_t size : grid.size) {
    if (size == 0 || size > members) return false;
    count *= size;
    if (count > members) return false;
  }
  return count == members && !grid.size.empty() && grid.periodic.size() == grid.size.size();
}

std::vector<std::uint32_t> coordinates(const CallGrid& grid, std::uint32_t place) {
  std::vector<std::uint32_t> result(grid.size.size());
  for (std::size_t d = result.size(); d > 0; --d) {
    result[d - 1] = place % grid.size[d - 1];
    place /= grid.size[d - 1];
  }
  return result;
}

void once_each(std::vector<std::uint32_t>& places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
}

}  // namespace

CommNeighbours neighbours_of(const CallGrid& grid, std::uint32_t place) {
  CommNeighbours result;
  std::uint32_t step = 1;  // between places that differ by one in the dimension
  for (std::size_t d = grid.size.size(); d > 0; --d) {
    const std::uint32_t size = grid.size[d - 1];
    const std::uint32_t at = place / step % size;
    const std::uint32_t origin = place - at * step;
    if (grid.periodic[d - 1]) {
      result.places.push_back(origin + (at + size - 1) % size * step);
      result.places.push_back(origin + (at + 1) % size * step);
    } else {
      if (at > 0) result.places.push_back(place - step);
      if (at + 1 < size) result.places.push_back(place + step);
      result.whole = result.whole && at > 0 && at + 1 < size;
    }
    step *= size;
  }
  once_each(result.places);
  return result;
}

CallPlaces::CallPlaces(const MergedDefinitions& definitions) : defs_(definitions) {
  for (const MergedDefinitions::Topology& topology : defs_.topologies) {
    topologies_.emplace(topology.comm, &topology.def);
  }
}

const CommPlaces& CallPlaces::of(std::uint32_t comm) {
  const auto [at, fresh] = known_.try_emplace(comm);
  CommPlaces& places = at->second;
  if (!fresh) return places;
  const MergedComm& def = defs_.comms[comm];
  places.ranks = def.ranks;
  places.first_group = static_cast<std::uint32_t>(def.ranks.size());
  if (def.intercommunicator()) {
    places.ranks.insert(places.ranks.end(), def.remote.begin(), def.remote.end());
  }
  for (std::uint32_t i = 0; i < places.ranks.size(); ++i) places.place.emplace(places.ranks[i], i);
  if (def.intercommunicator()) return places;
  if (const auto grid = grid_of(comm, places)) {
    for (std::uint32_t i = 0; i < places.ranks.size(); ++i) {
      places.near.emplace(i, neighbours_of(*grid, i));
    }
  }
  for (const auto& [rank, lists] : def.neighbours) {
    const std::uint32_t own = places.place_of(rank);
    if (own == kAbsent) continue;
    CommNeighbours near;
    for (const std::uint32_t source : lists.sources) {
      const std::uint32_t other = places.place_of(source);
      if (other == kAbsent) {
        near.whole = false;  // who records elsewhere
      } else {
        near.places.push_back(other);
      }
    }
    once_each(near.places);
    places.near.insert_or_assign(own, std::move(near));
  }
  return places;
}

// The topologies of all that recorded one, if they agree.
std::optional<CallGrid> CallPlaces::grid_of(std::uint32_t comm, const CommPlaces& places) const {
  std::optional<CallGrid> found;
  const auto [begin, end] = topologies_.equal_range(comm);
  for (auto at = begin; at != end; ++at) {
    const TopologyDef& def = *at->second;
    CallGrid grid{def.size, def.periodic};
    bool good = holds(grid, places.ranks.size()) && (!found || *found == grid);
    for (const auto& [location, coords] : def.coords) {
      if (!good) break;
      const auto member = places.place.find(defs_.locations[raw(location)].rank);
      good = member != places.place.end() && coordinates(grid, member->second) == coords;
    }
    if (!good) return std::nullopt;
    found = std::move(grid);
  }
  return found;
}

}  // namespace kojak::merge
