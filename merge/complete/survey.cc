#include "merge/complete/survey.h"

#include <algorithm>
#include <cmath>

#include "epilog/format/io/reader.h"
#include "merge/complete/sync.h"
#include "merge/complete/walk.h"
#include "merge/input/local_input.h"

namespace kojak::merge {
namespace {

constexpr std::size_t kBuffer = 64 * 1024;

// Follows the regions of one location, and moves its process's windows if it has `epochs`.
class Follower {
 public:
  Follower(const MergedDefinitions& definitions, Lookup lookup, ProcessEpochs& epochs,
           Summary& summary, std::uint32_t processes, bool with_windows)
      : definitions_(definitions),
        lookup_(lookup),
        epochs_(epochs),
        summary_(summary),
        processes_(processes),
        with_windows_(with_windows) {}

  std::size_t depth() const { return stack_.size(); }
  std::uint64_t unmatched() const { return unmatched_; }

  // What walk() calls.
  void enter(std::uint32_t id, bool call_site) { stack_.push_back({id, call_site, true}); }
  void open() { stack_.push_back({0, false, false}); }
  void pause() {
    open();
    if (with_windows_) epochs_.pause();
  }
  void leave() {
    assertion_ = 0;
    if (stack_.empty()) {
      ++unmatched_;
    } else {
      stack_.pop_back();
    }
  }
  void assertion(std::uint32_t bits) { assertion_ = bits; }
  void sync(const RawRecord& record, const Dialect& dialect) {
    if (!with_windows_) return;
    Sync s;
    const bool moves = decode_sync(record, dialect, role(), assertion_, s);
    if (s.unknown_role) summary_.add(Finding::kUnknownRole);
    std::span<const std::uint32_t> members;
    if (!moves || !resolve_sync(s, lookup_, definitions_, processes_, members)) return;
    apply_sync(epochs_.window(s.window, true), s, members, true);
  }

  void context(const RawRecord& record, const Dialect& dialect) {
    ContextUse use;
    if (!with_windows_ || !decode_context(record, dialect, use)) return;
    if (use.window != kAbsent) epochs_.window(use.window, true);
    if (!use.quiet) return;
    const auto quiet = [&](std::uint32_t id) {
      apply_sync(epochs_.window(id, true), quiet_sync(id), {}, true);
    };
    if (use.window != kAbsent) return quiet(use.window);
    for (const std::uint32_t id : epochs_.contexts()) quiet(id);
  }

 private:
  MpiRole role() const {
    if (stack_.empty() || !stack_.back().region) return MpiRole::kOther;
    std::uint32_t region = kAbsent;
    if (stack_.back().call_site) {
      const std::uint32_t site = lookup_(CallSiteId{stack_.back().id});
      if (site != kAbsent) region = raw(definitions_.call_sites[site].entered);
    } else {
      region = lookup_(RegionId{stack_.back().id});
    }
    return region != kAbsent ? definitions_.regions[region].role() : MpiRole::kOther;
  }

  const MergedDefinitions& definitions_;
  Lookup lookup_;
  ProcessEpochs& epochs_;
  Summary& summary_;
  std::uint32_t processes_;
  bool with_windows_;
  // Local identifiers, since a definition may come later than the enter.
  struct Open {
    std::uint32_t id;
    bool call_site;
    bool region;
  };
  std::vector<Open> stack_;
  std::uint32_t assertion_ = 0;
  std::uint64_t unmatched_ = 0;
};

class Surveyor {
 public:
  Surveyor(const std::vector<LocalTrace>& traces, FileCache& files, Summary& summary,
           const std::function<void(std::uint64_t)>& progress)
      : traces_(traces), files_(files), summary_(summary), progress_(progress) {}

  Result<Survey> run() {
    survey_.definitions.set_locations(traces_);
    survey_.traces.resize(traces_.size());
    processes_ = traces_.empty() ? 0 : traces_.front().run_size;
    survey_.processes.resize(processes_);
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      const bool first = i == 0 || traces_[i - 1].rank != traces_[i].rank;
      if (first) first_of_process_ = i;
      const bool last = i + 1 == traces_.size() || traces_[i + 1].rank != traces_[i].rank;
      if (first) survey_.processes[traces_[i].rank] = std::make_unique<ProcessEpochs>();
      const bool alone = first && last;
      const Translation* fallback =
          first ? nullptr : survey_.traces[first_of_process_].translation.get();
      if (Status status = scan(i, fallback, alone); !status) return status.error();
      if (last && !alone) follow_threads(first_of_process_, i + 1);
      if (last) survey_.processes[traces_[i].rank]->end_of_survey();
      if (progress_) progress_(done_);
    }
    for (const std::string& path : survey_.definitions.code_names.missing()) {
      summary_.add(Finding::kCodeMissing, 1, [&] { return path; });
    }
    return std::move(survey_);
  }

 private:
  // Reads one trace: definitions, counts, and the epochs if its process has no other thread.
  Status scan(std::size_t index, const Translation* fallback, bool with_epochs) {
    const LocalTrace& trace = traces_[index];
    TraceFacts& facts = survey_.traces[index];
    TraceDefinitions definitions(survey_.definitions, traces_, index, summary_, fallback);
    Follower follower(survey_.definitions, Lookup(definitions), *survey_.processes[trace.rank],
                      summary_, processes_, with_epochs);
    Dialect dialect = trace.dialect;
    // (Nothing is decoded ahead: looking at the records takes a tenth of the time, and two threads
    // would wait for one another at each block.)
    LocalInput input(files_, trace, {kBuffer, nullptr});
    bool first_event = true;
    for (;;) {
      if (input.available() < kMaxRecord && !input.exhausted()) {
        input.fill();
        if (progress_) progress_(done_ + input.progress());
      }
      if (input.available() < 2) break;
      const std::byte* p = input.position();
      const std::byte* const stop = input.end();
      while (stop - p >= 2) {
        const RawRecord record{static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]),
                               p + 2, 0};
        const std::size_t size = std::size_t{2} + record.length;
        if (static_cast<std::size_t>(stop - p) < size) break;
        const Step step = step_of(record.type);
        if (is_event_step(step)) {
          if (record.length < 12) [[unlikely]] {
            p += size;
            continue;
          }
          if (first_event) [[unlikely]] {
            first_event = false;
            facts.first_time = event_time(record, dialect.swapped()).value;
          }
          ++facts.events;
        }
        switch (step) {
          case Step::kPlain:
          case Step::kAttribute:
            break;
          case Step::kEnter:
            walk(Step::kEnter, record, dialect, follower);
            break;
          case Step::kExit:
            walk(Step::kExit, record, dialect, follower);
            facts.last_exit = input.offset(p);
            break;
          case Step::kCall:
            facts.last_exit = input.offset(p);
            break;
          case Step::kDefinition: {
            RawRecord placed = record;
            placed.offset = input.offset(p);
            definitions.add(placed, dialect, &input);
            if (record.type == type_of(RecordType::kMetric)) ++dialect.metrics;
            break;
          }
          case Step::kUnknown:
            summary_.add(Finding::kUnknownType, 1, [&] {
              const std::uint64_t place = input.place(input.offset(p));
              return trace.path + ": offset " + std::to_string(place) + ": type " +
                     std::to_string(record.type);
            });
            break;
          default:
            walk(step, record, dialect, follower);
            if (step == Step::kSyncExit || step == Step::kContextCall)
              facts.last_exit = input.offset(p);
            if (step == Step::kSync) note_locks(facts, record.type);
        }
        p += size;
      }
      const bool stuck = p == input.position() && input.exhausted();
      input.set_position(p);
      if (stuck) break;
      if (p == stop && input.exhausted()) break;
    }
    facts.end = input.offset();
    facts.open_regions = static_cast<std::uint32_t>(follower.depth());
    report_end(index, input, follower.unmatched());
    facts.clock.offsets = definitions.local().offsets;
    facts.clock.rate = definitions.local().clock_rate;
    facts.clock.rank = trace.rank;
    Translation translation;
    if (Status status = definitions.finish(translation); !status) return status;
    translation.metric_count = dialect.metrics;
    if (index > 0 && *survey_.traces[index - 1].translation == translation) {
      facts.translation = survey_.traces[index - 1].translation;
    } else {
      facts.translation = std::make_shared<const Translation>(std::move(translation));
    }
    facts.clock.node = survey_.definitions.locations[survey_.definitions.location_of(index)].node;
    done_ += trace.size;
    return {};
  }

  static void note_locks(TraceFacts& facts, std::uint8_t type) {
    facts.locks = facts.locks || type == type_of(RecordType::kMpiWinLock) ||
                  type == type_of(RecordType::kMpiWinUnlock);
    facts.lock_all = facts.lock_all || type == type_of(RecordType::kMpiWinLockAll) ||
                     type == type_of(RecordType::kMpiWinUnlockAll);
  }

  void report_end(std::size_t index, const LocalInput& input, std::uint64_t unmatched) {
    const LocalTrace& trace = traces_[index];
    const TraceFacts& facts = survey_.traces[index];
    if (input.failed()) {
      summary_.add(Finding::kUnreadable, 1, [&] { return input.error().message(); });
    } else if (trace.damaged) {
      summary_.add(Finding::kUnreadable, 1, [&] { return trace.path; });
    } else if (const char* const damage = input.damage()) {
      const auto place = [&] {
        return trace.path + ": offset " + std::to_string(input.place(facts.end));
      };
      if (std::string_view(damage) == kEndsInsideRecord) {
        summary_.add(Finding::kTruncated, 1, place);
      } else {
        summary_.add(Finding::kUnreadable, 1, [&] { return place() + ": " + damage; });
      }
    }
    if (facts.events == 0) summary_.add(Finding::kNoEvents, 1, [&] { return trace.path; });
    if (facts.open_regions != 0) {
      summary_.add(Finding::kOpenRegions, facts.open_regions, [&] { return trace.path; });
      survey_.definitions.lost.push_back(
          {static_cast<LocationId>(survey_.definitions.location_of(index)), kLostOpenRegions,
           Count64{facts.open_regions}});
    }
    if (unmatched != 0)
      summary_.add(Finding::kUnmatchedExit, unmatched, [&] { return trace.path; });
  }

  // The epochs of a process with several threads: their records in the order of time.
  void follow_threads(std::size_t begin, std::size_t end) {
    struct Thread {
      std::unique_ptr<LocalInput> input;
      std::unique_ptr<Follower> follower;
      Dialect dialect;
      LinearClock clock;
      RawRecord record;
      double time = 0;
      bool more = true;
    };
    std::vector<ClockRecord> records;
    for (std::size_t i = begin; i < end; ++i) records.push_back(survey_.traces[i].clock);
    std::uint64_t without = 0;
    const std::vector<LinearClock> clocks = linear_clocks(records, without);
    std::vector<Thread> threads(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      Thread& t = threads[i - begin];
      t.input =
          std::make_unique<LocalInput>(files_, traces_[i], InputBuffers{kBuffer / 4, nullptr});
      t.follower = std::make_unique<Follower>(
          survey_.definitions, Lookup(*survey_.traces[i].translation),
          *survey_.processes[traces_[i].rank], summary_, processes_, true);
      t.dialect = traces_[i].dialect;
      t.clock = clocks[i - begin];
    }
    const auto advance = [](Thread& t) {
      for (;;) {
        if (t.input->available() < kMaxRecord && !t.input->exhausted()) t.input->fill();
        if (t.input->available() < 2) break;
        const std::byte* p = t.input->position();
        t.record = {static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]), p + 2, 0};
        const std::size_t size = std::size_t{2} + t.record.length;
        if (t.input->available() < size) break;
        t.input->skip(size);
        if (t.record.type == type_of(RecordType::kMetric)) ++t.dialect.metrics;
        if (!is_event_step(step_of(t.record.type)) || t.record.length < 12) continue;
        const double time = t.clock(event_time(t.record, t.dialect.swapped()).value);
        if (time > t.time) t.time = time;
        return;
      }
      t.more = false;
    };
    for (Thread& t : threads) advance(t);
    for (;;) {
      Thread* next = nullptr;
      for (Thread& t : threads) {
        if (t.more && (next == nullptr || t.time < next->time)) next = &t;
      }
      if (next == nullptr) break;
      walk(step_of(next->record.type), next->record, next->dialect, *next->follower);
      advance(*next);
    }
  }

  const std::vector<LocalTrace>& traces_;
  FileCache& files_;
  Summary& summary_;
  const std::function<void(std::uint64_t)>& progress_;
  Survey survey_;
  std::uint64_t done_ = 0;
  std::size_t first_of_process_ = 0;
  std::uint32_t processes_ = 0;
};

}  // namespace

Result<Survey> survey_traces(const std::vector<LocalTrace>& traces, FileCache& files,
                             Summary& summary, const std::function<void(std::uint64_t)>& progress) {
  return Surveyor(traces, files, summary, progress).run();
}

}  // namespace kojak::merge
