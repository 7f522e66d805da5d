#include "expert/html/instances.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "expert/catalogue.h"
#include "expert/cube/path.h"
#include "expert/cube/text.h"
#include "expert/wait_words.h"

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

// What ended the waiting of the most in it.
void add_cause(const expert::Report& analysis, const expert::StorePlaces& places,
               const expert::Instance& found, Instance& instance) {
  const std::vector<expert::Partner> partners = expert::partners_of(found);
  if (partners.empty()) return;
  instance.cause_row = partners.front().location;
  instance.cause_call = expert::call_name(analysis, places, partners.front().call_path);
  instance.cause_at_exit = partners.front().at_exit;
  instance.further_causes = partners.size() - 1;
}

Instance as_instance(const expert::Report& analysis, const expert::StorePlaces& places,
                     const expert::Instance& found, const std::vector<std::size_t>& nodes) {
  Instance instance;
  instance.metric = expert::all_metrics()[found.metric].name;
  instance.object = expert::object_name(found.operation);
  instance.seconds = found.waiting.value;
  instance.begin = found.begin.value;
  instance.end = found.end.value;
  for (const expert::Waiter& waiter : found.waiters) {
    std::vector<std::size_t>& rows = instance.rows;
    if (std::find(rows.begin(), rows.end(), waiter.location) == rows.end()) {
      rows.push_back(waiter.location);
    }
  }
  instance.further_rows = found.further;
  instance.call_node = nodes[found.waiters.front().call_path];
  add_cause(analysis, places, found, instance);
  return instance;
}

bool same(const expert::Instance& a, const expert::Instance& b) {
  return a.metric == b.metric && a.operation.number == b.operation.number;
}

}  // namespace

Instances instances_of(const expert::Report& analysis, const cube::Report& report) {
  constexpr std::size_t kPartners = 3;  // shown of each place
  const std::vector<std::size_t> nodes = call_nodes(analysis, report);
  const expert::StorePlaces places(analysis);
  Instances result;
  result.callers = callers_of(analysis, report, nodes);
  const expert::WaitResults& waits = analysis.waits();
  for (const expert::Instance& found : waits.worst) {
    result.instances.push_back(as_instance(analysis, places, found, nodes));
  }
  for (const expert::Instance& found : waits.of_places) {
    const bool listed = std::any_of(waits.worst.begin(), waits.worst.end(),
                                    [&](const expert::Instance& i) { return same(i, found); });
    if (!listed) {
      result.instances.push_back(as_instance(analysis, places, found, nodes));
      result.instances.back().beside = true;
    }
  }
  std::stable_sort(result.instances.begin(), result.instances.end(),
                   [](const Instance& a, const Instance& b) { return a.seconds > b.seconds; });
  for (const auto& [place, partners] : waits.partners) {
    const std::size_t node = nodes[static_cast<expert::CallPathIndex>(place)];
    if (node == cube::kNone) continue;
    const auto metric = static_cast<expert::MetricIndex>(place >> 32);
    for (std::size_t p = 0; p < std::min(partners.size(), kPartners); ++p) {
      const expert::Partner& partner = partners[p];
      result.partners.push_back({std::string(expert::all_metrics()[metric].name), node,
                                 partner.location,
                                 expert::call_name(analysis, places, partner.call_path),
                                 partner.at_exit, partner.seconds});
    }
  }
  std::sort(result.partners.begin(), result.partners.end(),
            [](const WaitedFor& a, const WaitedFor& b) {
              return std::tie(a.call_node, a.metric, b.seconds, a.row, a.call) <
                     std::tie(b.call_node, b.metric, a.seconds, b.row, b.call);
            });
  return result;
}

}  // namespace kojak::html
