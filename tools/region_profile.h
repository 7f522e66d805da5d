// What is in a trace: calls, time and bytes of each region and process, and bytes between
// processes.
//
// One pass over a merged or local trace, in memory that depends on definitions, open regions,
// processes x regions in use, and pairs of processes that exchange data. The inclusive time of a
// recursive region counts its outermost instances. A function of which only the paths of call sites
// tell has time, but nobody recorded how often it was called. Bytes belong to the region that the
// process was in: those of a put or send where they are sent, of a get where it was issued, of a
// message where it was received. Between processes everything counts once, where its data start, in
// the direction in which they move: a put or accumulate from its origin to its target, a get from
// its target to its origin, an atomic operation with a result both ways. Damaged records are left
// out and counted.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "epilog/format/check/trace_gaps.h"
#include "epilog/format/definitions.h"
#include "epilog/format/io/reader.h"

namespace kojak {

struct RegionTotals {
  std::string name;
  std::uint64_t calls = 0;  // 0: only paths of call sites tell of it
  double inclusive = 0;     // seconds
  double exclusive = 0;
  std::uint64_t sent = 0;  // bytes
  std::uint64_t received = 0;
  std::uint64_t failed = 0;  // calls that returned an error
};

// What one process did, its threads together.
struct ProcessTotals {
  std::uint32_t rank = 0;
  double time = 0;             // in all regions, of all threads
  double mpi = 0;              // of that in MPI functions
  std::uint64_t messages = 0;  // sent
  std::uint64_t sent = 0;      // bytes of messages
  std::uint64_t received = 0;
  std::uint64_t operations = 0;       // one-sided, as origin
  std::uint64_t put = 0, got = 0;     // bytes, as origin
  std::vector<RegionTotals> regions;  // longest exclusive time first
};

// What moved from one process to another.
struct Flow {
  std::uint32_t from = 0, to = 0;
  std::uint64_t messages = 0;
  std::uint64_t message_bytes = 0;
  std::uint64_t transfers = 0;  // one-sided
  std::uint64_t transfer_bytes = 0;
};

struct TraceProfile {
  std::uint64_t events = 0;
  std::uint64_t locations = 0;
  double first = 0, last = 0;                    // times of the first and last event
  std::vector<RegionTotals> regions;             // longest exclusive time first
  std::vector<ProcessTotals> processes;          // by rank: those that have events
  std::vector<Flow> flows;                       // by origin and destination of the data
  std::map<std::string, std::uint64_t> records;  // how many of each name
  BadRecords bad;                                // that count nowhere
  bool truncated = false;                        // the reader's error() says where
  bool undefined = false;                        // it ends before its definitions do
  std::vector<TraceGap> gaps;                    // what is wrong with it, and what it lacks
  double time() const { return events == 0 ? 0 : last - first; }
};

// Reads to the end; fails for the classic tools' local files only.
Result<TraceProfile> profile_trace(TraceReader& reader,
                                   const std::function<void(std::uint64_t)>& progress = {});

}  // namespace kojak
