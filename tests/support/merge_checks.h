// What must hold between local traces and the trace that was merged from them, checked without any
// part of the merge.
//
// The local traces are read and spelled out on their own (whole-call records as four events, remote
// records as their local counterparts, identifiers by name), and compared with the merged trace.
// Traces come as bytes in memory. Each check gives one line for each thing that is wrong, none if
// all is well; input that cannot be decoded throws std::runtime_error. No state.
// Source: docs/merge.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/plain_events.h"

namespace kojak::support {

// The end of one transfer in words: "put 0#1 at 1 t=6.5 before MPI_WINCOLLEXIT 1", with "mark 2" at
// the end if it has one. `before` is the next event that is no end and no mark.
std::vector<std::string> ends_in_words(const std::vector<std::byte>& merged);

struct MergeCheck {
  bool extended = true;
  // Regions that the merge had to close: so many exits are added to the end of that trace.
  // Index as in the local traces; empty if none.
  std::vector<std::uint32_t> closed;
  // The corrected time of a local time, by index of the trace; without it, times are compared
  // relative to the first event of all.
  std::function<double(std::size_t, double)> clock;
  bool compare_times = true;
  // Ends at one record stand in the order of their own times, as the linear correction has them.
  bool compare_end_order = true;
};

// All properties that tie one merged trace to its local traces.
std::vector<std::string> check_merge(const std::vector<std::vector<std::byte>>& locals,
                                     const std::vector<std::byte>& merged,
                                     const MergeCheck& check = {});

// The extended model is the basic one with its ends moved: putting them back gives it again.
std::vector<std::string> check_models(const std::vector<std::byte>& basic,
                                      const std::vector<std::byte>& extended);

}  // namespace kojak::support
