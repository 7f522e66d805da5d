// How often and how long each region of a trace was entered, and the bytes that went through it.
//
// One pass over a merged or local trace, in memory that depends on definitions, open regions and
// gets whose data have not started yet. Times are sums over all locations; the inclusive time of a
// recursive region counts its outermost instances. Bytes belong to the region that the process was
// in: those of a put or send where they are sent, of a get where it was issued, of a message where
// it was received. Damaged records are left out and counted.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "epilog/format/definitions.h"
#include "epilog/format/reader.h"

namespace kojak {

struct RegionTotals {
  std::string name;
  std::uint64_t calls = 0;
  double inclusive = 0;  // seconds
  double exclusive = 0;
  std::uint64_t sent = 0;  // bytes
  std::uint64_t received = 0;
};

struct TraceProfile {
  std::uint64_t events = 0;
  std::uint64_t locations = 0;
  double first = 0, last = 0;                    // times of the first and last event
  std::vector<RegionTotals> regions;             // longest exclusive time first
  std::map<std::string, std::uint64_t> records;  // how many of each name
  std::uint64_t damaged = 0;                     // records that do not hold what their type needs
  std::uint64_t unknown = 0;                     // records of unknown type
  bool truncated = false;                        // the reader's error() says where
  double time() const { return events == 0 ? 0 : last - first; }
};

// Reads to the end; fails for the classic tools' local files only.
Result<TraceProfile> profile_trace(TraceReader& reader,
                                   const std::function<void(std::uint64_t)>& progress = {});

}  // namespace kojak
