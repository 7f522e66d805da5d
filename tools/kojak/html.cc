// kojak html: a CUBE report as one self-contained page.
#include <string>
#include <string_view>

#include "expert/cube/reader.h"
#include "expert/page/page.h"
#include "expert/page/source_lines.h"
#include "expert/page_of_trace.h"
#include "expert/patterns/catalogue.h"
#include "tools/cli/trace_input.h"
#include "tools/kojak/commands.h"

namespace kojak::run {
namespace {

// The report's name with .html: "run/a.cube.gz" gives "run/a.html".
std::string page_name(std::string report) {
  for (const char* ending : {".gz", ".cube"}) {
    const std::string_view end = ending;
    if (report.size() > end.size() && report.ends_with(end))
      report.resize(report.size() - end.size());
  }
  return report + ".html";
}

ExitCode run_html(const cli::po::variables_map& values) {
  if (values.count("report") == 0) return cli::usage_error("name a report");
  const auto input = values["report"].as<std::string>();
  const auto megabytes = values["max-size"].as<double>();
  if (!(megabytes >= 1 && megabytes <= 1000)) return cli::usage_error("--max-size takes 1 to 1000");
  if (input == "-" && values.count("output") == 0) {
    return cli::usage_error("a report from standard input needs -o");
  }
  const std::string output =
      values.count("output") != 0 ? values["output"].as<std::string>() : page_name(input);
  const std::string trace_path =
      values.count("trace") != 0 ? values["trace"].as<std::string>() : std::string();
  if (const auto refused = cli::overwrites({input, trace_path}, {output})) return *refused;
  const Result<cube::Report> report = cube::read_report(input);
  if (!report) return cli::failed(report.error());
  for (const std::string& warning : report->warnings)
    cli::print_warning(report->file + ": " + warning);
  html::PageOptions options;
  options.title = values["title"].as<std::string>();
  options.version = KOJAK_VERSION;
  options.catalogue = expert::all_metrics();
  options.max_bytes = static_cast<std::size_t>(megabytes * 1e6);
  if (values.count("no-source") == 0) {
    options.source = html::source_search(trace_path.empty() ? input : trace_path);
  }
  html::TracePart trace;
  bool suspect = false;
  if (!trace_path.empty()) {
    cli::Progress progress("reading the trace", 0);
    Result<html::TracePart> part =
        html::read_trace_part(trace_path, *report, options.max_bytes,
                              [&](std::uint64_t events) { progress.update_now(events); });
    progress.finish();
    if (!part) return cli::failed(part.error());
    trace = std::move(*part);
    if (trace.damage) cli::print_warning(trace.damage->message());
    suspect = cli::print_gaps(trace_path, trace.gaps) || trace.damage;
    trace.add_to(options);
    for (const std::string& text : trace.packed.omitted) cli::print_note("timeline: " + text);
  }
  if (const Status status = html::write_page(*report, options, output); !status) {
    return cli::failed(status.error());
  }
  if (output != "-") cli::print_note("wrote " + output + ": open it in a browser");
  return suspect ? ExitCode::kSuspect : ExitCode::kFine;
}

}  // namespace

int html_command(int argc, char** argv) {
  // The link of the old name is called as it was.
  const bool linked = std::string_view(argv[0]).ends_with(kHtmlLink);
  const std::string name = linked ? kHtmlLink : "kojak html";
  const std::string example = name + " --trace a.elg -o a.html a.cube";
  const cli::ToolInfo info{
      name.c_str(), "[options] REPORT",
      "Makes an HTML page of a CUBE report, which works offline: what is wrong, the "
      "trees,\nand with --trace the timeline.",
      example.c_str()};
  cli::ToolOptions options;
  options.visible.add_options()(
      "output,o", cli::po::value<std::string>()->value_name("PAGE"),
      "the page (default: the report's name with .html; -: standard output)")(
      "trace,t", cli::po::value<std::string>()->value_name("TRACE"),
      "the trace that the report is of: adds a timeline, the worst instances and the byte matrix")(
      "no-source",
      "no lines of the program's source: by default those around the calls are shown, "
      "where the files are on this machine")(
      "title", cli::po::value<std::string>()->default_value("")->value_name("TEXT"),
      "of the page (default: the report's name)")(
      "max-size", cli::po::value<double>()->default_value(20, "20")->value_name("MEGABYTES"),
      "of the page, 1 to 1000: a larger page shows more calls, waits and transfers of a long run; "
      "what does not fit is rounded, merged or left out, which the page and this command say");
  options.hidden.add_options()("report", cli::po::value<std::string>());
  options.positional.add("report", 1);
  return cli::run_tool(argc, argv, info, options, run_html);
}

}  // namespace kojak::run
