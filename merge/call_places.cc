#include "merge/call_places.h"

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

}  // namespace

GridNeighbours neighbours_of(const CallGrid& grid, std::uint32_t place) {
  GridNeighbours result;
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
  std::sort(result.places.begin(), result.places.end());
  result.places.erase(std::unique(result.places.begin(), result.places.end()), result.places.end());
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
  if (!def.intercommunicator()) find_grid(comm, places);
  return places;
}

void CallPlaces::find_grid(std::uint32_t comm, CommPlaces& places) const {
  const auto [begin, end] = topologies_.equal_range(comm);
  for (auto at = begin; at != end; ++at) {
    const TopologyDef& def = *at->second;
    CallGrid grid{def.size, def.periodic};
    bool good = holds(grid, places.ranks.size()) && (!places.grid || *places.grid == grid);
    for (const auto& [location, coords] : def.coords) {
      if (!good) break;
      const auto member = places.place.find(defs_.locations[raw(location)].rank);
      good = member != places.place.end() && coordinates(grid, member->second) == coords;
    }
    if (!good) {
      places.grid.reset();
      return;
    }
    places.grid = std::move(grid);
  }
}

}  // namespace kojak::merge
