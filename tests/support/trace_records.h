// A merged trace as a list of records that can be changed field by field and made into a trace
// again.
//
// Made for changes whose effect on a report is known (trace_changes.h, trace_parts.h). Values own
// all they hold. A trace that cannot be decoded throws std::runtime_error. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "epilog/format/record/codec.h"

namespace kojak::support {

struct TraceRecord {
  std::uint8_t type = 0;
  std::vector<std::byte> body;

  bool is(RecordType wanted) const { return type == static_cast<std::uint8_t>(wanted); }
};

struct TraceRecords {
  Dialect dialect;  // with the number of all METRIC definitions
  std::vector<TraceRecord> records;

  // Views in the result point into the record.
  template <class R>
  R as(const TraceRecord& record) const {
    R r;
    const RawRecord raw{record.type, static_cast<std::uint8_t>(record.body.size()),
                        record.body.data(), 0};
    if (const char* field = decode(raw, dialect, r)) {
      throw std::runtime_error(std::string(R::kName) + " is too short for " + field);
    }
    return r;
  }
  template <class R>
  TraceRecord made(const R& record) const {
    std::byte bytes[kMaxRecord];
    const std::size_t size = encode(record, dialect, bytes);
    if (size == 0) throw std::runtime_error(std::string(R::kName) + " does not fit");
    return {static_cast<std::uint8_t>(R::kType), {bytes + 2, bytes + size}};
  }
};

TraceRecords records_of(const std::vector<std::byte>& trace);
// The counts of events are set to what there is.
std::vector<std::byte> trace_of(const TraceRecords& records);

// What becomes of the fields of each kind; those without a function stay as they are. "Absent"
// always stays. Lists of ranks and bit vectors are changed as processes are.
struct FieldChanges {
  using Id = std::function<std::uint32_t(std::uint32_t)>;
  Id process;   // world ranks, in events as well as in groups
  Id location;  // of events; must agree with `process` for the first threads of processes
  Id window, comm, group, string, file, region, site, topology, lock;
  Id operation, request;                  // numbers within a process
  std::function<double(double)> time;     // of events
  std::function<double(double)> seconds;  // durations: the error bounds of clocks
};
void change_fields(TraceRecords& trace, const FieldChanges& changes);

// What an event says of itself, whatever it is.
struct EventFields {
  double time = 0;
  std::uint32_t location = kAbsent;
  std::vector<std::uint32_t> peers;  // without the absent ones
  std::optional<std::uint32_t> window, operation;
};
EventFields event_fields(const TraceRecords& trace, const TraceRecord& event);

}  // namespace kojak::support
