// One clock for the processes of a node, and its offset to rank 0's.
//
// The node's first process calibrates; all take its scale and the earliest start as time 0. Offsets
// between nodes come from round trips, the shortest of which wins; half of it bounds the error.
// Collective over the communicators given; without a second node nothing but the sharing
// communicates.
#pragma once

#include <mpi.h>

namespace kojak::measure {

bool share_node_clock(MPI_Comm world, MPI_Comm node);
// Sets the session's offset, its bound and its time.
void measure_offset(MPI_Comm world, MPI_Comm node);

}  // namespace kojak::measure
