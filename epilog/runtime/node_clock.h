// One clock for the processes of a node, and its offset to rank 0's.
//
// Processes that run under the same kernel share a clock: the first of them calibrates, and all
// take its scale and the earliest start as time 0. They find each other by one gather; more
// communication is there only between nodes.
// Offsets come from round trips between each node's first process and rank 0, the shortest wins,
// half of it bounds the error. Only a node's first process knows and writes them; the merge applies
// them to the node. All processes of the run call these together.
#pragma once

#include "epilog/runtime/clock.h"
#include "epilog/runtime/exchange.h"

namespace kojak::measure {

// Sets the session's node, clock and offset. False if the exchange failed, which stays in use up to
// forget_nodes().
bool share_node_clock(const Exchange& exchange);
// Sets the session's offset, its bound and its time once more. When the first partner in this was
// there; now, if there is none.
Ticks measure_offset();
// Equal in the processes of one node.
std::uint64_t node_key();
void forget_nodes();

}  // namespace kojak::measure
