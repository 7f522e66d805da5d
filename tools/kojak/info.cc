// kojak info: what a report holds: its trees, its system, and the metrics with their totals.
#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <string_view>

#include "epilog/format/merge_properties.h"
#include "epilog/format/text/printable.h"
#include "expert/cube/reader.h"
#include "expert/output/format.h"
#include "expert/profile/aggregate.h"
#include "tools/cli/cli.h"
#include "tools/cli/table.h"
#include "tools/kojak/commands.h"

namespace kojak::run {
namespace {

using cube::Report;

constexpr std::size_t kNameWidth = 60;

// Two blanks a level; very deep ones have their number instead, so that a line stays a line.
std::string indent(std::size_t depth) {
  constexpr std::size_t kDeepest = 40;
  if (depth <= kDeepest) return std::string(2 * depth, ' ');
  return std::string(2 * kDeepest, ' ') + "[" + std::to_string(depth) + "] ";
}

void print_summary(const Report& report) {
  const auto line = [](const char* what, const std::string& value) {
    std::cout << what << printable(value) << '\n';
  };
  std::array<std::size_t, 4> nodes{};
  for (const cube::SystemNode& node : report.system) {
    const bool place =
        node.kind == cube::SystemKind::kMachine || node.kind == cube::SystemKind::kNode;
    if (!place || node.name != kNoPlace) ++nodes[static_cast<std::size_t>(node.kind)];
  }
  line("report:      ", report.file + " (CUBE " + report.version + ")");
  for (const auto& [key, value] : report.attributes) {
    constexpr std::string_view kRun = "run.", kVariable = "run.env.";
    if (!key.starts_with(kRun) || key == "run.processes" || key == "run.threads") continue;
    const bool variable = key.starts_with(kVariable);
    std::string name = variable ? "environment" : key.substr(kRun.size());
    name = printable_name(name, 12) + ':';
    name.resize(std::max<std::size_t>(name.size() + 1, 13), ' ');
    line(name.c_str(), (variable ? key.substr(kVariable.size()) + '=' : "") + value);
  }
  line("metrics:     ", std::to_string(report.metrics.size()));
  line("regions:     ", std::to_string(report.regions.size()));
  line("call paths:  ", std::to_string(report.call_nodes.size()));
  line("machines:    ", std::to_string(nodes[0]));
  line("nodes:       ", std::to_string(nodes[1]));
  line("processes:   ", std::to_string(nodes[2]));
  line("threads:     ", std::to_string(nodes[3]));
  line("value rows:  ", std::to_string(report.severities.rows()));
  for (const cube::Topology& topology : report.topologies) {
    std::string text;
    for (const auto& dimension : topology.dimensions) {
      text += (text.empty() ? "" : " x ") + std::to_string(dimension.size);
      if (dimension.periodic) text += " (periodic)";
    }
    line("topology:    ", topology.name + (topology.name.empty() ? "" : ": ") + text);
  }
  for (const std::string& mirror : report.mirrors) line("documents:   ", mirror);
}

void print_metrics(const Report& report, bool all) {
  cli::Table table({{"metric", cli::Align::kLeft},
                    {"unique name", cli::Align::kLeft},
                    {"unit", cli::Align::kLeft},
                    {"total"},
                    {"of root"}});
  const std::vector<double> totals = cube::totals(report);
  const std::vector<std::size_t> roots = cube::metric_roots(report);
  const std::vector<std::size_t> depths = cube::metric_depths(report);
  std::size_t hidden = 0;
  for (std::size_t m = 0; m < totals.size(); ++m) {
    if (totals[m] == 0 && !all) {
      ++hidden;
      continue;
    }
    const cube::Metric& metric = report.metrics[m];
    table.add({indent(depths[m]) + printable_name(metric.title, kNameWidth),
               printable_name(metric.name, kNameWidth), printable_name(metric.unit, 8),
               cube::format_value(cube::unit_of(metric), totals[m]),
               cli::format_percent(totals[m], totals[roots[m]])});
  }
  table.print(std::cout);
  if (hidden > 0) std::cout << "(" << hidden << " metrics are 0; --all shows them)\n";
}

void print_calls(const Report& report, std::size_t metric) {
  const cube::Unit unit = cube::unit_of(report.metrics[metric]);
  const std::vector<double> own = cube::call_path_sums(report, metric);
  std::vector<double> with_callees = own;
  cube::add_callees(report, with_callees);
  cli::Table table({{"call path (" + printable_name(report.metrics[metric].title, kNameWidth) + ")",
                     cli::Align::kLeft},
                    {"called at", cli::Align::kLeft},
                    {"with callees"},
                    {"own"}});
  const std::vector<std::size_t> depths = cube::call_node_depths(report);
  for (std::size_t c = 0; c < own.size(); ++c) {
    table.add({indent(depths[c]) + printable_name(report.region_name(c), kNameWidth),
               printable_path(report.call_site(c), 32), cube::format_value(unit, with_callees[c]),
               cube::format_value(unit, own[c])});
  }
  table.print(std::cout);
}

void print_system(const Report& report, std::size_t metric) {
  const cube::Unit unit = cube::unit_of(report.metrics[metric]);
  std::vector<double> values(report.system.size());
  const std::vector<double> sums = cube::location_sums(report, metric);
  for (std::size_t i = 0; i < sums.size(); ++i) values[report.threads[i]] = sums[i];
  for (std::size_t n = values.size(); n-- > 0;) {
    const std::size_t parent = report.system[n].parent;
    if (parent != cube::kNone) values[parent] += values[n];
  }
  cli::Table table({{"system", cli::Align::kLeft},
                    {"name", cli::Align::kLeft},
                    {printable_name(report.metrics[metric].title, kNameWidth)}});
  constexpr std::array<const char*, 4> kKinds{"machine", "node", "process", "thread"};
  for (std::size_t n = 0; n < values.size(); ++n) {
    const cube::SystemNode& node = report.system[n];
    const auto level = static_cast<std::size_t>(node.kind);
    std::string text = std::string(2 * level, ' ') + kKinds[level];
    if (node.rank >= 0) text += " " + std::to_string(node.rank);
    table.add({text, printable_name(node.name, kNameWidth), cube::format_value(unit, values[n])});
  }
  table.print(std::cout);
}

ExitCode run_info(const cli::po::variables_map& values) {
  if (values.count("report") == 0) return cli::usage_error("name a report");
  const Result<Report> report = cube::read_report(values["report"].as<std::string>());
  if (!report) return cli::failed(report.error());
  for (const std::string& warning : report->warnings)
    cli::print_warning(report->file + ": " + warning);
  const auto name = values["metric"].as<std::string>();
  const std::size_t metric = name.empty() ? 0 : report->find_metric(name);
  if (metric == cube::kNone) return cli::usage_error("the report has no metric " + name);
  print_summary(*report);
  const bool calls = values.count("calls") != 0;
  const bool system = values.count("system") != 0;
  const bool all = values.count("all") != 0;
  if (values.count("metrics") != 0 || all || (!calls && !system)) {
    std::cout << '\n';
    print_metrics(*report, all);
  }
  if (calls) {
    std::cout << '\n';
    print_calls(*report, metric);
  }
  if (system) {
    std::cout << '\n';
    print_system(*report, metric);
  }
  return ExitCode::kFine;
}

}  // namespace

int info_command(int argc, char** argv) {
  const cli::ToolInfo info{
      "kojak info", "[options] REPORT",
      "Says what a CUBE report holds: metrics with their totals, call tree, system.",
      "kojak info --calls --metric mpi_latesender a.cube"};
  cli::ToolOptions options;
  options.visible.add_options()("metrics", "print the metric tree (the default)")(
      "all,a", "also the metrics that are 0")("calls,c", "print the call tree")(
      "system,s", "print the system tree")(
      "metric,m", cli::po::value<std::string>()->default_value("")->value_name("NAME"),
      "whose values the call and system tree show: a unique name (default: the first metric)");
  options.hidden.add_options()("report", cli::po::value<std::string>());
  options.positional.add("report", 1);
  return cli::run_tool(argc, argv, info, options, run_info);
}

}  // namespace kojak::run
