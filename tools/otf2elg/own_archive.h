// Brings back the trace that elg2otf2 made an archive of, record by record.
//
// The archive's standard records and the attributes beside them say every record of the trace
// (tools/elg2otf2/carried.h); the order is that of the trace. Memory: 1,024 events a location.
// Times are right to half a nanosecond. Single-threaded. Errors: exit code 2 for an archive that
// does not hold what elg2otf2 writes, 4 for the output. A location that cannot be read on is told,
// and what came before is kept.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/otf2elg/archive.h"

namespace kojak::otf2 {

bool is_own(const Archive& archive);

struct Restored {
  std::vector<std::string> damage;  // what could not be read
};
Result<Restored> restore(Archive& archive, const std::string& output,
                         const std::function<void(std::uint64_t)>& progress);

}  // namespace kojak::otf2
