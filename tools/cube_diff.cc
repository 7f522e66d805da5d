// cube_diff: what became better and worse between two reports, per metric and per call path.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "expert/catalogue.h"
#include "expert/cube/aggregate.h"
#include "expert/cube/difference.h"
#include "expert/cube/format.h"
#include "expert/cube/reader.h"
#include "expert/html/page.h"
#include "tools/cli/cli.h"
#include "tools/cli/table.h"

namespace {

using namespace kojak;
using cube::Report;

struct Change {
  std::size_t metric, call_node;
  double before, after;
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
  const auto characters = static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  const std::string blanks(width > characters ? width - characters : 0, ' ');
  return right ? blanks + text : text + blanks;
}

void print_metrics(const cube::Difference& difference, double threshold, bool all) {
  const std::vector<double> before = cube::totals(difference.before);
  const std::vector<double> after = cube::totals(difference.after);
  std::cout << padded("metric", 40, false) << padded("before", 16, true)
            << padded("after", 16, true) << padded("change", 16, true) << "\n";
  std::size_t hidden = 0;
  for (std::size_t m = 0; m < before.size(); ++m) {
    const cube::Metric& metric = difference.before.metrics[m];
    const std::size_t root = cube::metric_root(difference.before, m);
    const Change change{m, 0, before[m], after[m]};
    const bool small = !matters(change, std::max(before[root], after[root]), threshold);
    if (!all && metric.parent != cube::kNone && small) {
      ++hidden;
      continue;
    }
    if (before[m] == 0 && after[m] == 0) continue;
    const cube::Unit unit = cube::unit_of(metric);
    const std::string indent(2 * cube::depth_of_metric(difference.before, m), ' ');
    const std::string delta = cube::format_change(unit, change.change());
    std::cout << padded(cube::printable(indent + metric.title, 40), 40, false)
              << padded(cube::format_value(unit, before[m]), 16, true)
              << padded(cube::format_value(unit, after[m]), 16, true)
              << coloured(padded(delta, 16, true), change.change()) << "  "
              << relative(before[m], after[m]) << '\n';
  }
  if (hidden > 0) {
    std::cout << "(" << hidden << " metrics changed by less than the threshold or not at all; "
              << "--all shows them)\n";
  }
}

// All changes of metrics in seconds, each second counted once: leaves, and what an inner metric has
// beyond its children.
std::vector<Change> call_path_changes(const cube::Difference& difference) {
  const auto exclusive = [](const Report& report) {
    std::vector<std::vector<double>> values;
    for (std::size_t m = 0; m < report.metrics.size(); ++m) {
      values.push_back(cube::call_path_sums(report, m));
    }
    for (std::size_t m = 1; m < report.metrics.size(); ++m) {
      const std::size_t parent = report.metrics[m].parent;
      if (parent == cube::kNone) continue;
      // A parent comes first, so it still holds its inclusive value when its child subtracts.
      for (std::size_t c = 0; c < values[m].size(); ++c) values[parent][c] -= values[m][c];
    }
    return values;
  };
  const auto before = exclusive(difference.before);
  const auto after = exclusive(difference.after);
  std::vector<Change> changes;
  for (std::size_t m = 0; m < before.size(); ++m) {
    if (cube::unit_of(difference.before.metrics[m]) != cube::Unit::kSeconds) continue;
    for (std::size_t c = 0; c < before[m].size(); ++c) {
      const Change change{m, c, before[m][c], after[m][c]};
      if (change.change() != 0) changes.push_back(change);
    }
  }
  return changes;
}

void print_changes(const cube::Difference& difference, std::vector<Change> changes, bool worse,
                   double root, double threshold, std::size_t top) {
  std::erase_if(changes, [&](const Change& change) {
    return (change.change() > 0) != worse || !matters(change, root, threshold);
  });
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::abs(a.change()) > std::abs(b.change());
  });
  std::cout << '\n' << cli::bold(worse ? "Regressions" : "Improvements");
  if (changes.empty()) {
    std::cout << ": none\n";
    return;
  }
  std::cout << " (" << changes.size() << ")\n";
  for (std::size_t i = 0; i < changes.size() && (top == 0 || i < top); ++i) {
    const Change& change = changes[i];
    const Report& report = difference.before;
    const std::string site = report.call_site(change.call_node);
    std::cout << coloured(
                     padded(cube::format_change(cube::Unit::kSeconds, change.change()), 14, true),
                     change.change())
              << " s  " << padded(relative(change.before, change.after), 10, true) << "  "
              << cube::printable(report.metrics[change.metric].title, 30)
              << (cube::has_child_metric(report, change.metric) ? " (rest)" : "") << "  in  "
              << cube::printable_path(report.call_path(change.call_node), 60)
              << (site.empty() ? "" : "  (" + cube::printable_path(site, 32) + ")") << '\n';
  }
}

void print_csv(const cube::Difference& difference) {
  cli::Table table({{"metric"}, {"call path"}, {"called at"}, {"before"}, {"after"}, {"change"}});
  const Report& report = difference.before;
  for (std::size_t m = 0; m < report.metrics.size(); ++m) {
    const std::vector<double> before = cube::call_path_sums(difference.before, m);
    const std::vector<double> after = cube::call_path_sums(difference.after, m);
    for (std::size_t c = 0; c < before.size(); ++c) {
      if (before[c] == 0 && after[c] == 0) continue;
      table.add({cube::printable(report.metrics[m].name), cube::printable(report.call_path(c)),
                 cube::printable(report.call_site(c)), cube::format_exact(before[c]),
                 cube::format_exact(after[c]), cube::format_exact(after[c] - before[c])});
    }
  }
  table.print_csv(std::cout);
}

ExitCode run(const cli::po::variables_map& values) {
  if (values.count("before") == 0 || values.count("after") == 0) {
    return cli::usage_error("name two reports: the one before and the one after");
  }
  const auto percent = values["threshold"].as<double>();
  if (!(percent >= 0 && percent <= 100)) return cli::usage_error("--threshold takes 0 to 100");
  std::vector<Report> reports;
  for (const char* which : {"before", "after"}) {
    Result<Report> report = cube::read_report(values[which].as<std::string>());
    if (!report) {
      cli::print_error(report.error());
      return report.error().code;
    }
    for (const std::string& warning : report->warnings)
      cli::print_warning(report->file + ": " + warning);
    reports.push_back(std::move(*report));
  }
  const cube::Difference difference = cube::align(reports[0], reports[1]);
  if (!difference.by_location) {
    cli::print_note("the runs have different processes: values are compared over all of them");
  }
  if (values.count("output") != 0) {
    html::PageOptions options;
    options.version = KOJAK_VERSION;
    options.catalogue = expert::all_metrics();
    const auto output = values["output"].as<std::string>();
    if (const Status status = html::write_difference_page(difference, options, output); !status) {
      cli::print_error(status.error());
      return status.error().code;
    }
    if (output == "-") return ExitCode::kFine;
    cli::print_note("wrote " + output + ": open it in a browser");
  }
  if (values.count("csv") != 0) {
    print_csv(difference);
    return ExitCode::kFine;
  }
  const double threshold = percent / 100;
  const auto top = values["top"].as<std::size_t>();
  std::cout << "before: " << cube::printable(reports[0].file) << " (" << reports[0].locations()
            << " locations)\nafter:  " << cube::printable(reports[1].file) << " ("
            << reports[1].locations() << " locations)\n\n";
  print_metrics(difference, threshold, values.count("all") != 0);
  const std::vector<Change> changes = call_path_changes(difference);
  const double root = std::max(cube::total(difference.before, 0), cube::total(difference.after, 0));
  print_changes(difference, changes, true, root, threshold, top);
  print_changes(difference, changes, false, root, threshold, top);
  return ExitCode::kFine;
}

}  // namespace

int main(int argc, char** argv) {
  const cli::ToolInfo info{"cube_diff", "[options] BEFORE AFTER",
                           "Compares two CUBE reports: what became better and what became worse.",
                           "cube_diff -o change.html slow.cube fast.cube"};
  cli::ToolOptions options;
  options.visible.add_options()("output,o", cli::po::value<std::string>(),
                                "also write a page with improvements and regressions")(
      "top,n", cli::po::value<std::size_t>()->default_value(10),
      "how many call paths of each kind; 0: all")(
      "threshold,t", cli::po::value<double>()->default_value(0.5, "0.5"),
      "leave out changes below this percentage of the run")("all,a", "every metric")(
      "csv", "every metric and call path as comma-separated values");
  options.hidden.add_options()("before", cli::po::value<std::string>())(
      "after", cli::po::value<std::string>());
  options.positional.add("before", 1).add("after", 1);
  return cli::run_tool(argc, argv, info, options, run);
}
