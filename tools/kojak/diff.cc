// kojak diff: what became better and worse between two reports, per metric and per call path; a
// series of more than two reports; whether the last one is worse.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "epilog/format/io/writer.h"
#include "epilog/format/text/counts.h"
#include "epilog/format/text/printable.h"
#include "expert/cube/difference.h"
#include "expert/cube/reader.h"
#include "expert/findings/differences.h"
#include "expert/findings/short_names.h"
#include "expert/output/format.h"
#include "expert/output/terminal.h"
#include "expert/page/page.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/aggregate.h"
#include "expert/profile/path.h"
#include "tools/cli/cli.h"
#include "tools/cli/table.h"
#include "tools/kojak/commands.h"
#include "tools/kojak/series.h"

namespace kojak::run {
namespace {

using cube::Report;
using expert::width_of;

struct Change {
  std::size_t metric, call_node;
  double before, after;
  bool rest = false;  // parts of the metric have their own share of the call path
  double change() const { return after - before; }
};

std::string coloured(const std::string& text, double change) {
  if (change == 0 || !cli::colours(1)) return text;
  return (change > 0 ? "\033[31m" : "\033[32m") + text + "\033[0m";
}

std::string relative(double before, double after) {
  if (before == after) return "=";
  if (before == 0) return "new";
  if (after == 0) return "gone";
  const double factor = after / before;
  if (factor >= 10) return cli::format_seconds(factor, 0) + " x";
  const std::string text = cli::format_percent(after - before, std::abs(before));
  return after > before ? "+" + text : text;
}

// Values below this part of the root's total are noise in a list of what matters.
bool matters(const Change& change, double root, double threshold) {
  return std::abs(change.change()) > 0 && std::abs(change.change()) >= threshold * std::abs(root);
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t characters = width_of(text);
  const std::string blanks(width > characters ? width - characters : 0, ' ');
  return right ? blanks + text : text + blanks;
}

struct MetricRow {
  std::string name, before, after, change, relative;
  double sign = 0;  // of the change
};

// Columns as wide as they need to be; names take what a terminal leaves.
void print_table(const std::vector<MetricRow>& rows) {
  std::size_t before = 0, after = 0, change = 0, relative = 0, name = 0;
  for (const MetricRow& row : rows) {
    before = std::max(before, row.before.size());
    after = std::max(after, row.after.size());
    change = std::max(change, row.change.size());
    relative = std::max(relative, row.relative.size());
    name = std::max(name, row.name.size());
  }
  const std::size_t others = before + after + change + relative + 8;
  const std::size_t width = cli::terminal_width();
  name = std::min(name, std::max<std::size_t>(24, width > others ? width - others : 0));
  for (const MetricRow& row : rows) {
    std::cout << padded(printable_name(row.name, name), name, false) << "  "
              << padded(row.before, before, true) << "  " << padded(row.after, after, true) << "  "
              << coloured(padded(row.change, change, true), row.sign)
              << (row.relative.empty() ? "" : "  ")
              << (row.relative.empty() ? "" : padded(row.relative, relative, true)) << '\n';
  }
}

void print_metrics(const cube::Difference& difference, double threshold, bool all) {
  const std::vector<double> before = cube::totals(difference.before);
  const std::vector<double> after = cube::totals(difference.after);
  std::vector<MetricRow> rows{{"metric", "before", "after", "change", "", 0}};
  const std::vector<std::size_t> roots = cube::metric_roots(difference.before);
  const std::vector<std::size_t> depths = cube::metric_depths(difference.before);
  std::size_t hidden = 0;
  for (std::size_t m = 0; m < before.size(); ++m) {
    const cube::Metric& metric = difference.before.metrics[m];
    const std::size_t root = roots[m];
    const Change change{m, 0, before[m], after[m]};
    const bool small = !matters(change, std::max(before[root], after[root]), threshold);
    if (!all && metric.parent != cube::kNone && small) {
      ++hidden;
      continue;
    }
    if (before[m] == 0 && after[m] == 0) continue;
    const cube::Unit unit = cube::unit_of(metric);
    constexpr std::size_t kDeepest = 20;
    const std::string indent(2 * std::min(depths[m], kDeepest), ' ');
    rows.push_back({indent + metric.title, cube::format_value(unit, before[m]),
                    cube::format_value(unit, after[m]), cube::format_change(unit, change.change()),
                    relative(before[m], after[m]),
                    unit == cube::Unit::kSeconds ? change.change() : 0});
  }
  print_table(rows);
  if (hidden > 0) {
    std::cout << "(" << hidden << " metrics changed by less than the threshold or not at all; "
              << "--all shows them)\n";
  }
}

// All changes of metrics in seconds, each second counted once: leaves, and what an inner metric has
// beyond its children.
std::vector<Change> call_path_changes(const cube::Difference& difference) {
  const auto before = cube::own_call_path_sums(difference.before);
  const auto after = cube::own_call_path_sums(difference.after);
  std::vector<Change> changes;
  for (std::size_t m = 0; m < before.size(); ++m) {
    if (cube::unit_of(difference.before.metrics[m]) != cube::Unit::kSeconds) continue;
    const std::vector<double> whole_before = cube::call_path_sums(difference.before, m);
    const std::vector<double> whole_after = cube::call_path_sums(difference.after, m);
    for (std::size_t c = 0; c < before[m].size(); ++c) {
      const bool rest = whole_before[c] != before[m][c] || whole_after[c] != after[m][c];
      const Change change{m, c, before[m][c], after[m][c], rest};
      if (change.change() != 0) changes.push_back(change);
    }
  }
  return changes;
}

// The call path and where its call stands: behind what the line holds already, or below it.
void print_place(const Report& report, std::size_t call_node, std::size_t used) {
  const std::size_t width = std::max<std::size_t>(cli::terminal_width(), 60);
  const std::string name = report.region_name(call_node);
  // "between MPI_Put a.c:3 and ..." has its places in its name.
  const bool placed = cube::without_places(name) != name;
  const std::string call_site = placed ? "" : report.call_site(call_node);
  const std::string site =
      call_site.empty() ? "" : "  (" + printable_path(call_site, width / 3) + ")";
  const std::string path = printable(report.call_path(call_node));
  constexpr std::size_t kIndent = 30;
  const bool fits = used + 4 + width_of(path) + width_of(site) <= width;
  const std::size_t room = width - kIndent - std::min(width - kIndent - 16, width_of(site) + 3);
  std::cout << (fits ? "  in  " : "\n" + std::string(kIndent, ' ') + "in ")
            << (fits ? path : printable_path(path, room)) << site << '\n';
}

// What a list holds: changes of one direction at call paths that both reports have, or those that
// only one has.
struct List {
  const char* heading;
  std::vector<Change> changes;
};

void print_list(const cube::Difference& difference, List list, std::size_t top) {
  if (list.changes.empty()) return;
  std::stable_sort(list.changes.begin(), list.changes.end(), [](const Change& a, const Change& b) {
    return std::abs(a.change()) > std::abs(b.change());
  });
  std::cout << '\n' << cli::bold(list.heading) << " (" << list.changes.size() << ")\n";
  for (std::size_t i = 0; i < list.changes.size() && (top == 0 || i < top); ++i) {
    const Change& change = list.changes[i];
    const Report& report = difference.before;
    const std::string seconds = cube::format_change(cube::Unit::kSeconds, change.change());
    const cube::Metric& metric = report.metrics[change.metric];
    const bool execution = metric.name == expert::Execution::kMetric.name;
    const std::string title =
        execution ? "outside of MPI"
                  : printable_name(metric.title, 40) + (change.rest ? " (rest)" : "");
    std::cout << coloured(padded(seconds, 14, true), change.change()) << " s  "
              << padded(relative(change.before, change.after), 10, true) << "  " << title;
    print_place(report, change.call_node, 30 + width_of(title));
  }
  if (top != 0 && list.changes.size() > top)
    std::cout << std::string(16, ' ') << "and " << list.changes.size() - top << " more (--top 0)\n";
}

// Of the tree of time, where each second is once; of all trees if `full`.
void print_lists(const cube::Difference& difference, double threshold, bool full, std::size_t top) {
  using In = cube::Difference::In;
  const double run = std::max(cube::total(difference.before, 0), cube::total(difference.after, 0));
  const std::vector<std::size_t> roots = cube::metric_roots(difference.before);
  List worse{"Worse", {}}, better{"Better", {}}, before{"Only before", {}}, after{"Only after", {}};
  for (const Change& change : call_path_changes(difference)) {
    if (!full && roots[change.metric] != 0) continue;
    if (!matters(change, run, threshold)) continue;
    if (threshold > 0 && !expert::beyond_noise(change.before, change.after, 0)) continue;
    const In in = difference.call_nodes_in[change.call_node];
    List& list = in == In::kBefore     ? before
                 : in == In::kAfter    ? after
                 : change.change() > 0 ? worse
                                       : better;
    list.changes.push_back(change);
  }
  for (List* list : {&worse, &better, &before, &after})
    print_list(difference, std::move(*list), top);
}

void print_csv(const cube::Difference& difference) {
  cli::Table table({{"metric"}, {"call path"}, {"called at"}, {"before"}, {"after"}, {"change"}});
  const Report& report = difference.before;
  const cube::CallPaths paths(report);
  for (std::size_t m = 0; m < report.metrics.size(); ++m) {
    const std::vector<double> before = cube::call_path_sums(difference.before, m);
    const std::vector<double> after = cube::call_path_sums(difference.after, m);
    for (std::size_t c = 0; c < before.size(); ++c) {
      if (before[c] == 0 && after[c] == 0) continue;
      table.add({printable(report.metrics[m].name), printable(paths.name(c)),
                 printable(report.call_site(c)), cube::format_exact(before[c]),
                 cube::format_exact(after[c]), cube::format_exact(after[c] - before[c])});
    }
  }
  table.print_csv(std::cout);
}

// Runs of different sizes compare by the time that each process took.
void print_run(const char* which, const Report& report) {
  std::cout << which << printable(report.file) << " (" << report.locations() << " locations";
  if (report.locations() > 0 && cube::unit_of(report.metrics[0]) == cube::Unit::kSeconds) {
    const double each = cube::total(report, 0) / static_cast<double>(report.locations());
    std::cout << ", " << cube::format_value(cube::Unit::kSeconds, each) << " s each";
  }
  std::cout << ")\n";
}

// One row a run, and of each pattern that matters somewhere the share of its time.
void print_series(const std::vector<Run>& runs, bool weak, double threshold, bool all) {
  const auto seconds = [](double value) { return cube::format_value(cube::Unit::kSeconds, value); };
  cli::Table table({{"processes"},
                    {"seconds"},
                    {"speedup"},
                    {weak ? "of ideal (weak)" : "of ideal"},
                    {"efficiency"},
                    {"load balance"},
                    {"waiting"},
                    {"report", cli::Align::kLeft}});
  for (const Run& run : runs) {
    const bool known = run.efficiency.has_value();
    table.add({std::to_string(run.processes), seconds(run.time),
               run.time > 0 ? cli::format_seconds(runs[0].time / run.time, 2) : "-",
               cli::format_percent(of_ideal(runs[0], run, weak), 1),
               known ? cli::format_percent(run.efficiency->parallel(), 1) : "-",
               known ? cli::format_percent(run.efficiency->load_balance, 1) : "-",
               cli::format_percent(run.each(run.waiting), run.time), printable_name(run.file, 60)});
  }
  table.print(std::cout);
  std::vector<cli::Table::Column> columns{{"waiting, part of the time", cli::Align::kLeft}};
  for (const Run& run : runs) columns.push_back({std::to_string(run.processes)});
  cli::Table waits(std::move(columns));
  std::size_t hidden = 0;
  for (std::size_t p = 0; p < patterns().size(); ++p) {
    std::vector<std::string> cells{patterns()[p].title};
    double largest = 0;
    for (const Run& run : runs) {
      const double part = run.time > 0 ? run.each(run.waits[p]) / run.time : 0;
      largest = std::max(largest, part);
      cells.push_back(cli::format_percent(part, 1));
    }
    if (largest == 0) continue;
    if (all || largest >= threshold) {
      waits.add(std::move(cells));
    } else {
      ++hidden;
    }
  }
  if (!waits.empty()) {
    std::cout << '\n';
    waits.print(std::cout);
  }
  if (hidden > 0) {
    std::cout << "(" << counted(hidden, "pattern is", "patterns are")
              << " below the threshold; --all shows them)\n";
  }
}

void print_series_csv(const std::vector<Run>& runs) {
  cli::Table table({{"report"}, {"processes"}, {"locations"}, {"metric"}, {"seconds"}});
  for (const Run& run : runs) {
    const auto add = [&](const std::string& metric, double value) {
      table.add({printable(run.file), std::to_string(run.processes), std::to_string(run.locations),
                 metric, cube::format_exact(value)});
    };
    add("run_time", run.time);
    for (std::size_t p = 0; p < patterns().size(); ++p) {
      if (run.waits[p] != 0) add(patterns()[p].name, run.waits[p]);
    }
  }
  table.print_csv(std::cout);
}

// Nothing of reports that do not have the time of processes.
std::optional<std::string> verdict(const std::vector<Report>& reports) {
  std::vector<Run> runs;
  for (const Report& report : reports) {
    auto run = run_of(report);
    if (!run) return std::nullopt;
    runs.push_back(std::move(*run));
  }
  const bool of_each = !same_sizes(runs);
  const auto compared = [&](const Run& run) {
    const auto scaled = [&](double seconds) { return of_each ? run.each(seconds) : seconds; };
    expert::ComparedRun result{
        printable_name(run.file, 60), run.time, scaled(run.total), scaled(run.computing), {}};
    for (const double wait : run.waits) result.waits.push_back(scaled(wait));
    return result;
  };
  std::vector<std::string> titles;
  for (const Pattern& pattern : patterns()) titles.push_back(pattern.title);
  return expert::difference_words(compared(runs[0]), compared(runs[1]), titles, of_each);
}

// Two reports, one beside the other.
// to_stdout: standard output is taken by something else.
Status compare(const std::vector<Report>& reports, const std::string& page, bool to_stdout,
               double threshold, const cli::po::variables_map& values) {
  const cube::Difference difference = cube::align(reports[0], reports[1]);
  if (!difference.by_location) {
    cli::print_note("the runs have different processes: values are compared over all of them");
  }
  if (!page.empty()) {
    html::PageOptions options;
    options.version = KOJAK_VERSION;
    options.catalogue = expert::all_metrics();
    if (const Status status = html::write_difference_page(difference, options, page); !status)
      return status;
    if (page == "-" || to_stdout) return {};
    cli::print_note("wrote " + page + ": open it in a browser");
  }
  if (values.count("csv") != 0) {
    print_csv(difference);
    return {};
  }
  const auto top = values["top"].as<std::size_t>();
  if (const auto words = verdict(reports)) {
    const unsigned width = std::max(cli::terminal_width(), 40U);
    std::cout << expert::wrapped(*words, width, 0) << '\n';
  }
  print_run("before: ", reports[0]);
  print_run("after:  ", reports[1]);
  const bool all = values.count("all") != 0, full = all || values.count("full") != 0;
  print_lists(difference, threshold, full, top);
  if (full) {
    std::cout << '\n';
    print_metrics(difference, threshold, all);
  }
  return {};
}

// Whether something became worse, in words.
void print_regressions(const std::vector<Regression>& worse, const Run& last, double percent) {
  for (const Regression& r : worse) {
    const std::string of = r.metric == "time" ? "" : ", of each process in the mean";
    cli::print_warning(last.file + ": " + r.title + " grew from " +
                       cube::format_value(cube::Unit::kSeconds, r.before) + " to " +
                       cube::format_value(cube::Unit::kSeconds, r.after) + " s" + of +
                       ", by more than " + cli::format_seconds(percent, 1) + " % of the run");
  }
}

ExitCode run_diff(const cli::po::variables_map& values) {
  const auto names = values.count("report") != 0 ? values["report"].as<std::vector<std::string>>()
                                                 : std::vector<std::string>();
  if (names.size() < 2) {
    return cli::usage_error("name two reports, the one before and the one after, or more");
  }
  if (std::count(names.begin(), names.end(), "-") > 1) {
    return cli::usage_error("only one of the reports can come from standard input");
  }
  const auto text_of = [&](const char* option) {
    return values.count(option) != 0 ? values[option].as<std::string>() : std::string();
  };
  const std::string page = text_of("output"), json = text_of("json");
  if (const auto refused = cli::overwrites(names, {page, json})) return *refused;
  if (!page.empty() && names.size() > 2) {
    return cli::usage_error("a page compares two reports: leave the others out");
  }
  if (json == "-" && (page == "-" || values.count("csv") != 0)) {
    return cli::usage_error("only one thing can go to standard output");
  }
  const auto percent = values["threshold"].as<double>();
  if (!(percent >= 0 && percent <= 100)) return cli::usage_error("--threshold takes 0 to 100");
  std::optional<double> limit;
  if (values.count("fail-above") != 0) {
    limit = values["fail-above"].as<double>();
    if (!(*limit >= 0)) return cli::usage_error("--fail-above takes a percentage, 0 or more");
  }
  const bool series = names.size() > 2, weak = values.count("weak") != 0;
  const bool measured = series || limit || !json.empty();
  std::vector<Report> reports;
  std::vector<Run> runs;
  for (const std::string& name : names) {
    Result<Report> report = cube::read_report(name);
    if (!report) return cli::failed(report.error());
    for (const std::string& warning : report->warnings)
      cli::print_warning(report->file + ": " + warning);
    if (measured) {
      auto made = run_of(*report);
      if (!made) return cli::failed(made.error());
      runs.push_back(std::move(*made));
    }
    if (!series) reports.push_back(std::move(*report));
  }
  if (limit && !same_sizes(runs)) {
    return cli::failed({ExitCode::kBadInput, names.back(), std::nullopt, "", "",
                        "the runs have different numbers of processes or threads",
                        "--fail-above compares runs of one size"});
  }
  if (!series && (json != "-" || !page.empty())) {
    if (const Status done = compare(reports, page, json == "-", percent / 100, values); !done)
      return cli::failed(done.error());
  } else if (series && values.count("csv") != 0) {
    print_series_csv(runs);
  } else if (series && json != "-") {
    print_series(runs, weak, percent / 100, values.count("all") != 0);
  }
  std::vector<Regression> worse;
  if (limit) worse = regressions(runs, *limit / 100);
  if (!json.empty()) {
    const auto part = limit ? std::optional<double>(*limit / 100) : std::nullopt;
    if (const Status written = OutputFile::write_whole(json, series_json(runs, weak, part, worse));
        !written)
      return cli::failed(written.error());
  }
  print_regressions(worse, runs.empty() ? Run() : runs.back(), limit.value_or(0));
  return worse.empty() ? ExitCode::kFine : ExitCode::kSuspect;
}

}  // namespace

int diff_command(int argc, char** argv) {
  const cli::ToolInfo info{
      "kojak diff", "[options] BEFORE AFTER | REPORT REPORT...",
      "Compares two CUBE reports: which run is faster, what became better, what worse. Of more "
      "than two,\n"
      "in the order of their processes or of time: a series, with time, efficiency and waiting.",
      "kojak diff --fail-above 5 --json change.json old.cube new.cube"};
  cli::ToolOptions options;
  options.visible.add_options()("output,o", cli::po::value<std::string>()->value_name("PAGE"),
                                "also write a page with improvements and regressions")(
      "json", cli::po::value<std::string>()->value_name("FILE"),
      "also write time, waiting and efficiency of each run for scripts")(
      "fail-above", cli::po::value<double>()->value_name("PERCENT"),
      "exit status 3 if the last run took or waited longer than those before (their median) by "
      "more "
      "than this part of the run")("weak", "a series in which the work grows with the processes")(
      "top,n", cli::po::value<std::size_t>()->default_value(10)->value_name("N"),
      "how many call paths of each kind; 0: all")(
      "threshold,t", cli::po::value<double>()->default_value(1, "1")->value_name("PERCENT"),
      "leave out changes below this part of the run, and below 5 % of the value")(
      "full", "also the other trees, and a table of all metrics that changed")(
      "all,a", "the same with every metric")(
      "csv", "every metric and call path as comma-separated values");
  options.hidden.add_options()("report", cli::po::value<std::vector<std::string>>());
  options.positional.add("report", -1);
  return cli::run_tool(argc, argv, info, options, run_diff);
}

}  // namespace kojak::run
