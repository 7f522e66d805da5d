// UPC, Late Notification: a thread reads a few bytes of another thread's memory again and again,
// until a third one, or their owner, puts something there.
//
// A series is two upc_get or more of one place of at most 16 bytes at one call path, with no other
// call of UPC or MPI in between. What was read is not told; so a put counts if it is the last one
// to these bytes before the series ended, and the series did not go on behind it: at most one of
// its reads began when the put was complete. Reads of 1 ms or more are left to Wait for Progress.
// What the owner stores by itself is not told either.
//
// Memory: the reads of a series, of at most kMost; beyond that the series is left out. Not
// thread-safe; nothing fails. Source: docs/format.md, "Polls"; the pattern is kojak's own.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "earl/aspects/transfers.h"
#include "earl/trace.h"
#include "expert/patterns/upc/notifications.h"

namespace kojak::expert {

class UpcNotifications {
 public:
  explicit UpcNotifications(const earl::Trace& trace)
      : definitions_(trace.definitions()), series_(trace.location_count()) {
    definitions_.regions.for_each([&](RegionId id, const RegionDef& region) {
      if (region.name == "upc_get") get_ = id;
    });
  }

  template <class Out>
  void on_enter(const earl::OpenCall& call, Out& out) {
    if (call.region == get_ || call.index >= series_.size() || !series_[call.index].any) return;
    if (call.function != nullptr || definitions_.shmem(call.region) != nullptr) {
      end(call.index, out);
    }
  }
  template <class Out>
  void on_transfer(const earl::Transfer& transfer, Out& out) {
    const bool known = transfer.place != nullptr && transfer.place->known();
    const std::uint64_t bytes = raw(transfer.bytes);
    if (!transfer.get) {
      if (known && !readers_.empty()) wrote(transfer, transfer.place->offset, bytes);
      return;
    }
    const LocationIndex location = transfer.call->index;
    if (transfer.call->region != get_ || location >= series_.size()) return;
    const Place place{raw(transfer.target), known ? transfer.place->offset : 0, bytes,
                      raw(transfer.call->cnode)};
    Series& s = series_[location];
    const bool polls = known && bytes <= kMostOfUpcPoll && transfer.origin != transfer.target;
    if (s.any && (!polls || !(s.place == place))) end(location, out);
    if (!polls) return;
    if (!s.any) {
      s.any = true;
      s.place = place;
      readers_.insert({place.target, location});
    }
    s.reading = transfer.call->enter_pos;
    if (s.next.by.known()) s.by = std::exchange(s.next, {});
  }
  void on_call(const Call& call) {
    if (call.index >= series_.size() || series_[call.index].reading != call.enter_pos) return;
    Series& s = series_[call.index];
    s.reading = earl::kNoEvent;
    if (s.reads.size() == kMost) s.lost = true;
    if (!s.lost) s.reads.push_back(call);
  }
  bool wants_ends() const { return !open_.empty(); }
  void on_end_of(const earl::TransferEnd& end) {
    const auto [first, last] = open_.equal_range({raw(end.origin), raw(end.rmaid)});
    for (auto at = first; at != last; ++at) {
      Series& s = series_[at->second];
      for (Write* w : {&s.by, &s.next}) {
        if (w->key == at->first) w->complete = end.time;
      }
    }
    open_.erase(first, last);
  }
  template <class Out>
  void finish(Out& out) {
    for (LocationIndex l = 0; l < series_.size(); ++l) {
      if (series_[l].any) end(l, out);
    }
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 16;
  static constexpr Seconds kNever{std::numeric_limits<double>::infinity()};
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // process and rmaid
  struct Place {
    std::uint32_t target = kAbsent;
    std::uint64_t offset = 0, bytes = 0;
    CallPathIndex path = 0;
    bool operator==(const Place&) const = default;
  };
  struct Write {
    EndedBy by;
    Key key{};
    Seconds complete = kNever;
  };
  struct Series {
    bool any = false, lost = false;
    Place place;
    std::uint64_t reading = earl::kNoEvent;  // enter_pos of the read that is open
    std::vector<Call> reads;
    Write by;    // the last one to these bytes that a read can have found
    Write next;  // behind the last read
  };

  void wrote(const earl::Transfer& put, std::uint64_t offset, std::uint64_t bytes) {
    const auto [first, last] = readers_.equal_range(raw(put.target));
    for (auto at = first; at != last; ++at) {
      Series& s = series_[at->second];
      if (put.call->index == at->second) continue;
      if (offset >= s.place.offset + s.place.bytes || s.place.offset >= offset + bytes) continue;
      Write& write = s.reading != earl::kNoEvent ? s.by : s.next;
      write = {enter_of(*put.call), {raw(put.origin), raw(put.rmaid)}};
      open_.insert({write.key, at->second});
    }
  }
  template <class Out>
  void end(LocationIndex location, Out& out) {
    Series& s = series_[location];
    const auto behind = std::count_if(s.reads.begin(), s.reads.end(), [&](const Call& read) {
      return s.by.complete <= read.enter;
    });
    if (!s.lost && s.reads.size() >= 2 && s.by.by.known() && behind <= 1) {
      out.begin_operation(Operation::Object::kNothing, 0);
      for (const Call& read : s.reads) {
        if (read.paused || !(read.exit - read.enter < kLongUpcPoll)) continue;
        const Seconds waited = UpcLateNotification::severity(read, s.by.by.time);
        if (waited > Seconds{0}) out.add(UpcLateNotification{}, read, waited, s.by.by);
      }
    }
    const auto [first, last] = readers_.equal_range(s.place.target);
    for (auto at = first; at != last; ++at) {
      if (at->second != location) continue;
      readers_.erase(at);
      break;
    }
    s = {};
  }

  const Definitions& definitions_;
  RegionId get_ = absent<RegionId>();
  std::vector<Series> series_;                           // by location
  std::multimap<std::uint32_t, LocationIndex> readers_;  // by the thread whose memory they read
  std::multimap<Key, LocationIndex> open_;               // puts that are not complete
};

}  // namespace kojak::expert
