// elg_filter: a part of a merged trace as a trace of its own.
#include <cmath>
#include <optional>

#include "earl/file_gaps.h"
#include "earl/filter/part.h"
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

ExitCode run(const Cut& cut, const std::string& path, const std::string& output,
             Compression compression) {
  auto part = Part::open(path, cut);
  if (!part) {
    if (part.error().code != ExitCode::kUsage) return cli::failed(part.error());
    return cli::usage_error(part.error().message());
  }
  const earl::Trace& trace = part->trace();
  {
    cli::Progress bar("reading", trace.declared_events().value_or(0));
    part->find_edges([&](std::uint64_t at) { bar.update_now(at); });
  }
  auto writer = TraceWriter::create(output, part->dialect(), compression);
  if (!writer) return cli::failed(writer.error());
  std::optional<cli::Progress> bar;
  std::uint64_t last = 0;
  const auto copied = part->write(*writer, writer->seekable(), [&](std::uint64_t at) {
    if (!bar || at < last) bar.emplace("writing", cli::file_size(part->input().path()));
    last = at;
    bar->update_now(at);
    return true;
  });
  bar.reset();
  if (!copied) return cli::failed(copied.error());

  cli::print_note(std::to_string(copied->events - copied->added) + " of " +
                  std::to_string(trace.events_read()) + " events are in the cut" +
                  (copied->added == 0 ? ""
                                      : ", and " + std::to_string(copied->added) +
                                            " that tell what is open at its edges") +
                  "; " + std::to_string(part->severed()) +
                  " calls and messages at its edges lost their partners");
  ExitCode code = cli::print_faults(part->input().name(), earl::gaps_of(trace), copied->damage)
                      ? ExitCode::kSuspect
                      : ExitCode::kFine;
  if (!part->input().damage().empty()) {
    cli::print_warning(part->input().name() + ": " + part->input().damage());
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
  return run(cut, path, output, *compression);
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
