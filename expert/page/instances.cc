#include "expert/page/instances.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "epilog/format/text/xml_text.h"
#include "expert/findings/cause_words.h"
#include "expert/findings/failed_call_words.h"
#include "expert/findings/last_call_words.h"
#include "expert/findings/step_words.h"
#include "expert/findings/wait_words.h"
#include "expert/patterns/catalogue.h"

namespace kojak::html {
namespace {

// The functions that calls stand in, as far as the trace's call sites tell and the report's tree
// does not.
std::vector<std::string> callers_of(const expert::Report& analysis) {
  const std::vector<expert::CallPathNode>& paths = analysis.call_paths();
  std::vector<std::string> callers(paths.size());
  bool any = false;
  for (std::size_t c = 0; c < paths.size(); ++c) {
    const expert::CallPathNode& path = paths[c];
    const CallSiteDef* site = is_absent(path.site) || path.index == expert::kOnlyNamed
                                  ? nullptr
                                  : analysis.definitions().call_sites.find(path.site);
    if (site == nullptr || is_absent(site->left)) continue;
    const std::string caller = analysis.region_name(site->left);
    if (path.parent != expert::kNone && analysis.region_name(paths[path.parent].region) == caller) {
      continue;
    }
    callers[c] = xml_text(caller);
    any = true;
  }
  if (!any) callers.clear();
  return callers;
}

// What ended the waiting of the most in it.
void add_cause(const expert::Report& analysis, const expert::Instance& found, Instance& instance) {
  const std::vector<expert::Partner> partners = expert::partners_of(found);
  if (partners.empty()) return;
  instance.cause_row = partners.front().location;
  instance.cause_call = expert::call_name(analysis, partners.front().call_path);
  instance.cause_at_exit = partners.front().at_exit;
  instance.further_causes = partners.size() - 1;
}

Instance as_instance(const expert::Report& analysis, const expert::Instance& found) {
  Instance instance;
  instance.metric = expert::all_metrics()[found.metric].name;
  instance.object = expert::object_words(analysis, found.operation);
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
  instance.call_node = analysis.path_at(found.waiters.front().call_path);
  add_cause(analysis, found, instance);
  return instance;
}

ChainSteps steps_of(const expert::Report& analysis, const expert::Chain& chain) {
  constexpr std::size_t kMost = 200;  // those nearest to the cause
  ChainSteps found;
  const std::size_t first = chain.links.size() > kMost ? chain.links.size() - kMost : 0;
  found.left_out = chain.left_out + first;
  for (std::size_t i = first; i < chain.links.size(); ++i) {
    const expert::ChainLink& link = chain.links[i];
    const std::size_t thread =
        link.awaited == expert::kNoLocation ? expert::kNone : analysis.thread_at(link.awaited);
    std::string words(expert::all_metrics()[link.metric].title);
    if (thread != expert::kNone) words += ", for " + analysis.thread_name(thread);
    found.steps.push_back(
        {link.waiter, link.begin, link.end, analysis.path_at(link.call_path), std::move(words)});
  }
  if (chain.explained && !chain.links.empty()) {
    const expert::CallPathIndex path = chain.stretch.path;
    found.steps.push_back({chain.links.back().awaited, chain.begin, chain.end,
                           analysis.path_at(path), expert::stretch_name(analysis, chain.stretch)});
    found.steps.back().cause = true;
  }
  return found;
}

// How the first screen tells the chain, step by step.
void add_step_words(const expert::Report& analysis, const VerdictPart& verdict,
                    std::vector<ChainSteps>& chains) {
  if (verdict.chain_said.empty()) return;
  const std::size_t group = verdict.group.value_or(0);
  const expert::RootCauses& causes = *analysis.root_causes();
  const std::vector<expert::StepWords> words = expert::step_words(
      analysis, causes.causes[verdict.groups[group].cause].chain, causes.groups.listed[group]);
  std::vector<Step>& steps = chains[group].steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {  // the first ones may be left out
    steps[i].lead = unbroken(words[words.size() - steps.size() + i].lead);
    steps[i].rest = unbroken(words[words.size() - steps.size() + i].rest);
  }
}

bool same(const expert::Instance& a, const expert::Instance& b) {
  return a.metric == b.metric && a.operation.number == b.operation.number;
}

}  // namespace

void add_instances(const expert::Report& analysis, TracePart& part) {
  constexpr std::size_t kPartners = 3;  // shown of each place
  part.callers = callers_of(analysis);
  const expert::WaitResults& waits = analysis.waits();
  const auto& causes = analysis.root_causes();
  std::size_t number = 0;  // of the instance among those with chains
  const auto add = [&](const expert::Instance& found) {
    part.instances.push_back(as_instance(analysis, found));
    if (!causes) return;
    part.instances.back().chain = steps_of(analysis, causes->asked[number]);
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
      part.instances.back().beside = true;
    }
    ++number;
  }
  std::stable_sort(part.instances.begin(), part.instances.end(),
                   [](const Instance& a, const Instance& b) { return a.seconds > b.seconds; });
  for (const expert::LastCallGroup& group : expert::last_call_groups(analysis.last_calls())) {
    expert::LastCallWords words = expert::last_call_parts(analysis, group);
    part.last_calls.push_back({std::move(words.who), std::move(words.does), std::move(words.call),
                               std::move(words.times), std::move(words.awaits),
                               analysis.path_at(group.calls.front()->call_path)});
  }
  for (const expert::FailedCallGroup& group : expert::failed_call_groups(analysis)) {
    FailedCallLine line{expert::failed_call_words(group), analysis.path_at(group.call_path), {}};
    for (const auto& [location, time] : group.firsts)
      line.firsts.emplace_back(location, time.value);
    part.failed_calls.push_back(std::move(line));
  }
  part.verdict = verdict_part(analysis);
  for (const GroupCard& card : part.verdict.groups) {
    part.chains.push_back(card.cause < causes->causes.size()
                              ? steps_of(analysis, causes->causes[card.cause].chain)
                              : ChainSteps());
  }
  add_step_words(analysis, part.verdict, part.chains);
  if (causes) {
    for (const expert::PathPart& along : causes->path_parts) {
      part.path.push_back({along.location, along.begin, along.end});
    }
  }
  for (const auto& [place, partners] : waits.partners) {
    const std::size_t node = analysis.path_at(static_cast<expert::CallPathIndex>(place));
    if (node == cube::kNone) continue;
    const auto metric = static_cast<expert::MetricIndex>(place >> 32);
    for (std::size_t p = 0; p < std::min(partners.size(), kPartners); ++p) {
      const expert::Partner& partner = partners[p];
      part.partners.push_back({std::string(expert::all_metrics()[metric].name), node,
                               partner.location, expert::call_name(analysis, partner.call_path),
                               partner.at_exit, partner.waited.seconds()});
    }
  }
  std::sort(part.partners.begin(), part.partners.end(), [](const WaitedFor& a, const WaitedFor& b) {
    return std::tie(a.call_node, a.metric, b.seconds, a.row, a.call) <
           std::tie(b.call_node, b.metric, a.seconds, b.row, b.call);
  });
}

}  // namespace kojak::html
