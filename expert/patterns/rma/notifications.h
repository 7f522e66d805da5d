// Finds who changed the value for which a process polled (Late Notification), and who held the lock
// that it tried to take by swaps (Lock Contention).
//
// Fed with places, transfers and their ends, in file order; at MPI_VALUE the writers are compared
// with what the series before it had read. Memory: that of earl/aspects/window_writes.h, the last
// reads of each location, the regions that are open, and waits in series with long calls
// whose targets were outside MPI.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "earl/aspects/transfers.h"
#include "earl/aspects/window_writes.h"
#include "earl/trace.h"
#include "expert/patterns/rma/late_notification.h"
#include "expert/patterns/rma/lock_contention.h"
#include "expert/patterns/rma/passive/waits.h"
#include "expert/waits/poll_stretches.h"

namespace kojak::expert {

class Notifications {
 public:
  explicit Notifications(const earl::Trace& trace)
      : trace_(trace), writes_(trace), locations_(trace.location_count()) {}

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
                                             place.bytes, place.writes, *place.call};
    }
    if (!place.writes) return;
    if (place.known() && !place.swap) {
      locks_.give(
          writes_.addresses().bytes_at(place.window, place.target, place.first, place.bytes),
          place.call->process, enter_of(*place.call));
    }
    const std::uint32_t put = raw(place.rmaid) + (place.reads ? 1 : 0);
    issue(*place.call, place.window, place.target, put, place.first, place.bytes, place.swap);
  }
  // One of which no place is known.
  void on_transfer(const earl::Transfer& transfer) {
    if (!any_ || transfer.get || is_absent(transfer.window)) return;
    if (writes_.open(transfer.origin, raw(transfer.rmaid)) != nullptr) return;
    issue(*transfer.call, transfer.window, transfer.target, raw(transfer.rmaid),
          earl::RmaPlace::kUnknown, 0, false);
  }
  bool wants_ends() const { return writes_.any_open(); }
  void on_end_of(const earl::TransferEnd& end) {
    Writes::Write* const write = writes_.open(end.origin, raw(end.rmaid));
    if (write == nullptr) return;
    // In its own call: the basic model, which does not know when it was complete.
    if (locations_[write->what.call.index].exits != write->what.exits) write->complete = end.time;
    writes_.close(end.origin, raw(end.rmaid));
  }

  // The call has completed a read that found another value than the series before it.
  template <class Out>
  void on_value(const earl::OpenCall& at, const MpiValue& value, const PollStretches::Parts& parts,
                const RmaWaits* rma, Out& out) {
    const Read* const read = find(at.index, value.rmaid);
    if (read == nullptr) return;
    if (read->swaps) return swapped(at, *read, value, parts, rma, out);
    if (parts.empty()) return;
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
      if (!(waited > Seconds{0})) continue;
      Wait wait = wait_of_call(metric_index<RmaLateNotification>(), part.call);
      wait.begin = first;
      wait.end = std::min(by->time, part.call.exit);
      wait.waiting = waited;
      wait.ended_by = *by;
      wait.operation = out.operation();
      tell(wait, part.call, rma, out);
    }
    if (begun != nullptr) over_at_once(*begun, since, value.time, at, *by, out);
  }
  // After the last event.
  template <class Out>
  void finish(const RmaWaits& rma, Out& out) {
    for (auto& [wait, series] : kept_) {
      wait.waiting -= rma.claimed_of(series, wait.begin, wait.end);
      if (wait.waiting > Seconds{0}) out.wait(wait);
    }
    kept_.clear();
  }

 private:
  static constexpr std::size_t kMostReads = 16;
  struct Read {
    RmaId rmaid = absent<RmaId>();
    WindowId window{};
    ProcessId target{};
    std::uint64_t first = 0, bytes = 0;
    bool swaps = false;
    earl::OpenCall call{};
  };
  struct Written {
    earl::OpenCall call;
    std::uint64_t exits = 0;  // of its location, before it
  };
  using Writes = earl::WindowWrites<Written>;
  using Locks = earl::SwapLocks<Seconds, EndedBy>;
  struct Location {
    std::array<Read, kMostReads> reads;
    std::size_t next_read = 0;
    std::vector<CallPathIndex> open;
    std::uint64_t exits = 0;
    // Of the last stretch that swaps have ended its last part, and the call that completed them.
    std::uint64_t ended = earl::kNoEvent, ended_by = earl::kNoEvent;
  };

  // Without the wait it would all have been over at once, from the first poll to the one that found
  // the new value, whatever lies between the parts.
  template <class Out>
  static void over_at_once(const Call& begun, Seconds since, Seconds now, const earl::OpenCall& at,
                           const EndedBy& by, Out& out) {
    Call whole = begun;
    whole.enter = since;
    whole.exit = now;
    whole.exit_pos = at.enter_pos;
    out.arrival(whole, by);
  }

  // A wait in a part of a stretch. What of it is Wait for Progress only the trace's end tells.
  template <class Out>
  void tell(Wait wait, const Call& series, const RmaWaits* rma, Out& out) {
    if (rma == nullptr || !rma->may_claim_of(series)) return out.wait(wait);
    wait.known = Wait::Known::kAtEnd;
    kept_.push_back({wait, series});
  }

  void issue(const earl::OpenCall& call, WindowId window, ProcessId target, std::uint32_t rmaid,
             std::uint64_t first, std::uint64_t bytes, bool swap) {
    writes_.issue({.what = {call, locations_[call.index].exits},
                   .origin = call.process,
                   .rmaid = rmaid,
                   .first = first,
                   .bytes = bytes,
                   .swap = swap},
                  window, target);
  }
  const Read* find(std::uint32_t location, RmaId rmaid) const {
    for (const Read& read : locations_[location].reads) {
      if (read.rmaid == rmaid) return &read;
    }
    return nullptr;
  }
  static const MpiPoll* member(const earl::PolledSeries& series, const Read& read) {
    const PollKind kind = read.swaps ? PollKind::kSwap : PollKind::kRead;
    for (const MpiPoll& m : series.members) {
      if (raw(m.kind) == raw(kind) && m.wid == read.window && raw(m.tlid) == raw(read.target) &&
          raw(m.disp) == read.first && raw(m.bytes) == read.bytes) {
        return &m;
      }
    }
    return nullptr;
  }

  // Whether the latest stretch of polls is one that this swap ends, and not an earlier one has.
  bool ends(const earl::OpenCall& at, const PollStretches::Parts& parts) {
    if (parts.empty() || raw(parts.back().series.polled.end) != raw(PollEnd::kFound)) return false;
    Location& l = locations_[at.index];
    const std::uint64_t last = parts.back().call.enter_pos;
    if (l.ended != last) l.ended_by = at.enter_pos;
    l.ended = last;
    return l.ended_by == at.enter_pos;
  }
  // A swap has changed memory: the lock is taken, unless this has just given it back.
  template <class Out>
  void swapped(const earl::OpenCall& at, const Read& read, const MpiValue& value,
               const PollStretches::Parts& parts, const RmaWaits* rma, Out& out) {
    const std::deque<Locks::Holding>* const turns = locks_.swap(
        writes_.addresses().bytes_at(read.window, read.target, read.first, read.bytes), at.process,
        raw(value.value), raw(value.other), read.call.enter, enter_of(read.call));
    if (turns != nullptr && ends(at, parts)) {
      contended(at, read, value.time, *turns, parts, rma, out);
    }
  }
  // Each holder's part of the stretch of swaps that found it taken.
  template <class Out>
  void contended(const earl::OpenCall& at, const Read& read, Seconds now,
                 const std::deque<Locks::Holding>& turns, const PollStretches::Parts& parts,
                 const RmaWaits* rma, Out& out) {
    const EndedBy* last = nullptr;
    const Call* begun = nullptr;
    Seconds since{};
    for (const PollStretches::Part& part : parts) {
      const MpiPoll* const m = member(part.series, read);
      if (m == nullptr || part.call.paused) continue;
      Seconds from = std::max(m->first_enter, part.call.enter);
      if (begun == nullptr) {
        begun = &part.call;
        since = from;
      }
      for (const Locks::Holding& h : turns) {
        if (h.process == at.process || !h.given) continue;
        const Seconds begin = std::max(from, h.taken);
        const Seconds waited = overlap(part.call, begin, h.given->time);
        if (!(waited > Seconds{0})) continue;
        Wait wait = wait_of_call(metric_index<RmaLockContention>(), part.call);
        wait.begin = begin;
        wait.end = std::min(h.given->time, part.call.exit);
        wait.waiting = waited;
        wait.ended_by = *h.given;
        wait.operation = {.object = Operation::Object::kWindow,
                          .scattered = true,
                          .id = raw(read.window),
                          .process = raw(read.target),
                          .number = h.number};
        wait.cause = Wait::Cause::kSeen;
        tell(wait, part.call, rma, out);
        from = std::max(from, h.given->time);
        last = &*h.given;
      }
    }
    if (last != nullptr) over_at_once(*begun, since, now, at, *last, out);
  }

  template <class Out>
  std::optional<EndedBy> who(const earl::OpenCall& at, const Read& read, const MpiPoll& last,
                             const Call& series, const Out& out) const {
    bool several = false;
    const Writes::Write* const latest = writes_.last(
        read.window, read.target, read.first, read.bytes, at.process, last.last_enter, several);
    if (several) return std::nullopt;
    if (latest != nullptr) return enter_of(latest->what.call);
    return stored(at, read, series, out);
  }
  // No operation has changed it, so the program of the target has, by a store.
  template <class Out>
  std::optional<EndedBy> stored(const earl::OpenCall& at, const Read& read, const Call& series,
                                const Out& out) const {
    if (gap_ || at.process == read.target || out.shared_memory(read.window) ||
        writes_.addresses().over_shared(read.window, read.target)) {
      return std::nullopt;
    }
    const LocationIndex target = trace_.main_index(read.target);
    if (target == kAbsent || locations_[target].open.empty()) return std::nullopt;
    return EndedBy{target, locations_[target].open.back(), series.exit};
  }

  const earl::Trace& trace_;
  Writes writes_;
  Locks locks_;
  std::vector<Location> locations_;
  struct Kept {
    Wait wait;
    Call series;
  };
  std::vector<Kept> kept_;  // waits in series of which some may be Wait for Progress
  bool any_ = false;
  bool gap_ = false;  // some process did not record for a time
};

}  // namespace kojak::expert
