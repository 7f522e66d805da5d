#include "merge/complete/survey.h"

#include <algorithm>

#include "epilog/format/io/reader.h"
#include "epilog/format/library_thread.h"
#include "merge/complete/services.h"
#include "merge/complete/trace_survey.h"
#include "merge/input/local_input.h"

namespace kojak::merge {
namespace {

constexpr std::size_t kThreadBuffer = 16 * 1024;

class Surveyor {
 public:
  Surveyor(const std::vector<LocalTrace>& traces, FileCache& files, Helpers& helpers,
           Summary& summary, const std::function<void(std::uint64_t)>& progress,
           const Watches& watches, Surveyed* surveyed)
      : traces_(traces), files_(files), summary_(summary), surveyed_(surveyed) {
    if (surveyed == nullptr) readings_.emplace(traces, files, helpers, progress, watches);
  }

  Result<Survey> run() {
    survey_.definitions.set_locations(traces_);
    survey_.traces.resize(traces_.size());
    processes_ = traces_.empty() ? 0 : traces_.front().run_size;
    survey_.processes.resize(processes_);
    if (surveyed_ != nullptr) survey_.definitions.code_names.know(std::move(surveyed_->names));
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      const auto owner = readings_ ? readings_->next() : surveyed_->trace(i);
      FoundInTrace& found = *owner;
      std::unique_ptr<ProcessEpochs>& epochs = survey_.processes[traces_[i].rank];
      if (first_of_process(traces_, i)) {
        first_ = i;
        epochs = std::make_unique<ProcessEpochs>();
      }
      if (Status status = put_together(i, found); !status) return status.error();
      const bool last = last_of_process(traces_, i);
      if (found.epochs != nullptr &&
          found.names.hold(*survey_.traces[i].translation, survey_.definitions)) {
        epochs = std::move(found.epochs);
        TraceFacts& facts = survey_.traces[i];
        facts.whole = true;
        facts.windows = found.names.windows(*facts.translation);
        epochs->number_windows(facts.windows);
        if (found.unknown_roles != 0) summary_.add(Finding::kUnknownRole, found.unknown_roles);
      } else if (last) {
        follow_threads(first_, i + 1);
      }
      if (last) epochs->end_of_survey();
    }
    find_services(traces_, files_, survey_);
    for (const std::string& path : survey_.definitions.code_names.missing()) {
      summary_.add(Finding::kCodeMissing, 1, [&] { return path; });
    }
    for (const std::string& path : survey_.definitions.code_names.apart()) {
      summary_.add(Finding::kDebugFileMissing, 1, [&] { return path; });
    }
    return std::move(survey_);
  }

 private:
  // Takes the definitions of a trace into those of the run, and counts what was found.
  Status put_together(std::size_t index, FoundInTrace& found) {
    const LocalTrace& trace = traces_[index];
    const Translation* fallback =
        first_of_process(traces_, index) ? nullptr : survey_.traces[first_].translation.get();
    TraceDefinitions definitions(survey_.definitions, traces_, index, summary_, fallback);
    Dialect dialect = trace.dialect;
    found.asked.replay(
        [&](const RawRecord& record) {
          definitions.add(record, dialect, files_);
          if (record.type == type_of(RecordType::kMetric)) ++dialect.metrics;
        },
        [&](auto id) { definitions.merged(id); });
    TraceFacts& facts = survey_.traces[index];
    static_cast<ReadFacts&>(facts) = std::move(found.facts);
    report(index, found);
    note_end(definitions.local(), facts);
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
    const ProcessId process{trace.rank};
    facts.starts_library_since =
        told_time(definitions.local(), run_property::kLibraryProcess, process);
    facts.library_thread =
        definitions.local().properties.find(run_property::kLibraryThread, process) != nullptr;
    facts.library_thread_since =
        told_time(definitions.local(), run_property::kLibraryThread, process);
    facts.finalized_in = finalized_in(survey_.definitions, *facts.translation, definitions.local());
    facts.clock.node = survey_.definitions.locations[survey_.definitions.location_of(index)].node;
    return {};
  }

  // A function is defined where it is called first.
  static void note_end(const Definitions& local, TraceFacts& facts) {
    facts.came_to_end = facts.events != 0 && facts.open_regions == 0;
    local.regions.for_each([&](RegionId, const RegionDef& region) {
      for (const char* name : {"MPI_Finalize", "MPI_Session_finalize", "shmem_finalize"}) {
        facts.came_to_end = facts.came_to_end || region.name == name;
      }
      for (const char* name : {"MPI_Abort", "shmem_global_exit"}) {
        if (region.name == name) facts.aborted = name;
      }
    });
  }

  void report(std::size_t index, const FoundInTrace& found) {
    const TraceFacts& facts = survey_.traces[index];
    const auto path = [&] { return traces_[index].path; };
    if (found.unknown_types != 0) {
      summary_.add(Finding::kUnknownType, found.unknown_types,
                   [&] { return found.first_unknown_type; });
    }
    if (found.damage) summary_.add(found.damage->first, 1, [&] { return found.damage->second; });
    if (facts.events == 0) summary_.add(Finding::kNoEvents, 1, path);
    if (facts.open_regions != 0) {
      summary_.add(Finding::kOpenRegions, facts.open_regions, path);
      survey_.definitions.lost.push_back(
          {static_cast<LocationId>(survey_.definitions.location_of(index)), kLostOpenRegions,
           Count64{facts.open_regions}});
    }
    if (found.unmatched != 0) summary_.add(Finding::kUnmatchedExit, found.unmatched, path);
  }

  // The epochs of a process with several threads: their records in the order of time.
  void follow_threads(std::size_t begin, std::size_t end) {
    struct Thread {
      std::unique_ptr<LocalInput> input;
      std::optional<MergedNames> names;
      std::optional<Follower<const MergedNames>> follower;
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
          std::make_unique<LocalInput>(files_, traces_[i], InputBuffers{kThreadBuffer, nullptr});
      t.names.emplace(*survey_.traces[i].translation, survey_.definitions);
      ProcessEpochs* const epochs = survey_.processes[traces_[i].rank].get();
      if (threads.size() > 1) epochs->set_several_threads();
      t.follower.emplace(*t.names, processes_, epochs);
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
    for (const Thread& t : threads) {
      if (const std::uint64_t unknown = t.follower->unknown_roles(); unknown != 0) {
        summary_.add(Finding::kUnknownRole, unknown);
      }
    }
  }

  const std::vector<LocalTrace>& traces_;
  FileCache& files_;
  Summary& summary_;
  Surveyed* surveyed_;
  std::optional<TraceReadings> readings_;  // unless they are surveyed
  Survey survey_;
  std::size_t first_ = 0;  // trace of the process
  std::uint32_t processes_ = 0;
};

}  // namespace

Result<Survey> survey_traces(const std::vector<LocalTrace>& traces, FileCache& files,
                             Helpers& helpers, Summary& summary,
                             const std::function<void(std::uint64_t)>& progress,
                             const Watches& watches, Surveyed* surveyed) {
  return Surveyor(traces, files, helpers, summary, progress, watches, surveyed).run();
}

}  // namespace kojak::merge
