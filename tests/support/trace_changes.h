// Changes of a merged trace that leave its report as it is, or change it in a known way: other
// times, other numbers, one more process.
//
// Traces come and go as bytes in memory. Random choices depend on the seed only. A trace that
// cannot be decoded, or that a change is not made for (thousands of ranks), throws
// std::runtime_error. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kojak::support {

using TraceBytes = std::vector<std::byte>;

// Every event later by `seconds`.
TraceBytes with_times_shifted(const TraceBytes& trace, double seconds);
// All times `factor` times as large, and the error bounds of the clocks with them.
// Whole nanoseconds of PROCESSOR are rounded.
TraceBytes with_times_scaled(const TraceBytes& trace, double factor);
bool has_processor_times(const TraceBytes& trace);

// Other identifiers for all definitions and other numbers for operations and requests, with gaps.
// `most`: identifiers stay below it.
TraceBytes with_other_identifiers(const TraceBytes& trace, std::uint64_t seed,
                                  std::uint32_t most = 4000);

// Other ranks for the processes, everywhere: locations, processes, members of groups, peers, roots,
// lock targets. Each group keeps the order of its members; a location keeps its node.
struct Renumbered {
  TraceBytes trace;
  std::vector<std::uint32_t> location;  // the new number of each location, by the old one
};
Renumbered with_ranks_renumbered(const TraceBytes& trace, std::uint64_t seed);

// The members of every group in another order; classic bit vectors have none. False if an order
// means something in this trace: a scan.
bool order_of_members_matters(const TraceBytes& trace);
TraceBytes with_members_reordered(const TraceBytes& trace, std::uint64_t seed);

// One process more, at a random rank, that nobody has to do with: it runs from a second before the
// first event to a second after the last, in the region `idle` but for half a second each in
// MPI_Init and MPI_Finalize.
struct WithIdle {
  TraceBytes trace;
  std::vector<std::uint32_t> location;  // as in Renumbered
  std::uint32_t idle = 0;               // the location of the new process
  double seconds = 0;                   // from its first event to its last
};
WithIdle with_idle_process(const TraceBytes& trace, std::uint64_t seed);

}  // namespace kojak::support
