// elg_stat: what is in a trace, and calls, time and bytes of each region.
#include <iostream>

#include "tools/cli/cli.h"
#include "tools/cli/table.h"
#include "tools/cli/trace_input.h"
#include "tools/region_profile.h"

namespace kojak {
namespace {

constexpr cli::ToolInfo kInfo{
    "elg_stat", "[options] TRACE",
    "Tells what is in a trace: events, locations, time, and calls, time and bytes of each region.\n"
    "Times are sums over all locations. TRACE may be compressed with gzip; - is standard input.",
    "elg_stat --top 10 a.elg"};

void print_json(const TraceProfile& profile, std::ostream& out) {
  out << "{\"events\": " << profile.events << ", \"locations\": " << profile.locations
      << ", \"time\": " << cli::format_seconds(profile.time(), 9) << ",\n \"regions\": [";
  const char* comma = "";
  for (const RegionTotals& region : profile.regions) {
    out << comma << "\n  {\"name\": " << cli::quoted_json(region.name)
        << ", \"calls\": " << region.calls
        << ", \"inclusive\": " << cli::format_seconds(region.inclusive, 9)
        << ", \"exclusive\": " << cli::format_seconds(region.exclusive, 9)
        << ", \"sent\": " << region.sent << ", \"received\": " << region.received << "}";
    comma = ",";
  }
  out << "],\n \"records\": {";
  comma = "";
  for (const auto& [name, count] : profile.records) {
    out << comma << "\n  " << cli::quoted_json(name) << ": " << count;
    comma = ",";
  }
  out << "}}\n";
}

cli::Table region_table(const TraceProfile& profile, std::size_t top, bool exact) {
  cli::Table table({{"region", cli::Align::kLeft},
                    {"calls"},
                    {"inclusive s"},
                    {"exclusive s"},
                    {"sent B"},
                    {"received B"}});
  const int decimals = exact ? 9 : 6;
  for (const RegionTotals& region : profile.regions) {
    if (top-- == 0) break;
    table.add({region.name, std::to_string(region.calls),
               cli::format_seconds(region.inclusive, decimals),
               cli::format_seconds(region.exclusive, decimals), std::to_string(region.sent),
               std::to_string(region.received)});
  }
  return table;
}

void print_text(const TraceProfile& profile, std::size_t top, bool records) {
  std::cout << "events: " << profile.events << "\nlocations: " << profile.locations
            << "\ntime: " << cli::format_seconds(profile.time()) << " s\n\n";
  region_table(profile, top, false).print(std::cout);
  if (top < profile.regions.size()) {
    std::cout << "... and " << profile.regions.size() - top << " more\n";
  }
  if (records) {
    std::cout << '\n';
    cli::Table table({{"record", cli::Align::kLeft}, {"count"}});
    for (const auto& [name, count] : profile.records) table.add({name, std::to_string(count)});
    table.print(std::cout);
  }
}

ExitCode body(const cli::po::variables_map& values) {
  if (values.count("trace") == 0) return cli::usage_error("give a trace");
  const auto path = values["trace"].as<std::string>();
  auto reader = cli::open_trace(path);
  if (!reader) {
    cli::print_error(reader.error());
    return reader.error().code;
  }
  cli::Progress progress(path, cli::file_size(path));
  const auto profile =
      profile_trace(*reader, [&](std::uint64_t offset) { progress.update_now(offset); });
  progress.finish();
  if (!profile) {
    cli::print_error(profile.error());
    return profile.error().code;
  }
  const std::size_t top = values.count("top") != 0 ? values["top"].as<std::size_t>() : SIZE_MAX;
  if (values.count("json") != 0) {
    print_json(*profile, std::cout);
  } else if (values.count("csv") != 0) {
    region_table(*profile, top, true).print_csv(std::cout);
  } else {
    print_text(*profile, top, values.count("records") != 0);
  }
  if (profile->unknown > 0) {
    cli::print_warning(reader->path() + ": skipped " + std::to_string(profile->unknown) +
                       " records of unknown type (elg_print --verify tells more)");
  }
  if (profile->damaged > 0) {
    cli::print_warning(reader->path() + ": left out " + std::to_string(profile->damaged) +
                       " damaged records (elg_print --verify tells more)");
  }
  if (profile->truncated) cli::print_warning(reader->error().message());
  return profile->damaged > 0 || profile->truncated ? ExitCode::kSuspect : ExitCode::kFine;
}

}  // namespace
}  // namespace kojak

int main(int argc, char** argv) {
  namespace po = kojak::cli::po;
  kojak::cli::ToolOptions options;
  options.visible.add_options()("top", po::value<std::size_t>()->value_name("N"),
                                "only the N regions with most time")(
      "records", "also how many records there are of each type")(
      "csv", "the table of regions as comma-separated values")("json", "everything as JSON");
  options.hidden.add_options()("trace", po::value<std::string>(), "the trace");
  options.positional.add("trace", 1);
  return kojak::cli::run_tool(argc, argv, kojak::kInfo, options, kojak::body);
}
