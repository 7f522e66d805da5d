#include "expert/page/instances.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "epilog/format/text/xml_text.h"
#include "expert/findings/cause_words.h"
#include "expert/findings/failed_call_words.h"
#include "expert/findings/last_call_words.h"
#include "expert/findings/wait_words.h"
#include "expert/patterns/catalogue.h"

namespace kojak::html {
namespace {

// Numbers for paths of names: equal ones have the same. Takes a step at a time, so that deep trees
// cost no more than flat ones.
class PathNumbers {
 public:
  static constexpr std::size_t kRoot = cube::kNone - 1;
  // The path that is `name` inside of `parent`; kNone if that is none, or no path is to be added.
  std::size_t number(std::size_t parent, std::string_view name, bool add) {
    if (parent == cube::kNone) return cube::kNone;
    std::size_t text = 0;
    if (const auto known = names_.find(name); known != names_.end()) {
      text = known->second;
    } else if (add) {
      text = names_.size();
      names_.emplace(name, text);
    } else {
      return cube::kNone;
    }
    const std::pair key{parent, text};
    if (add) return numbers_.try_emplace(key, numbers_.size()).first->second;
    const auto known = numbers_.find(key);
    return known == numbers_.end() ? cube::kNone : known->second;
  }

 private:
  std::map<std::string, std::size_t, std::less<>> names_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> numbers_;
};

// The call node of the report that each call path of the analysis is: the same one if the report
// is of this trace, else one of the same names, else none. Callers that only call sites name may be
// missing: other tools' reports have no place for them.
std::vector<std::size_t> call_nodes(const expert::Report& analysis, const cube::Report& report) {
  PathNumbers numbers;
  std::vector<std::size_t> of_node(report.call_nodes.size());
  std::vector<std::size_t> first;  // node of each path
  for (std::size_t c = 0; c < of_node.size(); ++c) {
    const std::size_t parent = report.call_nodes[c].parent;
    of_node[c] = numbers.number(parent == cube::kNone ? PathNumbers::kRoot : of_node[parent],
                                report.region_name(c), true);
    if (of_node[c] == first.size()) first.push_back(c);
  }
  const std::vector<expert::CallPathNode>& paths = analysis.call_paths();
  std::size_t in_store = paths.size();
  for (const expert::CallPathNode& path : paths) in_store += path.also.size();
  std::vector<std::size_t> nodes(in_store, cube::kNone);
  std::vector<std::size_t> with_callers(paths.size()), without(paths.size());
  const bool same_size = paths.size() == report.call_nodes.size();
  for (std::size_t c = 0; c < paths.size(); ++c) {
    const expert::CallPathNode& path = paths[c];
    const bool top = path.parent == expert::kNone;
    const std::string name = xml_text(analysis.region_name(path.region));
    const std::size_t above = top ? PathNumbers::kRoot : without[path.parent];
    with_callers[c] =
        numbers.number(top ? PathNumbers::kRoot : with_callers[path.parent], name, false);
    without[c] = path.index == expert::kOnlyNamed ? above : numbers.number(above, name, false);
    if (path.index == expert::kOnlyNamed) continue;
    for (const std::size_t number : {with_callers[c], without[c]}) {
      if (number == cube::kNone) continue;
      nodes[path.index] = same_size && of_node[c] == number ? c : first[number];
      break;
    }
    for (const std::uint32_t index : path.also) nodes[index] = nodes[path.index];
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
    const std::string caller = xml_text(analysis.region_name(site->left));
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
  instance.object = expert::object_words(analysis, places, found.operation);
  instance.seconds = found.waiting.seconds();
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

ChainSteps steps_of(const expert::Report& analysis, const expert::StorePlaces& places,
                    const expert::Chain& chain, const std::vector<std::size_t>& nodes) {
  constexpr std::size_t kMost = 200;  // those nearest to the cause
  ChainSteps found;
  const std::size_t first = chain.links.size() > kMost ? chain.links.size() - kMost : 0;
  found.left_out = chain.left_out + first;
  for (std::size_t i = first; i < chain.links.size(); ++i) {
    const expert::ChainLink& link = chain.links[i];
    const std::size_t thread =
        link.awaited == expert::kNoLocation ? expert::kNone : places.thread(link.awaited);
    std::string words(expert::all_metrics()[link.metric].title);
    if (thread != expert::kNone) words += ", for " + analysis.thread_name(thread);
    found.steps.push_back(
        {link.waiter, link.begin, link.end, nodes[link.call_path], std::move(words)});
  }
  if (chain.explained && !chain.links.empty()) {
    const expert::CallPathIndex path = chain.stretch.path;
    found.steps.push_back({chain.links.back().awaited, chain.begin, chain.end,
                           path < nodes.size() ? nodes[path] : cube::kNone,
                           expert::stretch_name(analysis, places, chain.stretch)});
  }
  return found;
}

bool same(const expert::Instance& a, const expert::Instance& b) {
  return a.metric == b.metric && a.operation.number == b.operation.number;
}

}  // namespace

Instances instances_of(const expert::Report& analysis, const cube::Report& report) {
  constexpr std::size_t kPartners = 3;  // shown of each place
  constexpr std::size_t kCauses = 100;
  const std::vector<std::size_t> nodes = call_nodes(analysis, report);
  const expert::StorePlaces places(analysis);
  Instances result;
  result.callers = callers_of(analysis, report, nodes);
  const expert::WaitResults& waits = analysis.waits();
  const auto& causes = analysis.root_causes();
  std::size_t number = 0;  // of the instance among those with chains
  const auto add = [&](const expert::Instance& found) {
    result.instances.push_back(as_instance(analysis, places, found, nodes));
    if (!causes) return;
    result.instances.back().chain = steps_of(analysis, places, causes->asked[number], nodes);
  };
  for (const expert::Instance& found : waits.worst) {
    add(found);
    ++number;
  }
  for (const expert::Instance& found : waits.of_places) {
    const bool listed = std::any_of(waits.worst.begin(), waits.worst.end(),
                                    [&](const expert::Instance& i) { return same(i, found); });
    if (!listed) {
      add(found);
      result.instances.back().beside = true;
    }
    ++number;
  }
  std::stable_sort(result.instances.begin(), result.instances.end(),
                   [](const Instance& a, const Instance& b) { return a.seconds > b.seconds; });
  for (const expert::LastCallGroup& group : expert::last_call_groups(analysis.last_calls())) {
    expert::LastCallWords words = expert::last_call_parts(analysis, places, group);
    result.last_calls.push_back({std::move(words.who), std::move(words.does), std::move(words.call),
                                 std::move(words.times), std::move(words.awaits),
                                 nodes[group.calls.front()->call_path]});
  }
  const auto node_of = [&](expert::CallPathIndex path) {
    return path < nodes.size() ? nodes[path] : cube::kNone;
  };
  for (const expert::FailedCallGroup& group : expert::failed_call_groups(analysis)) {
    FailedCallLine line{expert::failed_call_words(group), node_of(group.call_path), {}};
    for (const auto& [location, time] : group.firsts)
      line.firsts.emplace_back(location, time.value);
    result.failed_calls.push_back(std::move(line));
  }
  if (causes) {
    for (const expert::RootCause& cause : causes->causes) {
      if (result.causes.size() == kCauses) break;
      CauseLine line{expert::cause_words(analysis, places, cause),
                     expert::effect_words(analysis, places, cause),
                     expert::chain_words(analysis, places, cause.chain),
                     expert::function_advice(analysis, places, cause)};
      line.seconds = cause.seconds;
      line.call_node = node_of(cause.place);
      line.before = node_of(cause.stretch.before);
      line.after = node_of(cause.stretch.after);
      line.chain = steps_of(analysis, places, cause.chain, nodes);
      if (!cause.sampled.empty()) {
        const Definitions& definitions = analysis.definitions();
        const CallSiteDef* site = definitions.call_sites.find(cause.sampled.front().site);
        const std::string* file = definitions.files.find(site->file);
        if (file != nullptr && !is_absent(site->line)) {
          line.file = *file;
          line.line = static_cast<long>(raw(site->line));
        }
      }
      result.causes.push_back(std::move(line));
    }
    for (const expert::PathPart& part : causes->path_parts) {
      result.path.push_back({part.location, part.begin, part.end});
    }
  }
  for (const auto& [place, partners] : waits.partners) {
    const std::size_t node = nodes[static_cast<expert::CallPathIndex>(place)];
    if (node == cube::kNone) continue;
    const auto metric = static_cast<expert::MetricIndex>(place >> 32);
    for (std::size_t p = 0; p < std::min(partners.size(), kPartners); ++p) {
      const expert::Partner& partner = partners[p];
      result.partners.push_back({std::string(expert::all_metrics()[metric].name), node,
                                 partner.location,
                                 expert::call_name(analysis, places, partner.call_path),
                                 partner.at_exit, partner.waited.seconds()});
    }
  }
  std::sort(result.partners.begin(), result.partners.end(),
            [](const WaitedFor& a, const WaitedFor& b) {
              return std::tie(a.call_node, a.metric, b.seconds, a.row, a.call) <
                     std::tie(b.call_node, b.metric, a.seconds, b.row, b.call);
            });
  result.nodes = nodes;
  return result;
}

}  // namespace kojak::html
