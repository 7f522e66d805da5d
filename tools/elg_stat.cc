// elg_stat: what is in a trace: calls, time and bytes of regions and processes.
#include <algorithm>
#include <iostream>

#include "tools/cli/cli.h"
#include "tools/cli/trace_input.h"
#include "tools/profile_output.h"

namespace kojak {
namespace {

constexpr cli::ToolInfo kInfo{
    "elg_stat", "[options] TRACE",
    "Tells what is in a trace: events, locations, time, and calls, time and bytes of each region.\n"
    "Times are sums over all locations. TRACE may be compressed with gzip or zstd; - is standard "
    "input.",
    "elg_stat --top 10 --processes a.elg"};

// More processes than this make no matrix that a terminal could show.
constexpr std::size_t kMostInMatrix = 16;

struct Wanted {
  std::size_t top = SIZE_MAX;
  bool processes = false, calls = false, matrix = false, records = false;
};

void print_text(const TraceProfile& profile, const Wanted& wanted) {
  std::cout << "events: " << profile.events << "\nlocations: " << profile.locations
            << "\ntime: " << cli::format_seconds(profile.time()) << " s\n\n";
  region_table(profile.regions, wanted.top, Digits::kPeople).print(std::cout);
  if (wanted.top < profile.regions.size()) {
    std::cout << "... and " << profile.regions.size() - wanted.top << " more\n";
  }
  const bool paths = std::any_of(profile.regions.begin(), profile.regions.end(),
                                 [](const RegionTotals& region) { return region.calls == 0; });
  if (paths)
    std::cout << "(-: on the way to other calls; how often it was called is not recorded)\n";
  if (wanted.processes) {
    std::cout << '\n';
    process_table(profile, Digits::kPeople).print(std::cout);
  }
  if (wanted.calls) {
    std::cout << '\n';
    call_table(profile, Digits::kPeople).print(std::cout);
  }
  if (wanted.matrix) {
    std::cout << '\n';
    if (profile.processes.size() > kMostInMatrix) {
      flow_table(profile).print(std::cout);
    } else {
      print_matrices(profile, std::cout);
    }
  }
  if (wanted.records) {
    std::cout << '\n';
    cli::Table table({{"record", cli::Align::kLeft}, {"count"}});
    for (const auto& [name, count] : profile.records) table.add({name, std::to_string(count)});
    table.print(std::cout);
  }
}

cli::Table csv_table(const TraceProfile& profile, const Wanted& wanted) {
  if (wanted.processes) return process_table(profile, Digits::kPrograms);
  if (wanted.calls) return call_table(profile, Digits::kPrograms);
  if (wanted.matrix) return flow_table(profile);
  return region_table(profile.regions, wanted.top, Digits::kPrograms);
}

ExitCode body(const cli::po::variables_map& values) {
  if (values.count("trace") == 0) return cli::usage_error("give a trace");
  Wanted wanted;
  if (values.count("top") != 0) wanted.top = values["top"].as<std::size_t>();
  wanted.processes = values.count("processes") != 0;
  wanted.calls = values.count("calls") != 0;
  wanted.matrix = values.count("matrix") != 0;
  wanted.records = values.count("records") != 0;
  const bool csv = values.count("csv") != 0;
  if (csv && wanted.processes + wanted.calls + wanted.matrix > 1) {
    return cli::usage_error("--csv is one table: choose --processes, --calls or --matrix");
  }
  const auto path = values["trace"].as<std::string>();
  auto reader = cli::open_trace(path);
  if (!reader) return cli::failed(reader.error());
  cli::Progress progress(path, cli::file_size(path));
  const auto profile =
      profile_trace(*reader, [&](std::uint64_t offset) { progress.update_now(offset); });
  progress.finish();
  if (!profile) return cli::failed(profile.error());
  if (values.count("json") != 0) {
    print_json(*profile, std::cout);
  } else if (csv) {
    csv_table(*profile, wanted).print_csv(std::cout);
  } else {
    print_text(*profile, wanted);
  }
  bool suspect = profile->truncated || profile->undefined;
  if (profile->undefined) {
    cli::print_warning(ends_in_definitions(*reader, profile->truncated).message());
  } else if (profile->truncated) {
    cli::print_warning(reader->error().message());
  }
  suspect = cli::print_gaps(reader->path(), profile->gaps) || suspect;
  return suspect ? ExitCode::kSuspect : ExitCode::kFine;
}

}  // namespace
}  // namespace kojak

int main(int argc, char** argv) {
  namespace po = kojak::cli::po;
  kojak::cli::ToolOptions options;
  options.visible.add_options()("top", po::value<std::size_t>()->value_name("N"),
                                "only the N regions with most time")(
      "processes,p", "also time, messages and transfers of each process")(
      "calls", "also the regions of each process")(
      "matrix,m", "also the bytes that moved from each process to each other")(
      "records", "also how many records there are of each type")(
      "csv",
      "one table as comma-separated values: regions, or what --processes, --calls or "
      "--matrix asks for")("json", "everything as JSON");
  options.hidden.add_options()("trace", po::value<std::string>(), "the trace");
  options.positional.add("trace", 1);
  return kojak::cli::run_tool(argc, argv, kojak::kInfo, options, kojak::body);
}
