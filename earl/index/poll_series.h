// State aspect: locations that poll: the series of polls that is open, since when, and for what.
//
// What a series is stands in records behind its last poll: MPI_POLLED and its members. So a stream
// knows of none that is open, and a state of an archive of each, from the ENTER of its instance to
// these. Feed apply() every event in file order, with enterptr. Memory: one series for each
// location. Source: docs/earl.md.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "earl/index/interval_column.h"
#include "earl/trace.h"

namespace kojak::earl::sequence {

struct Polling {
  std::uint64_t enter = kNoEvent;   // ENTER of its instance
  std::uint64_t since = kNoEvent;   // that of the first of the series that go on in one another
  std::uint64_t polled = kNoEvent;  // MPI_POLLED: what it asked for
};

class PollSeries {
 public:
  explicit PollSeries(const Trace&) {}
  void apply(const Event& e) {
    if (e.type == EventType::kMpiPolled || e.type == EventType::kMpiPoll) [[unlikely]]
      follow(e);
  }
  // What the location polls for; nothing if it does not.
  std::optional<Polling> polling(LocationId location) const;

  // From the ENTER to the last of its records; told with it are `since` and MPI_POLLED.
  void record(IntervalColumn* log) { log_ = log; }
  void restore(LocationId location, const IntervalColumn::Row& row) {
    open_[raw(location)] = polling_of(row);
  }
  static Polling polling_of(const IntervalColumn::Row& row);

 private:
  struct Latest {
    Polling polling;
    std::uint64_t due = 0;  // members
  };
  void follow(const Event& e);
  void log(const Latest& latest, std::uint64_t end);

  std::map<std::uint32_t, Polling> open_;   // by location
  std::map<std::uint32_t, Latest> latest_;  // likewise
  IntervalColumn* log_ = nullptr;
  std::vector<std::byte> contents_;  // of the column's next row
};

}  // namespace kojak::earl::sequence
