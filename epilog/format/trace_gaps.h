// What a trace itself tells of parts that are missing from it, in words and with a weight that all
// tools share.
//
// Pure functions on definitions; nothing fails; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilog/format/definitions.h"
#include "epilog/format/error.h"

namespace kojak {

// One kind of what LOST records count, over all locations.
struct TraceGap {
  std::uint64_t count = 0;
  bool suspect = false;  // numbers may be wrong (exit status 3); else only less is known
  std::string what;      // "records not written because the disk was full, location 3"
  std::string advice;
};
std::vector<TraceGap> gaps_of(const std::vector<Lost>& lost);

// The file has ended before LAST_DEF: what its events would refer to is unknown. `reason` is what
// the reader said, if it said anything.
Error ends_in_definitions(const std::string& path, std::uint64_t offset,
                          const std::string& reason = {});

}  // namespace kojak
