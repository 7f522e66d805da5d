// Finds who changed the value for which a process polled (Late Notification).
//
// Fed with places, transfers and their ends, in file order; at MPI_VALUE the writers are compared
// with what the series before it had read. Memory: the last kMost writes to each part of a window,
// the last reads of each location, the regions that are open.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <unordered_map>
#include <vector>

#include "earl/aspects/transfers.h"
#include "earl/trace.h"
#include "expert/patterns/rma/late_notification.h"
#include "expert/waits/poll_stretches.h"

namespace kojak::expert {

class Notifications {
 public:
  explicit Notifications(const earl::Trace& trace)
      : trace_(trace), locations_(trace.location_count()) {}

  void on_enter(const earl::OpenCall& call) {
    locations_[call.index].open.push_back(raw(call.cnode));
    gap_ = gap_ || call.region == trace_.pausing_region();
  }
  void on_call(const Call& call) {
    auto& open = locations_[call.index].open;
    if (!open.empty()) open.pop_back();
    ++locations_[call.index].exits;
  }
  void on_place(const earl::RmaPlace& place) {
    any_ = true;
    if (place.reads && place.known()) {
      Location& l = locations_[place.call->index];
      l.reads[l.next_read++ % kMostReads] = {place.rmaid, place.window, place.target, place.first,
                                             place.bytes};
    }
    if (!place.writes) return;
    const std::uint32_t put = raw(place.rmaid) + (place.reads ? 1 : 0);
    issue({*place.call, put, place.first, place.bytes, place.swap}, place.window, place.target);
  }
  // One of which no place is known.
  void on_transfer(const earl::Transfer& transfer) {
    if (!any_ || transfer.get || is_absent(transfer.window)) return;
    if (open_.count(key(transfer.origin, raw(transfer.rmaid))) != 0) return;
    issue({*transfer.call, raw(transfer.rmaid), earl::RmaPlace::kUnknown, 0, false},
          transfer.window, transfer.target);
  }
  bool wants_ends() const { return !open_.empty(); }
  void on_end_of(const earl::TransferEnd& end) {
    const auto found = open_.find(key(end.origin, raw(end.rmaid)));
    if (found == open_.end()) return;
    // In its own call: the basic model, which does not know when it was complete.
    const Write& write = *found->second;
    if (locations_[write.call.index].exits != write.exits) found->second->complete = end.time;
    open_.erase(found);
  }

  // The call has completed a read that found another value than the series before it.
  template <class Out>
  void on_value(const earl::OpenCall& at, const MpiValue& value, const PollStretches::Parts& parts,
                Out& out) {
    const Read* const read = find(at.index, value.rmaid);
    if (read == nullptr || parts.empty()) return;
    const MpiPoll* last = nullptr;
    for (const PollStretches::Part& part : parts) {
      if (const MpiPoll* m = member(part.series, *read)) last = m;
    }
    if (last == nullptr) return;
    const Call* begun = nullptr;
    Seconds since{};
    const std::optional<EndedBy> by = who(at, *read, *last, parts.back().call, out);
    if (!by) return;
    for (const PollStretches::Part& part : parts) {
      const MpiPoll* const m = member(part.series, *read);
      if (m == nullptr || part.call.paused) continue;
      const Seconds first = std::max(m->first_enter, part.call.enter);
      if (begun == nullptr) {
        begun = &part.call;
        since = first;
      }
      const Seconds waited = RmaLateNotification::severity(part.call, first, by->time);
      if (waited > Seconds{0}) out.add(RmaLateNotification{}, part.call, waited, *by, first);
    }
    if (begun == nullptr) return;
    // Without the wait it would all have been over at once, from the first read to the one that found
    // the new value, whatever lies between the parts.
    Call whole = *begun;
    whole.enter = since;
    whole.exit = value.time;
    whole.exit_pos = at.enter_pos;
    out.arrival(whole, *by);
  }

 private:
  static constexpr std::size_t kMost = 1024, kMostReads = 16;
  static constexpr Seconds kNever{std::numeric_limits<double>::infinity()};
  struct Read {
    RmaId rmaid = absent<RmaId>();
    WindowId window{};
    ProcessId target{};
    std::uint64_t first = 0, bytes = 0;
  };
  struct Write {
    earl::OpenCall call;
    std::uint32_t rmaid = 0;
    std::uint64_t first = 0, bytes = 0;
    bool swap = false;
    Seconds complete = kNever;  // at the target
    std::uint64_t exits = 0;    // of its location, before it
    bool known() const { return first != earl::RmaPlace::kUnknown; }
  };
  struct Location {
    std::array<Read, kMostReads> reads;
    std::size_t next_read = 0;
    std::vector<CallPathIndex> open;
    std::uint64_t exits = 0;
  };

  static std::uint64_t key(ProcessId origin, std::uint32_t rmaid) {
    return std::uint64_t{raw(origin)} << 32 | rmaid;
  }
  void issue(const Write& write, WindowId window, ProcessId target) {
    std::deque<Write>& writes = writes_[{window, target}];
    if (writes.size() == kMost) {
      open_.erase(key(writes.front().call.process, writes.front().rmaid));
      writes.pop_front();
    }
    writes.push_back(write);
    writes.back().exits = locations_[write.call.index].exits;
    open_[key(write.call.process, write.rmaid)] = &writes.back();
  }
  const Read* find(std::uint32_t location, RmaId rmaid) const {
    for (const Read& read : locations_[location].reads) {
      if (read.rmaid == rmaid) return &read;
    }
    return nullptr;
  }
  static const MpiPoll* member(const earl::PolledSeries& series, const Read& read) {
    for (const MpiPoll& m : series.members) {
      if (raw(m.kind) == raw(PollKind::kRead) && m.wid == read.window &&
          raw(m.tlid) == raw(read.target) && raw(m.disp) == read.first &&
          raw(m.bytes) == read.bytes) {
        return &m;
      }
    }
    return nullptr;
  }

  template <class Out>
  std::optional<EndedBy> who(const earl::OpenCall& at, const Read& read, const MpiPoll& last,
                             const Call& series, const Out& out) const {
    const Write* latest = nullptr;   // whose bytes meet those read
    const Write* swap = nullptr;     // that may have changed nothing
    const Write* unknown = nullptr;  // of which no place is known
    bool several = false;            // processes with such ones
    const auto written = writes_.find({read.window, read.target});
    if (written != writes_.end()) {
      for (const Write& w : written->second) {
        if (w.call.process == at.process || w.complete < last.last_enter) continue;
        if (!w.known()) {
          several = several || (unknown != nullptr && unknown->call.process != w.call.process);
          unknown = &w;
        } else if (w.first < read.first + read.bytes && read.first < w.first + w.bytes) {
          (w.swap ? swap : latest) = &w;
        }
      }
    }
    if (latest == nullptr) latest = swap;
    if (latest == nullptr && unknown != nullptr) {
      if (several) return std::nullopt;
      latest = unknown;
    }
    if (latest != nullptr) return enter_of(latest->call);
    return stored(at, read, series, out);
  }
  // No operation has changed it, so the program of the target has, by a store.
  template <class Out>
  std::optional<EndedBy> stored(const earl::OpenCall& at, const Read& read, const Call& series,
                                const Out& out) const {
    if (gap_ || at.process == read.target || out.shared_memory(read.window)) return std::nullopt;
    const LocationIndex target = trace_.main_index(read.target);
    if (target == kAbsent || locations_[target].open.empty()) return std::nullopt;
    return EndedBy{target, locations_[target].open.back(), series.exit};
  }

  const earl::Trace& trace_;
  std::vector<Location> locations_;
  std::map<std::pair<WindowId, ProcessId>, std::deque<Write>> writes_;
  std::unordered_map<std::uint64_t, Write*> open_;  // not complete
  bool any_ = false;
  bool gap_ = false;  // some process did not record for a time
};

}  // namespace kojak::expert
