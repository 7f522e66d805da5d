// expert: finds out in a merged trace, or in the local ones of a run, why its program waited, and
// writes a CUBE report.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <thread>

#include "epilog/format/text/printable.h"
#include "epilog/format/text/xml_text.h"
#include "expert/analysis.h"
#include "expert/cube/writer.h"
#include "expert/findings/failed_call_words.h"
#include "expert/findings/report_metrics.h"
#include "expert/findings/trace_findings.h"
#include "expert/input.h"
#include "expert/output/csv_report.h"
#include "expert/output/docs.h"
#include "expert/output/json_report.h"
#include "expert/output/terminal.h"
#include "expert/output/verdict_lines.h"
#include "expert/page/page.h"
#include "expert/page/source_lines.h"
#include "expert/page/trace_part.h"
#include "expert/parallel/diverted.h"
#include "expert/parallel/launched.h"
#include "expert/parallel/parts.h"
#include "expert/parallel/task.h"
#include "expert/parallel/team.h"
#include "expert/parallel/work.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/from_analysis.h"
#include "expert/wishes.h"
#include "tools/cli/cli.h"
#include "tools/cli/compression.h"
#include "tools/cli/table.h"

namespace {

using namespace kojak;  // NOLINT: a program's own file
namespace fs = std::filesystem;
namespace po = boost::program_options;

constexpr cli::ToolInfo kInfo{
    "expert",
    "[options] DIR|TRACE",
    "Finds out why a program waited, from its run's directory (merged on the way) or a merged\n"
    "trace ('-': standard input). Writes a CUBE report, prints who made the others wait.",
    "expert elg_prog_4 && cube elg_prog_4/a.cube",
    "Exit status: 0 fine, 1 wrong usage, 2 bad input, 3 events lost or suspect, 4 not written.",
};

// Where the patterns' documentation lies: beside this program as installed or as built, else where
// it was configured to be installed.
std::string documentation_url() {
  std::error_code error;
  for (const char* folder : {KOJAK_DOC_FROM_BIN, "../docs"}) {
    const fs::path candidate = (cli::program_folder() / folder).lexically_normal();
    if (fs::exists(candidate / "patterns.html", error)) {
      return file_url(fs::absolute(candidate).string() + "/");
    }
  }
  return file_url(std::string(KOJAK_DOC_INSTALLED) + "/");
}

std::string describe(std::uint64_t events, const expert::Report& report) {
  std::string text = cli::format_count(events) + " events, ";
  std::size_t processes = 0, placed = 0, nodes = 0;
  for (const expert::MachineNode& machine : report.machines()) {
    for (const expert::HostNode& node : machine.nodes) {
      processes += node.processes.size();
      if (!node.known) continue;
      placed += node.processes.size();
      ++nodes;
    }
  }
  if (placed == 0) {  // where everything ran is unknown
    placed = processes;
    nodes = 1;
  }
  if (placed != processes) text += cli::format_count(placed) + " of ";
  text += cli::format_count(processes) + (processes == 1 ? " process" : " processes") +
          (placed != processes ? ", on " : " on ") + cli::format_count(nodes) +
          (nodes == 1 ? " node" : " nodes");
  if (report.threads() != processes) {
    text += ", " + cli::format_count(report.threads()) + " threads";
  }
  return text;
}

// The report as a page with timeline: what the analysis found, and `content`. `source_of`: the
// trace, if lines of source are to be shown.
Status write_html(const expert::Report& analysis, html::TraceContent content,
                  const std::string& report, const std::string& doc_url,
                  const std::string& source_of, const std::string& output) {
  cube::Report profile = expert::profile_of(analysis);
  expert::add_severities(analysis, profile);
  profile.file = report;
  profile.mirrors = {doc_url};
  html::PageOptions page;
  page.version = KOJAK_VERSION;
  page.catalogue = expert::all_metrics();
  const html::TracePart part =
      html::trace_part(analysis, std::move(content), profile, page.max_bytes);
  page.trace = &part;
  page.source = html::source_search(source_of);
  for (const std::string& text : part.packed.omitted) cli::print_note("timeline: " + text);
  return html::write_page(profile, page, output);
}

// The folder or trace as whoever started it wrote it.
std::string told_folder(const po::variables_map& options, const std::string& input) {
  return options.count("files-told") == 0 ? input : options["files-told"].as<std::string>();
}

// Where the rest is.
std::string last_line(const std::string& file, bool page, bool cube, const std::string& input) {
  std::string line;
  if (page) line = "Page: " + file + "; ";
  if (!page && cube && file != "-") line = "Report: " + file + "; ";
  return input == "-" ? line + "everything: --full" : line + "everything: expert --full " + input;
}

// What a reader has to know and the verdict does not say, a line each.
void say_rest(const expert::Report& report) {
  const std::string failed = expert::failed_calls_in_short(report);
  if (!failed.empty()) cli::print_note(failed);
}

// What was written, and where.
struct Written {
  std::string input, output, html;
  bool cube = false, page = false, to_stdout = false;
};

void print_results(const po::variables_map& options, const expert::Report& report,
                   const expert::JsonInput& results, const expert::Wishes& wishes,
                   const Written& files, const std::string& kept) {
  // With the report on standard output, the summary goes to the messages.
  std::ostream& out = files.to_stdout ? std::cerr : std::cout;
  const int fd = files.to_stdout ? 2 : 1;
  expert::SummaryStyle style;
  style.colours = cli::colours(fd);
  style.bars = style.colours;
  style.width = cli::terminal_width(fd, style.width);
  const bool full = options.count("full") != 0;
  const std::string shown = told_folder(options, files.input);
  expert::VerdictPlace place{files.input, {}};
  if (!full)
    place.last = last_line(files.page ? files.html : files.output, files.page, files.cube, shown);
  // (What the verdict says is no note.)
  if (!full) say_rest(report);
  expert::print_verdict(out, report, style, place);
  if (full) {
    out << '\n'
        << expert::wrapped(files.input + ": " + describe(results.events, report), style.width, 0);
    out << '\n';
    expert::print_summary(out, report, style);
    if (wishes.print_instances) expert::print_instances(out, report, style);
  }
  if (wishes.print_send_modes) {
    expert::print_send_modes(out, report, style, results.send_modes, results.send_cost);
  }
  if (full && options.count("files-told") == 0) {
    if (files.output != "-" && files.cube) out << "\nReport: " << printable(files.output) << '\n';
    if (files.page) out << "Page: " << printable(files.html) << '\n';
  }
  if (options.count("files-told") == 0 && !kept.empty()) {
    out << "Trace: " << printable(kept) << '\n';
  }
  out.flush();
}

// Where what is found lies for the next time, if it is to: of the same work by so many processes.
KeptFiles kept_files(const po::variables_map& options, const merge::MergeOptions& merging,
                     std::size_t processes) {
  if (options.count("restart") == 0) return {};
  // (All but where and how much of the report is written.)
  std::vector<std::string> words = cli::words_of(
      options, {"restart", "output", "csv", "full", "doc-url", "no-source", "files-told"});
  for (const std::size_t number : {processes, static_cast<std::size_t>(merging.model)})
    words.push_back(std::to_string(number));
  words.emplace_back(KOJAK_VERSION);
  return {options["restart"].as<std::string>(),
          parallel::task_of(words, options["trace"].as<std::string>())};
}

void say_alone(const std::string& why) {
  std::cerr << "expert: one process analyses all: " << why << '\n';  // also if quiet
}

// Cuts the run for several processes, if they are wanted; says why where it cannot be. True: it is
// cut.
Result<bool> cut_in_parts(const po::variables_map& options, const expert::Input& reading,
                          parallel::Team& team, parallel::Parts& parts) {
  parallel::Parts::Options wanted;
  wanted.processes = expert::processes_of(options);
  if (team.size() > 1) {
    wanted.processes = static_cast<std::size_t>(team.size());
    wanted.team = &team;
  }
  if (options.count("cut-at") != 0) wanted.at = options["cut-at"].as<std::string>();
  if (wanted.processes == 1 && wanted.at.empty()) return false;
  const auto alone = [](const std::string& why) {
    say_alone(why);
    return false;
  };
  if (options.count("keep") != 0) return alone("--keep keeps what one process merges");
  if (reading.in_part()) return alone("--from and --to are for one process");
  if (reading.file() == "-") return alone("standard input is for one process");
  merge::MergeOptions merging;
  std::optional<cli::Progress> bar;
  // (Finding where to cut it takes as long as analysing it.)
  if (reading.merge() == nullptr)
    return alone("the trace is merged already (several processes need its run's folder)");
  merging = *reading.merge();
  if (team.size() > 1) {
    merging.threads =
        std::max(1u, merging.threads / static_cast<unsigned>(parallel::launched()->on_node));
  } else {
    merging.other_files = wanted.processes;
  }
  const auto show = [&](std::uint64_t done, std::uint64_t all) {
    if (!bar) bar.emplace("merging", all);
    bar->update_now(done);
  };
  if (team.leads()) merging.progress = show;
  wanted.merge = &merging;
  wanted.file = options["trace"].as<std::string>();
  wanted.note = [](const std::string& text) { cli::print_note(text); };
  wanted.kept = kept_files(options, merging, wanted.processes);
  if (wanted.kept && team.leads()) {
    if (Status status = wanted.kept.open(); !status) return status.error();
  }
  auto cut = parts.cut(wanted);
  if (cut && !*cut) return alone(parts.alone());
  return cut;
}

Result<std::optional<expert::Report>> by_several(parallel::Parts& parts,
                                                 const expert::AnalysisOptions& analysis) {
  if (const std::string why = parallel::too_much(analysis); !why.empty()) {
    say_alone(why);
    return std::optional<expert::Report>();
  }
  auto report = parts.analyse(analysis);
  if (report && !*report) say_alone(parts.alone());
  return report;
}

ExitCode analyse(const po::variables_map& options, parallel::Team& team) {
  const std::string input = options["trace"].as<std::string>();
  if (const std::string wrong = expert::wrong_processes(options, team.size()); !wrong.empty())
    return cli::usage_error(wrong);
  std::string output = options.count("output") != 0 ? options["output"].as<std::string>()
                                                    : expert::report_name(input);
  if (input == "-" && options.count("output") == 0) {
    return cli::usage_error("reading standard input needs -o REPORT ('-o -' for standard output)");
  }
  const std::string html =
      options.count("html") != 0 ? options["html"].as<std::string>() : std::string();
  const bool no_source = options.count("no-source") != 0;
  if (!html.empty() && (output == "-" || html == "-")) {
    return cli::usage_error("--html needs files: the page names the report");
  }
  const std::string json =
      options.count("json") != 0 ? options["json"].as<std::string>() : std::string();
  const std::string csv =
      options.count("csv") != 0 ? options["csv"].as<std::string>() : std::string();
  expert::Input reading(input);
  if (const std::string wrong = reading.complete(options, {output, html, json, csv});
      !wrong.empty()) {
    return cli::usage_error(wrong);
  }
  if (const auto refused = cli::overwrites({input}, {output, html, json, csv, reading.kept()})) {
    return *refused;
  }

  if (reading.in_part() && !html.empty()) {
    return cli::usage_error("--html shows whole traces: no --from, --to");
  }
  std::optional<html::TimelineReader> timeline;  // what the page shows of the analysis' pass
  if (!html.empty()) timeline.emplace(html::quick_limits());
  parallel::Parts parts;
  auto cut = cut_in_parts(options, reading, team, parts);
  if (!cut) return cli::failed(cut.error());
  if (!team.leads() && !*cut) return ExitCode::kFine;
  std::optional<earl::Trace> whole;  // as far as one process reads it
  const auto open = [&]() -> Status {
    auto opened = reading.open();
    if (!opened) return opened.error();
    whole.emplace(std::move(*opened));
    return {};
  };
  if (!*cut) {
    if (Status status = open(); !status) return cli::failed(status.error());
  }
  const earl::Trace* const trace = whole ? &*whole : &parts.definitions();
  expert::Wishes wishes;
  expert::AnalysisOptions& analysis = wishes.analysis;
  const std::uint64_t expected = whole ? reading.events(*whole) : parts.expected_events();
  if (team.size() > 1) wishes.in_folder = parallel::launched()->share_of_node();
  if (const std::string wrong = wishes.complete(options, *trace, expected); !wrong.empty()) {
    return cli::usage_error(wrong);
  }
  cli::Progress progress("analysing", expected);
  analysis.progress = [&](std::uint64_t events) { progress.update_now(events); };
  analysis.partners = !cli::quiet() || !html.empty() || !wishes.json.empty();
  for (const std::string& note : wishes.notes) cli::print_note(note);
  if (timeline) analysis.page = &*timeline;
  std::optional<expert::Report> in_parts;
  if (!team.leads()) {
    parts.serve(analysis);
    return ExitCode::kFine;
  }
  if (*cut) {
    auto report = by_several(parts, analysis);
    if (!report) return cli::failed(report.error());
    in_parts = std::move(*report);
  }
  if (!in_parts && !whole) {
    if (Status status = open(); !status) return cli::failed(status.error());
  }
  const expert::Report report = in_parts ? std::move(*in_parts) : expert::analyse(*whole, analysis);
  progress.finish();
  if (in_parts && !whole) reading.tell(parts.found());
  if (Status status = reading.finish(); !status) return cli::failed(status.error());

  // What cannot be written keeps nobody from reading what was found.
  std::vector<Error> failures;
  const auto wrote = [&](const Status& written) {
    if (!written) failures.push_back(written.error());
    return static_cast<bool>(written);
  };
  const std::string doc_url =
      options.count("doc-url") != 0 ? options["doc-url"].as<std::string>() : documentation_url();
  const bool cube = wrote(expert::write_cube(report, output, {.doc_url = doc_url}));
  expert::JsonInput results;
  results.trace = input;
  results.events = in_parts ? parts.events() : whole->events_read();
  const bool page =
      !html.empty() && wrote(write_html(report, timeline->finish(results.events), output, doc_url,
                                        no_source ? "" : reading.beside(), html));
  if (wishes.send_modes) {
    results.send_modes = wishes.send_modes->findings();
    results.send_cost = wishes.send_modes->cost();
  }
  if (!wishes.json.empty()) wrote(expert::write_json(report, results, wishes.json));
  if (!csv.empty()) wrote(expert::write_csv(report, csv));
  Written files{input, output, html, cube, page};
  files.to_stdout = output == "-" || wishes.json == "-" || csv == "-";
  if (!cli::quiet()) {
    print_results(options, report, results, wishes, files, reading.kept());
  }
  if (!failures.empty()) {
    for (const Error& failure : failures) cli::print_error(failure);
    return failures.front().code;
  }
  parts.forget_kept();
  if (!expert::any_suspect(report.findings())) {
    return reading.suspect() ? ExitCode::kSuspect : ExitCode::kFine;
  }
  if (cli::quiet()) {
    cli::print_error(input + ": results may be wrong: " + expert::suspects(report.findings()) +
                     "; run without --quiet for advice");
  }
  return ExitCode::kSuspect;
}

// One of a team that does not lead does what it is asked for, and says nothing: what it would say
// the leader says, too; or it is why it cannot do what it is asked for.
ExitCode follow(const po::variables_map& options, parallel::Team& team) {
  std::string why;
  {
    const parallel::Diverted said(std::cerr), printed(std::cout);
    const auto done = parallel::guarded([&] {
      (void)analyse(options, team);
      return std::vector<std::byte>();
    });
    why = done ? said.text() : done.error().message();
  }
  return team.wait_for_leader(why.substr(0, why.find_last_not_of('\n') + 1));
}

// What a launcher has started several times with the same task is done by one of them. `joined`:
// where they belong together, for as long as something may be said.
ExitCode run(const po::variables_map& options, const std::vector<std::string>& command,
             std::optional<parallel::Team>& joined) {
  if (options.count("list-patterns") != 0) {
    std::cout << expert::pattern_list(80);
    return ExitCode::kFine;
  }
  if (options.count("trace") == 0)
    return cli::usage_error("no trace given, nor the directory of a run");
  parallel::Team nobody;
  if (options.count("alone") != 0) return analyse(options, nobody);
  auto team = parallel::Team::join(
      {.command = command,
       .input = options["trace"].as<std::string>(),
       .libraries = {cli::program_folder() / "../" KOJAK_LIBDIR, cli::program_folder() / "../lib"},
       .note = [](const std::string& text) { cli::print_note(text); }});
  if (!team) {
    if (parallel::launched()->rank == 0) return cli::failed(team.error());
    // The launcher ends them all when one has failed: the first one has its say before.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return team.error().code;
  }
  joined.emplace(std::move(*team));
  // What is written goes through the launcher, which shows a terminal where there may be a file.
  if (joined->size() > 1) ::setenv("NO_COLOR", "1", 0);
  if (!joined->leads()) return follow(options, *joined);
  const ExitCode status = analyse(options, *joined);
  joined->end(status);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  cli::ToolOptions options;
  options.visible.add_options()  //
      ("output,o", po::value<std::string>()->value_name("REPORT"),
       "the report (default: the trace's, .cube)")  //
      ("html", po::value<std::string>()->value_name("PAGE"),
       "also write a page with timeline")                            //
      ("no-source", "no lines of the program's source on the page")  //
      ("json", po::value<std::string>()->value_name("FILE"),
       "also write the results as JSON")  //
      ("csv", po::value<std::string>()->value_name("FILE"),
       "also write its values, comma-separated")  //
      ("instances", po::value<std::size_t>()->value_name("N")->default_value(10),
       "print the N worst instances of each pattern")  //
      ("full", "print everything")                     //
      ("causes",
       po::value<std::string>()
           ->implicit_value("always", "")
           ->default_value("auto", "auto")
           ->value_name("WHEN"),
       "find causes of waits: always, auto or never")  //
      ("keep", po::value<std::string>()->implicit_value("", "DIR/a.elg")->value_name("FILE"),
       "of a run: keep the merged trace");
  cli::add_compression_of_kept(options.visible);
  options.visible.add_options()  //
      ("clock", po::value<std::string>()->value_name("none|linear|clc"),
       "of a run: how clocks are corrected")  //
      ("model", po::value<std::string>()->value_name("basic|extended"),
       "of a run: where transfers end")                               //
      ("send-modes", "print which messages waited, by kind of send")  //
      ("epsilon", po::value<double>()->value_name("SECONDS")->default_value(0, "0"),
       "by send mode: shorter waits are not listed")  //
      ("sendrecv-gap", po::value<double>()->value_name("SECONDS")->default_value(10e-6, "1e-05"),
       "by send mode: a send and receive this close")  //
      ("latency", po::value<double>()->value_name("SECONDS"),
       "by send mode: a message takes so long")                                             //
      ("bandwidth", po::value<double>()->value_name("BYTES/S"), "likewise, for its bytes")  //
      ("from", po::value<double>()->value_name("SECONDS"),
       "only what happens from this time on")                                    //
      ("to", po::value<double>()->value_name("SECONDS"), "and up to this time")  //
      ("select", po::value<std::vector<std::string>>()->value_name("METRICS")->composing(),
       "show only these parts of the tree")  //
      ("exclude", po::value<std::vector<std::string>>()->value_name("METRICS")->composing(),
       "do not show these parts of the tree")                     //
      ("list-patterns", "print all metrics with what they mean")  //
      ("doc-url", po::value<std::string>()->value_name("URL"),
       "where the pages about the patterns are");
  options.visible.add_options()("processes", po::value<std::size_t>()->value_name("N"),
                                "of a run: so many processes analyse it")(
      "restart", po::value<std::string>()->value_name("FOLDER"),
      "keep there what they find, and go on from it")("alone",
                                                      "do not ask other processes of an mpirun");
  // By kojak run, which says itself what lies where.
  options.hidden.add_options()("trace", po::value<std::string>())("files-told",
                                                                  po::value<std::string>());
  // For tests: cuts it at these meetings (parallel/slices.h).
  options.hidden.add_options()("cut-at", po::value<std::string>());
  options.positional.add("trace", 1);
  const std::vector<std::string> command(argv, argv + argc);
  std::optional<parallel::Team> joined;
  // Help is for all that a launcher has started: one of them prints it.
  std::optional<parallel::Diverted> help;
  if (const auto start = parallel::launched(); start && start->rank != 0) help.emplace(std::cout);
  return cli::run_tool(argc, argv, kInfo, options, [&](const po::variables_map& given) {
    if (given.count("list-patterns") == 0) help.reset();
    return run(given, command, joined);
  });
}
