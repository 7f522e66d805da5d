#include "merge/write/engine.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "merge/complete/walk.h"
#include "merge/input/kway.h"
#include "merge/write/classic.h"
#include "merge/write/context_writer.h"
#include "merge/write/poll_writer.h"
#include "merge/write/slice_streams.h"

namespace kojak::merge {
namespace {

// Reads all traces in the order of time; regions and synchronisation.
template <bool Plain>
class Engine {
 public:
  Engine(const EngineInputs& in, TraceWriter& writer, Summary& summary)
      : in_(in),
        summary_(summary),
        extended_(in.extended),
        slice_(in.slice, in.traces),
        events_(in, writer, summary),
        ends_(in, events_, summary, open_streams()),
        placement_(ends_.placement()),
        grants_(in, events_, ends_),
        parts_(in),
        transfers_(in, events_, ends_, grants_, parts_, summary),
        contexts_(in, events_, ends_),
        polls_(in, events_, ends_, parts_) {
    for (const auto& process : in.survey.processes) {
      if (process) process->restart();
    }
    if (slice_.any()) slice_.begin(streams_, placement_);
  }

  Result<std::uint64_t> run() {
    std::vector<double> keys;
    keys.reserve(streams_.size());
    for (Stream& s : streams_) {
      const bool any = s.advance();
      if (!any) end_stream(s, false);
      keys.push_back(any ? key_of(s) : Turns::kFinished);
    }
    const auto coming = [this](std::span<const Turns::Entry> streams) { fetch(streams); };
    Turns turns(std::move(keys), coming);
    for (std::uint64_t turn = 0;; ++turn) {
      if ((turn & 0xFFFF) == 0) {
        report_progress();
        if (Status status = in_.good(); !status) return status.error();
      }
      if (turns.finished()) break;
      const std::uint32_t winner = turns.winner().stream;
      const Turns::Entry limit = turns.limit();
      prefetch(limit.stream);
      Stream& s = streams_[winner];
      if (grants_.granting()) [[unlikely]] {
        // Another thread may have written what it stood for.
        if (const double key = key_of(s); key > turns.winner().time) {
          turns.replace(key, coming);
          continue;
        }
      }
      bool more = true;
      do {
        events_.emitter().make_room();
        if (grants_.granting()) [[unlikely]] {
          if (const double next = grants_.next_grant(s); next <= s.time) {
            grants_.write_grants(s.rank, next, streams_);
            continue;
          }
        }
        if (!step(s)) continue;  // the second half of the same record comes next
        if (!s.advance()) {
          more = false;
          break;
        }
      } while (Turns::Entry{key_of(s), winner}.before(limit));
      if (more) {
        turns.replace(key_of(s), coming);
      } else {
        end_stream(s, true);
        turns.replace(Turns::kFinished, coming);
      }
    }
    finish();
    if (placement_.held().error()) return *placement_.held().error();
    if (unreadable_) return *unreadable_;
    if (events_.refused() != nullptr) {
      return no_classic(events_.refused()->path, "holds a count of more than 4294967294 bytes");
    }
    return events_written();
  }

 private:
  std::uint64_t events_written() {
    std::uint64_t events = 0;
    for (const std::uint64_t n : events_.emitter().by_type()) events += n;
    return events;
  }
  // The stream whose turn comes next, if there is one.
  [[gnu::always_inline]] void prefetch(std::uint32_t stream) const {
    if (stream >= streams_.size()) return;
    const auto* s = reinterpret_cast<const std::byte*>(streams_.data() + stream);
    __builtin_prefetch(s);
    __builtin_prefetch(s + 64);
    __builtin_prefetch(s + 128);
    placement_.prefetch(stream);
  }
  // All that the streams of a window need first, step by step: each step finds what the one before
  // has fetched.
  // (Inlined with all that it calls: GCC leaves out calls of functions that do nothing but
  // prefetch.)
  [[gnu::always_inline]] void fetch(std::span<const Turns::Entry> streams) const {
    for (const Turns::Entry& e : streams) {
      streams_[e.stream].fetch();
      placement_.fetch<0>(e.stream);
    }
    for (const Turns::Entry& e : streams) {
      streams_[e.stream].fetch_record();
      placement_.fetch<1>(e.stream);
    }
    for (const Turns::Entry& e : streams) {
      placement_.fetch<2>(e.stream, streams_[e.stream].target());
    }
    for (const Turns::Entry& e : streams) {
      placement_.fetch<3>(e.stream, streams_[e.stream].target());
    }
    for (const Turns::Entry& e : streams) {
      placement_.fetch<4>(e.stream, streams_[e.stream].target());
    }
  }
  // When the next thing of this location is to be written.
  double key_of(const Stream& s) const {
    if (!grants_.granting()) [[likely]]
      return s.time;
    return std::min(s.time, grants_.next_grant(s));
  }
  void enter(Stream& s) {
    Enter r;
    if (!events_.read(s, r)) return;
    const std::uint32_t local = raw(r.rid);
    const std::uint32_t region = events_.translated(s, s.translation->regions[local], local);
    r.rid = RegionId{region};
    if (const std::size_t callers = events_.put_enter(s, r, local)) [[unlikely]] {
      s.stack.insert(s.stack.end(), callers, kCaller);
    }
    s.stack.push_back(region);
    s.entered = s.time;
    contexts_.entered(s, region);
  }
  void enter_call_site(Stream& s) {
    EnterCs r;
    if (!events_.read(s, r)) return;
    const std::uint32_t site =
        events_.translated(s, s.translation->call_sites[raw(r.csid)], raw(r.csid));
    r.csid = CallSiteId{site};
    events_.count_metrics(s, r);
    const std::size_t callers = events_.put_site(s, r);
    s.stack.insert(s.stack.end(), callers, kCaller);
    s.stack.push_back(site != kAbsent ? raw(in_.survey.definitions.call_sites[site].entered)
                                      : kAbsent);
    s.entered = s.time;
    contexts_.entered(s, s.stack.back());
  }
  // A series of polls. The region of the call that ends it is open behind it.
  void polls_begin(Stream& s) {
    const auto opened = polls_.call_begins(s);
    if (!opened) return;
    s.stack.insert(s.stack.end(), opened->callers, kCaller);
    s.stack.push_back(opened->region);
    contexts_.entered(s, opened->region);
  }
  void sample(Stream& s) {
    LocalSample r;
    if (!events_.read(s, r)) return;
    const std::uint32_t site = s.translation->sites[raw(r.rid)];
    events_.copy_attributes(s);
    events_.emitter().put(Sample{r.lid, r.time, CallSiteId{site}, r.count});
  }
  void exit(Stream& s) {
    Exit r;
    if (!events_.read(s, r)) return;
    ends_.release_at_exit(s);
    leave(s);
    events_.count_metrics(s, r);
    events_.copy_attributes(s);
    events_.emitter().put(r);
    leave_callers(s);
  }
  void leave(Stream& s) {
    if (!s.stack.empty()) s.stack.pop_back();
    while (!s.stack.empty() && s.stack.back() == kCaller) {
      s.stack.pop_back();
      ++s.callers_to_leave;
    }
    s.assertion = 0;
    ContextWriter<Plain>::left(s);
  }
  void leave_callers(Stream& s) {
    if (s.callers_to_leave == 0) [[likely]]
      return;
    events_.leave_callers(s, s.callers_to_leave, MetricValues::of(s.metrics));
    s.callers_to_leave = 0;
  }
  // ---- synchronisation --------------------------------------------------------------------------

  // Releases what the record completes and moves the state; the record itself is written after.
  void synchronise(Stream& s, bool exit_record) {
    auto& due = ends_.none_due();
    bool closing = false;
    if (grants_.granting()) [[unlikely]]
      grants_.write_grants(s.rank, s.time, streams_);
    Sync sync;
    if (extended_ &&
        decode_sync(s.raw_record(), events_.dialect_of(s), events_.role(s), s.assertion, sync)) {
      std::span<const std::uint32_t> members;
      if (resolve_sync(sync, MergedNames(*s.translation, in_.survey.definitions),
                       events_.processes(), members)) {
        if (sync.kind == EpochMove::kRequestDone) {
          if (const auto done = placement_.request_complete(s.index, sync.window, sync.rmaid)) {
            if (grants_.granting()) {
              grants_.grant_now(s, sync.window, done->info.target, streams_);
            }
            ends_.put_completed(s, *done);
          }
        } else {
          placement_.released_by(s.index, sync, members, due.lists, due.mail, closing);
          if (exit_record) {
            // One release, so that all ends at this record are in one order.
            ends_.collect_at_exit(s,
                                  s.position() == s.facts->last_exit && s.facts->open_regions == 0);
          }
          ends_.release(s, closing, sync.window);
          apply_sync(placement_.window(s.index, sync.window), sync, members, false);
        }
      }
    }
    if (exit_record) ends_.release_at_exit(s);
  }
  // What an event means to the regions and windows (walk.h), before it is written.
  struct Visitor {
    Engine& engine;
    Stream& s;
    Step step;
    void enter(std::uint32_t, bool) {}  // written as it is entered
    void open() { s.stack.push_back(kTracing); }
    void pause() {
      if (engine.extended_) engine.placement_.pause(s.index);
      s.stack.push_back(kPausing);
    }
    void sync(const RawRecord&, const Dialect&) { engine.synchronise(s, step == Step::kSyncExit); }
    void leave() {
      if (step == Step::kExit) engine.ends_.release_at_exit(s);
      engine.leave(s);
    }
    void assertion(std::uint32_t bits) { s.assertion = bits; }
    void context(const RawRecord&, const Dialect&) { engine.contexts_.quiet(s); }
  };

  // Writes the current event. False if the second half of its record is still to be written.
  [[gnu::always_inline]] bool step(Stream& s) {
    if (s.inside_call) {
      if (s.type == type_of(RecordType::kShmemRmaCall)) [[unlikely]] {
        contexts_.call_ends(s);
      } else if (s.type == type_of(RecordType::kMpiPollCall)) [[unlikely]] {
        polls_.call_ends(s);
      } else {
        transfers_.call_ends(s);
      }
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
        events_.template translate<MpiSend>(s);
        return true;
      case RecordType::kMpiRecv:
        events_.template translate<MpiRecv>(s);
        return true;
      case RecordType::kMpiRmaCall:
        return transfers_.call_begins(s);
      case RecordType::kShmemRmaCall:
        contexts_.call_begins(s);
        return !s.inside_call;
      case RecordType::kMpiCall:
      case RecordType::kMpiTestCall:  // begins like MPI_CALL
        return transfers_.plain_call_begins(s);
      case RecordType::kMpiPollCall:
        polls_begin(s);
        return !s.inside_call;
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
        transfers_.put_starts(s);
        return;
      case RecordType::kMpiGet1tsRemote:
        transfers_.get_starts(s);
        return;
      case RecordType::kMpiPut1teRemote:
        transfers_.transfer_ends(s, true);
        return;
      case RecordType::kMpiGet1te:
        transfers_.transfer_ends(s, false);
        return;
      case RecordType::kShmemPlace:
        contexts_.place(s);
        return;
      case RecordType::kMpiRmaPlace:
        transfers_.place(s);
        return;
      case RecordType::kGet1tsRemote:
        contexts_.get_starts(s);
        return;
      case RecordType::kPut1teRemote:
        contexts_.transfer_ends(s, true);
        return;
      case RecordType::kGet1te:
        contexts_.transfer_ends(s, false);
        return;
      case RecordType::kLocalSample:
        sample(s);
        return;
      case RecordType::kMpiPolled:
        polls_.polled(s);
        return;
      case RecordType::kMpiPoll:
        polls_.member(s);
        return;
      default:
        break;
    }
    const Step step = step_of(s.type);
    Visitor visitor{*this, s, step};
    walk(step, s.raw_record(), events_.dialect_of(s), visitor);
    if (s.type == type_of(RecordType::kMpiWinLock) && grants_.granting() && grants_.hold_lock(s)) {
      return;
    }
    dispatch_record(s.type, [&]<class R>() {
      if constexpr (R::kKind == RecordKind::kEvent) events_.template translate<R>(s);
    });
    leave_callers(s);
    if (slice_.any()) [[unlikely]]
      slice_.written(s, [this] { return events_written(); });
  }

  // A trace has ended: regions that are still open are closed at its last time.
  void end_stream(Stream& s, bool any) {
    events_.emitter().make_room();
    LocationEnds& waiting = placement_.location_ends(s.index);
    if (grants_.granting()) grants_.write_grants(s.rank, s.time, streams_);
    ends_.none_due();
    while (slice_.ends_run() && !s.stack.empty()) {
      ends_.collect_at_exit(s, s.stack.size() == 1);
      ends_.release(s, false);
      switch (s.stack.back()) {
        case kPausing:
          close<LogOn>(s);
          break;
        case kTracing:
          close<ExitTracing>(s);
          break;
        default:
          close<Exit>(s);
      }
      s.stack.pop_back();
      events_.emitter().make_room();
    }
    if (slice_.ends_run() && placement_.any_at_exit(s.index)) {
      ends_.collect_at_exit(s, true);
      ends_.release(s, false);
    }
    waiting.ended = true;
    if (any) last_time_ = std::max(last_time_, s.time);
    done_ += s.trace->size;
    // (What could not be read before either is said by then.)
    if (s.input.failed() && s.input.offset() < s.facts->end) unreadable_ = s.input.error();
    s.input.release();
    if (s.backwards != 0) {
      summary_.add(Finding::kTimeBackwards, s.backwards, [&] { return s.trace->path; });
    }
    if (s.too_short != 0) {
      summary_.add(Finding::kShortRecord, s.too_short, [&] { return s.trace->path; });
    }
  }
  template <class R>
  void close(Stream& s) {
    R record{LocationId{s.lid}, Seconds{s.time}, {}};
    events_.count_metrics(s, record);
    events_.emitter().put(record);
  }

  void report_progress() {
    if (!in_.progress) return;
    std::uint64_t done = done_;
    for (const Stream& s : streams_) {
      if (!placement_.location_ends(s.index).ended) done += s.input.progress();
    }
    in_.progress(done);
  }

  void finish() {
    if (slice_.ends_run()) {
      ends_.release_rest(last_time_, streams_);
    } else {
      ends_.count_rest();
    }
    events_.emitter().finish();
    summary_.by_type = events_.emitter().by_type();
    const std::uint64_t marks = events_.emitter().left_out(RecordType::kRmaMark);
    summary_.add(Finding::kMarksLeftOut, marks);
    summary_.add(Finding::kNativeLeftOut, events_.emitter().left_out() - marks);
    summary_.seconds = last_time_;
    ends_.report_ends();
    transfers_.report_transfers();
  }

  // One stream for each trace; the rank of each.
  std::vector<std::uint32_t> open_streams() {
    const MergedDefinitions& definitions = in_.survey.definitions;
    // In the order of merged locations, which is how equal times are ordered.
    std::vector<std::size_t> order(in_.traces.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return definitions.location_of(a) < definitions.location_of(b);
    });
    std::vector<std::uint32_t> ranks;
    streams_.reserve(order.size());
    for (const std::size_t i : order) {
      Stream& s = streams_.emplace_back(in_.files, in_.traces[i], in_.buffers, slice_.part(i));
      s.index = static_cast<std::uint32_t>(streams_.size() - 1);
      s.clock = in_.clocks[i];
      if (in_.corrected != nullptr) s.correct(*in_.corrected, i);
      s.lid = definitions.location_of(i);
      s.rank = in_.traces[i].rank;
      s.facts = &in_.survey.traces[i];
      s.translation = s.facts->translation.get();
      s.metrics.assign(events_.out_metrics(), 0);
      if (!Plain && in_.locks != nullptr && in_.locks->times[i]) {
        s.move_locks(SpillReader<double>(*in_.locks->times[i]));
      }
      ranks.push_back(s.rank);
    }
    return ranks;
  }

  const EngineInputs& in_;
  Summary& summary_;
  bool extended_;
  const SliceStreams slice_;
  std::vector<Stream> streams_;
  EventWriter<Plain> events_;
  EndWriter<Plain> ends_;
  Placement& placement_;
  GrantWriter<Plain> grants_;
  const WindowParts parts_;
  TransferWriter<Plain> transfers_;
  ContextWriter<Plain> contexts_;
  PollWriter<Plain> polls_;
  double last_time_ = 0;
  std::uint64_t done_ = 0;
  std::optional<Error> unreadable_;  // one of the traces
};

}  // namespace

Result<std::uint64_t> run_engine(const EngineInputs& inputs, TraceWriter& writer,
                                 Summary& summary) {
  bool plain = inputs.survey.definitions.metrics.empty() && writer.dialect().native() &&
               inputs.locks == nullptr;
  for (const LocalTrace& trace : inputs.traces) plain = plain && !trace.dialect.swapped();
  // Events have a value for each METRIC record, also for those that define nothing.
  for (const TraceFacts& facts : inputs.survey.traces) {
    plain = plain && facts.translation->metric_count == 0;
  }
  if (plain) return Engine<true>(inputs, writer, summary).run();
  return Engine<false>(inputs, writer, summary).run();
}

}  // namespace kojak::merge
