// Who changed a value in a window that another process reads again and again, and who held a lock
// that is a value there, taken by swaps.
//
// Told of operations in file order. What a caller wants to know of an operation it keeps with it
// (`What`). Memory: the last kMost writes to each part of a window, and turns at each lock.
// Source: docs/patterns, Late Notification and Lock Contention.
#pragma once

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "earl/aspects/window_addresses.h"

namespace kojak::earl {

inline constexpr std::size_t kMostWindowWrites = 1024;

template <class What>
class WindowWrites {
 public:
  static constexpr Seconds kNever{std::numeric_limits<double>::infinity()};
  struct Write {
    What what;
    ProcessId origin{};
    std::uint32_t rmaid = 0;  // of the put
    std::uint64_t first = 0, bytes = 0;
    std::uint64_t begin = 0, end = ~std::uint64_t{0};  // where it may be, if `first` is not known
    bool swap = false;                                 // it may have changed nothing
    Seconds complete = kNever;                         // at the target
    bool known() const { return first != RmaPlace::kUnknown; }
  };

  explicit WindowWrites(const Trace& trace) : addresses_(trace) {}
  WindowWrites(const WindowWrites&) = delete;  // open_ points into writes_
  WindowWrites& operator=(const WindowWrites&) = delete;
  const WindowAddresses& addresses() const { return addresses_; }

  // `write.first`: the first byte in the target's part, or RmaPlace::kUnknown.
  void issue(Write write, WindowId window, ProcessId target) {
    const WindowAddresses::Place at = addresses_.place(window, target, write.first);
    write.first = at.first;
    write.begin = at.begin;
    write.end = at.end;
    std::deque<Write>& writes = writes_[{at.window, at.target}];
    if (writes.size() == kMostWindowWrites) {
      open_.erase(key(writes.front().origin, writes.front().rmaid));
      writes.pop_front();
    }
    writes.push_back(write);
    open_[key(write.origin, write.rmaid)] = &writes.back();
  }
  bool any_open() const { return !open_.empty(); }
  // Null: it is complete, or none was issued.
  Write* open(ProcessId origin, std::uint32_t rmaid) {
    const auto found = open_.find(key(origin, rmaid));
    return found == open_.end() ? nullptr : found->second;
  }
  void close(ProcessId origin, std::uint32_t rmaid) { open_.erase(key(origin, rmaid)); }

  // The last one by another process than `reader` that may have changed these bytes since a read of
  // them was made that found nothing new; null: none, or (`several`) nobody knows whose it is.
  const Write* last(WindowId window, ProcessId target, std::uint64_t first, std::uint64_t bytes,
                    ProcessId reader, Seconds read, bool& several) const {
    const Write* latest = nullptr;   // whose bytes meet those read
    const Write* swap = nullptr;     // that may have changed nothing
    const Write* unknown = nullptr;  // of which no place is known
    several = false;                 // processes with such ones
    const WindowAddresses::Place place = addresses_.place(window, target, first);
    const auto written = writes_.find({place.window, place.target});
    if (written == writes_.end()) return nullptr;
    for (const Write& w : written->second) {
      if (w.origin == reader || w.complete < read) continue;
      if (!w.known()) {
        if (w.begin >= place.first + bytes || place.first >= w.end) continue;
        several = several || (unknown != nullptr && unknown->origin != w.origin);
        unknown = &w;
      } else if (w.first < place.first + bytes && place.first < w.first + w.bytes) {
        (w.swap ? swap : latest) = &w;
      }
    }
    if (latest == nullptr) latest = swap;
    if (latest == nullptr && !several) return unknown;
    several = several && latest == nullptr;
    return latest;
  }

 private:
  static std::uint64_t key(ProcessId origin, std::uint32_t rmaid) {
    return std::uint64_t{raw(origin)} << 32 | rmaid;
  }
  const WindowAddresses addresses_;
  std::map<std::pair<WindowId, ProcessId>, std::deque<Write>> writes_;
  std::unordered_map<std::uint64_t, Write*> open_;  // not complete
};

// The changes of a place by one process take turns: one takes the lock (a swap that changed
// memory), the next gives it back, whatever writes it. It is a lock only as long as all that took
// it found one and the same value there: in a counter, a stack or the tail of a queue they do not.
template <class Taken, class Given>
class SwapLocks {
 public:
  using Place = WindowAddresses::Bytes;
  // Who held it since when, and until when.
  struct Holding {
    ProcessId process{};
    Taken taken{};
    std::optional<Given> given;
    std::uint64_t number = 0;  // unlike all others
  };

  // An operation that writes: if its process holds the lock there, it gives it back.
  void give(const Place& place, ProcessId process, const Given& given) {
    const auto lock = locks_.find(place);
    if (lock == locks_.end()) return;
    for (Holding& h : lock->second.holdings) {
      if (h.process == process && !h.given) h.given = given;
    }
  }
  // A swap has changed memory, and found that value. The turns at the lock that it has taken; null:
  // it has given it back, or there is no lock.
  const std::deque<Holding>* swap(const Place& place, ProcessId process, std::uint64_t value,
                                  std::uint64_t other, const Taken& taken, const Given& given) {
    Lock& lock = locks_[place];
    for (Holding& h : lock.holdings) {
      if (h.process != process) continue;
      if (!h.given) h.given = given;
      if (*h.given == given) return nullptr;
    }
    lock.none = lock.none || (lock.known && (lock.value != value || lock.other != other));
    lock.known = true;
    lock.value = value;
    lock.other = other;
    if (lock.holdings.size() == kMostWindowWrites) lock.holdings.pop_front();
    lock.holdings.push_back({process, taken, std::nullopt, ++turns_});
    return lock.none ? nullptr : &lock.holdings;
  }

 private:
  struct Lock {
    std::uint64_t value = 0, other = 0;  // of the free one
    bool known = false, none = false;    // it is no lock
    std::deque<Holding> holdings;
  };
  std::map<Place, Lock> locks_;
  std::uint64_t turns_ = std::uint64_t{1} << 62;
};

}  // namespace kojak::earl
