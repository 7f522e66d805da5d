// Writes series of polls: a whole series in one record as the instance that it is, and what stands
// behind the enter of a call that found something.
//
// Whether a series whose rounds are all alike waits is settled here (epilog/format/event_loop.h),
// by what the first pass read of its place. Part of pass 2. Which record means what:
// docs/format.md, "Polls".
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "merge/write/end_writer.h"
#include "merge/write/window_parts.h"

namespace kojak::merge {

template <bool Plain>
class PollWriter {
 public:
  PollWriter(const EngineInputs& in, EventWriter<Plain>& events, EndWriter<Plain>& ends,
             const WindowParts& parts)
      : events_(events), emitter_(events.emitter()), ends_(ends), parts_(parts) {
    for (std::size_t i = 0; i < in.traces.size(); ++i) {
      const TraceFacts& facts = in.survey.traces[i];
      for (const auto& [rid, site] : facts.poll_sites) {
        sites_[place(in.traces[i].rank, *facts.translation, rid)].add(site);
      }
    }
  }

  // A region that stays open behind the series: that of the call that found something.
  struct Opened {
    std::uint32_t region;
    std::size_t callers;
  };
  // A whole series: its first half, at its enter. The second comes at its exit.
  std::optional<Opened> call_begins(Stream& s) {
    MpiPollCall call;
    if (!events_.read(s, call)) {
      s.polls.members.clear();
      return std::nullopt;
    }
    SeriesOnTheWay& series = s.polls;
    series.waits = waits(s, call);
    series.joined = series.waits && !is_absent(call.found) && s.next_is(RecordType::kEnter);
    const RegionId entered = series.joined ? call.found : call.rid;
    const std::uint32_t region =
        events_.enter_call(s, MpiCall{call.lid, call.time, call.exit, entered});
    const double exit = s.corrected(call.exit.value);
    series.times = {recorded_time(s),        s.time, call.exit.value, exit, s.clock,
                    s.controlled.has_value()};
    s.time = exit;
    if (!series.waits) {
      // What was computed between its polls is the program's, and stands behind its exit.
      const double end = call.time.value + series.times.length(call.called).value;
      s.time = std::clamp(end, call.time.value, exit);
    }
    if (!series.joined) return std::nullopt;
    return Opened{region, s.callers_in_call};
  }
  // The second half: the series, and its exit, where that is not the next call's.
  void call_ends(Stream& s) {
    s.inside_call = false;
    SeriesOnTheWay& series = s.polls;
    MpiPollCall call;
    if (decode(s.raw_record(), events_.dialect_of(s), call) != nullptr) return;
    MpiPolled polled{LocationId{s.lid}, Seconds{s.time}, call.count, call.time,  call.called,
                     call.paused,       call.asleep,     call.rest,  call.least, call.ran,
                     call.switches,     Byte{},          call.end,   call.flags, Byte{}};
    polled.judged =
        Byte{static_cast<std::uint8_t>(series.waits ? PollClass::kWaits : PollClass::kWorks)};
    polled.members = Byte{static_cast<std::uint8_t>(1 + series.members.size())};
    if (!series.joined) polled.flags = Flags(raw(polled.flags) | kPollAlone);
    note_goes_on(s, polled, raw(call.judged) == raw(PollClass::kEven));
    put(s, polled);
    put(s, MpiPoll{polled.lid, polled.time, call.kind, call.rid, absent<CallSiteId>(), call.polls,
                   call.time, call.last_enter, call.reqid, call.requests, call.plid, call.cid,
                   call.tag, call.wid, call.tlid, call.disp, call.bytes, call.value, call.other});
    for (const MpiPoll& member : series.members) put(s, member);
    series.members.clear();
    emitter_.make_room();
    if (series.joined) return s.skip_next();
    ends_.release_at_exit(s);
    events_.leave_call(s);
  }

  // The series of the call that this location has just entered.
  void polled(Stream& s) {
    MpiPolled r;
    s.polls.members.clear();
    s.polls.due = 0;
    if (!events_.read(s, r)) return;
    s.polls.due = raw(r.members);
    s.polls.times = {r.begin.value, std::min(s.entered, s.time), recorded_time(s), s.time,
                     s.clock,       s.controlled.has_value()};
    note_goes_on(s, r, false);
    events_.copy_attributes(s);
    put(s, r);
  }
  // A member: of that, or of the whole series that follows.
  void member(Stream& s) {
    MpiPoll r;
    if (!events_.read(s, r)) return;
    if (s.polls.due != 0) {
      --s.polls.due;
      put(s, r);
    } else if (s.polls.members.size() < kMostMembers) {
      s.polls.members.push_back(r);
    }
  }

 private:
  // With the first one as many as a u1 counts.
  static constexpr std::size_t kMostMembers = 254;
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

  static Place place(std::uint32_t rank, const Translation& translation, std::uint32_t rid) {
    return {rank, translation.regions[rid], translation.sites[rid]};
  }
  double recorded_time(const Stream& s) const {
    return event_time(s.raw_record(), events_.dialect_of(s).swapped()).value;
  }
  bool waits(const Stream& s, const MpiPollCall& call) const {
    if (raw(call.judged) != raw(PollClass::kEven)) {
      return raw(call.judged) == raw(PollClass::kWaits);
    }
    const auto site = sites_.find(place(s.rank, *s.translation, raw(call.rid)));
    if (site == sites_.end()) return false;
    const double least = std::ceil(call.least.value * 1e9);
    return least >= 0 && least < 1e18 &&
           event_loop_waits(site->second, static_cast<std::uint64_t>(least));
  }
  // A series does not go on what turned out to work.
  static void note_goes_on(Stream& s, MpiPolled& polled, bool even) {
    if (s.polls.even_works) polled.flags = Flags(raw(polled.flags) & ~kPollGoesOn);
    s.polls.even_works = even && raw(polled.judged) == raw(PollClass::kWorks);
  }
  void put(Stream& s, MpiPolled polled) {
    const MovedTimes& times = s.polls.times;
    polled.begin = times.at(polled.begin);
    for (Duration* length :
         {&polled.called, &polled.paused, &polled.asleep, &polled.rest, &polled.least}) {
      *length = times.length(*length);
    }
    emitter_.put(polled);
  }
  void put(Stream& s, MpiPoll member) {
    member.time = Seconds{s.time};
    member.first_enter = s.polls.times.at(member.first_enter);
    member.last_enter = s.polls.times.at(member.last_enter);
    const std::uint32_t site = s.translation->sites[raw(member.rid)];
    Translator translator(*s.translation, events_.processes());
    visit_fields(member, events_.dialect_of(s), translator);
    member.csid = CallSiteId{site};
    if (!is_absent(member.wid))
      member.disp = parts_.first_byte(raw(member.wid), raw(member.tlid), member.disp);
    if (translator.unknown()) events_.unknown_id(s);
    if (translator.bad_peer()) events_.bad_peer(s);
    emitter_.make_room();
    emitter_.put(member);
  }

  EventWriter<Plain>& events_;
  Emitter<Plain>& emitter_;
  EndWriter<Plain>& ends_;
  const WindowParts& parts_;
  std::map<Place, PollSite> sites_;
};

}  // namespace kojak::merge
