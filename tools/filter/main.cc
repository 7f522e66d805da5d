// elg_filter: a part of a merged trace as a trace of its own.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <optional>

#include "earl/file_gaps.h"
#include "earl/filter/copy.h"
#include "epilog/format/io/writer.h"
#include "tools/cli/cli.h"
#include "tools/cli/compression.h"
#include "tools/cli/lists.h"
#include "tools/cli/trace_input.h"

namespace kojak::filter {
namespace {

constexpr cli::ToolInfo kInfo{
    "elg_filter", "[options] TRACE",
    "Cuts a part out of a merged trace, by time, rank and region; the part is a trace again.\n"
    "TRACE may be compressed with gzip or zstd; - is standard input.",
    "elg_filter --from 1.5 --to 2.5 -o part.elg a.elg"};

// The input is read more than once: what standard input or a pipe gives goes to a file without a
// name.
class Input {
 public:
  static Result<Input> open(const std::string& path) {
    Input input;
    input.path_ = path;
    input.name_ = path;
    struct stat info {};
    const bool stream = path == "-" || (::stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode));
    if (!stream) return input;
    if (path == "-") input.name_ = "standard input";
    std::string pattern = (std::filesystem::temp_directory_path() / "elg_filter-XXXXXX").string();
    input.fd_ = ::mkstemp(pattern.data());
    if (input.fd_ < 0) return failed(pattern, "a temporary file cannot be made");
    ::unlink(pattern.c_str());
    input.path_ = "/proc/self/fd/" + std::to_string(input.fd_);
    auto source = open_source(path);
    if (!source) return source.error();
    std::vector<std::byte> buffer(1 << 18);
    std::ptrdiff_t got;
    while ((got = (*source)->read(buffer.data(), buffer.size())) > 0) {
      for (std::ptrdiff_t done = 0; done < got;) {
        const ssize_t n =
            ::write(input.fd_, buffer.data() + done, static_cast<std::size_t>(got - done));
        if (n < 0) return failed(pattern, "a temporary file cannot be written");
        done += n;
      }
    }
    if (got < 0) input.damage_ = (*source)->error();
    return input;
  }
  Input(Input&& other) noexcept
      : path_(std::move(other.path_)),
        name_(std::move(other.name_)),
        damage_(std::move(other.damage_)),
        fd_(std::exchange(other.fd_, -1)) {}
  Input& operator=(Input&&) = delete;
  ~Input() {
    if (fd_ >= 0) ::close(fd_);
  }

  const std::string& path() const { return path_; }
  const std::string& damage() const { return damage_; }  // of a stream
  Result<std::unique_ptr<ByteSource>> source() const { return open_source(path_); }
  const std::string& name() const { return name_; }

 private:
  Input() = default;
  static Error failed(const std::string& file, const char* reason) {
    return {ExitCode::kOutputFailed,
            file,
            std::nullopt,
            "",
            "",
            reason,
            "set TMPDIR to a directory with room for the trace"};
  }
  std::string path_, name_, damage_;
  int fd_ = -1;
};

Result<Copied> copy(const Input& input, const earl::Trace& trace, const Selection& selection,
                    const Severed& severed, const Inherited& inherited, TraceWriter* writer,
                    std::uint64_t events) {
  auto source = input.source();
  if (!source) return source.error();
  auto reader = TraceReader::from(std::move(*source), input.name());
  if (!reader) return reader.error();
  cli::Progress bar("writing", cli::file_size(input.path()));
  const std::function<void(std::uint64_t)> progress = [&](std::uint64_t at) { bar.update_now(at); };
  return copy_selected(
      {*reader, trace.definitions(), selection, severed, inherited, events, progress}, writer);
}

// What the trace has lost already, as far as the cut reaches: readers of the cut are to know.
Inherited inherited_damage(const earl::Trace& trace, const Cut& cut, const Severed& severed) {
  Inherited inherited;
  inherited.damaged = trace.findings()[earl::Finding::kShortRecord].count;
  inherited.end = trace.damage() && cut.to >= severed.end().value;
  const std::uint64_t declared = trace.declared_events().value_or(0);
  if (declared > trace.events_read()) inherited.events = declared - trace.events_read();
  return inherited;
}

ExitCode run(const Cut& cut, const Input& input, const std::string& output,
             Compression compression) {
  auto source = input.source();
  if (!source) return cli::failed(source.error());
  auto trace = earl::Trace::from(std::move(*source), input.name());
  if (!trace) return cli::failed(trace.error());
  auto selection = Selection::make(cut, *trace);
  if (!selection) {
    if (selection.error().code != ExitCode::kUsage) return cli::failed(selection.error());
    return cli::usage_error(selection.error().message());
  }

  Severed severed;
  {
    cli::Progress bar("reading", trace->declared_events().value_or(0));
    severed = find_severed(*trace, *selection, [&](std::uint64_t at) { bar.update_now(at); });
  }
  const Inherited inherited = inherited_damage(*trace, cut, severed);
  auto plain = input.source();
  if (!plain) return cli::failed(plain.error());
  const auto header = TraceReader::from(std::move(*plain), input.name());
  if (!header) return cli::failed(header.error());
  Dialect dialect = header->dialect();
  dialect.metrics = static_cast<std::uint32_t>(trace->definitions().metrics.size());
  auto writer = TraceWriter::create(output, dialect, compression);
  if (!writer) return cli::failed(writer.error());
  std::uint64_t events = 0;
  if (!writer->seekable()) {  // the number of events stands in front of them
    const auto counted = copy(input, *trace, *selection, severed, inherited, nullptr, 0);
    if (!counted) return cli::failed(counted.error());
    events = counted->events;
  }
  const auto copied = copy(input, *trace, *selection, severed, inherited, &*writer, events);
  if (!copied) return cli::failed(copied.error());
  if (writer->seekable()) {
    if (Status status = replace_event_count(*writer, *copied, inherited); !status)
      return cli::failed(status.error());
  }
  if (Status status = writer->commit(); !status) return cli::failed(status.error());

  cli::print_note(std::to_string(copied->events - copied->added) + " of " +
                  std::to_string(trace->events_read()) + " events are in the cut" +
                  (copied->added == 0 ? ""
                                      : ", and " + std::to_string(copied->added) +
                                            " that tell what is open at its edges") +
                  "; " + std::to_string(severed.size()) +
                  " calls and messages at its edges lost their partners");
  ExitCode code = cli::print_faults(input.name(), earl::gaps_of(*trace), copied->damage)
                      ? ExitCode::kSuspect
                      : ExitCode::kFine;
  if (!input.damage().empty()) {
    cli::print_warning(input.name() + ": " + input.damage());
    code = ExitCode::kSuspect;
  }
  return code;
}

ExitCode body(const cli::po::variables_map& values) {
  if (values.count("trace") == 0) return cli::usage_error("give a trace");
  Cut cut{-HUGE_VAL, HUGE_VAL, {}, {}};
  if (values.count("from") != 0) cut.from = values["from"].as<double>();
  if (values.count("to") != 0) cut.to = values["to"].as<double>();
  if (std::isnan(cut.from) || std::isnan(cut.to) || cut.to < cut.from) {
    return cli::usage_error("--from must not be later than --to");
  }
  auto ranks = cli::option_ranks(values, "rank");
  if (!ranks) return cli::usage_error(ranks.error().reason);
  cut.ranks = std::move(*ranks);
  for (std::string& word : cli::option_words(values, "region")) cut.regions.insert(std::move(word));
  const auto compression = cli::compression_of(values);
  if (!compression) return cli::usage_error(cli::kTwoCompressions);
  const auto path = values["trace"].as<std::string>();
  const auto output = values["output"].as<std::string>();
  if (const auto refused = cli::overwrites({path}, {output})) return *refused;
  auto input = Input::open(path);
  if (!input) return cli::failed(input.error());
  return run(cut, *input, output, *compression);
}

}  // namespace
}  // namespace kojak::filter

int main(int argc, char** argv) {
  namespace po = kojak::cli::po;
  using List = std::vector<std::string>;
  kojak::cli::ToolOptions options;
  options.visible.add_options()(
      "output,o", po::value<std::string>()->default_value("part.elg")->value_name("FILE"),
      "the part; - is standard output")("from", po::value<double>()->value_name("SECONDS"),
                                        "what happens from this time on")(
      "to", po::value<double>()->value_name("SECONDS"), "what happens up to this time")(
      "rank,r", po::value<List>()->composing()->value_name("LIST"), "these ranks: 0,4-7")(
      "region", po::value<List>()->composing()->value_name("LIST"),
      "what happens inside these regions, and the regions themselves: solve,MPI_Waitall");
  kojak::cli::add_compression(options.visible);
  options.hidden.add_options()("trace", po::value<std::string>(), "the trace");
  options.positional.add("trace", 1);
  return kojak::cli::run_tool(argc, argv, kojak::filter::kInfo, options, kojak::filter::body);
}
