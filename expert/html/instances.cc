#include "expert/html/instances.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>

#include "earl/trace.h"
#include "expert/analysis.h"
#include "expert/catalogue.h"
#include "expert/cube/path.h"
#include "expert/cube/text.h"
#include "expert/html/worst_places.h"

namespace kojak::html {
namespace {

// Names from the root to a path of the analysis, with or without the callers that only call sites
// name: other tools' reports have no place for them.
std::string path_name(const expert::Report& analysis, std::size_t path, bool named_callers) {
  std::vector<RegionId> regions;  // outermost last
  for (std::size_t p = path; p != expert::kNone; p = analysis.call_paths()[p].parent) {
    const expert::CallPathNode& node = analysis.call_paths()[p];
    if (node.index != expert::kOnlyNamed || named_callers) regions.push_back(node.region);
  }
  return cube::joined_path(regions.size(), [&](std::size_t depth) {
    return expert::xml_text(analysis.region_name(regions[regions.size() - 1 - depth]));
  });
}

// The call node of the report that each call path of the analysis is: the same one if the report
// is of this trace, else one of the same names, else none.
std::vector<std::size_t> call_nodes(const expert::Report& analysis, const cube::Report& report) {
  std::map<std::string, std::size_t> by_path;
  for (std::size_t c = report.call_nodes.size(); c-- > 0;) by_path[report.call_path(c)] = c;
  std::vector<std::size_t> nodes(analysis.call_paths().size(), cube::kNone);
  const bool same_size = nodes.size() == report.call_nodes.size();
  for (std::size_t c = 0; c < nodes.size(); ++c) {
    const expert::CallPathNode& path = analysis.call_paths()[c];
    if (path.index == expert::kOnlyNamed) continue;
    std::size_t& node = nodes[path.index];
    for (const bool named_callers : {true, false}) {
      const std::string name = path_name(analysis, c, named_callers);
      if (same_size && report.call_path(c) == name) {
        node = c;
      } else if (const auto found = by_path.find(name); found != by_path.end()) {
        node = found->second;
      }
      if (node != cube::kNone) break;
    }
  }
  return nodes;
}

// The functions that calls stand in, as far as the trace's call sites tell and the report's tree
// does not.
std::vector<std::string> callers_of(const expert::Report& analysis, const cube::Report& report,
                                    const std::vector<std::size_t>& nodes) {
  std::vector<std::string> callers(report.call_nodes.size());
  bool any = false;
  for (const expert::CallPathNode& path : analysis.call_paths()) {
    if (path.index == expert::kOnlyNamed) continue;
    const std::size_t node = nodes[path.index];
    const CallSiteDef* site =
        is_absent(path.site) ? nullptr : analysis.definitions().call_sites.find(path.site);
    if (site == nullptr || is_absent(site->left) || node == cube::kNone) continue;
    const std::string caller = expert::xml_text(analysis.region_name(site->left));
    const std::size_t parent = report.call_nodes[node].parent;
    if (parent != cube::kNone && report.region_name(parent) == caller) continue;
    callers[node] = caller;
    any = true;
  }
  if (!any) callers.clear();
  return callers;
}

constexpr std::size_t kShownInstances = 10;  // of each pattern
constexpr std::size_t kShownPlaces = 300;    // pattern and call path
constexpr std::size_t kShownRows = 256;      // of each instance

Instance as_instance(const expert::PatternInstance& call, const std::vector<std::size_t>& nodes) {
  Instance instance;
  instance.metric = expert::all_metrics()[call.metric].name;
  instance.seconds = call.waiting.value;
  instance.begin = call.enter.value;
  instance.end = call.exit.value;
  instance.rows = {call.location};
  instance.call_node = nodes[call.call_path];
  return instance;
}

// Processes that wait for one and the same thing are one instance: calls of one pattern at one call
// path that overlap and end together, within a quarter of the first one's time. Those that wait for
// a message wait for their own.
bool same_instance(const expert::PatternInstance& first, const expert::PatternInstance& other) {
  const std::string_view name = expert::all_metrics()[first.metric].name;
  if (name.starts_with("mpi_latesender") || name.starts_with("mpi_latereceiver")) return false;
  if (first.call_path != other.call_path || first.location == other.location) return false;
  const bool overlap = first.enter < other.exit && other.enter < first.exit;
  const double apart = std::abs(first.exit.value - other.exit.value);
  return overlap && apart <= (first.exit.value - first.enter.value) / 4;
}

Error of_another_run(const std::string& path, const cube::Report& report, std::size_t locations) {
  Error error;
  error.file = path;
  error.reason = "has " + std::to_string(locations) + " locations, and the report " +
                 std::to_string(report.locations());
  error.remedy = "give the trace that the report was made of";
  return error;
}

// The worst of each pattern and of each place, each call once.
std::vector<expert::PatternInstance> worst_calls(const expert::WorstInstances& of_patterns,
                                                 const WorstPlaces& of_places) {
  std::vector<expert::PatternInstance> calls = of_patterns.sorted();
  const std::size_t known = calls.size();
  for (const expert::PatternInstance& call : of_places.sorted(kShownPlaces)) {
    const bool listed = std::any_of(
        calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(known), [&](const auto& other) {
          return WorstPlaces::key(other) == WorstPlaces::key(call) &&
                 other.location == call.location && other.enter == call.enter;
        });
    if (!listed) calls.push_back(call);
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& a, const auto& b) { return a.waiting > b.waiting; });
  return calls;
}

}  // namespace

Result<Instances> find_instances(const std::string& path, const cube::Report& report) {
  Result<earl::Trace> trace = earl::Trace::open(path);
  if (!trace) return trace.error();
  if (trace->location_count() != report.locations()) {
    return of_another_run(path, report, trace->location_count());
  }
  expert::WorstInstances of_patterns(kShownInstances);
  WorstPlaces of_places;
  expert::AnalysisOptions options;
  options.instance = [&](const expert::PatternInstance& call) {
    of_patterns.add(call);
    of_places.add(call);
  };
  const expert::Report analysis = expert::analyse(*trace, options);
  const std::vector<std::size_t> nodes = call_nodes(analysis, report);
  Instances result;
  result.callers = callers_of(analysis, report, nodes);
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> at_place;
  for (const expert::PatternInstance& call : worst_calls(of_patterns, of_places)) {
    // Of calls that are among the worst and wait together the first stands for the others.
    std::vector<std::size_t>& here = at_place[WorstPlaces::key(call)];
    if (std::any_of(here.begin(), here.end(),
                    [&](std::size_t i) { return same_instance(result.first[i], call); })) {
      continue;
    }
    here.push_back(result.first.size());
    result.first.push_back(call);
    result.instances.push_back(as_instance(call, nodes));
  }
  Result<earl::Trace> again = earl::Trace::open(path);
  if (!again) return again.error();
  options.instance = [&](const expert::PatternInstance& call) {
    const auto place = at_place.find(WorstPlaces::key(call));
    if (place == at_place.end()) return;
    for (const std::size_t i : place->second) {
      if (!same_instance(result.first[i], call)) continue;
      Instance& instance = result.instances[i];
      std::vector<std::size_t>& rows = instance.rows;
      if (std::find(rows.begin(), rows.end(), call.location) != rows.end()) continue;
      instance.seconds += call.waiting.value;
      instance.begin = std::min(instance.begin, call.enter.value);
      instance.end = std::max(instance.end, call.exit.value);
      if (rows.size() < kShownRows) {
        rows.push_back(call.location);
      } else {
        ++instance.further_rows;
      }
      return;
    }
  };
  expert::analyse(*again, options);
  return result;
}

}  // namespace kojak::html
