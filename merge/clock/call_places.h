// Where processes stand in a communicator, for those calls in which it matters: their order, the
// two groups of an intercommunicator, neighbours in a topology.
//
// Ranks are of the run, places of the communicator; in an intercommunicator those of the second
// group go on behind the first. Neighbours are those that the process itself recorded
// (GRAPH_NEIGHBOURS: graphs, and Cartesian topologies). Where it did not, a Cartesian topology
// tells them: if its sizes hold just the members and every recorded coordinate is the one that
// MPI's numbering (row-major) gives. Made when first asked for; memory grows with the members of
// communicators that were asked for, and their neighbours. The definitions must outlive it.
// Source: MPI 3.1, sections 5.2.2, 7.2 and 7.6.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>

#include "merge/define/definitions.h"

namespace kojak::merge {

// A Cartesian topology: how many places each dimension has, and whether it is closed to a ring.
struct CallGrid {
  std::vector<std::uint32_t> size;
  std::vector<bool> periodic;
  bool operator==(const CallGrid&) const = default;
};

// Whom the process at a place receives data from.
struct CommNeighbours {
  std::vector<std::uint32_t> places;  // ascending, each once; may hold the place itself
  bool whole = true;                  // the bytes that it recorded are of these only
};
// In a grid: those one step down and up in each dimension. Its bytes may hold those of
// MPI_PROC_NULL, too, where it has that for a neighbour.
CommNeighbours neighbours_of(const CallGrid& grid, std::uint32_t place);

struct CommPlaces {
  std::vector<std::uint32_t> ranks;                        // by place
  std::unordered_map<std::uint32_t, std::uint32_t> place;  // by rank
  std::uint32_t first_group = 0;                           // places of the first group
  std::unordered_map<std::uint32_t, CommNeighbours> near;  // by place, where they are known
  // Absent for a process that is no member.
  std::uint32_t place_of(std::uint32_t rank) const {
    const auto at = place.find(rank);
    return at != place.end() ? at->second : kAbsent;
  }
  const CommNeighbours* neighbours(std::uint32_t at_place) const {
    const auto at = near.find(at_place);
    return at != near.end() ? &at->second : nullptr;
  }
};

class CallPlaces {
 public:
  explicit CallPlaces(const MergedDefinitions& definitions);
  const CommPlaces& of(std::uint32_t comm);

 private:
  std::optional<CallGrid> grid_of(std::uint32_t comm, const CommPlaces& places) const;

  const MergedDefinitions& defs_;
  std::multimap<std::uint32_t, const TopologyDef*> topologies_;  // by communicator
  std::unordered_map<std::uint32_t, CommPlaces> known_;
};

}  // namespace kojak::merge
