// What the hooks share beyond one call.
#include "epilog/mpi/hooks.h"

namespace kojak::measure {

// Each wrapper includes the hooks of its functions, as generate.py finds them in the headers: here
// all are known, and the two must agree.
#include "epilog/mpi/hook_checks.inc"

HashMap<MatchedMessage> matched_messages;
HashMap<OpenFile> open_files;
HashMap<std::uint32_t> live_groups;

// One handle may be given out several times, and freed as often.
void group_given(MPI_Group group) {
  if (group == MPI_GROUP_NULL) return;
  std::uint32_t* const times = live_groups.find(word(group));
  live_groups.set(word(group), times == nullptr ? 1 : *times + 1);
}
void group_freed(Word key) {
  std::uint32_t* const times = live_groups.find(key);
  if (times != nullptr && --*times == 0) live_groups.erase(key);
}

Neighbors neighbors_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  mpi::Topo_test(comm, &kind);
  int sources = 0, destinations = 0;
  if (kind == MPI_DIST_GRAPH) {
    int weighted = 0;
    mpi::Dist_graph_neighbors_count(comm, &sources, &destinations, &weighted);
  } else if (kind == MPI_CART) {
    mpi::Cartdim_get(comm, &sources);
    destinations = sources *= 2;
  } else if (kind == MPI_GRAPH) {
    int rank = 0;
    mpi::Comm_rank(comm, &rank);
    mpi::Graph_neighbors_count(comm, rank, &sources);
    destinations = sources;
  }
  return {static_cast<std::uint32_t>(sources), static_cast<std::uint32_t>(destinations)};
}

}  // namespace kojak::measure
