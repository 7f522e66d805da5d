// Writes transfers: their starts, and the ends that stay where they are; hands the others to the
// placement.
//
// Part of pass 2. A transfer comes in one record for the whole call, or in records of its own.
#pragma once

#include <algorithm>

#include "merge/write/grant_writer.h"
#include "merge/write/window_parts.h"

namespace kojak::merge {

template <bool Plain>
class TransferWriter {
 public:
  TransferWriter(const EngineInputs& in, EventWriter<Plain>& events, EndWriter<Plain>& ends,
                 GrantWriter<Plain>& grants, const WindowParts& parts, Summary& summary)
      : summary_(summary),
        events_(events),
        emitter_(events.emitter()),
        ends_(ends),
        grants_(grants),
        placement_(ends.placement()),
        parts_(parts),
        extended_(in.extended),
        processes_(events.processes()) {}

  // The first half of a whole-call record.
  bool call_begins(Stream& s) {
    MpiRmaCall call;
    if (!events_.read(s, call)) return true;
    const std::uint32_t region = events_.enter_call(s, call);
    if (!events_.good_peer(s, call.dlid)) {
      s.time = s.corrected(call.exit.value);
      return false;
    }
    const std::uint32_t window = events_.window_of(s, call.wid);
    put_place(s, call.rmaid);
    const bool request = events_.role_of(region) == MpiRole::kRequestTransfer;
    const double exit = s.corrected(call.exit.value);
    const auto begin = [&](bool put, const LocalEnd& end) {
      if (!extended_) return;
      const std::uint32_t target = raw(call.dlid);
      if (request) [[unlikely]]
        placement_.note_request(s.index, put, window, target, end.rmaid);
      const Mark mark = placement_.begin(s.index, put, target, window, held(s, put, exit, end));
      if (mark != Mark::kNone) [[unlikely]] {
        s.in_flight.push_back({end.rmaid, put, InFlight::Kind::kBasic, mark, target, window, {}});
      }
    };
    LocalEnd end;
    if (end_from_call(call, false, end)) {
      emitter_.put(MpiGet1to{call.lid, call.time, RmaId{end.rmaid}, WindowId{window}});
      if (auto* grant = grants_.waiting(s, window, raw(call.dlid))) {
        grants_.hold_start(s, *grant, false, held(s, false, exit, end));
      } else {
        const Bytes bytes = events_.sent_field(s, end.bytes);
        emitter_.put(MpiGet1ts{LocationId{raw(call.dlid)}, call.time, PeerId{s.rank},
                               WindowId{window}, RmaId{end.rmaid}, bytes});
      }
      begin(false, end);
    }
    if (end_from_call(call, true, end)) {
      if (auto* grant = grants_.waiting(s, window, raw(call.dlid))) {
        grants_.hold_start(s, *grant, true, held(s, true, exit, end));
      } else {
        const Bytes bytes = events_.sent_field(s, end.bytes);
        emitter_.put(
            MpiPut1ts{call.lid, call.time, call.dlid, WindowId{window}, RmaId{end.rmaid}, bytes});
      }
      begin(true, end);
    }
    s.time = exit;
    return false;
  }
  // The second half: ends that stay in the call, and its exit.
  void call_ends(Stream& s) {
    s.inside_call = false;
    ends_.release_at_exit(s);
    if (s.type == type_of(RecordType::kMpiRmaCall) && (!extended_ || !s.in_flight.empty())) {
      MpiRmaCall call;
      const RawRecord record = s.raw_record();
      if (decode(record, events_.dialect_of(s), call) == nullptr && raw(call.dlid) < processes_) {
        const std::uint32_t window = s.translation->windows[raw(call.wid)];
        for (const bool put : {false, true}) {
          LocalEnd end;
          if (!end_from_call(call, put, end)) continue;
          const auto flight = find_flight(s, end.rmaid, put);
          if (extended_ && flight == s.in_flight.end()) continue;
          const Mark mark = extended_ ? flight->mark : Mark::kNone;
          ends_.put_basic_end(s, put, raw(call.dlid), window, held(s, put, s.time, end), mark);
          if (extended_) s.in_flight.erase(flight);
        }
      }
    }
    if (s.type == type_of(RecordType::kMpiTestCall)) {
      MpiTestCall call;
      if (decode(s.raw_record(), events_.dialect_of(s), call) == nullptr) {
        emitter_.put(MpiRequestTested{LocationId{s.lid}, Seconds{s.time}, call.reqid});
      }
    }
    events_.leave_call(s);
  }
  // MPI_CALL, and the part of MPI_TEST_CALL that is laid out like it.
  bool plain_call_begins(Stream& s) {
    MpiCall call;
    if (!events_.read(s, call)) return true;
    events_.enter_call(s, call);
    s.time = s.corrected(call.exit.value);
    return false;
  }

  static HeldEnd held(const Stream& s, bool put, double time, const LocalEnd& end) {
    return {time, end.bytes, end.rmaid, put ? s.rank : end.peer};
  }
  std::vector<InFlight>::iterator find_flight(Stream& s, std::uint32_t rmaid, bool put) {
    return std::find_if(s.in_flight.begin(), s.in_flight.end(),
                        [&](const InFlight& f) { return f.rmaid == rmaid && f.put == put; });
  }

  // MPI_RMA_PLACE: it stands before the operation that it tells of.
  void place(Stream& s) {
    MpiRmaPlace r;
    if (!events_.read(s, r) || !events_.good_peer(s, r.dlid)) return;
    r.wid = WindowId{events_.window_of(s, r.wid)};
    r.disp = parts_.first_byte(raw(r.wid), raw(r.dlid), r.disp);
    s.place = r;
  }
  KOJAK_INLINED void put_place(Stream& s, RmaId rmaid) {
    if (!s.place) [[likely]]
      return;
    if (s.place->rmaid == rmaid) {
      s.place->time = Seconds{s.time};
      emitter_.put(*s.place);
      emitter_.make_room();
    }
    s.place.reset();
  }
  void put_starts(Stream& s) {
    MpiPut1ts r;
    if (!events_.read(s, r)) return;
    if (!events_.good_peer(s, r.dlid)) return;
    put_place(s, r.rmaid);
    r.wid = WindowId{events_.window_of(s, r.wid)};
    if (!start_waits(s, true, raw(r.dlid), raw(r.wid), raw(r.rmaid), r.sent)) {
      events_.copy_attributes(s);
      emitter_.put(r);
    }
    transfer_starts(s, true, raw(r.dlid), raw(r.wid), raw(r.rmaid));
  }
  void get_starts(Stream& s) {
    MpiGet1tsRemote r;
    if (!events_.read(s, r)) return;
    if (!events_.good_peer(s, r.dlid)) return;
    put_place(s, r.rmaid);
    r.wid = WindowId{events_.window_of(s, r.wid)};
    emitter_.put(MpiGet1to{r.lid, r.time, r.rmaid, r.wid});
    if (!start_waits(s, false, raw(r.dlid), raw(r.wid), raw(r.rmaid), r.sent)) {
      events_.copy_attributes(s);
      emitter_.put(
          MpiGet1ts{LocationId{raw(r.dlid)}, r.time, PeerId{s.rank}, r.wid, r.rmaid, r.sent});
    }
    transfer_starts(s, false, raw(r.dlid), raw(r.wid), raw(r.rmaid));
  }
  // A start in a record of its own: its end's record follows, as a rule at once.
  void transfer_starts(Stream& s, bool put, std::uint32_t target, std::uint32_t window,
                       std::uint32_t rmaid) {
    if (!extended_) return;
    if (events_.role(s) == MpiRole::kRequestTransfer) {
      placement_.note_request(s.index, put, window, target, rmaid);
    }
    InFlight flight{rmaid, put, InFlight::Kind::kHeld, Mark::kNone, target, window, {}};
    LocalEnd end;
    const Ahead ahead = look_ahead(s, put, target, window, rmaid, end);
    if (ahead == Ahead::kNone) {
      ++no_end_;
      return;
    }
    if (window == kAbsent) {
      flight.kind = InFlight::Kind::kBasic;
      flight.mark = Mark::kNoEpoch;
    } else if (ahead == Ahead::kFound) {
      flight.mark =
          placement_.begin(s.index, put, target, window, held(s, put, s.corrected(end.time), end));
      if (flight.mark != Mark::kNone) flight.kind = InFlight::Kind::kBasic;
    } else {
      flight.kind = InFlight::Kind::kLater;
      flight.epoch = placement_.epoch_of(s.index, target, window);
    }
    s.in_flight.push_back(flight);
  }
  // A start in a record of its own whose lock is granted later. Its end tells the same; a call that
  // was never left has none, and its start stays.
  bool start_waits(Stream& s, bool put, std::uint32_t target, std::uint32_t window,
                   std::uint32_t rmaid, Bytes sent) {
    auto* grant = grants_.waiting(s, window, target);
    if (grant == nullptr) [[likely]]
      return false;
    LocalEnd end;
    const Ahead ahead = look_ahead(s, put, target, window, rmaid, end);
    if (ahead == Ahead::kNone) return false;
    const bool found = ahead == Ahead::kFound;
    grants_.hold_start(
        s, *grant, put,
        {found ? s.corrected(end.time) : s.time, found ? end.bytes : std::uint64_t{raw(sent)},
         rmaid, put ? s.rank : target});
    return true;
  }
  enum class Ahead : std::uint8_t { kFound, kNone, kUnseen };
  // The end must say what its start says.
  Ahead look_ahead(const Stream& s, bool put, std::uint32_t target, std::uint32_t window,
                   std::uint32_t rmaid, LocalEnd& end) const {
    std::uint64_t attribute = kNoBytes;
    const std::byte* p = s.record + 2 + static_cast<std::uint8_t>(s.record[0]);
    while (s.input.end() - p >= 2) {
      const RawRecord record{static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]),
                             p + 2, 0};
      const std::size_t size = std::size_t{2} + record.length;
      if (static_cast<std::size_t>(s.input.end() - p) < size) break;
      if (is_attribute(record.type)) {
        byte_attribute(record, s.dialect, kAttrBytesReceived, attribute);
      } else if (is_event(record.type)) {
        if (end_from_record(record, s.dialect, put, attribute, end) && end.rmaid == rmaid &&
            end.peer == target && s.translation->windows[end.window] == window) {
          return Ahead::kFound;
        }
        attribute = kNoBytes;
        if (record.type == type_of(RecordType::kExit)) return Ahead::kNone;
      }
      p += size;
    }
    return s.input.exhausted() ? Ahead::kNone : Ahead::kUnseen;
  }

  void transfer_ends(Stream& s, bool put) {
    LocalEnd end;
    const std::uint64_t attribute = noted_bytes(s, kAttrBytesReceived);
    if (!end_from_record(s.raw_record(), events_.dialect_of(s), put, attribute, end)) {
      ++s.too_short;
      return;
    }
    if (!events_.good_peer(s, PeerId{end.peer})) return;
    const std::uint32_t window = events_.window_of(s, WindowId{end.window});
    const HeldEnd at_record = held(s, put, s.time, end);
    if (!extended_) {
      ends_.put_basic_end(s, put, end.peer, window, at_record, Mark::kNone);
      return;
    }
    const auto flight =
        std::find_if(s.in_flight.begin(), s.in_flight.end(), [&](const InFlight& f) {
          return f.rmaid == end.rmaid && f.put == put && f.target == end.peer && f.window == window;
        });
    if (flight == s.in_flight.end()) {
      ++no_start_;
      ends_.put_basic_end(s, put, end.peer, window, at_record, Mark::kNone);
      return;
    }
    const InFlight known = *flight;
    s.in_flight.erase(flight);
    Mark mark = known.mark;
    if (known.kind == InFlight::Kind::kLater) {
      mark = placement_.begin_later(s.index, put, end.peer, window, known.epoch, at_record);
    }
    if (mark != Mark::kNone) ends_.put_basic_end(s, put, end.peer, window, at_record, mark);
  }

  void report_transfers() {
    summary_.add(Finding::kNoEnd, no_end_);
    summary_.add(Finding::kNoStart, no_start_);
  }

 private:
  Summary& summary_;
  EventWriter<Plain>& events_;
  Emitter<Plain>& emitter_;
  EndWriter<Plain>& ends_;
  GrantWriter<Plain>& grants_;
  Placement& placement_;
  const WindowParts& parts_;
  bool extended_;
  std::uint32_t processes_;
  std::uint64_t no_end_ = 0, no_start_ = 0;
};

}  // namespace kojak::merge
