// Random programs of passive target epochs and of start to wait, in phases between barriers: local
// traces in text, of processes on two nodes.
//
// In a phase processes compute, lock a target, transfer, flush and unlock, or hold locks of all for
// several phases; times are random, so that targets are outside MPI while others wait, and some
// calls end without them. Nothing of it need be what an MPI would do: it is what a reader may have
// to add up. The same seed gives the same program. Values own all they hold; no global state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kojak::support {

std::vector<std::string> passive_program(std::uint64_t seed);  // by rank

}  // namespace kojak::support
