#include "merge/write/engine.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "merge/input/kway.h"
#include "merge/write/classic.h"
#include "merge/write/transfer_writer.h"

namespace kojak::merge {
namespace {

// Reads all traces in the order of time; regions and synchronisation.
template <bool Plain>
class Engine : private TransferWriter<Plain> {
  using Base = TransferWriter<Plain>;
  using Base::add_duties, Base::call_begins, Base::call_ends, Base::copy_attributes,
      Base::count_metrics, Base::dialect_of, Base::emitter_, Base::exit_duties, Base::extended_,
      Base::get_starts, Base::granting, Base::in_, Base::lists_, Base::mail_, Base::moved_,
      Base::plain_call_begins, Base::put_starts, Base::shmem_get_starts, Base::shmem_put_ends,
      Base::transfer_ends, Base::out_metrics_, Base::placement_, Base::processes_, Base::read,
      Base::release, Base::role, Base::summary_, Base::translated;

 public:
  Engine(const EngineInputs& in, TraceWriter& writer, Summary& summary)
      : Base(in, writer, summary) {
    const MergedDefinitions& definitions = in.survey.definitions;
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
      if (in.corrected != nullptr) s.correct(*in.corrected, i);
      s.lid = definitions.location_of(i);
      s.rank = in.traces[i].rank;
      s.facts = &in.survey.traces[i];
      s.translation = s.facts->translation.get();
      s.metrics.assign(out_metrics_, 0);
      if (granting() && in.locks->times[i]) s.move_locks(SpillReader<double>(*in.locks->times[i]));
      sources.push_back({&in.traces[i], s.translation, s.clock, in.corrected, i});
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
      keys.push_back(any ? key_of(s) : Tournament::kFinished);
    }
    Tournament tournament(keys);
    for (std::uint64_t turn = 0;; ++turn) {
      if ((turn & 0xFFFF) == 0) report_progress();
      if (tournament.finished()) break;
      const std::uint32_t winner = tournament.winner().stream;
      const Tournament::Entry limit = tournament.runner_up();
      prefetch(limit.stream);
      Stream& s = streams_[winner];
      if (granting()) [[unlikely]] {
        // Another thread may have written what it stood for.
        if (const double key = key_of(s); key > tournament.winner().time) {
          tournament.replace(key);
          continue;
        }
      }
      bool more = true;
      do {
        emitter_.make_room();
        if (granting()) [[unlikely]] {
          if (const double next = this->next_grant(s); next <= s.time) {
            this->write_grants(s.rank, next, streams_);
            continue;
          }
        }
        if (!step(s)) continue;  // the second half of the same record comes next
        if (!s.advance()) {
          more = false;
          break;
        }
      } while (Tournament::Entry{key_of(s), winner}.before(limit));
      if (more) {
        tournament.replace(key_of(s));
      } else {
        end_stream(s, true);
        tournament.replace(Tournament::kFinished);
      }
    }
    finish();
    if (placement_->held().error()) return *placement_->held().error();
    if (this->refused_ != nullptr) {
      return no_classic(this->refused_->path, "holds a count of more than 4294967294 bytes");
    }
    std::uint64_t events = 0;
    for (const std::uint64_t n : emitter_.by_type()) events += n;
    return events;
  }

 private:
  // The stream whose turn comes next, if there is one.
  void prefetch(std::uint32_t stream) const {
    if (stream >= streams_.size()) return;
    const auto* s = reinterpret_cast<const std::byte*>(streams_.data() + stream);
    __builtin_prefetch(s);
    __builtin_prefetch(s + 64);
    __builtin_prefetch(s + 128);
    placement_->prefetch(stream);
  }
  // When the next thing of this location is to be written.
  double key_of(const Stream& s) const {
    if (!granting()) [[likely]]
      return s.time;
    return std::min(s.time, this->next_grant(s));
  }
  void enter(Stream& s) {
    Enter r;
    if (!read(s, r)) return;
    const std::uint32_t local = raw(r.rid);
    const std::uint32_t region = translated(s, s.translation->regions[local], local);
    r.rid = RegionId{region};
    if (const std::size_t callers = this->put_enter(s, r, local)) [[unlikely]] {
      s.stack.insert(s.stack.end(), callers, kCaller);
    }
    s.stack.push_back(region);
  }
  void enter_call_site(Stream& s) {
    EnterCs r;
    if (!read(s, r)) return;
    const std::uint32_t site = translated(s, s.translation->call_sites[raw(r.csid)], raw(r.csid));
    r.csid = CallSiteId{site};
    count_metrics(s, r);
    const std::size_t callers = this->put_site(s, r);
    s.stack.insert(s.stack.end(), callers, kCaller);
    s.stack.push_back(site != kAbsent ? in_.survey.definitions.call_sites[site].entered : kAbsent);
  }
  void exit(Stream& s) {
    Exit r;
    if (!read(s, r)) return;
    exit_duties(s);
    leave(s);
    count_metrics(s, r);
    copy_attributes(s);
    emitter_.put(r);
    leave_callers(s);
  }
  void leave(Stream& s) {
    if (!s.stack.empty()) s.stack.pop_back();
    while (!s.stack.empty() && s.stack.back() == kCaller) {
      s.stack.pop_back();
      ++s.callers_to_leave;
    }
    s.assertion = 0;
  }
  void leave_callers(Stream& s) {
    if (s.callers_to_leave == 0) [[likely]]
      return;
    Base::leave_callers(s, s.callers_to_leave, MetricValues::of(s.metrics));
    s.callers_to_leave = 0;
  }
  // ---- synchronisation --------------------------------------------------------------------------

  // Releases what the record completes and moves the state; the record itself is written after.
  void synchronise(Stream& s, bool exit_record) {
    lists_.clear();
    mail_.clear();
    bool closing = false;
    if (granting()) [[unlikely]]
      this->write_grants(s.rank, s.time, streams_);
    Sync sync;
    if (extended_ && decode_sync(s.raw_record(), dialect_of(s), role(s), s.assertion, sync)) {
      const bool absent_target = sync.target == kAbsent;
      sync.window = s.translation->windows[sync.window];
      if (sync.window != kAbsent && (absent_target || sync.target < processes_)) {
        if (sync.kind == SyncKind::kRmaComplete) {
          if (const auto done = placement_->request_complete(s.index, sync.window, sync.rmaid)) {
            if (granting()) this->grant_now(s, sync.window, done->info.target, streams_);
            emitter_.put_end(done->info, done->end, s.lid, s.time, Mark::kNone);
            ++moved_;
          }
        } else {
          std::span<const std::uint32_t> members;
          if (sync.comm != kAbsent) {
            const std::uint32_t comm = s.translation->comms[sync.comm];
            if (comm != kAbsent) members = in_.survey.definitions.comms[comm].ranks;
          }
          placement_->released_by(s.index, sync, members, lists_, mail_, closing);
          if (exit_record) {
            // One release, so that all ends at this record are in one order.
            add_duties(s, s.position() == s.facts->last_exit && s.facts->open_regions == 0);
          }
          release(s, closing, sync.window);
          apply_sync(placement_->window(s.index, sync.window), sync, members, false);
        }
      }
    }
    if (exit_record) exit_duties(s);
  }
  void pause(Stream& s) {
    if (extended_) placement_->pause(s.index);
    s.stack.push_back(kPausing);
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
        this->template translate<MpiSend>(s);
        return true;
      case RecordType::kMpiRecv:
        this->template translate<MpiRecv>(s);
        return true;
      case RecordType::kMpiRmaCall:
        return call_begins(s);
      case RecordType::kMpiCall:
      case RecordType::kMpiTestCall:  // begins like MPI_CALL
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
      case RecordType::kLogOff:
        pause(s);
        break;
      case RecordType::kEnterTracing:
        s.stack.push_back(kTracing);
        break;
      case RecordType::kLogOn:
      case RecordType::kExitTracing:
        leave(s);
        break;
      case RecordType::kMpiWinLock:
        synchronise(s, false);
        if (granting() && this->hold_lock(s)) return;
        break;
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
        if (region_effect(s.type) == RegionEffect::kLeaves) {
          exit_duties(s);
          leave(s);
        }
    }
    dispatch_record(s.type, [&]<class R>() {
      if constexpr (R::kKind == RecordKind::kEvent) this->template translate<R>(s);
    });
    leave_callers(s);
  }

  // A trace has ended: regions that are still open are closed at its last time.
  void end_stream(Stream& s, bool any) {
    emitter_.make_room();
    LocationDuties& duties = placement_->duties(s.index);
    if (granting()) this->write_grants(s.rank, s.time, streams_);
    lists_.clear();
    mail_.clear();
    while (!s.stack.empty()) {
      add_duties(s, s.stack.size() == 1);
      release(s, false);
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
      emitter_.make_room();
    }
    if (placement_->any_duties(s.index)) {
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
  template <class R>
  void close(Stream& s) {
    R record{LocationId{s.lid}, Seconds{s.time}, {}};
    count_metrics(s, record);
    emitter_.put(record);
  }

  void report_progress() {
    if (!in_.progress) return;
    std::uint64_t done = done_;
    for (const Stream& s : streams_) {
      if (!placement_->duties(s.index).ended) done += s.input.offset();
    }
    in_.progress(done);
  }

  void finish() {
    this->release_rest(last_time_, streams_);
    emitter_.finish();
    summary_.by_type = emitter_.by_type();
    const std::uint64_t marks = emitter_.left_out(RecordType::kRmaMark);
    summary_.add(Finding::kMarksLeftOut, marks);
    summary_.add(Finding::kNativeLeftOut, emitter_.left_out() - marks);
    summary_.seconds = last_time_;
    this->report_ends();
    this->report_transfers();
  }

  std::vector<Stream> streams_;
  double last_time_ = 0;
  std::uint64_t done_ = 0;
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
