#include "expert/wishes.h"

#include <algorithm>
#include <sstream>

#include "expert/findings/report_metrics.h"

namespace kojak::expert {
namespace {

// Names joined by commas, in one option or several.
std::vector<std::string> names_of(const boost::program_options::variables_map& options,
                                  const char* option) {
  std::vector<std::string> names;
  if (options.count(option) == 0) return names;
  for (const std::string& list : options[option].as<std::vector<std::string>>()) {
    std::istringstream words(list);
    for (std::string name; std::getline(words, name, ',');) {
      if (!name.empty()) names.push_back(name);
    }
  }
  return names;
}

// What is wrong with the names of metrics; empty if nothing is. Names of branches that this trace
// has nothing for are known, too.
std::string wrong_selection(const Selection& selection, const Definitions& definitions) {
  const std::vector<ReportMetric> there = metrics_of(definitions);
  std::vector<ReportMetric> known = metrics_where([](Needs) { return true; });
  known.insert(known.end(), there.begin(), there.end());
  if (const std::string name = selection.unknown(known); !name.empty()) {
    return "no metric " + name + " (see --list-patterns for the names)";
  }
  const std::vector<std::string>& names = selection.select;
  const bool all_absent = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return !Selection{{name}, {}}.unknown(there).empty();
  });
  if (names.empty() || !all_absent) return {};
  return "the trace has nothing for what --select names: " + names.front() +
         " (without --select the findings may say why)";
}

}  // namespace

std::string Wishes::complete(const boost::program_options::variables_map& options,
                             const earl::Trace& trace, std::uint64_t events) {
  constexpr std::size_t kMostInstances = 1'000'000'000;  // a negative number becomes a huge one
  analysis.instances = options["instances"].as<std::size_t>();
  if (analysis.instances > kMostInstances) return "--instances is a number from 0 to 1000000000";
  if (options.count("json") != 0) json = options["json"].as<std::string>();
  print_send_modes = options.count("send-modes") != 0;
  print_instances = !options["instances"].defaulted();
  SendModeOptions modes;
  modes.epsilon = options["epsilon"].as<double>();
  modes.sendrecv_gap = options["sendrecv-gap"].as<double>();
  if (options.count("latency") != 0) modes.latency = options["latency"].as<double>();
  if (options.count("bandwidth") != 0) modes.bandwidth = options["bandwidth"].as<double>();
  if (!(modes.epsilon >= 0 && modes.sendrecv_gap >= 0 && modes.latency.value_or(0) >= 0 &&
        modes.bandwidth.value_or(1) > 0)) {
    return "--epsilon, --sendrecv-gap, --latency and --bandwidth are not negative";
  }
  if (print_send_modes || !json.empty()) analysis.send_modes = &send_modes.emplace(trace, modes);
  // Root causes cost several times the analysis without them.
  constexpr std::uint64_t kMany = 12'000'000;
  const std::string when = options["causes"].as<std::string>();
  if (when != "always" && when != "auto" && when != "never") {
    return "--causes is always, auto or never, not \"" + when + "\"";
  }
  analysis.root_causes = when == "always" || (when == "auto" && events <= kMany);
  without_causes = when == "auto" && !analysis.root_causes;
  analysis.selection = {names_of(options, "select"), names_of(options, "exclude")};
  return wrong_selection(analysis.selection, trace.definitions());
}

}  // namespace kojak::expert
