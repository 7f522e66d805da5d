// What the run would gain without some of its causes: all synchronisation is replayed with the time
// that each of them took longer left out.
//
// A call ends when its own process and all processes that it depends on have come so far, plus the
// time that it took after that in the run. So each process is earlier by some time, which grows
// where something is left out and changes with each such call: nobody gains more than those whom it
// depends on, and new waits appear where there were none. Fed in the order in which the calls
// ended, for up to kMost causes at once. After most calls a process is earlier by as much as
// another one is, so they share these numbers, and nothing is computed of those that have waited
// longer than anything gains. Memory: kKept changes for each location (of what lies further back
// the oldest of them counts), and what is left out. Not thread-safe; nothing fails.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "epilog/format/io/log_memory.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

// A call that could not end before other processes had come to some point, waiting or not.
struct DependentCall {
  std::uint64_t exit_pos = 0;  // in the trace
  Ticks enter = 0, exit = 0;
  LocationIndex location = 0;
  std::uint32_t first = 0, count = 0;  // of what it depends on
  bool is_same(const DependentCall& other) const {
    return exit_pos == other.exit_pos && enter == other.enter && exit == other.exit &&
           location == other.location;
  }
};
// One of these processes.
struct Dependency {
  PackedTicks awaited;  // when it came there
  LocationIndex by = 0;
};

class GainFinder {
 public:
  static constexpr std::size_t kMost = 10;

  // `causes`: how many, at most kMost.
  GainFinder(std::size_t locations, std::size_t causes, LogMemory& memory)
      : causes_(causes), rows_(1), locations_(locations) {
    rows_.front().uses = 1;  // nobody is earlier: never given back
    for (std::size_t i = 0; i < causes; ++i) left_out_.emplace_back(memory);
  }

  // A location does something for so much less time that ends at `until`.
  struct LeftOut {
    Ticks until, time;
  };
  // Before the replay: all that is left out for a cause, to be filled in order of time.
  LogVector<LeftOut>& left_out(std::size_t cause, LocationIndex location) {
    locations_[location].causes.push_back(cause);
    return left_out_[cause].log;
  }
  void start();
  // All that one call depends on.
  void end_call(const DependentCall& call, std::span<const Dependency> dependencies);
  // All members waited for the last one.
  struct Member {
    LocationIndex location;
    Ticks enter, exit;
  };
  void meet(std::span<const Member> members);
  // Call it last. Returns for each cause by how much earlier the last location ends. `ends`: the
  // end of each location.
  std::array<Ticks, kMost> finish(std::span<const Ticks> ends);

 private:
  static constexpr std::size_t kKept = 64;
  static constexpr Ticks kNever = std::numeric_limits<Ticks>::max();

  using Earlier = std::array<Ticks, kMost>;  // than in the run, by cause
  using RowId = std::uint32_t;
  struct Row {
    Earlier earlier{};
    Ticks most = 0;  // of these
    std::uint32_t uses = 0;
  };
  struct OfCause {
    explicit OfCause(LogMemory& memory) : log(memory, true) {}
    LogVector<LeftOut> log;
    std::size_t next = 0;  // of these
  };
  struct Change {
    Ticks time;  // from then on
    RowId row;
  };
  struct Location {
    Ticks next = kNever;  // when the next of what is left out ends
    RowId now = 0;
    std::vector<std::size_t> causes;  // here
    std::vector<Change> changes;      // the latest ones
  };

  void advance(Location& location, Ticks time) {
    if (location.next <= time) leave_out_until(location, time);
  }
  void leave_out_until(Location& location, Ticks time);
  // The cause of which the next one is left out there, and when.
  std::size_t next_of(Location& location) const;
  void change(Location& location, Ticks time, RowId row) {
    if (row != location.now) change_to(location, time, row);
  }
  void change_to(Location& location, Ticks time, RowId row);
  RowId at(Location& location, Ticks time);
  // Of two that go on together: the first as it is, the second `slack` later: the row of what both
  // are earlier by. `own`: whether the first one is nobody else's and may be changed.
  RowId least(RowId first, RowId second, Ticks slack, bool& own);
  RowId add_row();
  void use(RowId row) { ++rows_[row].uses; }
  void drop(RowId row) {
    if (--rows_[row].uses == 0) free_.push_back(row);
  }

  std::size_t causes_;
  std::vector<Row> rows_;
  std::vector<RowId> free_;
  std::vector<OfCause> left_out_;  // by cause
  std::vector<Location> locations_;
};

}  // namespace kojak::expert
