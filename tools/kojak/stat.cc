// kojak stat: the largest values of a report, as a table or as comma-separated values.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epilog/format/text/printable.h"
#include "expert/causes/cause_metrics.h"
#include "expert/cube/reader.h"
#include "expert/output/format.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/aggregate.h"
#include "expert/profile/path.h"
#include "tools/cli/cli.h"
#include "tools/cli/table.h"
#include "tools/kojak/commands.h"

namespace kojak::run {
namespace {

using cube::Report;
using Names = std::vector<std::string>;

// What the rows of the table are: their names, and their values for a metric.
struct Rows {
  Names titles;
  std::size_t count = 0;
  std::function<Names(std::size_t row)> names;  // one for each title
  std::vector<double> (*values)(const Report&, std::size_t metric) = nullptr;
};

std::vector<double> with_callees(const Report& report, std::size_t metric) {
  std::vector<double> values = cube::call_path_sums(report, metric);
  cube::add_callees(report, values);
  return values;
}

Rows call_path_rows(const Report& report, bool inclusive) {
  auto paths = std::make_shared<cube::CallPaths>(report);
  return {{inclusive ? "call path, with callees" : "call path, without callees", "called at"},
          report.call_nodes.size(),
          [&report, paths](std::size_t c) {
            return Names{paths->name(c), report.call_site(c)};
          },
          inclusive ? with_callees : cube::call_path_sums};
}

Rows region_rows(const Report& report) {
  return {{"region", "module"},
          report.regions.size(),
          [&report](std::size_t r) {
            return Names{report.regions[r].name, report.regions[r].module};
          },
          cube::region_sums};
}

Rows location_rows(const Report& report) {
  return {
      {"location", "node"},
      report.locations(),
      [&report](std::size_t i) {
        std::size_t node = report.threads[i];
        while (node != cube::kNone && report.system[node].kind != cube::SystemKind::kNode) {
          node = report.system[node].parent;
        }
        return Names{report.location_name(i), node == cube::kNone ? "" : report.system[node].name};
      },
      cube::location_sums};
}

// Plain numbers where a program reads them.
std::string percent(double part, double whole, bool csv) {
  if (!csv) return cli::format_percent(part, whole);
  return cube::format_exact(whole == 0 ? 0 : 100 * part / whole);
}

bool is_pattern(const cube::Metric& metric) {
  const auto& all = expert::all_metrics();
  return std::any_of(all.begin(), all.end(), [&](const expert::Metric& entry) {
    return entry.name == metric.name && entry.kind == expert::Metric::Kind::kPattern;
  });
}

// Leaves of the metric tree and patterns, at each call path: a list of what to look at first. The
// seconds of a pattern are all of its, as `expert` says them; those inside it are rows of their
// own, and beside stands what they leave it.
void print_patterns(const Report& report, std::size_t top, bool csv) {
  struct Row {
    std::size_t metric, call_node;
    double value, own;
  };
  const std::vector<std::size_t> roots = cube::metric_roots(report);
  std::vector<bool> listed(report.metrics.size());
  std::vector<std::vector<std::size_t>> children(report.metrics.size());
  for (std::size_t m = 0; m < report.metrics.size(); ++m) {
    const cube::Metric& metric = report.metrics[m];
    if (metric.parent != cube::kNone) children[metric.parent].push_back(m);
    listed[m] = cube::unit_of(metric) == cube::Unit::kSeconds &&
                (!cube::has_child_metric(report, m) || is_pattern(metric)) &&
                !expert::is_of_causes(report.metrics[roots[m]].name);
  }
  const auto sum = [](std::span<const double> row) {
    return std::accumulate(row.begin(), row.end(), 0.0);
  };
  std::vector<Row> rows;
  report.severities.for_each_row([&](std::size_t m, std::size_t c, std::span<const double> row) {
    if (!listed[m]) return;
    Row found{m, c, sum(row), sum(row)};
    if (found.value == 0) return;
    for (const std::size_t child : children[m]) found.own -= sum(report.severities.row(child, c));
    // What subtraction leaves of equal numbers in decimal digits is nothing.
    if (std::abs(found.own) <= 1e-10 * std::abs(found.value)) found.own = 0;
    rows.push_back(found);
  });
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::abs(a.value) > std::abs(b.value);
  });
  if (top != 0 && rows.size() > top) rows.resize(top);
  cli::Table table({{"seconds"},
                    {csv ? "percent" : "of root"},
                    {csv ? "own" : "own part"},
                    {"metric", cli::Align::kLeft},
                    {"call path", cli::Align::kLeft},
                    {"called at", cli::Align::kLeft}});
  const std::vector<double> totals = cube::totals(report);
  const cube::CallPaths paths(report);
  const auto seconds = [&](double value) {
    return csv ? cube::format_exact(value) : cube::format_value(cube::Unit::kSeconds, value);
  };
  for (const Row& row : rows) {
    table.add({seconds(row.value), percent(row.value, totals[roots[row.metric]], csv),
               seconds(row.own), printable_name(report.metrics[row.metric].name, csv ? 0 : 32),
               printable_path(paths.name(row.call_node), csv ? 0 : 60),
               printable_path(report.call_site(row.call_node), csv ? 0 : 32)});
  }
  csv ? table.print_csv(std::cout) : table.print(std::cout);
}

void print_rows(const Report& report, const Rows& rows, const std::vector<std::size_t>& metrics,
                std::size_t top, bool csv) {
  std::vector<std::vector<double>> values;
  for (const std::size_t metric : metrics) values.push_back(rows.values(report, metric));
  std::vector<std::size_t> order(rows.count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(values[0][a]) > std::abs(values[0][b]);
  });
  std::vector<cli::Table::Column> columns;
  for (const std::size_t metric : metrics) {
    columns.push_back({printable_name(report.metrics[metric].name, csv ? 0 : 32)});
  }
  columns.push_back({csv ? "percent" : "of total"});
  // Programs read titles as they were.
  for (const std::string& title : rows.titles) {
    columns.push_back({csv ? title.substr(0, title.find(',')) : title, cli::Align::kLeft});
  }
  cli::Table table(columns);
  const double whole = cube::total(report, metrics[0]);
  for (std::size_t i = 0; i < order.size() && (top == 0 || i < top); ++i) {
    const std::size_t row = order[i];
    const bool nothing = std::all_of(values.begin(), values.end(),
                                     [&](const std::vector<double>& v) { return v[row] == 0; });
    if (nothing) continue;
    Names cells;
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      cells.push_back(
          csv ? cube::format_exact(values[m][row])
              : cube::format_value(cube::unit_of(report.metrics[metrics[m]]), values[m][row]));
    }
    cells.push_back(percent(values[0][row], whole, csv));
    for (const std::string& name : rows.names(row)) {
      cells.push_back(printable_path(name, csv ? 0 : 60));
    }
    table.add(std::move(cells));
  }
  csv ? table.print_csv(std::cout) : table.print(std::cout);
}

ExitCode run_stat(const cli::po::variables_map& values) {
  if (values.count("report") == 0) return cli::usage_error("name a report");
  const auto by = values["by"].as<std::string>();
  if (by != "callpath" && by != "region" && by != "location" && by != "pattern") {
    return cli::usage_error("--by takes callpath, region, location or pattern, not " + by);
  }
  const Result<Report> report = cube::read_report(values["report"].as<std::string>());
  if (!report) return cli::failed(report.error());
  for (const std::string& warning : report->warnings)
    cli::print_warning(report->file + ": " + warning);
  std::vector<std::size_t> metrics;
  if (values.count("metric") != 0) {
    for (const std::string& name : values["metric"].as<Names>()) {
      metrics.push_back(report->find_metric(name));
      if (metrics.back() == cube::kNone) {
        return cli::usage_error("the report has no metric " + name + "; kojak info lists them");
      }
    }
  } else {
    metrics.push_back(0);
  }
  const bool csv = values.count("csv") != 0;
  const auto top = values["top"].as<std::size_t>();
  if (by == "pattern") {
    print_patterns(*report, top, csv);
  } else {
    const Rows rows = by == "region"     ? region_rows(*report)
                      : by == "location" ? location_rows(*report)
                                         : call_path_rows(*report, values.count("inclusive") != 0);
    print_rows(*report, rows, metrics, top, csv);
  }
  return ExitCode::kFine;
}

}  // namespace

int stat_command(int argc, char** argv) {
  const cli::ToolInfo info{"kojak stat", "[options] REPORT",
                           "Lists the largest values of a CUBE report, worst first.",
                           "kojak stat --by callpath -m mpi_rma_fence_wait -m time -n 5 a.cube"};
  cli::ToolOptions options;
  options.visible.add_options()("by,b",
                                cli::po::value<std::string>()->default_value("pattern")->value_name(
                                    "pattern|callpath|region|location"),
                                "what a row is; pattern: each pattern or leaf metric in seconds at "
                                "each call path, with those "
                                "inside it")(
      "metric,m", cli::po::value<Names>()->value_name("NAME"),
      "unique name of a metric, a column each; sorted by the first (default: the first metric of "
      "the report; not with --by pattern)")(
      "top,n", cli::po::value<std::size_t>()->default_value(10)->value_name("N"),
      "how many rows; 0: all")("inclusive,i", "values of call paths with their callees")(
      "csv", "comma-separated values");
  options.hidden.add_options()("report", cli::po::value<std::string>());
  options.positional.add("report", 1);
  return cli::run_tool(argc, argv, info, options, run_stat);
}

}  // namespace kojak::run
