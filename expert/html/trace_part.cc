#include "expert/html/trace_part.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "earl/trace.h"
#include "expert/analysis.h"
#include "expert/catalogue.h"
#include "expert/cube/text.h"
#include "expert/html/causes.h"
#include "expert/html/trace_reader.h"
#include "expert/html/trace_view.h"

namespace kojak::html {
namespace {

// The call node of the report that each call path of the analysis is: the same one if the report
// is of this trace, else one of the same names, else none.
std::vector<std::size_t> call_nodes(const expert::Report& analysis, const cube::Report& report) {
  std::map<std::string, std::size_t> by_path;
  for (std::size_t c = report.call_nodes.size(); c-- > 0;) by_path[report.call_path(c)] = c;
  std::vector<std::size_t> nodes(analysis.call_paths().size(), cube::kNone);
  const bool same_size = nodes.size() == report.call_nodes.size();
  for (std::size_t c = 0; c < nodes.size(); ++c) {
    const expert::CallPathNode& path = analysis.call_paths()[c];
    std::string name = expert::xml_text(analysis.region_name(path.region));
    for (std::size_t p = path.parent; p != expert::kNone; p = analysis.call_paths()[p].parent) {
      name = expert::xml_text(analysis.region_name(analysis.call_paths()[p].region)) + " / " + name;
    }
    std::size_t& node = nodes[path.index];
    if (same_size && report.call_path(c) == name) {
      node = c;
    } else if (const auto found = by_path.find(name); found != by_path.end()) {
      node = found->second;
    }
  }
  return nodes;
}

constexpr std::size_t kShownInstances = 10;  // of each pattern

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

struct Instances {
  std::vector<Instance> instances;             // times are the trace's own
  std::vector<expert::PatternInstance> first;  // the call that each began with
};

// The most severe instances of each pattern in the trace. The first pass finds the calls that
// waited longest, the second who waited with them.
Result<Instances> instances_of(const std::string& path, const cube::Report& report) {
  Result<earl::Trace> trace = earl::Trace::open(path);
  if (!trace) return trace.error();
  if (trace->location_count() != report.locations()) {
    return of_another_run(path, report, trace->location_count());
  }
  expert::WorstInstances worst(kShownInstances);
  expert::AnalysisOptions options;
  options.instance = [&](const expert::PatternInstance& call) { worst.add(call); };
  const expert::Report analysis = expert::analyse(*trace, options);
  const std::vector<std::size_t> nodes = call_nodes(analysis, report);
  const std::vector<expert::PatternInstance> calls = worst.sorted();
  std::vector<Instance> instances;
  std::vector<std::vector<std::size_t>> of_metric(expert::kMetrics);
  for (const expert::PatternInstance& call : calls) {
    of_metric[call.metric].push_back(instances.size());
    instances.push_back(as_instance(call, nodes));
  }
  Result<earl::Trace> again = earl::Trace::open(path);
  if (!again) return again.error();
  // Of calls that are both among the longest and wait together the first stands for the others.
  std::vector<bool> merged(calls.size(), false);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (std::size_t j = 0; j < i && !merged[i]; ++j) {
      merged[i] =
          !merged[j] && calls[j].metric == calls[i].metric && same_instance(calls[j], calls[i]);
    }
  }
  options.instance = [&](const expert::PatternInstance& call) {
    for (const std::size_t i : of_metric[call.metric]) {
      if (merged[i] || !same_instance(calls[i], call)) continue;
      std::vector<std::size_t>& rows = instances[i].rows;
      if (std::find(rows.begin(), rows.end(), call.location) != rows.end()) continue;
      instances[i].seconds += call.waiting.value;
      instances[i].begin = std::min(instances[i].begin, call.enter.value);
      instances[i].end = std::max(instances[i].end, call.exit.value);
      rows.push_back(call.location);
      return;
    }
  };
  expert::analyse(*again, options);
  Instances result;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    if (merged[i]) continue;
    result.instances.push_back(std::move(instances[i]));
    result.first.push_back(calls[i]);
  }
  return result;
}

}  // namespace

Result<TracePart> read_trace_part(const std::string& path, const cube::Report& report,
                                  std::size_t max_bytes,
                                  const std::function<void(std::uint64_t events)>& progress) {
  if (path == "-") {
    Error error;
    error.file = "standard input";
    error.reason = "cannot be read more than once, which the timeline needs";
    error.remedy = "name a file";
    return error;
  }
  Result<Instances> found = instances_of(path, report);
  if (!found) return found.error();
  CauseFinder causes(found->first);
  Result<TraceContent> content = read_trace(path, {}, progress, &causes);
  if (!content) return content.error();
  TracePart part;
  part.instances = std::move(found->instances);
  for (std::size_t i = 0; i < part.instances.size(); ++i) {
    Instance& instance = part.instances[i];
    instance.begin -= content->begin;
    instance.end -= content->begin;
    if (const std::optional<WaitCause>& cause = causes.cause(i)) {
      instance.cause_row = cause->location;
      if (cause->function != nullptr) instance.cause_call = std::string(cause->function->name);
    }
  }
  std::stable_sort(part.instances.begin(), part.instances.end(),
                   [](const Instance& a, const Instance& b) { return a.seconds > b.seconds; });
  // Base64 makes four bytes of three.
  part.packed = pack_trace(std::move(*content), report, max_bytes / 3 * 2 / 4 * 3);
  return part;
}

}  // namespace kojak::html
