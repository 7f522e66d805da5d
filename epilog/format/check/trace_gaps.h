// What is wrong with a trace as a file, and what it tells itself of parts that it lacks: one table,
// in words and with a weight that all tools share.
//
// Pure functions; nothing fails; any thread. (What is wrong at a trace's end, or makes it
// unreadable from some place on, is TraceReader's error.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilog/format/definitions.h"
#include "epilog/format/io/reader.h"

namespace kojak {

// One kind of it, over all locations.
struct TraceGap {
  std::uint64_t count = 0;
  bool suspect = false;  // numbers may be wrong (exit status 3); else only less is known
  std::string what;      // "records not written because the disk was full, location 3"
  std::string advice;
};
// What LOST records count.
std::vector<TraceGap> gaps_of(const std::vector<Lost>& lost);

// Records that readers leave out.
struct BadRecords {
  std::uint64_t damaged = 0;      // events and attributes, too short for their type
  std::uint64_t definitions = 0;  // too short, or at odds with others
  std::uint64_t unknown = 0;      // types that are not known
};
struct TraceFault {
  const char* what;  // for in_number()
  const char* advice;
  bool suspect;
};
inline constexpr TraceFault kDamagedRecords{"damaged {record|records}",
                                            "too short for their type, so they were left out "
                                            "(elg_print --verify lists them); copy or merge "
                                            "the trace again",
                                            true};
inline constexpr TraceFault kBadDefinitions{"bad {definition|definitions}",
                                            "left out with everything that refers to them "
                                            "(elg_print --verify lists them); copy or merge the "
                                            "trace again",
                                            true};
inline constexpr TraceFault kUnknownRecords{
    "{record|records} of unknown type",
    "written by a newer or another tool, and left out (elg_print --verify lists them)", false};
// All of it: these, processes that the merge did not have, and LOST records.
std::vector<TraceGap> gaps_of(const BadRecords& bad, const Definitions& definitions);

// The file has ended before LAST_DEF: what its events would refer to is unknown. `damaged`: inside
// a record.
Error ends_in_definitions(const TraceReader& reader, bool damaged);

}  // namespace kojak
