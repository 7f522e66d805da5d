// What the run would gain without some of its causes, one by one or several at once: all
// synchronisation is replayed with the time that each of them took longer left out.
//
// A call ends when its own process and all processes that it depends on have come so far, plus the
// time that it took after that in the run. So each process is earlier by some time, which grows
// where something is left out and changes with each such call: nobody gains more than those whom it
// depends on, and new waits appear where there were none. Fed in the order in which the calls
// ended, for up to kMost cases at once: what is left out may be so in several of them. It can be
// fed again, with other cases. After most calls a process is earlier by as much as
// another one is, so they share these numbers, and nothing is computed of those that have waited
// longer than anything gains. Memory: kKept changes for each location (of what lies further back
// the oldest of these counts), and what is left out. Not thread-safe; nothing fails.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "epilog/format/io/log_memory.h"
#include "expert/metrics/amount.h"
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
  static constexpr std::size_t kMost = 32;

  GainFinder(std::size_t locations, LogMemory& memory) : left_out_(memory), locations_(locations) {}

  // A location does something for so much less time that ends at `until`.
  struct LeftOut {
    Ticks until, time;
  };
  // Before the replay: what is left out, to be filled in order of time for one location and one
  // thing, a number of the caller's, after the other; each followed by leave_out().
  LogVector<LeftOut>& left_out() { return left_out_; }
  // All that was filled in since `first`.
  void leave_out(std::uint32_t thing, LocationIndex location, std::size_t first) {
    if (first == left_out_.size()) return;
    locations_[location].things.push_back({thing, 0, first, first, left_out_.size()});
  }
  // Begins a replay of so many cases. `cases_of`(thing, location): a bit for each of them in which
  // it is left out there.
  template <class F>
  void start(std::size_t cases, F&& cases_of) {
    cases_ = cases;
    rows_.assign(1, {});
    rows_.front().uses = 1;  // nobody is earlier: never given back
    free_.clear();
    for (std::size_t l = 0; l < locations_.size(); ++l) {
      Location& location = locations_[l];
      location.now = 0;
      ++rows_.front().uses;
      location.changes.clear();
      for (Thing& t : location.things) {
        t.cases = cases_of(t.number, static_cast<LocationIndex>(l));
        t.next = t.first;
      }
      next_of(location);
    }
  }
  // All that one call depends on.
  void end_call(const DependentCall& call, std::span<const Dependency> dependencies);
  // All members waited for the last one.
  struct Member {
    LocationIndex location;
    Ticks enter;
  };
  void meet(std::span<const Member> members);
  // Call it last. Returns for each case by how much earlier the last location ends. `ends`: the
  // end of each location.
  std::array<Ticks, kMost> finish(std::span<const Ticks> ends);

 private:
  static constexpr std::size_t kKept = 32;
  static constexpr Ticks kNever = std::numeric_limits<Ticks>::max();

  using Earlier = std::array<Ticks, kMost>;  // than in the run, by case
  using RowId = std::uint32_t;
  struct Row {
    Earlier earlier{};
    Ticks most = 0;  // of these
    std::uint32_t uses = 0;
  };
  struct Thing {
    std::uint32_t number, cases;
    std::size_t first, next, end;  // of left_out_
  };
  struct Change {
    Ticks time;  // from then on
    RowId row;
  };
  struct Location {
    Ticks next = kNever;  // when the next of what is left out ends
    RowId now = 0;
    std::vector<Thing> things;    // that are left out here
    std::vector<Change> changes;  // the latest ones
  };

  void advance(Location& location, Ticks time) {
    if (location.next <= time) leave_out_until(location, time);
  }
  void leave_out_until(Location& location, Ticks time);
  // That of which the next part is left out there, and when; null: none.
  Thing* next_of(Location& location) const;
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

  std::size_t cases_ = 0;
  std::vector<Row> rows_;
  std::vector<RowId> free_;
  LogVector<LeftOut> left_out_;
  std::vector<Location> locations_;
};

}  // namespace kojak::expert
