#include "expert/cube/difference.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace kojak::cube {
namespace {

// Where each node of the two inputs went in the common tree.
struct Mapping {
  std::vector<std::size_t> before;
  std::vector<std::size_t> after;
};

// A tree in document order from nodes of which only the parents are known to come first: children
// that the second report added to an early node move there. Returns new positions by old ones.
template <class Node>
std::vector<std::size_t> put_in_document_order(std::vector<Node>& tree) {
  std::vector<std::vector<std::size_t>> children(tree.size() + 1);
  for (std::size_t i = 0; i < tree.size(); ++i) {
    children[tree[i].parent == kNone ? tree.size() : tree[i].parent].push_back(i);
  }
  std::vector<std::size_t> place(tree.size());
  std::vector<Node> ordered;
  std::vector<std::size_t> open(children[tree.size()].rbegin(), children[tree.size()].rend());
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    place[node] = ordered.size();
    ordered.push_back(tree[node]);
    if (ordered.back().parent != kNone) ordered.back().parent = place[ordered.back().parent];
    open.insert(open.end(), children[node].rbegin(), children[node].rend());
  }
  tree = std::move(ordered);
  return place;
}

void renumber(std::vector<std::size_t>& mapping, const std::vector<std::size_t>& place) {
  for (std::size_t& node : mapping) node = place[node];
}

Mapping join_metrics(const Report& before, const Report& after, std::vector<Metric>& joined) {
  Mapping mapping;
  joined = before.metrics;
  std::map<std::string, std::size_t> known;
  for (std::size_t m = 0; m < joined.size(); ++m) {
    known.try_emplace(joined[m].name, m);
    mapping.before.push_back(m);
  }
  for (const Metric& metric : after.metrics) {
    const auto [entry, added] = known.try_emplace(metric.name, joined.size());
    mapping.after.push_back(entry->second);
    if (!added) continue;
    joined.push_back(metric);
    if (metric.parent != kNone) joined.back().parent = mapping.after[metric.parent];
  }
  const std::vector<std::size_t> place = put_in_document_order(joined);
  renumber(mapping.before, place);
  renumber(mapping.after, place);
  return mapping;
}

// Call nodes of one report by what identifies them under their caller.
class Callees {
 public:
  using Site = std::pair<std::size_t, std::string>;  // caller, function
  void add(const Site& site, long line, std::size_t node) {
    AtSite& at = sites_[site];
    const std::size_t entry = at.nodes.size();
    at.nodes.push_back(node);
    at.taken.push_back(false);
    at.all.entries.push_back(entry);
    at.by_line[line].entries.push_back(entry);
  }
  // The first node at this line that nobody took, else kNone.
  std::size_t take_exact(const Site& site, long line) {
    const auto found = sites_.find(site);
    if (found == sites_.end()) return kNone;
    const auto at_line = found->second.by_line.find(line);
    return at_line == found->second.by_line.end() ? kNone : take(found->second, at_line->second);
  }
  // The first that nobody took.
  std::size_t take_next(const Site& site) {
    const auto found = sites_.find(site);
    return found == sites_.end() ? kNone : take(found->second, found->second.all);
  }
  // The first root that nobody took, whatever its name.
  std::size_t take_root() {
    for (auto site = sites_.lower_bound({kNone, ""}); site != sites_.end(); ++site) {
      const std::size_t node = take_next(site->first);
      if (node != kNone) return node;
    }
    return kNone;
  }

 private:
  // Nodes in order; those before `next` are taken.
  struct Queue {
    std::vector<std::size_t> entries;
    std::size_t next = 0;
  };
  struct AtSite {
    std::vector<std::size_t> nodes;
    std::vector<bool> taken;
    Queue all;
    std::map<long, Queue> by_line;
  };
  static std::size_t take(AtSite& site, Queue& queue) {
    while (queue.next < queue.entries.size() && site.taken[queue.entries[queue.next]]) ++queue.next;
    if (queue.next == queue.entries.size()) return kNone;
    const std::size_t entry = queue.entries[queue.next++];
    site.taken[entry] = true;
    return site.nodes[entry];
  }
  std::map<Site, AtSite> sites_;
};

Mapping join_call_nodes(const Report& before, const Report& after, Report& joined) {
  Mapping mapping;
  joined.regions = before.regions;
  joined.call_nodes = before.call_nodes;
  std::map<std::string, std::size_t> regions;
  for (std::size_t r = 0; r < joined.regions.size(); ++r) {
    regions.try_emplace(joined.regions[r].name, r);
  }
  Callees callees;
  for (std::size_t c = 0; c < before.call_nodes.size(); ++c) {
    const CallNode& node = before.call_nodes[c];
    mapping.before.push_back(c);
    callees.add({node.parent, before.region_name(c)}, node.line, c);
  }
  // All callees of one caller get their exact partners before any gets another's.
  mapping.after.assign(after.call_nodes.size(), kNone);
  std::vector<std::vector<std::size_t>> children(after.call_nodes.size() + 1);
  for (std::size_t c = 0; c < after.call_nodes.size(); ++c) {
    const std::size_t parent = after.call_nodes[c].parent;
    children[parent == kNone ? after.call_nodes.size() : parent].push_back(c);
  }
  const auto join_children = [&](std::size_t caller) {
    const std::size_t partner = caller == after.call_nodes.size() ? kNone : mapping.after[caller];
    const auto site = [&](std::size_t c) { return Callees::Site{partner, after.region_name(c)}; };
    for (const std::size_t c : children[caller]) {
      mapping.after[c] = callees.take_exact(site(c), after.call_nodes[c].line);
    }
    for (const std::size_t c : children[caller]) {
      if (mapping.after[c] == kNone) mapping.after[c] = callees.take_next(site(c));
    }
    for (const std::size_t c : children[caller]) {
      // The root is named after the program, which may have got another name.
      if (mapping.after[c] == kNone && partner == kNone) mapping.after[c] = callees.take_root();
      if (mapping.after[c] != kNone) continue;
      mapping.after[c] = joined.call_nodes.size();
      CallNode node = after.call_nodes[c];
      node.parent = partner;
      const auto [entry, added] = regions.try_emplace(after.region_name(c), joined.regions.size());
      if (added) joined.regions.push_back(after.regions[node.region]);
      node.region = entry->second;
      joined.call_nodes.push_back(std::move(node));
    }
  };
  join_children(after.call_nodes.size());
  for (std::size_t c = 0; c < after.call_nodes.size(); ++c) join_children(c);
  const std::vector<std::size_t> place = put_in_document_order(joined.call_nodes);
  renumber(mapping.before, place);
  renumber(mapping.after, place);
  return mapping;
}

// Threads of each process, in order: what must agree for locations to be compared.
std::vector<long> shape(const Report& report) {
  std::vector<long> ranks;
  for (const std::size_t thread : report.threads) {
    const std::size_t process = report.system[thread].parent;
    ranks.push_back(process == kNone ? -1 : report.system[process].rank);
  }
  return ranks;
}

void one_location(Report& report) {
  report.system = {{kNone, SystemKind::kMachine, "all", -1, kNone},
                   {0, SystemKind::kNode, "all", -1, kNone},
                   {1, SystemKind::kProcess, "all", 0, kNone},
                   {2, SystemKind::kThread, "all", 0, 0}};
  report.threads = {3};
}

void copy_severities(const Report& from, const std::vector<std::size_t>& metrics,
                     const std::vector<std::size_t>& call_nodes, Report& to) {
  to.severities.set_locations(to.locations());
  for (std::size_t m = 0; m < from.metrics.size(); ++m) {
    for (std::size_t c = 0; c < from.call_nodes.size(); ++c) {
      const std::span<const double> row = from.severities.row(m, c);
      if (row.empty()) continue;
      const std::span<double> target = to.severities.add_row(metrics[m], call_nodes[c]);
      if (target.size() == row.size()) {
        for (std::size_t i = 0; i < row.size(); ++i) target[i] += row[i];
      } else {
        target[0] += std::accumulate(row.begin(), row.end(), 0.0);
      }
    }
  }
}

}  // namespace

Difference align(const Report& before, const Report& after) {
  Difference result;
  Report joined;
  const Mapping metrics = join_metrics(before, after, joined.metrics);
  const Mapping calls = join_call_nodes(before, after, joined);
  result.by_location = !before.threads.empty() && shape(before) == shape(after);
  if (result.by_location) {
    joined.system = before.system;
    joined.threads = before.threads;
    joined.topologies = before.topologies;
  } else {
    one_location(joined);
  }
  result.locations_before = before.locations();
  result.locations_after = after.locations();
  result.before = joined;
  result.after = std::move(joined);
  const auto finish = [](const Report& source, Report& target) {
    target.file = source.file;
    target.version = source.version;
    target.mirrors = source.mirrors;
    target.warnings = source.warnings;
  };
  finish(before, result.before);
  finish(after, result.after);
  copy_severities(before, metrics.before, calls.before, result.before);
  copy_severities(after, metrics.after, calls.after, result.after);
  return result;
}

}  // namespace kojak::cube
