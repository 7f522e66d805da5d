// Writes the definitions of a merged trace, referenced ones before those that refer to them, up to
// and including LAST_DEF, in the dialect of the writer.
//
// Owns nothing; errors are the writer's (a name that fits no record is cut by it).
#pragma once

#include <cstdint>

#include "epilog/format/io/writer.h"
#include "merge/define/definitions.h"

namespace kojak::merge {

// Where the numbers stand that may have to be replaced at the end.
struct CountPlace {
  std::uint64_t num_events = 0;  // offset of NUM_EVENTS
  std::uint64_t count64 = 0;     // offset of EVENT_COUNT64, 0 if there is none
};

// EVENT_COUNT64 is written where `wide`.
CountPlace write_definitions(TraceWriter& out, const MergedDefinitions& defs, const MergedRun& run,
                             std::uint64_t events, bool wide);

// Puts another number of events in its place.
Status replace_count(TraceWriter& out, const CountPlace& place, std::uint64_t events);

}  // namespace kojak::merge
