#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "epilog/format/io/block_pipe.h"
#include "epilog/format/io/file_identity.h"
#include "epilog/format/io/local_buffer.h"
#include "epilog/format/merge_properties.h"
#include "epilog/format/service.h"
#include "merge/clock/times.h"
#include "merge/complete/window_overlaps.h"
#include "merge/input/find_traces.h"
#include "merge/two_passes.h"
#include "merge/write/background_writer.h"
#include "merge/write/classic.h"
#include "merge/write/engine.h"
#include "merge/write/write_definitions.h"

namespace kojak::merge {
namespace {

// All input buffers together, where there are few traces; for many, what each may have.
constexpr std::size_t kBuffers = 4u << 20;
constexpr std::size_t kMostBuffer = 64 * 1024, kLeastBuffer = 16 * 1024;
// What another thread decodes at a time at most: waking one costs as much as some hundred events.
constexpr std::size_t kMostDecoded = 256 * 1024;
// In a buffer of a compact trace what comes from the file lies beside it, packed.
constexpr std::size_t kLeastUnpacked = 8 * 1024;
constexpr std::size_t kPool = 8u << 20, kPoolForTrace = 16 * 1024;

// Why a run ended before any process came to MPI_Finalize; nothing if it did not.
std::optional<std::string> ended_early(const std::vector<LocalTrace>& traces,
                                       const std::vector<TraceFacts>& facts) {
  std::string why = "no process came to MPI_Finalize";
  for (std::size_t i = facts.size(); i-- > 0;) {
    if (facts[i].came_to_end && traces[i].thread == 0) return std::nullopt;
    if (facts[i].aborted != nullptr) {
      why = "rank " + std::to_string(traces[i].rank) + " called " + facts[i].aborted;
    }
  }
  return why;
}

// What a process ended too early for is not lost, and nothing brings it back.
void count_missing(const std::vector<LocalTrace>& traces, Survey& survey, MergedRun& run,
                   Summary& summary) {
  const std::uint32_t size = traces.front().run_size;
  constexpr std::uint32_t kMostNames = 8;
  std::uint32_t expected = 0, missing = 0;
  std::string names;
  const auto miss = [&](std::uint32_t rank) {
    if (++missing <= kMostNames) names += (names.empty() ? "rank " : ", ") + std::to_string(rank);
  };
  for (const LocalTrace& trace : traces) {
    if (trace.rank < expected) continue;  // another thread
    for (; expected < trace.rank; ++expected) miss(expected);
    expected = trace.rank + 1;
  }
  for (; expected < size; ++expected) miss(expected);
  if (missing != 0) {
    if (missing > kMostNames) names += " ...";
    const auto early = ended_early(traces, survey.traces);
    if (early) {
      survey.definitions.properties.set(run_property::kEndedEarly, absent<ProcessId>(), *early);
      names += "; " + *early;
    }
    summary.add(early ? Finding::kEndedUnwritten : Finding::kMissingRank, missing,
                [&] { return names; });
  }
  run.missing = Count{missing};
}

// The merged trace must not replace what it is made from.
Status check_outputs(const std::vector<LocalTrace>& traces, std::vector<std::string> outputs) {
  std::vector<std::string> inputs;
  for (const LocalTrace& trace : traces) {
    inputs.push_back(trace.path);
    inputs.push_back(local_buffer_path(trace.path));
  }
  return keep_inputs(inputs, outputs);
}

// A stream, or compressed: the number of events cannot be put in afterwards.
bool stays_as_written(const MergeOptions& options) {
  struct stat output {};
  return options.output == "-" || options.compression != Compression::kNone ||
         (::stat(options.output.c_str(), &output) == 0 && !S_ISREG(output.st_mode));
}

// What the merge itself knows of the run.
void tell_properties(const MergeOptions& options, MergedDefinitions& definitions) {
  if (options.clock == ClockCorrection::kControlled) {
    definitions.properties.set(run_property::kMergeClock, absent<ProcessId>(), "clc");
  }
  std::string folders;
  for (const std::string& folder : definitions.code_names.folders()) {
    folders += (folders.empty() ? "" : ":") + folder;
  }
  if (!folders.empty()) {
    definitions.properties.set(run_property::kCompiledIn, absent<ProcessId>(), folders);
  }
}

// Who serves the others, in the times of the merged trace.
void tell_services(const std::vector<LocalTrace>& traces, const std::vector<TraceFacts>& facts,
                   const std::vector<LinearClock>& clocks, MergedDefinitions& definitions) {
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (!facts[i].serves_since) continue;
    char time[32];
    const auto end = std::to_chars(time, time + sizeof time, clocks[i](*facts[i].serves_since));
    definitions.properties.set(service_key(ThreadId{traces[i].thread}), ProcessId{traces[i].rank},
                               std::string_view(time, end.ptr));
  }
}

Error no_traces() {
  return {ExitCode::kBadInput,
          "",
          std::nullopt,
          "",
          "",
          "no local traces were given",
          "name the directory that the measurement wrote"};
}

// Who reads, decodes ahead, packs and writes: no more than there can be jobs for. Who reads the
// trace meanwhile is a thread, too, which waits for its first event until pass 1 is over.
unsigned helping(const MergeOptions& options, std::uint64_t bytes, std::size_t traces,
                 unsigned taken) {
  if (bytes < options.least_for_threads || options.threads <= taken) return 0;
  return static_cast<unsigned>(std::min<std::size_t>(options.threads - taken, traces + 1));
}

InputBuffers buffers_for(const std::vector<LocalTrace>& traces, Helpers& helpers) {
  const std::size_t each = kBuffers / traces.size();
  const bool packed = std::all_of(traces.begin(), traces.end(),
                                  [](const LocalTrace& t) { return t.dialect.compact(); });
  InputBuffers buffers;
  buffers.bytes = std::clamp(each, packed ? kLeastUnpacked : kLeastBuffer, kMostBuffer);
  // Where traces are very many nothing is decoded ahead: that would take twice the memory.
  if (packed && helpers.any() && each >= kLeastUnpacked) {
    buffers.helpers = &helpers;
    buffers.bytes = std::clamp(each, kLeastUnpacked, kMostDecoded);
  }
  return buffers;
}

MergedRun told_run(const MergeOptions& options, const LocalTrace& first) {
  MergedRun run;
  run.run_hi = Hash64{first.run_hi};
  run.run_lo = Hash64{first.run_lo};
  run.size = Count{first.run_size};
  run.model = Byte{static_cast<std::uint8_t>(options.model)};
  run.locks = Byte{static_cast<std::uint8_t>(options.lock_grants ? 1 : 0)};
  return run;
}

Dialect dialect_of(Format format, const MergedDefinitions& definitions) {
  Dialect dialect;
  if (format == Format::kCompact) dialect.major = compact::kMajor;
  if (format == Format::kClassic) {
    dialect.major = kClassicMajor;
    dialect.minor = kClassicMinor;
  }
  dialect.metrics = static_cast<std::uint32_t>(definitions.metrics.size());
  return dialect;
}

// A trace that is written to a file and read at the same time.
class FileAndReader : public BufferSink {
 public:
  FileAndReader(RecordOutput& output, BlockPipe& reader) : output_(output), reader_(reader) {}
  std::unique_ptr<std::byte[]> exchange(std::unique_ptr<std::byte[]> full,
                                        std::size_t used) override {
    if (status_) status_ = output_.write(full.get(), used);
    return reader_.exchange(std::move(full), used);
  }
  Status drain() override { return status(); }
  Status status() const { return status_ ? reader_.status() : status_; }

 private:
  RecordOutput& output_;
  BlockPipe& reader_;
  Status status_;
};

}  // namespace

std::optional<Model> model_of(std::string_view word) {
  if (word == "basic") return Model::kBasic;
  if (word == "extended") return Model::kExtended;
  return std::nullopt;
}

std::optional<Format> format_of(std::string_view word) {
  if (word == "compact") return Format::kCompact;
  if (word == "native") return Format::kNative;
  if (word == "classic") return Format::kClassic;
  return std::nullopt;
}

std::optional<ClockCorrection> clock_of(std::string_view word) {
  if (word == "none") return ClockCorrection::kNone;
  if (word == "linear") return ClockCorrection::kLinear;
  if (word == "clc") return ClockCorrection::kControlled;
  return std::nullopt;
}

Model usual_model() {
  const char* const mode = ::secure_getenv("ELG_VT_MODE");
  return mode != nullptr && std::string_view(mode) == "1" ? Model::kBasic : Model::kExtended;
}

Result<Summary> merge_traces(const MergeOptions& options) {
  auto passes = TwoPasses::begin(options);
  if (!passes) return passes.error();
  return (*passes)->write(options);
}

Result<std::unique_ptr<TwoPasses>> TwoPasses::begin(const MergeOptions& options,
                                                    const Watches& watches) {
  auto passes = open(options);
  if (!passes) return passes;
  if (Status status = (*passes)->finish(watches); !status) return status.error();
  return passes;
}

Result<std::unique_ptr<TwoPasses>> TwoPasses::open(const MergeOptions& options) {
  std::unique_ptr<TwoPasses> passes(new TwoPasses(options));
  if (Status status = passes->find_traces(); !status) return status.error();
  return passes;
}

void TwoPasses::survey(TraceRange range, const Watches& watches,
                       const std::function<void(FoundInTrace&)>& take) {
  Helpers helpers(helping(options_, bytes_, range.end - range.first, 1));
  const std::function<void(std::uint64_t)> told = progress();
  TraceReadings readings(traces_, files_, helpers, told, watches, range);
  for (std::size_t i = range.first; i < range.end; ++i) take(*readings.next());
}

bool TwoPasses::copied() const {
  return std::ranges::any_of(traces_, [](const LocalTrace& trace) {
    return std::ranges::any_of(
        trace.parts, [](const LocalTrace::Part& part) { return part.file == FileCache::kSpill; });
  });
}

std::function<void(std::uint64_t)> TwoPasses::progress() const {
  return [this](std::uint64_t n) {
    if (options_.progress) options_.progress(done_ + n, work_);
  };
}

Status TwoPasses::find_traces() {
  auto found = find_local_traces(options_.inputs, files_, summary_);
  if (!found) return found.error();
  traces_ = std::move(*found);
  if (traces_.empty()) return no_traces();
  std::vector<std::string> outputs = options_.others;
  outputs.push_back(options_.output);
  if (Status status = check_outputs(traces_, outputs); !status) return status.error();
  for (const LocalTrace& trace : traces_) bytes_ += trace.size;
  twice_ = stays_as_written(options_);
  work_ = bytes_ * (2 + (twice_ ? 1 : 0) + readings(options_));
  return {};
}

Status TwoPasses::finish(const Watches& watches, Surveyed* surveyed) {
  const std::size_t count = traces_.size();
  {
    Helpers helpers(surveyed != nullptr ? 0 : helping(options_, bytes_, count, 1));
    auto survey = survey_traces(traces_, files_, helpers, summary_, progress(), watches, surveyed);
    if (!survey) return survey.error();
    survey_.emplace(std::move(*survey));
    done_ = bytes_;
  }
  Helpers helpers(readings(options_) == 0
                      ? 0
                      : helping(options_, bytes_, count, options_.reader != nullptr ? 2 : 1));
  auto times = find_times(options_, traces_, *survey_, files_, buffers_for(traces_, helpers),
                          summary_, progress());
  if (!times) return times.error();
  times_.emplace(std::move(*times));
  done_ += readings(options_) * bytes_;

  run_ = told_run(options_, traces_.front());
  count_missing(traces_, *survey_, run_, summary_);
  if (options_.format != Format::kClassic) {
    tell_properties(options_, survey_->definitions);
    tell_services(traces_, survey_->traces, times_->clocks, survey_->definitions);
    WindowOverlaps(traces_, *survey_);
  }
  for (const TraceFacts& facts : survey_->traces) expected_ += facts.events;
  if (watches) files_.close_files();  // processes that are forked in between are to have none
  options_.progress = nullptr;
  return {};
}

Result<std::vector<std::byte>> TwoPasses::definitions() const {
  class Memory : public BufferSink {
   public:
    std::unique_ptr<std::byte[]> exchange(std::unique_ptr<std::byte[]> full,
                                          std::size_t used) override {
      bytes.insert(bytes.end(), full.get(), full.get() + used);
      return full;
    }
    Status drain() override { return {}; }
    std::vector<std::byte> bytes;
  } memory;
  auto writer = TraceWriter::create("/dev/null", dialect_of(options_.format, survey_->definitions));
  if (!writer) return writer.error();
  writer->set_sink(&memory);
  write_definitions(*writer, survey_->definitions, run_, kAbsent, false);
  if (Status status = writer->commit(); !status) return status.error();
  return std::move(memory.bytes);
}

Result<Summary> TwoPasses::write(const MergeOptions& options, const Slice* slice) {
  Summary summary;
  if (slice == nullptr) summary = summary_;
  options_ = options;
  Helpers helpers(helping(options, bytes_, traces_.size(), options.reader != nullptr ? 2 : 1));
  // Asked by the engine now and then, whether to go on.
  std::function<Status()> good = [] { return Status(); };
  const std::function<void(std::uint64_t)> told = progress();
  const EngineInputs inputs{
      traces_,
      *survey_,
      files_,
      times_->clocks,
      times_->corrected ? &*times_->corrected : nullptr,
      times_->locks ? &*times_->locks : nullptr,
      options.model == Model::kExtended,
      buffers_for(traces_, helpers),
      options.pool != 0 ? options.pool : std::max(kPool, kPoolForTrace * traces_.size()),
      told,
      good,
      slice};
  const bool classic = options.format == Format::kClassic;
  const bool wide = expected_ * 8 >= kAbsent && !classic && slice == nullptr;
  // Who reads along gets the definitions before the events are counted. A number of 32 bits may be
  // left unknown, a larger one not.
  const bool uncounted = options.reader != nullptr && !twice_ && !wide;
  const bool twice = twice_ || (options.reader != nullptr && wide);

  if (classic) {
    if (Status status = check_classic(*survey_, traces_, summary); !status) return status.error();
  }
  const Dialect dialect = dialect_of(options.format, survey_->definitions);
  const auto write = [&](const std::string& path, BlockPipe* reader,
                         Summary& to) -> Result<std::uint64_t> {
    auto writer =
        TraceWriter::create(path.empty() ? "/dev/null" : path, dialect,
                            path == "/dev/null" ? Compression::kNone : options.compression);
    if (!writer) return writer.error();
    good = [&writer] { return writer->status(); };
    std::optional<FileAndReader> both;
    if (reader != nullptr) reader->expect(expected_);
    if (reader != nullptr && path.empty()) {
      writer->set_sink(reader);
      good = [reader] { return reader->status(); };
    } else if (reader != nullptr) {
      both.emplace(writer->output(), *reader);
      writer->set_sink(&*both);
      good = [&both] { return both->status(); };
    }
    // A second core packs, compresses and writes while this one reads.
    std::optional<BackgroundWriter> background;
    if (reader == nullptr && helpers.any()) {
      background.emplace(writer->output(), helpers);
      writer->set_sink(&*background);
      good = [&background] { return background->status(); };
    }
    const std::uint64_t announced = uncounted ? std::uint64_t{kAbsent} : expected_;
    const CountPlace place =
        write_definitions(*writer, survey_->definitions, run_, announced, wide);
    auto events = run_engine(inputs, *writer, to);
    if (!events) return events;
    if (classic && *events >= kAbsent) {
      return no_classic("", "the run has " + std::to_string(*events) + " events");
    }
    if (writer->seekable() && *events != announced) {
      if (Status status = replace_count(*writer, place, *events); !status) return status.error();
    }
    if (Status status = writer->commit(); !status) return status.error();
    return events;
  };
  if (twice) {
    Summary counting;
    auto events = write("/dev/null", nullptr, counting);
    if (!events) return events.error();
    expected_ = *events;
    done_ += bytes_;
  }
  auto events = write(options.output, options.reader, summary);
  if (!events) return events.error();
  summary.files = traces_.size();
  summary.processes = traces_.front().run_size;
  summary.locations = survey_->definitions.locations.size();
  summary.events = *events;
  return summary;
}

}  // namespace kojak::merge
