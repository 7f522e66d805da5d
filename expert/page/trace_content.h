// What a page shows of a trace: boxes, bands, arrows, bytes; in nanoseconds since the first event.
//
// Plain values. Rows are the trace's locations in ascending order of their identifiers; windows and
// regions are numbered from 0 in the order in which they are listed here. trace_reader.h fills it,
// trace_view.h packs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilog/format/error.h"
#include "expert/metrics/region_kind.h"

namespace kojak::html {

using Nanoseconds = std::uint64_t;

using expert::RegionKind;

struct Box {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  static constexpr std::uint32_t kMostCalls = (1u << 30) - 1;

  std::uint32_t path = 0;          // TraceContent::paths
  std::uint32_t calls : 30 = 1;    // more: short calls of one kind in a row, drawn as one
  std::uint32_t joined : 1 = 0;    // or, if that is set, polls in turn, which are one instance
  std::uint32_t sleeping : 1 = 0;  // between these
  std::uint32_t depth = 0;         // of boxes that it lies in
  Nanoseconds longest = 0;         // of several calls

  std::uint32_t instances() const { return joined != 0 ? 1 : calls; }
};

// A call that waited, and how long in one go.
struct WaitedCall {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Nanoseconds waited = 0;
  std::uint32_t path = 0;
};

// Where a call waited: within these times, for `waited` of them.
struct WaitBox {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Nanoseconds waited = 0;
  std::uint32_t metric = 0;              // in the catalogue
  std::uint32_t awaited = kNobody;       // row of who ended it, where one did
  Nanoseconds ended = 0;                 // when that one did
  std::uint32_t waits = 1;               // more: short waits in a row, drawn as one
  std::uint32_t path = 0;                // of the call
  Nanoseconds most = 0, most_begin = 0;  // of several: of the longest one, which tells the rest

  static constexpr std::uint32_t kNobody = static_cast<std::uint32_t>(-1);
};

// A time in which a thread was ready to run for `without` and had no processor.
struct Stripe {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Nanoseconds without = 0;
  std::uint32_t readings = 1;  // more: short ones in a row, drawn as one
};

// Shares of time in equal steps of the run, by row: 255 is all of a step.
struct Density {
  std::uint32_t columns = 0;
  std::vector<std::uint8_t> waiting, mpi;  // mpi: with the waiting in it
};

enum class BandKind : std::uint8_t { kFence, kAccess, kExposure, kShared, kExclusive, kLockAll };

struct Band {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::uint32_t window = 0;
  BandKind kind = BandKind::kFence;
  std::uint32_t epochs = 1;  // more: short ones in a row, drawn as one
};

struct MessageArrow {
  std::uint32_t from = 0, to = 0;  // rows
  Nanoseconds sent = 0, received = 0;
  std::uint64_t bytes = 0;
};

// A transfer with all times that the three views need. Absent times are 0.
struct TransferArrow {
  bool get = false;
  bool passive = false;
  std::uint32_t origin = 0, target = 0;  // rows
  std::uint32_t window = 0;
  std::uint64_t bytes = 0;
  Nanoseconds request = 0;  // GET_1TO; of a put PUT_1TS
  Nanoseconds start = 0;    // *_1TS
  Nanoseconds end = 0;      // *_1TE
  // Exits of the calls that synchronise it, and how long the one at the origin took.
  Nanoseconds origin_sync = 0, origin_sync_length = 0;
  Nanoseconds target_sync = 0;
};

struct FenceInstance {
  std::uint32_t window = 0;
  std::vector<std::uint32_t> rows;
  std::vector<Nanoseconds> enters, exits;

  template <class Archive>
  void visit(Archive& archive) {
    archive(window, rows, enters, exits);
  }
};

// What passed between two processes: bytes from the one that had them to the one that got them, or
// time for which one waited for the other. A cell for each kind of operation, window and function.
enum class TrafficKind : std::uint8_t { kMessage, kPut, kGet, kWait };

struct Traffic {
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

  std::uint32_t from = 0, to = kNone;  // ranks, or blocks of them; waits for no single one: kNone
  TrafficKind kind = TrafficKind::kMessage;
  std::uint32_t window = kNone;  // kNone: about none, or not told apart
  std::uint32_t region = kNone;  // the function; kNone: not told apart
  std::uint64_t amount = 0;      // bytes; of waits nanoseconds
  std::uint64_t count = 0;       // operations
};

// A window or a communicator: its number in the trace, and where it was created, if that is known.
struct WindowName {
  std::uint32_t id = 0;
  std::string name;  // "window field", "window 0"
  std::string site;
};
struct ProcessGroup {
  std::uint32_t id = 0;
  std::string name;
  std::string site;
  std::vector<std::uint32_t> ranks;  // ascending
};

struct TraceRow {
  std::string name;
  std::uint32_t rank = 0;
  std::uint32_t thread = 0;  // in order within its process
};

struct TraceContent {
  std::string file;
  double begin = 0, end = 0;  // seconds, in the trace's own time
  std::uint64_t events = 0;
  std::vector<TraceRow> rows;
  std::vector<std::string> regions;
  std::vector<RegionKind> region_kinds;
  std::vector<std::uint32_t> paths;     // of each call path of the analysis its region
  std::vector<std::size_t> path_nodes;  // and its place in the report; may be empty
  std::vector<WindowName> windows;
  std::vector<ProcessGroup> communicators;  // of some of the processes
  std::size_t communicators_seen = 0;
  std::vector<std::vector<Box>> boxes;          // of each row, parents before children
  std::vector<std::vector<WaitedCall>> waited;  // of each row, calls that are drawn also if short
  std::vector<std::vector<WaitBox>> waits;      // of each row, in order of begin
  std::vector<std::vector<Band>> bands;         // of each row, in order of begin
  std::vector<std::vector<Stripe>> stripes;     // of each row, in order of begin
  Density density;
  std::vector<MessageArrow> messages;    // in order of the sends
  std::vector<TransferArrow> transfers;  // in order of the starts
  // Of all there were these are some or all.
  std::uint64_t messages_seen = 0, transfers_seen = 0, fences_seen = 0;
  // Shorter ones merged, in cells of that length (kept/scale.h); 0: none did.
  Nanoseconds calls_within = 0, waits_within = 0, bands_within = 0, stripes_within = 0;
  std::vector<FenceInstance> fences;
  std::vector<Traffic> traffic;
  std::uint32_t processes = 0;
  std::uint32_t ranks_per_block = 1;  // of traffic
  bool traffic_by_function = true;    // and by window
  std::vector<std::string> omitted;   // sentences
  std::optional<Error> damage;        // of the trace
};

}  // namespace kojak::html
