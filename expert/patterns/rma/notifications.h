// Finds who changed the value for which a process polled (Late Notification), and who held the lock
// that it tried to take by swaps (Lock Contention).
//
// The changes of a place by one process take turns: one takes the lock (a swap that changed
// memory), the next gives it back, whatever writes it. It is a lock only as long as all that took
// it found one and the same value there: in a counter, a stack or the tail of a queue they do not.
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
#include "expert/patterns/rma/lock_contention.h"
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
                                             place.bytes, place.writes, *place.call};
    }
    if (!place.writes) return;
    if (place.known() && !place.swap) give(place);
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
    if (read == nullptr) return;
    if (read->swaps) return swapped(at, *read, value, parts, out);
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
      if (waited > Seconds{0}) out.add(RmaLateNotification{}, part.call, waited, *by, first);
    }
    if (begun != nullptr) over_at_once(*begun, since, value.time, at, *by, out);
  }

 private:
  static constexpr std::size_t kMost = 1024, kMostReads = 16;
  static constexpr Seconds kNever{std::numeric_limits<double>::infinity()};
  struct Read {
    RmaId rmaid = absent<RmaId>();
    WindowId window{};
    ProcessId target{};
    std::uint64_t first = 0, bytes = 0;
    bool swaps = false;
    earl::OpenCall call{};
  };
  // Of a lock that is a place: who held it since when, and until when.
  struct Holding {
    ProcessId process{};
    Seconds taken;
    std::optional<EndedBy> given;
    std::uint64_t number = 0;
  };
  struct Lock {
    std::uint64_t value = 0, other = 0;  // of the free one
    bool known = false, none = false;    // it is no lock
    std::deque<Holding> holdings;
  };
  using Place = std::array<std::uint64_t, 4>;
  static Place place_of(WindowId window, ProcessId target, std::uint64_t first,
                        std::uint64_t bytes) {
    return {raw(window), raw(target), first, bytes};
  }
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
    const PollKind kind = read.swaps ? PollKind::kSwap : PollKind::kRead;
    for (const MpiPoll& m : series.members) {
      if (raw(m.kind) == raw(kind) && m.wid == read.window && raw(m.tlid) == raw(read.target) &&
          raw(m.disp) == read.first && raw(m.bytes) == read.bytes) {
        return &m;
      }
    }
    return nullptr;
  }

  // An operation that writes: if its process holds the lock there, it gives it back.
  void give(const earl::RmaPlace& place) {
    const auto lock = locks_.find(place_of(place.window, place.target, place.first, place.bytes));
    if (lock == locks_.end()) return;
    for (Holding& h : lock->second.holdings) {
      if (h.process == place.call->process && !h.given) h.given = enter_of(*place.call);
    }
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
               const PollStretches::Parts& parts, Out& out) {
    Lock& lock = locks_[place_of(read.window, read.target, read.first, read.bytes)];
    for (Holding& h : lock.holdings) {
      if (h.process != at.process) continue;
      if (!h.given) h.given = enter_of(read.call);
      if (h.given->time == read.call.enter) return;
    }
    const std::uint64_t found = raw(value.value), other = raw(value.other);
    lock.none = lock.none || (lock.known && (lock.value != found || lock.other != other));
    lock.known = true;
    lock.value = found;
    lock.other = other;
    if (!lock.none && ends(at, parts)) contended(at, read, value.time, lock, parts, out);
    if (lock.holdings.size() == kMost) lock.holdings.pop_front();
    lock.holdings.push_back({at.process, read.call.enter, std::nullopt, ++turns_});
  }
  // Each holder's part of the stretch of swaps that found it taken.
  template <class Out>
  void contended(const earl::OpenCall& at, const Read& read, Seconds now, const Lock& lock,
                 const PollStretches::Parts& parts, Out& out) {
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
      for (const Holding& h : lock.holdings) {
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
        out.wait(wait);
        from = std::max(from, h.given->time);
        last = &*h.given;
      }
    }
    if (last != nullptr) over_at_once(*begun, since, now, at, *last, out);
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
  std::map<Place, Lock> locks_;
  std::uint64_t turns_ = std::uint64_t{1} << 62;  // numbers of holdings
  bool any_ = false;
  bool gap_ = false;  // some process did not record for a time
};

}  // namespace kojak::expert
