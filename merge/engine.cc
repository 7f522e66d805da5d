#include "merge/engine.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "merge/emitter.h"
#include "merge/kway.h"
#include "merge/release.h"
#include "merge/stream.h"
#include "merge/translate.h"

namespace kojak::merge {
namespace {

template <bool Plain>
class Engine {
 public:
  Engine(const EngineInputs& in, TraceWriter& writer, Summary& summary)
      : in_(in),
        summary_(summary),
        emitter_(writer),
        extended_(in.extended),
        processes_(in.traces.front().run_size),
        out_metrics_(writer.dialect().metrics) {
    const MergedDefinitions& definitions = in.survey.definitions;
    for (const MergedRegion& region : definitions.regions) roles_.push_back(region.role);
    // In the order of merged locations, which is how equal times are ordered.
    std::vector<std::size_t> order(in.traces.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return definitions.location_of(a) < definitions.location_of(b);
    });
    std::vector<HeldSource> sources;
    streams_.reserve(order.size());
    for (const std::size_t i : order) {
      Stream& s = streams_.emplace_back(in.files, in.traces[i], in.buffer);
      s.index = static_cast<std::uint32_t>(streams_.size() - 1);
      s.clock = in.clocks[i];
      s.lid = definitions.location_of(i);
      s.rank = in.traces[i].rank;
      s.facts = &in.survey.traces[i];
      s.translation = &s.facts->translation;
      s.metrics.assign(out_metrics_, 0);
      sources.push_back({&in.traces[i], s.translation, s.clock});
    }
    for (const auto& process : in.survey.processes) {
      if (process) process->restart();
    }
    placement_ = std::make_unique<Placement>(in.survey, in.files, std::move(sources), in.pool);
  }

  Result<std::uint64_t> run() {
    std::vector<double> keys;
    keys.reserve(streams_.size());
    for (Stream& s : streams_) {
      const bool any = s.advance();
      if (!any) end_stream(s, false);
      keys.push_back(any ? s.time : Tournament::kFinished);
    }
    Tournament tournament(std::move(keys));
    for (;;) {
      const std::uint32_t winner = tournament.winner();
      if (tournament.key(winner) == Tournament::kFinished) break;
      const Tournament::Limit limit = tournament.runner_up();
      Stream& s = streams_[winner];
      bool more = true;
      do {
        emitter_.make_room();
        if (!step(s)) continue;  // the second half of the same record comes next
        if (!s.advance()) {
          more = false;
          break;
        }
      } while (limit.allows(s.time, winner));
      if (more) {
        tournament.replace(s.time);
      } else {
        end_stream(s, true);
        tournament.replace(Tournament::kFinished);
        if (in_.progress) in_.progress(done_);
      }
    }
    finish();
    if (placement_->held().error()) return *placement_->held().error();
    std::uint64_t events = 0;
    for (const std::uint64_t n : emitter_.by_type()) events += n;
    return events;
  }

 private:
  const Dialect& dialect_of(const Stream& s) const {
    static constexpr Dialect kPlain{};
    if constexpr (Plain) {
      return kPlain;
    } else {
      return s.dialect;
    }
  }
  template <class R>
  [[gnu::always_inline]] bool read(Stream& s, R& r) {
    const char* failed;
    if constexpr (Plain) {
      constexpr Dialect kPlain{};
      failed = decode(s.raw_record(), kPlain, r);
    } else {
      failed = decode(s.raw_record(), s.dialect, r);
    }
    if (failed != nullptr) [[unlikely]] {
      ++s.too_short;
      return false;
    }
    r.lid = LocationId{s.lid};
    r.time = Seconds{s.time};
    return true;
  }
  // Hardware counters in the order of the merged trace; whole-call records repeat the last ones.
  template <class R>
  void count_metrics(Stream& s, R& r) {
    if constexpr (!Plain) {
      if (out_metrics_ == 0) return;
      for (std::uint32_t i = 0; i < r.metv.size(); ++i) {
        const std::uint32_t merged = s.translation->metrics[i];
        if (merged < out_metrics_) s.metrics[merged] = r.metv[i];
      }
      r.metv = MetricValues::of(s.metrics);
    }
  }
  std::uint32_t window_of(Stream& s, WindowId id) {
    return translated(s, s.translation->windows[raw(id)], raw(id));
  }
  std::uint32_t translated(Stream& s, std::uint32_t merged, std::uint32_t id) {
    if (merged == kAbsent && id != kAbsent) [[unlikely]]
      unknown_id(s);
    return merged;
  }
  [[gnu::cold, gnu::noinline]] void unknown_id(Stream& s) {
    summary_.add(Finding::kUnknownId, 1, [&] {
      return s.trace->path + ": offset " + std::to_string(s.position()) + ": " +
             std::string(record_name(s.type));
    });
  }
  [[gnu::cold, gnu::noinline]] void bad_peer(Stream& s) {
    summary_.add(Finding::kBadPeer, 1, [&] {
      return s.trace->path + ": offset " + std::to_string(s.position()) + ": " +
             std::string(record_name(s.type));
    });
  }
  bool good_peer(Stream& s, PeerId peer) {
    if (raw(peer) < processes_) [[likely]]
      return true;
    bad_peer(s);
    return false;
  }

  void copy_attributes(Stream& s) {
    if (s.attributes != nullptr) [[unlikely]]
      copy_attributes_slow(s);
  }
  void copy_attributes_slow(Stream& s) {
    for (const std::byte* p = s.attributes; p < s.record;) {
      const RawRecord attribute{static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]),
                                p + 2, 0};
      const std::size_t size = std::size_t{2} + attribute.length;
      if (is_attribute(attribute.type)) {
        emitter_.make_room();
        copy_attribute(s, attribute, p, size);
      }
      p += size;
    }
    emitter_.make_room();
  }
  void copy_attribute(Stream& s, const RawRecord& attribute, const std::byte* p, std::size_t size) {
    constexpr std::uint8_t kRegionKind = 4;
    AttrUi4 value;
    if (attribute.type == type_of(RecordType::kAttrUi4) &&
        decode(attribute, s.dialect, value) == nullptr) {
      if (raw(value.kind) == kRegionKind) {
        value.value =
            Count{translated(s, s.translation->regions[raw(value.value)], raw(value.value))};
      }
      emitter_.put_attribute(value);
    } else if (!s.dialect.swapped()) {
      emitter_.put_raw(p, size);
    } else {
      dispatch_record(attribute.type, [&]<class R>() {
        if constexpr (R::kKind == RecordKind::kAttribute) {
          R r;
          if (decode(attribute, s.dialect, r) == nullptr) emitter_.put_attribute(r);
        }
      });
    }
  }

  // ---- regions ----------------------------------------------------------------------------------

  MpiRole role(const Stream& s) const {
    if (s.stack.empty() || s.stack.back() == kAbsent) return MpiRole::kOther;
    return roles_[s.stack.back()];
  }
  void enter(Stream& s) {
    Enter r;
    if (!read(s, r)) return;
    const std::uint32_t region = translated(s, s.translation->regions[raw(r.rid)], raw(r.rid));
    s.stack.push_back(region);
    r.rid = RegionId{region};
    count_metrics(s, r);
    copy_attributes(s);
    emitter_.put(r);
  }
  void enter_call_site(Stream& s) {
    EnterCs r;
    if (!read(s, r)) return;
    const std::uint32_t site = translated(s, s.translation->call_sites[raw(r.csid)], raw(r.csid));
    s.stack.push_back(site != kAbsent ? in_.survey.definitions.call_sites[site].entered : kAbsent);
    r.csid = CallSiteId{site};
    count_metrics(s, r);
    copy_attributes(s);
    emitter_.put(r);
  }
  void exit(Stream& s) {
    Exit r;
    if (!read(s, r)) return;
    exit_duties(s);
    leave(s);
    count_metrics(s, r);
    copy_attributes(s);
    emitter_.put(r);
  }
  void leave(Stream& s) {
    if (!s.stack.empty()) s.stack.pop_back();
    s.assertion = 0;
  }
  // Ends that wait for an exit record of this location.
  void exit_duties(Stream& s) {
    if (placement_->duties(s.index).any) [[unlikely]] {
      lists_.clear();
      add_duties(s, s.position() == s.facts->last_exit && s.facts->open_regions == 0);
      release(s, false);
    }
  }
  void add_duties(Stream& s, bool last) {
    LocationDuties& duties = placement_->duties(s.index);
    if (!duties.any) return;
    lists_.insert(lists_.end(), duties.next_exit.begin(), duties.next_exit.end());
    duties.next_exit.clear();
    if (last) {
      lists_.insert(lists_.end(), duties.last_exit.begin(), duties.last_exit.end());
      duties.last_exit.clear();
    }
    duties.any = !duties.last_exit.empty();
  }

  // ---- transfers --------------------------------------------------------------------------------

  // The ends in lists_, at the current time of this location.
  void release(Stream& s, bool closing) {
    if (lists_.empty()) return;
    const double time = s.time;
    release_.run(placement_->held(), lists_, [&](const ListInfo& info, const HeldEnd& end) {
      emitter_.make_room();
      Mark mark = info.mark;
      if (closing && mark == Mark::kNone) {
        mark = Mark::kTargetExitLost;
        ++closed_by_free_;
      } else {
        count_mark(mark, info.window);
      }
      const std::uint32_t lid = info.put && !info.at_target ? info.target : s.lid;
      emitter_.put_end(info, end, lid, time, mark);
      ++moved_;
    });
    emitter_.make_room();
  }
  void count_mark(Mark mark, std::uint32_t window) {
    if (mark == Mark::kNone) [[likely]]
      return;
    const bool unpaired = mark == Mark::kTargetExitLost && window != kAbsent &&
                          !in_.survey.definitions.windows[window].paired();
    ++(unpaired ? unpaired_ : marks_[static_cast<std::size_t>(mark)]);
  }
  ListInfo basic_info(const Stream& s, bool put, std::uint32_t target, std::uint32_t window) const {
    ListInfo info;
    info.stream = s.index;
    info.origin = s.rank;
    info.target = target;
    info.window = window;
    info.put = put;
    return info;
  }
  // An end where its own record stands.
  void put_basic_end(Stream& s, bool put, std::uint32_t target, std::uint32_t window,
                     const HeldEnd& end, Mark mark) {
    count_mark(mark, window);
    emitter_.put_end(basic_info(s, put, target, window), end, put ? target : s.lid, s.time, mark);
  }

  // The first half of a whole-call record.
  bool call_begins(Stream& s) {
    MpiRmaCall call;
    if (!read(s, call)) return true;
    const std::uint32_t region =
        translated(s, s.translation->regions[raw(call.rid)], raw(call.rid));
    Enter enter{call.lid, call.time, RegionId{region}, {}};
    count_metrics(s, enter);
    copy_attributes(s);
    emitter_.put(enter);
    s.inside_call = true;
    if (!good_peer(s, call.dlid)) {
      s.time = s.corrected(call.exit.value);
      return false;
    }
    const std::uint32_t window = window_of(s, call.wid);
    const bool request = region != kAbsent && roles_[region] == MpiRole::kRequestTransfer;
    const double exit = s.corrected(call.exit.value);
    const auto begin = [&](bool put, const LocalEnd& end) {
      if (!extended_) return;
      const std::uint32_t target = raw(call.dlid);
      if (request) [[unlikely]]
        placement_->note_request(s.index, put, window, target, end.rmaid);
      const Mark mark = placement_->begin(s.index, put, target, window,
                                          {exit, end.bytes, end.rmaid}, s.position());
      if (mark != Mark::kNone) [[unlikely]] {
        s.in_flight.push_back({end.rmaid, put, InFlight::Kind::kBasic, mark, {}});
      }
    };
    LocalEnd end;
    if (end_from_call(call, false, end)) {
      emitter_.put(MpiGet1to{call.lid, call.time, RmaId{end.rmaid}, WindowId{window}});
      const Bytes bytes = emitter_.bytes_field(5, end.bytes);
      emitter_.put(MpiGet1ts{LocationId{raw(call.dlid)}, call.time, PeerId{s.rank},
                             WindowId{window}, RmaId{end.rmaid}, bytes});
      begin(false, end);
    }
    if (end_from_call(call, true, end)) {
      const Bytes bytes = emitter_.bytes_field(5, end.bytes);
      emitter_.put(
          MpiPut1ts{call.lid, call.time, call.dlid, WindowId{window}, RmaId{end.rmaid}, bytes});
      begin(true, end);
    }
    s.time = exit;
    return false;
  }
  // The second half: ends that stay in the call, and its exit.
  void call_ends(Stream& s) {
    s.inside_call = false;
    Exit exit{LocationId{s.lid}, Seconds{s.time}, {}};
    exit_duties(s);
    if (s.type == type_of(RecordType::kMpiRmaCall) && (!extended_ || !s.in_flight.empty())) {
      MpiRmaCall call;
      const RawRecord record = s.raw_record();
      if (decode(record, dialect_of(s), call) == nullptr && raw(call.dlid) < processes_) {
        const std::uint32_t window = s.translation->windows[raw(call.wid)];
        for (const bool put : {false, true}) {
          LocalEnd end;
          if (!end_from_call(call, put, end)) continue;
          const auto flight = find_flight(s, end.rmaid, put);
          if (extended_ && flight == s.in_flight.end()) continue;
          const Mark mark = extended_ ? flight->mark : Mark::kNone;
          put_basic_end(s, put, raw(call.dlid), window, {s.time, end.bytes, end.rmaid}, mark);
          if (extended_) s.in_flight.erase(flight);
        }
      }
    }
    count_metrics(s, exit);
    emitter_.put(exit);
  }
  bool plain_call_begins(Stream& s) {
    MpiCall call;
    if (!read(s, call)) return true;
    const std::uint32_t region =
        translated(s, s.translation->regions[raw(call.rid)], raw(call.rid));
    Enter enter{call.lid, call.time, RegionId{region}, {}};
    count_metrics(s, enter);
    copy_attributes(s);
    emitter_.put(enter);
    s.inside_call = true;
    s.time = s.corrected(call.exit.value);
    return false;
  }

  std::vector<InFlight>::iterator find_flight(Stream& s, std::uint32_t rmaid, bool put) {
    return std::find_if(s.in_flight.begin(), s.in_flight.end(),
                        [&](const InFlight& f) { return f.rmaid == rmaid && f.put == put; });
  }

  void put_starts(Stream& s) {
    MpiPut1ts r;
    if (!read(s, r)) return;
    if (!good_peer(s, r.dlid)) return;
    r.wid = WindowId{window_of(s, r.wid)};
    copy_attributes(s);
    emitter_.put(r);
    transfer_starts(s, true, raw(r.dlid), raw(r.wid), raw(r.rmaid));
  }
  void get_starts(Stream& s) {
    MpiGet1tsRemote r;
    if (!read(s, r)) return;
    if (!good_peer(s, r.dlid)) return;
    r.wid = WindowId{window_of(s, r.wid)};
    emitter_.put(MpiGet1to{r.lid, r.time, r.rmaid, r.wid});
    copy_attributes(s);
    emitter_.put(
        MpiGet1ts{LocationId{raw(r.dlid)}, r.time, PeerId{s.rank}, r.wid, r.rmaid, r.sent});
    transfer_starts(s, false, raw(r.dlid), raw(r.wid), raw(r.rmaid));
  }
  void shmem_get_starts(Stream& s) {
    Get1tsRemote r;
    if (!read(s, r)) return;
    if (!good_peer(s, r.dlid)) return;
    emitter_.put(MpiGet1to{r.lid, r.time, r.rmaid, absent<WindowId>()});
    copy_attributes(s);
    emitter_.put(Get1ts{LocationId{raw(r.dlid)}, r.time, PeerId{s.rank}, r.rmaid, r.sent});
  }
  void shmem_put_ends(Stream& s) {
    Put1teRemote r;
    if (!read(s, r)) return;
    if (!good_peer(s, r.dlid)) return;
    copy_attributes(s);
    emitter_.put(Put1te{LocationId{raw(r.dlid)}, r.time, PeerId{s.rank}, r.rmaid, r.recvd});
  }

  // A start in a record of its own: its end's record follows, as a rule at once.
  void transfer_starts(Stream& s, bool put, std::uint32_t target, std::uint32_t window,
                       std::uint32_t rmaid) {
    if (!extended_) return;
    if (role(s) == MpiRole::kRequestTransfer) {
      placement_->note_request(s.index, put, window, target, rmaid);
    }
    InFlight flight{rmaid, put, InFlight::Kind::kHeld, Mark::kNone, {}};
    LocalEnd end;
    const Ahead ahead = look_ahead(s, put, rmaid, end);
    if (ahead == Ahead::kNone) {
      ++no_end_;
      return;
    }
    if (window == kAbsent) {
      flight.kind = InFlight::Kind::kBasic;
      flight.mark = Mark::kNoEpoch;
    } else if (ahead == Ahead::kFound) {
      flight.mark = placement_->begin(s.index, put, target, window,
                                      {s.corrected(end.time), end.bytes, rmaid}, s.position());
      if (flight.mark != Mark::kNone) flight.kind = InFlight::Kind::kBasic;
    } else {
      flight.kind = InFlight::Kind::kLater;
      flight.epoch = placement_->epoch_of(s.index, target, window);
    }
    s.in_flight.push_back(flight);
  }
  enum class Ahead : std::uint8_t { kFound, kNone, kUnseen };
  Ahead look_ahead(const Stream& s, bool put, std::uint32_t rmaid, LocalEnd& end) const {
    std::uint64_t attribute = kNoBytes;
    const std::byte* p = s.record + 2 + static_cast<std::uint8_t>(s.record[0]);
    while (s.input.end() - p >= 2) {
      const RawRecord record{static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]),
                             p + 2, 0};
      const std::size_t size = std::size_t{2} + record.length;
      if (static_cast<std::size_t>(s.input.end() - p) < size) break;
      if (is_attribute(record.type)) {
        byte_attribute(record, s.dialect, 6, attribute);
      } else if (is_event(record.type)) {
        if (end_from_record(record, s.dialect, put, attribute, end) && end.rmaid == rmaid) {
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
    std::uint64_t attribute = kNoBytes;
    for (const std::byte* p = s.attributes; p != nullptr && p < s.record;
         p += std::size_t{2} + static_cast<std::uint8_t>(p[0])) {
      byte_attribute({static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]), p + 2, 0},
                     s.dialect, 6, attribute);
    }
    if (!end_from_record(s.raw_record(), dialect_of(s), put, attribute, end)) {
      ++s.too_short;
      return;
    }
    if (!good_peer(s, PeerId{end.peer})) return;
    const std::uint32_t window = window_of(s, WindowId{end.window});
    const HeldEnd held{s.time, end.bytes, end.rmaid};
    if (!extended_) {
      put_basic_end(s, put, end.peer, window, held, Mark::kNone);
      return;
    }
    const auto flight = find_flight(s, end.rmaid, put);
    if (flight == s.in_flight.end()) {
      ++no_start_;
      put_basic_end(s, put, end.peer, window, held, Mark::kNone);
      return;
    }
    const InFlight known = *flight;
    s.in_flight.erase(flight);
    Mark mark = known.mark;
    if (known.kind == InFlight::Kind::kLater) {
      const std::uint64_t position =
          s.input.offset(s.attributes != nullptr ? s.attributes : s.record);
      mark = placement_->begin_later(s.index, put, end.peer, window, known.epoch, held, position);
    }
    if (mark != Mark::kNone) put_basic_end(s, put, end.peer, window, held, mark);
  }

  // ---- synchronisation --------------------------------------------------------------------------

  // Releases what the record completes and moves the state; the record itself is written after.
  void synchronise(Stream& s, bool exit_record) {
    lists_.clear();
    bool closing = false;
    Sync sync;
    if (extended_ && decode_sync(s.raw_record(), dialect_of(s), role(s), s.assertion, sync)) {
      const bool absent_target = sync.target == kAbsent;
      sync.window = s.translation->windows[sync.window];
      if (sync.window != kAbsent && (absent_target || sync.target < processes_)) {
        if (sync.kind == SyncKind::kRmaComplete) {
          if (const auto done = placement_->request_complete(s.index, sync.window, sync.rmaid)) {
            emitter_.put_end(done->info, done->end, s.lid, s.time, Mark::kNone);
            ++moved_;
          }
        } else {
          std::span<const std::uint32_t> members;
          if (sync.comm != kAbsent) {
            const std::uint32_t comm = s.translation->comms[sync.comm];
            if (comm != kAbsent) members = in_.survey.definitions.comms[comm].ranks;
          }
          placement_->released_by(s.index, sync, members, lists_, closing);
          if (exit_record) {
            // One release, so that all ends at this record are in one order.
            add_duties(s, s.position() == s.facts->last_exit && s.facts->open_regions == 0);
          }
          release(s, closing);
          apply_sync(placement_->window(s.index, sync.window), sync, members, false);
        }
      }
    }
    if (exit_record) exit_duties(s);
  }
  void pause(Stream& s) {
    if (extended_) placement_->pause(s.index);
    s.stack.push_back(kAbsent);
  }

  // ---- everything else --------------------------------------------------------------------------

  // Any event without a part in the transfers: translated field by field.
  template <class R>
  void translate(Stream& s) {
    R r;
    if (!read(s, r)) return;
    if constexpr (requires { r.metv; }) count_metrics(s, r);
    Translator translator(*s.translation, processes_);
    visit_fields(r, dialect_of(s), translator);
    if (translator.unknown()) unknown_id(s);
    if (translator.bad_peer()) bad_peer(s);
    copy_attributes(s);
    emitter_.put(r);
  }

  // Writes the current event. False if the second half of its record is still to be written.
  [[gnu::always_inline]] bool step(Stream& s) {
    if (s.inside_call) {
      call_ends(s);
      return true;
    }
    switch (static_cast<RecordType>(s.type)) {
      case RecordType::kEnter:
        enter(s);
        return true;
      case RecordType::kExit:
        exit(s);
        return true;
      case RecordType::kMpiSend:
        translate<MpiSend>(s);
        return true;
      case RecordType::kMpiRecv:
        translate<MpiRecv>(s);
        return true;
      case RecordType::kMpiRmaCall:
        return call_begins(s);
      case RecordType::kMpiCall:
        return plain_call_begins(s);
      default:
        rare_step(s);
        return true;
    }
  }
  [[gnu::noinline]] void rare_step(Stream& s) {
    switch (static_cast<RecordType>(s.type)) {
      case RecordType::kEnterCs:
        enter_call_site(s);
        return;
      case RecordType::kMpiPut1ts:
        put_starts(s);
        return;
      case RecordType::kMpiGet1tsRemote:
        get_starts(s);
        return;
      case RecordType::kMpiPut1teRemote:
        transfer_ends(s, true);
        return;
      case RecordType::kMpiGet1te:
        transfer_ends(s, false);
        return;
      case RecordType::kGet1tsRemote:
        shmem_get_starts(s);
        return;
      case RecordType::kPut1teRemote:
        shmem_put_ends(s);
        return;
      case RecordType::kMpiWinExit:
      case RecordType::kMpiWinCollExit:
        synchronise(s, true);
        leave(s);
        break;
      case RecordType::kMpiCollExit:
      case RecordType::kOmpCollExit:
      case RecordType::kCollExit:
        exit_duties(s);
        leave(s);
        break;
      case RecordType::kLogOff:
        pause(s);
        break;
      case RecordType::kEnterTracing:
        s.stack.push_back(kAbsent);
        break;
      case RecordType::kLogOn:
      case RecordType::kExitTracing:
        leave(s);
        break;
      case RecordType::kMpiWinLock:
      case RecordType::kMpiWinUnlock:
      case RecordType::kMpiWinLockAll:
      case RecordType::kMpiWinUnlockAll:
      case RecordType::kMpiWinFlush:
      case RecordType::kMpiRmaComplete:
      case RecordType::kWinState:
      case RecordType::kEpochState:
        synchronise(s, false);
        break;
      case RecordType::kMpiAssert: {
        MpiAssert assertion;
        if (decode(s.raw_record(), dialect_of(s), assertion) == nullptr) {
          s.assertion = raw(assertion.assertion);
        }
        break;
      }
      default:
        break;
    }
    dispatch_record(s.type, [&]<class R>() {
      if constexpr (R::kKind == RecordKind::kEvent) translate<R>(s);
    });
  }

  // A trace has ended: regions that are still open are closed at its last time.
  void end_stream(Stream& s, bool any) {
    emitter_.make_room();
    LocationDuties& duties = placement_->duties(s.index);
    lists_.clear();
    while (!s.stack.empty()) {
      add_duties(s, s.stack.size() == 1);
      release(s, false);
      Exit exit{LocationId{s.lid}, Seconds{s.time}, {}};
      count_metrics(s, exit);
      emitter_.put(exit);
      s.stack.pop_back();
      emitter_.make_room();
    }
    if (duties.any) {
      add_duties(s, true);
      release(s, false);
    }
    duties.ended = true;
    if (any) last_time_ = std::max(last_time_, s.time);
    done_ += s.trace->size;
    s.input.release();
    if (s.backwards != 0) {
      summary_.add(Finding::kTimeBackwards, s.backwards, [&] { return s.trace->path; });
    }
    if (s.too_short != 0) {
      summary_.add(Finding::kShortRecord, s.too_short, [&] { return s.trace->path; });
    }
  }

  void finish() {
    // Nothing should be left; what contradictory records left is kept, at the very end.
    lists_ = placement_->held().open_lists();
    release_.run(placement_->held(), lists_, [&](const ListInfo& info, const HeldEnd& end) {
      emitter_.make_room();
      count_mark(Mark::kBothExitsLost, info.window);
      const std::uint32_t lid = info.put ? info.target : streams_[info.stream].lid;
      emitter_.put_end(info, end, lid, last_time_, Mark::kBothExitsLost);
    });
    emitter_.finish();
    summary_.by_type = emitter_.by_type();
    summary_.moved = moved_;
    summary_.reread = placement_->held().reread();
    summary_.seconds = last_time_;
    summary_.add(Finding::kTargetExitLost, marks_[1]);
    summary_.add(Finding::kBothExitsLost, marks_[2]);
    summary_.add(Finding::kLateStart, marks_[3]);
    summary_.add(Finding::kNoEpoch, marks_[4]);
    summary_.add(Finding::kUnpairedWindow, unpaired_);
    summary_.add(Finding::kClosedByFree, closed_by_free_);
    summary_.add(Finding::kNoEnd, no_end_);
    summary_.add(Finding::kNoStart, no_start_);
  }

  const EngineInputs& in_;
  Summary& summary_;
  Emitter<Plain> emitter_;
  bool extended_;
  std::uint32_t processes_;
  std::uint32_t out_metrics_;
  std::vector<MpiRole> roles_;
  std::vector<Stream> streams_;
  std::unique_ptr<Placement> placement_;
  Release release_;
  std::vector<ListId> lists_;
  double last_time_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t moved_ = 0, closed_by_free_ = 0, unpaired_ = 0, no_end_ = 0, no_start_ = 0;
  std::uint64_t marks_[5] = {};
};

}  // namespace

Result<std::uint64_t> run_engine(const EngineInputs& inputs, TraceWriter& writer,
                                 Summary& summary) {
  bool plain = inputs.survey.definitions.metrics.empty();
  for (const LocalTrace& trace : inputs.traces) plain = plain && !trace.dialect.swapped();
  if (plain) return Engine<true>(inputs, writer, summary).run();
  return Engine<false>(inputs, writer, summary).run();
}

}  // namespace kojak::merge
