// Where processes stand in a communicator, for those calls in which it matters: their order, the
// two groups of an intercommunicator, neighbours in a Cartesian topology.
//
// Ranks are of the run, places of the communicator; in an intercommunicator those of the second
// group go on behind the first. A topology counts as known if its sizes hold just the members and
// every recorded coordinate is the one that MPI's numbering (row-major) gives; graphs are not
// recorded. Made when first asked for; memory grows with the members of communicators that were
// asked for. The definitions must outlive it. Not thread-safe. Nothing fails. Source: MPI 3.1,
// sections 5.2.2, 7.2 and 7.6.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>

#include "merge/definitions.h"

namespace kojak::merge {

// A Cartesian topology: how many places each dimension has, and whether it is closed to a ring.
struct CallGrid {
  std::vector<std::uint32_t> size;
  std::vector<bool> periodic;
  bool operator==(const CallGrid&) const = default;
};

struct GridNeighbours {
  std::vector<std::uint32_t> places;  // ascending, each once; may hold the place itself
  bool whole = true;                  // no neighbour is MPI_PROC_NULL
};
// Whom the process at a place exchanges data with: one step down and up in each dimension.
GridNeighbours neighbours_of(const CallGrid& grid, std::uint32_t place);

struct CommPlaces {
  std::vector<std::uint32_t> ranks;                        // by place
  std::unordered_map<std::uint32_t, std::uint32_t> place;  // by rank
  std::uint32_t first_group = 0;                           // places of the first group
  std::optional<CallGrid> grid;                            // where it is known
  // Absent for who is no member.
  std::uint32_t place_of(std::uint32_t rank) const {
    const auto at = place.find(rank);
    return at != place.end() ? at->second : kAbsent;
  }
};

class CallPlaces {
 public:
  explicit CallPlaces(const MergedDefinitions& definitions);
  const CommPlaces& of(std::uint32_t comm);

 private:
  void find_grid(std::uint32_t comm, CommPlaces& places) const;

  const MergedDefinitions& defs_;
  std::multimap<std::uint32_t, const TopologyDef*> topologies_;  // by communicator
  std::unordered_map<std::uint32_t, CommPlaces> known_;
};

}  // namespace kojak::merge
