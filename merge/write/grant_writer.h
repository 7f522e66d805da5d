// Writes lock records where their locks are granted, and the starts of transfers that were issued
// before (`--locks granted`).
//
// Part of pass 2. A lock record whose lock is granted later than it was recorded waits,
// and with it the starts of the epoch's transfers: a put leaves MPI_PUT_1TO in its call, a get has
// MPI_GET_1TO there anyhow. The starts are held like ends.
// Errors: those of the held ends.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "merge/write/end_writer.h"

namespace kojak::merge {

template <bool Plain>
class GrantWriter {
 public:
  GrantWriter(const EngineInputs& in, EventWriter<Plain>& events, EndWriter<Plain>& ends)
      : events_(events),
        emitter_(events.emitter()),
        ends_(ends),
        held_(ends.placement().held()),
        granting_(in.locks != nullptr),
        grants_(granting_ ? in.survey.processes.size() : 0) {}

  // A lock that is granted later, with the starts that wait for it.
  struct Grant {
    double time = 0;
    std::uint32_t stream = 0, lid = 0;
    MpiWinLock record;
    struct Starts {
      std::uint32_t stream;
      bool put;
      ListId list;
    };
    std::vector<Starts> starts;
  };

  // The next grant that belongs to this location, or never.
  double next_grant(const Stream& s) const {
    double next = std::numeric_limits<double>::infinity();
    for (const Grant& grant : grants_[s.rank]) {
      if (grant.stream == s.index) next = std::min(next, grant.time);
    }
    return next;
  }
  // The current record is a lock's: true if it waits for its grant.
  bool hold_lock(Stream& s) {
    if (!(s.moved_to > s.time)) return false;
    Grant grant;
    if (!events_.read(s, grant.record)) return true;
    grant.record.wid = WindowId{events_.window_of(s, grant.record.wid)};
    grant.time = s.moved_to;
    grant.stream = s.index;
    grant.lid = s.lid;
    grants_[s.rank].push_back(std::move(grant));
    return true;
  }
  Grant* waiting(const Stream& s, std::uint32_t window, std::uint32_t target) {
    if (!granting()) [[likely]]
      return nullptr;
    for (Grant& grant : grants_[s.rank]) {
      if (raw(grant.record.wid) == window && raw(grant.record.llid) == target) return &grant;
    }
    return nullptr;
  }
  // The start of a transfer waits for the grant. `end` is the transfer's end in the basic model.
  void hold_start(Stream& s, Grant& grant, bool put, const HeldEnd& end) {
    if (put) {
      emitter_.put(
          MpiPut1to{LocationId{s.lid}, Seconds{s.time}, RmaId{end.rmaid}, grant.record.wid});
    }
    auto at = std::find_if(grant.starts.begin(), grant.starts.end(), [&](const auto& starts) {
      return starts.stream == s.index && starts.put == put;
    });
    if (at == grant.starts.end()) {
      ListInfo info = ends_.basic_info(s, put, raw(grant.record.llid), raw(grant.record.wid));
      info.place = EndPlace::kGrant;
      grant.starts.push_back({s.index, put, held_.open(info)});
      at = grant.starts.end() - 1;
    }
    held_.append(at->list, end);
  }
  // Writes the process's grants up to a time.
  void write_grants(std::uint32_t rank, double until, const std::vector<Stream>& streams) {
    std::vector<Grant>& grants = grants_[rank];
    while (!grants.empty()) {
      const auto next =
          std::min_element(grants.begin(), grants.end(),
                           [](const Grant& a, const Grant& b) { return a.time < b.time; });
      if (next->time > until) return;
      const Grant grant = std::move(*next);
      grants.erase(next);
      write(grant, streams);
    }
  }

  // An end of its epoch shows that the lock was held by now.
  void grant_now(Stream& s, std::uint32_t window, std::uint32_t target,
                 const std::vector<Stream>& streams) {
    if (Grant* grant = waiting(s, window, target)) {
      grant->time = s.time;
      write_grants(s.rank, s.time, streams);
    }
  }

  // Known at compile time where nothing is granted.
  bool granting() const { return !Plain && granting_; }

 private:
  void write(const Grant& grant, const std::vector<Stream>& streams) {
    const Seconds time{grant.time};
    MpiWinLock lock = grant.record;
    lock.time = time;
    emitter_.make_room();
    emitter_.put(lock);
    std::vector<ListId> lists;
    for (const auto& starts : grant.starts) lists.push_back(starts.list);
    release_.run(held_, lists, [&](const ListInfo& info, const HeldEnd& end) {
      emitter_.make_room();
      const Bytes bytes = emitter_.bytes_field(raw(kAttrBytesSent), end.bytes);
      if (info.put) {
        emitter_.put(MpiPut1ts{LocationId{streams[info.stream].lid}, time, PeerId{info.target},
                               WindowId{info.window}, RmaId{end.rmaid}, bytes});
      } else {
        emitter_.put(MpiGet1ts{LocationId{info.target}, time, PeerId{info.origin},
                               WindowId{info.window}, RmaId{end.rmaid}, bytes});
      }
    });
    emitter_.make_room();
  }
  EventWriter<Plain>& events_;
  Emitter<Plain>& emitter_;
  EndWriter<Plain>& ends_;
  HeldEnds& held_;
  Release release_;
  bool granting_;
  std::vector<std::vector<Grant>> grants_;  // by rank
};

}  // namespace kojak::merge
