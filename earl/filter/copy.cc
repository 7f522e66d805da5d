// Long because it is one thought: what each record of the whole trace becomes in the cut.
#include "earl/filter/copy.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "earl/filter/begun_states.h"
#include "earl/filter/epoch_states.h"
#include "epilog/format/field_values.h"
#include "epilog/model/ordinals.h"

namespace kojak::filter {
namespace {

using Held = std::vector<std::byte>;  // whole records: length, type, body

Count count32(std::uint64_t events) {
  return Count{events < kAbsent ? static_cast<std::uint32_t>(events) : kAbsent};
}
std::uint64_t announced(std::uint64_t events, const Inherited& inherited, bool native) {
  return events + (native ? 0 : inherited.missing());
}

class Copier {
 public:
  Copier(const CopyInputs& inputs, TraceWriter* writer)
      : in_(inputs),
        reader_(inputs.reader),
        selection_(inputs.selection),
        cut_(inputs.selection.cut()),
        out_(writer),
        states_(inputs.definitions),
        begun_before_(inputs.definitions) {
    inputs.definitions.metrics.for_each([&](MetricId, const MetricDef& metric) {
      constexpr std::uint8_t kSinceStart = 0;
      intervals_.push_back(metric.mode == 0 && metric.interval != kSinceStart);
    });
    // Values are counted as records are, also where two define one counter.
  }

  Copied run() {
    RawRecord record;
    TraceReader::Next next;
    std::uint64_t seen = 0;
    while (!past_ && (next = reader_.next(record)) == TraceReader::Next::kRecord) {
      if (is_definition(record.type)) {
        if (!defined_) definition(record);
      } else if (is_attribute(record.type)) {
        attribute(record);
      } else {
        event(record);
      }
      if (in_.progress && (++seen & 0xFFFF) == 0 && !in_.progress(reader_.progress())) break;
    }
    if (!past_ && next == TraceReader::Next::kDamaged) result_.damage = reader_.error();
    settle_get();
    // What ends behind the cut, or never.
    const Seconds end{past_ ? cut_.to : last_};
    timelines_.for_each([&](LocationId lid, const Timeline& t) {
      if (past_) end_series(t, end);
      timelines_.find(lid)->close(end, out_);
    });
    result_.events = out_.events();
    result_.added = out_.added();
    return result_;
  }

 private:
  bool native() const { return reader_.dialect().native(); }

  // ---- definitions
  void definition(const RawRecord& record) {
    const auto type = static_cast<RecordType>(record.type);
    const std::uint64_t at = out_.writer() == nullptr ? 0 : out_.writer()->offset();
    // Both say how many events there are. What says it a second time is left out.
    if (type == RecordType::kNumEvents) {
      if (result_.num_events != 0) return;
      result_.num_events = at;
      return out_.put(NumEvents{count32(announced(in_.events, in_.inherited, native()))});
    }
    if (type == RecordType::kEventCount64) {
      if (result_.event_count64 != 0) return;
      result_.event_count64 = at;
      return out_.put(EventCount64{Count64{in_.events}});
    }
    if (record.type >= 21 && record.type <= 30 && (record.type <= 26 || record.type == 30)) {
      return;  // the classic tools' bookkeeping is about the file that it stands in
    }
    if (Lost lost;
        type == RecordType::kLost && decode(record, reader_.dialect(), lost) == nullptr) {
      const LocationDef* location = in_.definitions.locations.find(lost.lid);
      if (location != nullptr && !selection_.process(raw(location->process))) return;
    }
    if (FunctionsOff off; type == RecordType::kFunctionsOff &&
                          decode(record, reader_.dialect(), off) == nullptr &&
                          !selection_.process(raw(off.pid))) {
      return;
    }
    if (RunProperty property; type == RecordType::kRunProperty &&
                              decode(record, reader_.dialect(), property) == nullptr &&
                              !is_absent(property.pid) && !selection_.process(raw(property.pid))) {
      return;
    }
    if (type == RecordType::kLastDef) {
      defined_ = true;
      inherit();
    }
    out_.put_raw(record.type, record.body, record.length);
  }
  void inherit() {
    if (!native()) return;  // see Inherited::missing()
    const Inherited& lost = in_.inherited;
    const auto nobody = absent<LocationId>();
    if (lost.damaged > 0) out_.put(Lost{nobody, kLostDamaged, Count64{lost.damaged}});
    if (lost.end) out_.put(Lost{nobody, kLostEnd, Count64{1}});
  }

  // ---- what belongs to the event that follows
  static void hold(Held& held, const RawRecord& record) {
    const std::byte* begin = record.body - 2;
    held.insert(held.end(), begin, begin + 2 + record.length);
  }
  void attribute(const RawRecord& record) {
    hold(before_, record);
    AttrUi4 wide;
    AttrUi1 narrow;
    if (record.type == static_cast<std::uint8_t>(RecordType::kAttrUi4)) {
      if (decode(record, reader_.dialect(), wide) == nullptr && wide.kind == kAttrRequest) {
        request_ = RequestId{raw(wide.value)};
      }
    } else if (record.type == static_cast<std::uint8_t>(RecordType::kAttrUi1)) {
      if (decode(record, reader_.dialect(), narrow) == nullptr && narrow.kind == kAttrRequest) {
        request_ = RequestId{raw(narrow.value)};
      }
    }
  }
  void put_held(const Held& held) {
    for (std::size_t at = 0; at + 2 <= held.size();) {
      const auto length = static_cast<std::size_t>(held[at]);
      out_.put_raw(static_cast<std::uint8_t>(held[at + 1]), held.data() + at + 2, length);
      at += 2 + length;
    }
  }
  void put(const RawRecord& record) {
    put_held(before_);
    out_.put_raw(record.type, record.body, record.length);
  }

  // ---- events
  void event(const RawRecord& record) {
    pos_ = next_pos_++;
    const bool swap = reader_.dialect().swapped();
    const Seconds time = record.length < 12 ? Seconds{NAN} : event_time(record, swap);
    if (std::isfinite(time.value)) {
      if (!begun_ && time.value >= cut_.from) begin();
      if (time.value > cut_.to) {
        past_ = true;
        return;
      }
      time_ = time;
      last_ = std::max(last_, time.value);
      here_ = timeline(event_location(record, swap));
      const bool known = dispatch_record(record.type, [&]<class R>() {
        if constexpr (R::kKind == RecordKind::kEvent) {
          R decoded;
          if (decode(record, reader_.dialect(), decoded) == nullptr) one(decoded, record);
        }
      });
      if (!known && shown()) put(record);
    }
    if (record.type == static_cast<std::uint8_t>(RecordType::kRmaMark)) return;
    before_.clear();
    request_ = absent<RequestId>();
  }

  Timeline* timeline(LocationId lid) {
    if (Timeline* known = timelines_.find(lid)) return known;
    const LocationDef* location = in_.definitions.locations.find(lid);
    if (location == nullptr || !selection_.process(raw(location->process))) return nullptr;
    intervals_.resize(reader_.dialect().metrics);  // as many as values stand in a record
    return &timelines_.set(lid, Timeline(lid, location->process, intervals_, native()));
  }
  // Everything that is open at the beginning of the cut begins there.
  void begin() {
    begun_ = true;
    const Seconds from{cut_.from};
    std::vector<LocationId> open;
    timelines_.for_each([&](LocationId lid, const Timeline& t) {
      if (!t.idle()) open.push_back(lid);
    });
    for (const LocationId lid : open) {
      Timeline& t = *timelines_.find(lid);
      if (t.top().selected) {
        turn_on(t, t.depth(), from);
      } else {
        t.begin_off(from, out_);
      }
    }
  }
  // States stand in what is open, but not in calls that handle locks of SHMEM: there they would be
  // what the call does.
  void turn_on(Timeline& t, std::size_t depth, Seconds time) {
    std::size_t outside = 0;
    while (outside < depth && !in_lock_call(t.open(outside))) ++outside;
    t.turn_on(outside, time, out_);
    put_standing(t, time);
    put_receives(t, time);
    put_begun(t, time);
    t.turn_on(depth, time, out_);
  }
  bool in_lock_call(const Frame& frame) const {
    const RegionDef* region = in_.definitions.regions.find(frame.region);
    return region != nullptr && handles_lock(region->shmem_role());
  }
  bool shown() const { return begun_ && here_ != nullptr && here_->on(); }
  bool kept(PeerId peer) const { return selection_.process(raw(peer)); }

  void put_standing(const Timeline& t, Seconds time) {
    if (!native()) return;
    states_.write_changes(t.process(), t.lid(), time, [&](const auto& state) {
      if constexpr (requires { state.plid; }) {
        if (!kept(state.plid)) return;
      }
      if constexpr (requires { state.glid; }) {
        return out_.put(as_far_as_kept(state));
      } else {
        out_.put(state);
      }
    });
  }
  // Receives that are posted and whose messages are in the cut.
  void put_receives(const Timeline& t, Seconds time) {
    if (!native()) return;
    for (const Receive& open : receives_[raw(t.process())]) {
      const unsigned flags =
          (is_absent(open.source) ? kAnySource : 0u) | (is_absent(open.tag) ? kAnyTag : 0u);
      RequestState state{};
      state.lid = t.lid();
      state.time = time;
      state.kind = static_cast<Byte>(OpenRequest::kReceive);
      state.reqid = open.request;
      state.cid = open.com;
      state.plid = open.source;
      state.tag = open.tag;
      state.wid = absent<WindowId>();
      state.ordinal = Count64{open.overtaken};
      state.flags = static_cast<Flags>(flags);
      out_.put(state);
    }
  }
  // What processes have begun together: once for each, where the part begins. Those who wait behind
  // it for the last of them have waited since.
  void put_begun(const Timeline& t, Seconds time) {
    if (!native() || time.value != cut_.from || !begun_told_.insert(raw(t.process())).second)
      return;
    begun_before_.write(t.process(), t.lid(), time, [&](const RequestState& state) {
      if (selection_.whole(in_.definitions.comms.find(state.cid))) out_.put(state);
    });
  }
  // A receive whose message is in the cut: older ones that are open and could have taken that.
  void overtake(ProcessId process, const MpiRecv& r) {
    for (Receive& open : receives_[raw(process)]) {
      if (open.request == request_) return;
      const bool exact = !is_absent(open.source) && !is_absent(open.tag);
      if (open.com != r.cid || (!is_absent(open.source) && open.source != r.slid) ||
          (!is_absent(open.tag) && open.tag != r.tag)) {
        continue;
      }
      open.overtaken = exact ? open.overtaken + 1 : kCountLost;
    }
  }
  void close_receive(ProcessId process, RequestId request) {
    std::erase_if(receives_[raw(process)],
                  [&](const Receive& open) { return open.request == request; });
  }

  template <class R>
  void one(const R& r, const RawRecord& record) {
    if constexpr (!std::is_same_v<R, MpiGet1ts> && !std::is_same_v<R, Get1ts>) settle_get();
    if constexpr (kEnters<R>) {
      enter(r, record);
    } else if constexpr (kLeaves<R>) {
      leave(r, record);
    } else if constexpr (std::is_same_v<R, RmaMark>) {
      hold(before_, record);
    } else if constexpr (requires { r.rmaid; }) {
      transfer(r, record);
    } else if constexpr (std::is_same_v<R, WinState> || std::is_same_v<R, EpochState> ||
                         std::is_same_v<R, CollState>) {
      if (here_ != nullptr) states_.state(here_->process(), r);
    } else if constexpr (std::is_same_v<R, MsgState> || std::is_same_v<R, MsgRestarted>) {
      // see standing.h
    } else {
      plain(r, record);
    }
  }

  template <class R>
  void enter(const R& r, const RawRecord& record) {
    if (here_ == nullptr) return;
    Frame frame;
    frame.pos = pos_;
    if constexpr (std::is_same_v<R, Enter>) {
      frame.region = r.rid;
    } else if constexpr (std::is_same_v<R, EnterCs>) {
      frame.kind = Frame::Kind::kEnterCs;
      frame.site = r.csid;
      const CallSiteDef* site = in_.definitions.call_sites.find(r.csid);
      if (site != nullptr) frame.region = site->entered;
    } else {
      frame.kind = std::is_same_v<R, LogOff> ? Frame::Kind::kLogOff : Frame::Kind::kTracing;
    }
    const RegionDef* region = in_.definitions.regions.find(frame.region);
    if (region != nullptr) frame.function = region->function;
    frame.selected = !selection_.by_region() || selection_.named(frame.region, frame.site) ||
                     (!here_->idle() && here_->top().selected);
    here_->saw(r.metv);
    here_->push(frame);
    if constexpr (std::is_same_v<R, LogOff>) states_.off(here_->process());
    if (!begun_) return;
    if (frame.selected) {
      if (!here_->on()) {
        turn_on(*here_, here_->depth() - 1, time_);
      }
      put(record);
      here_->shown_enter();
    } else if (here_->unseen()) {
      here_->begin_off(time_, out_);
    }
  }

  template <class R>
  void leave(const R& r, const RawRecord& record) {
    if (here_ == nullptr || here_->idle()) return;  // an exit without an enter has nothing to close
    const Frame frame = here_->top();
    here_->saw(r.metv);
    const bool show = shown() && frame.selected;
    const bool whole = show && !cut_through(r, frame);
    if (whole && counted(r, frame)) put_standing(*here_, time_);
    if (whole) {
      put(record);
    } else if (show) {
      out_.replace(Exit{r.lid, r.time, r.metv});
    }
    count(r, frame, whole);
    if (show) here_->shown_exit();
    here_->pop();
    if (!begun_) return;
    if (here_->idle()) {
      here_->close(time_, out_);
    } else if (here_->on() && !here_->top().selected) {
      here_->turn_off(time_, out_);
    }
  }
  template <class R>
  bool cut_through(const R& r, const Frame& frame) const {
    if constexpr (std::is_same_v<R, Exit> || std::is_same_v<R, OmpCollExit> ||
                  std::is_same_v<R, LogOn> || std::is_same_v<R, ExitTracing>) {
      (void)r;
      (void)frame;
      return false;
    } else {
      CommId comm = absent<CommId>();
      if constexpr (std::is_same_v<R, MpiWinCollExit>) {
        if (const WindowDef* window = in_.definitions.windows.find(r.wid)) comm = window->comm;
      } else if constexpr (!std::is_same_v<R, MpiWinExit>) {
        comm = r.cid;
      }
      return in_.severed.contains(frame.pos) || !selection_.whole(in_.definitions.comms.find(comm));
    }
  }
  template <class R>
  bool counted(const R&, const Frame& frame) const {
    if constexpr (std::is_same_v<R, MpiWinCollExit>)
      return collective_exit_move(frame.role()) == EpochMove::kFence;
    return std::is_same_v<R, MpiCollExit> || std::is_same_v<R, CollExit> ||
           std::is_same_v<R, MpiWinExit>;
  }
  template <class R>
  void count(const R& r, const Frame& frame, bool whole) {
    const ProcessId process = here_->process();
    const MpiRole role = frame.role();
    if constexpr (std::is_same_v<R, MpiCollExit> || std::is_same_v<R, CollExit>) {
      states_.collective(process, r.cid, whole);
    } else if constexpr (std::is_same_v<R, MpiWinCollExit>) {
      const EpochMove move = epoch_move(r, role);
      if (move == EpochMove::kFence) states_.fence(process, r.wid, frame.assertion, whole);
      if (move == EpochMove::kFree) states_.free(process, r.wid);
    } else if constexpr (std::is_same_v<R, MpiWinExit>) {
      const EpochMove move = epoch_move(r, role);
      if (move != EpochMove::kNone) states_.epoch(process, move, r.wid, r.cid, whole);
    } else {
      (void)r;
      (void)process;
      (void)role;
      (void)whole;
    }
  }

  // ---- messages, locks, and the rest
  template <class R>
  void plain(const R& r, const RawRecord& record) {
    if (here_ == nullptr) return;
    const ProcessId process = here_->process();
    const std::uint64_t key = std::uint64_t{raw(process)} << 32;
    bool keep = shown();
    if constexpr (std::is_same_v<R, MpiSend>) {
      keep = keep && kept(r.dlid) && !in_.severed.contains(pos_);
      if (keep && !is_absent(request_)) requests_.insert(key | raw(request_));
    } else if constexpr (std::is_same_v<R, MpiRecv>) {
      keep = keep && kept(r.slid) && !in_.severed.contains(pos_);
      if (keep) overtake(process, r);
      if (!is_absent(request_)) {
        requests_.erase(key | raw(request_));
        close_receive(process, request_);
      }
    } else if constexpr (std::is_same_v<R, MpiRecvRequest>) {
      keep =
          keep && (is_absent(r.slid) || kept(r.slid)) && !in_.severed.has_request(process, r.reqid);
      if (keep) requests_.insert(key | raw(r.reqid));
      if (keep || in_.severed.carries_request(process, r.reqid))
        receives_[raw(process)].push_back({r.reqid, r.cid, r.slid, r.tag});
    } else if constexpr (std::is_same_v<R, RequestState>) {
      keep = open_request(r, keep);
    } else if constexpr (std::is_same_v<R, MpiCollBegin>) {
      if (!begun_) begun_before_.begin(process, r);
    } else if constexpr (std::is_same_v<R, MpiRequestComplete>) {
      if (!begun_) begun_before_.end(process, r.reqid);
    } else if constexpr (std::is_same_v<R, MpiSendComplete> || std::is_same_v<R, MpiCancelled> ||
                         std::is_same_v<R, MpiRequestFreed>) {
      if constexpr (!std::is_same_v<R, MpiSendComplete>) close_receive(process, r.reqid);
      // Classic traces do not say which send a request is of.
      keep = keep && (requests_.erase(key | raw(r.reqid)) != 0 || !native());
    } else if constexpr (std::is_same_v<R, MpiWinLock>) {
      const bool shows = kept(r.llid) && !call_cut(*here_);
      keep = keep && shows;
      const int flags = (raw(r.ltype) != 0 ? kOpenExclusive : kOpenShared) | nocheck();
      states_.lock(process, r.wid, r.llid, static_cast<std::uint8_t>(flags), shows, keep);
    } else if constexpr (std::is_same_v<R, MpiWinUnlock>) {
      keep = states_.unlock(process, r.wid, r.llid) && keep;
    } else if constexpr (std::is_same_v<R, MpiWinLockAll>) {
      keep = keep && !call_cut(*here_);
      const int flags = kOpenShared | kOpenLockAll | nocheck();
      states_.lock_all(process, r.wid, static_cast<std::uint8_t>(flags), !call_cut(*here_), keep);
    } else if constexpr (std::is_same_v<R, MpiWinUnlockAll>) {
      keep = states_.unlock_all(process, r.wid) && keep;
    } else if constexpr (std::is_same_v<R, MpiWinFlush>) {
      keep = keep && (is_absent(r.tlid) || kept(r.tlid));
    } else if constexpr (std::is_same_v<R, ALock> || std::is_same_v<R, RLock>) {
      states_.symmetric_lock(process, r.lkid, r.glid, std::is_same_v<R, ALock>, keep);
      if (keep && native()) {
        put_held(before_);
        return out_.replace(as_far_as_kept(r));
      }
    } else if constexpr (std::is_same_v<R, MpiPolled> || std::is_same_v<R, MpiPoll>) {
      if (!keep) return;
      put_held(before_);
      return out_.replace(within_cut(r));
    } else if constexpr (std::is_same_v<R, Processor>) {
      // It may tell of the time since the one before.
      const bool before = std::exchange(processor_kept_[raw(r.lid)], keep);
      if (keep && !before && raw(r.blocked_kind) != 0) {
        Processor alone = r;
        alone.blocked_kind = Byte{0};
        put_held(before_);
        return out_.replace(alone);
      }
    } else if constexpr (std::is_same_v<R, ShmemWait>) {
      keep = keep && !call_cut(*here_);
    } else if constexpr (std::is_same_v<R, MpiAssert>) {
      if (!here_->idle()) here_->top().assertion = raw(r.assertion);
    } else {
      (void)r;
    }
    if (keep) put(record);
  }
  // Of a whole trace that has gaps of its own. Whether it stays there.
  bool open_request(RequestState r, bool shown) {
    const ProcessId process = here_->process();
    if (!begun_ && raw(r.kind) == static_cast<std::uint8_t>(OpenRequest::kCollective))
      begun_before_.resume(process, r);
    if (raw(r.kind) != static_cast<std::uint8_t>(OpenRequest::kReceive))
      return shown && (is_absent(r.plid) || kept(r.plid));
    if ((raw(r.flags) & kRequestReported) != 0) return false;
    std::vector<Receive>& receives = receives_[raw(process)];
    auto at = std::find_if(receives.begin(), receives.end(),
                           [&](const Receive& open) { return open.request == r.reqid; });
    if (at == receives.end()) {
      if (!in_.severed.carries_request(process, r.reqid)) return false;
      at = receives.insert(at, {r.reqid, r.cid, r.plid, r.tag});
    }
    if (!shown) return false;
    // Counted are those that are in the cut.
    r.ordinal = Count64{at->overtaken};
    put_held(before_);
    out_.replace(r);
    return false;
  }
  // A series of polls that goes on behind the cut: all that was counted is told there.
  void end_series(const Timeline& t, Seconds end) {
    if (t.idle() || !t.on()) return;
    const earl::PolledSeries* const series = in_.severed.series(t.open(t.depth() - 1).pos);
    if (series == nullptr) return;
    std::vector<MpiPoll> members;
    for (MpiPoll member : series->members) {
      if (end < member.first_enter) continue;
      member.time = end;
      member.count = Count64{0};
      member.last_enter = std::min(member.last_enter, end);
      members.push_back(within_cut(member));
    }
    const MpiPolled& whole = series->polled;
    MpiPolled part{};
    part.lid = whole.lid;
    part.time = end;
    part.begin = whole.begin;
    part.ran = kUnknown64;
    part.judged = whole.judged;
    part.end = static_cast<Byte>(PollEnd::kCut);
    part.flags = static_cast<Flags>((raw(whole.flags) & kPollGoesOn) | kPollAlone);
    part.members = static_cast<Byte>(members.size());
    out_.put(within_cut(part));
    for (const MpiPoll& member : members) out_.put(member);
  }
  // What of a series of polls lies before the cut counts with what lies in it, where its end is.
  MpiPolled within_cut(MpiPolled r) const {
    if (r.begin.value < cut_.from) {
      r.begin = Seconds{cut_.from};
      r.flags = static_cast<Flags>(raw(r.flags) | kPollBegunBefore);
    }
    return r;
  }
  MpiPoll within_cut(MpiPoll r) const {
    r.first_enter = Seconds{std::max(r.first_enter.value, cut_.from)};
    r.last_enter = Seconds{std::max(r.last_enter.value, cut_.from)};
    if (!is_absent(r.plid) && !kept(r.plid)) r.plid = absent<PeerId>();
    if (!is_absent(r.tlid) && !kept(r.tlid)) r.tlid = absent<PeerId>();
    return r;
  }
  // Who grants a lock may not be there.
  template <class R>
  R as_far_as_kept(R r) const {
    if (!is_absent(r.glid) && !kept(r.glid)) r.glid = absent<PeerId>();
    return r;
  }
  // What lies in the innermost region loses what ties it to others.
  bool call_cut(const Timeline& t) const {
    return !t.idle() && in_.severed.contains(t.open(t.depth() - 1).pos);
  }
  int nocheck() const {
    return !here_->idle() && (here_->top().assertion & kAssertNoCheck) != 0 ? kOpenNoCheck : 0;
  }

  // ---- transfers
  template <class R>
  void transfer(const R& r, const RawRecord& record) {
    if constexpr (std::is_same_v<R, MpiPut1ts> || std::is_same_v<R, Put1ts>) {
      if (here_ == nullptr) return;
      if (start(r, *here_, r.dlid, shown())) put(record);
    } else if constexpr (std::is_same_v<R, MpiGet1to>) {
      get_ = {true, shown(), r.lid, r.rmaid, {}};
      get_.records = std::move(before_);
      before_.clear();
      hold(get_.records, record);
    } else if constexpr (std::is_same_v<R, MpiGet1ts> || std::is_same_v<R, Get1ts>) {
      // Stands on the target's time line, but belongs to the origin's call.
      const auto origin_id = static_cast<LocationId>(raw(r.dlid));
      bool show = false;
      const Timeline* origin = nullptr;
      if (get_.waiting && get_.rmaid == r.rmaid && process_of(get_.lid) == raw(r.dlid)) {
        origin = timelines_.find(get_.lid);
        show = get_.shown;
        get_.waiting = false;
      } else {
        settle_get();
        origin = timelines_.find(origin_id);
        show = begun_ && origin != nullptr && origin->on();
        get_.records.clear();
      }
      if (origin == nullptr) return;
      if (start(r, *origin, static_cast<PeerId>(raw(r.lid)), show)) {
        put_held(get_.records);
        put(record);
      }
    } else if constexpr (std::is_same_v<R, MpiPut1te> || std::is_same_v<R, Put1te>) {
      if (begun_ && here_ != nullptr && started(raw(r.slid), r.rmaid)) put(record);
    } else if constexpr (std::is_same_v<R, MpiGet1te> || std::is_same_v<R, Get1te>) {
      if (begun_ && here_ != nullptr && started(raw(here_->process()), r.rmaid)) put(record);
    } else if constexpr (std::is_same_v<R, ShmemPlace>) {
      if (shown() && kept(r.dlid) && !call_cut(*here_)) put(record);
    } else if constexpr (std::is_same_v<R, MpiRmaPlace>) {
      if (shown() && kept(r.dlid)) put(record);
    } else if constexpr (std::is_same_v<R, MpiRmaComplete> || std::is_same_v<R, MpiValue>) {
      if (shown() && started(raw(here_->process()), r.rmaid)) put(record);
    }
    // The remaining ones belong into local traces only.
  }
  std::uint32_t process_of(LocationId lid) const {
    const LocationDef* location = in_.definitions.locations.find(lid);
    return location == nullptr ? kAbsent : raw(location->process);
  }
  // Whether the operation is in the cut.
  template <class R>
  bool start(const R& r, const Timeline& origin_line, PeerId target, bool show) {
    const ProcessId origin = origin_line.process();
    bool keep = show && kept(target);
    if constexpr (requires { r.wid; }) {
      states_.operation(origin, r.wid, target, keep);
    } else {
      keep = keep && !call_cut(origin_line);
    }
    if (keep) started_[raw(origin)].add(raw(r.rmaid));
    return keep;
  }
  bool started(std::uint32_t origin, RmaId rmaid) const {
    const auto it = started_.find(origin);
    return it != started_.end() && it->second.contains(raw(rmaid));
  }
  // A GET_1TO that no start of its data followed.
  void settle_get() {
    if (!get_.waiting) return;
    get_.waiting = false;
    if (get_.shown) put_held(get_.records);
  }
  struct Get {
    bool waiting = false;
    bool shown = false;
    LocationId lid{};
    RmaId rmaid{};
    Held records;
  };

  const CopyInputs& in_;
  TraceReader& reader_;
  const Selection& selection_;
  const Cut& cut_;
  Output out_;
  EpochStates states_;
  BegunStates begun_before_;
  std::unordered_set<std::uint32_t> begun_told_;  // processes
  IntervalCounters intervals_;
  Copied result_;
  IdTable<LocationId, Timeline> timelines_;
  std::unordered_map<std::uint32_t, model::Ordinals> started_;  // kept transfers, by origin
  std::unordered_set<std::uint64_t> requests_;                  // kept and open
  struct Receive {
    RequestId request;
    CommId com;
    PeerId source;
    Tag tag;
    std::uint64_t overtaken = 0;  // as in REQUEST_STATE
  };
  // By process, in the order of posting: those whose messages are in the cut.
  std::unordered_map<std::uint32_t, std::vector<Receive>> receives_;
  // By location: whether the last PROCESSOR is in the part.
  std::unordered_map<std::uint32_t, bool> processor_kept_;
  Held before_;  // of the next event
  RequestId request_ = absent<RequestId>();
  Get get_;
  std::uint64_t pos_ = 0, next_pos_ = 0;
  Timeline* here_ = nullptr;
  Seconds time_;
  double last_ = -HUGE_VAL;
  bool defined_ = false;
  bool begun_ = false;
  bool past_ = false;
};

}  // namespace

Copied copy_selected(const CopyInputs& inputs, TraceWriter* writer) {
  return Copier(inputs, writer).run();
}

Status replace_event_count(TraceWriter& writer, const Copied& copied, const Inherited& inherited) {
  std::byte record[kMaxRecord];
  if (copied.event_count64 != 0) {
    const std::size_t n = encode(EventCount64{Count64{copied.events}}, writer.dialect(), record);
    if (Status status = writer.overwrite(copied.event_count64, record, n); !status) return status;
  }
  if (copied.num_events == 0) return {};
  const std::uint64_t events = announced(copied.events, inherited, writer.dialect().native());
  const std::size_t n = encode(NumEvents{count32(events)}, writer.dialect(), record);
  return writer.overwrite(copied.num_events, record, n);
}

}  // namespace kojak::filter
