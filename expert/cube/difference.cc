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

// The callees of one caller, in the order of their lines where all have one, in groups that call
// the same function.
using Groups = std::map<std::string, std::vector<std::size_t>>;

class Callees {
 public:
  explicit Callees(const Report& report) : report_(report), of_(report.call_nodes.size() + 1) {
    for (std::size_t c = 0; c < report.call_nodes.size(); ++c) {
      const std::size_t parent = report.call_nodes[c].parent;
      of_[parent == kNone ? report.call_nodes.size() : parent].push_back(c);
    }
  }
  // Of kNone: the roots.
  const std::vector<std::size_t>& all(std::size_t caller) const {
    static const std::vector<std::size_t> none;
    if (caller == kNone) return of_.back();
    return caller + 1 < of_.size() ? of_[caller] : none;
  }
  Groups groups(std::size_t caller) const {
    Groups groups;
    for (const std::size_t c : all(caller)) {
      groups[without_places(report_.region_name(c))].push_back(c);
    }
    for (auto& [name, nodes] : groups) {
      const auto line = [&](std::size_t c) { return report_.call_nodes[c].line; };
      if (std::all_of(nodes.begin(), nodes.end(), [&](std::size_t c) { return line(c) > 0; })) {
        std::stable_sort(nodes.begin(), nodes.end(),
                         [&](std::size_t a, std::size_t b) { return line(a) < line(b); });
      }
    }
    return groups;
  }

 private:
  const Report& report_;
  std::vector<std::vector<std::size_t>> of_;
};

// Which of the nodes before is which of those after, kNone: none.
class CallPairs {
 public:
  CallPairs(const Report& before, const Report& after)
      : before_(before), after_(after), callees_before_(before), callees_after_(after) {
    partner_.assign(after.call_nodes.size(), kNone);
    taken_.resize(before.call_nodes.size());
    pair_callees(kNone, kNone);
    for (std::size_t c = 0; c < after.call_nodes.size(); ++c) {  // callers stand before callees
      if (partner_[c] != kNone) pair_callees(partner_[c], c);
    }
  }
  const std::vector<std::size_t>& partners() const { return partner_; }

 private:
  void pair_callees(std::size_t caller_before, std::size_t caller_after) {
    Groups before = callees_before_.groups(caller_before);
    const Groups after = callees_after_.groups(caller_after);
    for (const auto& [name, nodes] : after) {
      const auto found = before.find(name);
      if (found != before.end()) pair(found->second, nodes);
    }
    if (caller_after != kNone) return;
    // A root is named after the program, which may have got another name.
    std::vector<std::size_t> left = callees_before_.all(kNone);
    std::erase_if(left, [&](std::size_t c) {
      return std::find(partner_.begin(), partner_.end(), c) != partner_.end();
    });
    auto next = left.begin();
    for (const std::size_t c : callees_after_.all(kNone)) {
      if (partner_[c] == kNone && next != left.end()) partner_[c] = *next++;
    }
  }
  // Calls of one function.
  void pair(std::vector<std::size_t>& before, const std::vector<std::size_t>& after) {
    std::map<long, std::vector<std::size_t>> at_line;
    const bool as_many = before.size() == after.size();
    if (!as_many) {
      for (auto c = before.rbegin(); c != before.rend(); ++c)
        at_line[before_.call_nodes[*c].line].push_back(*c);
    }
    for (const std::size_t c : after) {
      const auto found = at_line.find(after_.call_nodes[c].line);
      if (found == at_line.end() || found->second.empty()) continue;
      partner_[c] = found->second.back();
      found->second.pop_back();
      taken_[partner_[c]] = true;
    }
    auto next = before.begin();
    for (const std::size_t c : after) {
      if (partner_[c] != kNone) continue;
      while (next != before.end() && taken_[*next]) ++next;
      if (next == before.end()) break;
      partner_[c] = *next++;
    }
  }

  const Report& before_;
  const Report& after_;
  Callees callees_before_, callees_after_;
  std::vector<std::size_t> partner_;
  std::vector<bool> taken_;  // nodes before whose partner is at the same line
};

Mapping join_call_nodes(const Report& before, const Report& after, Report& joined,
                        std::vector<Difference::In>& in) {
  Mapping mapping;
  joined.regions = before.regions;
  joined.call_nodes = before.call_nodes;
  std::map<std::string, std::size_t> regions;
  for (std::size_t r = 0; r < joined.regions.size(); ++r) {
    regions.try_emplace(joined.regions[r].name, r);
  }
  mapping.before.resize(before.call_nodes.size());
  std::iota(mapping.before.begin(), mapping.before.end(), std::size_t{0});
  std::vector<Difference::In> found(before.call_nodes.size(), Difference::In::kBefore);
  mapping.after = CallPairs(before, after).partners();
  for (std::size_t c = 0; c < after.call_nodes.size(); ++c) {
    if (mapping.after[c] != kNone) {
      found[mapping.after[c]] = Difference::In::kBoth;
      continue;
    }
    mapping.after[c] = joined.call_nodes.size();
    CallNode node = after.call_nodes[c];
    if (node.parent != kNone) node.parent = mapping.after[node.parent];
    const auto [entry, added] = regions.try_emplace(after.region_name(c), joined.regions.size());
    if (added) joined.regions.push_back(after.regions[node.region]);
    node.region = entry->second;
    joined.call_nodes.push_back(std::move(node));
    found.push_back(Difference::In::kAfter);
  }
  const std::vector<std::size_t> place = put_in_document_order(joined.call_nodes);
  renumber(mapping.before, place);
  renumber(mapping.after, place);
  in.resize(found.size());
  for (std::size_t c = 0; c < found.size(); ++c) in[place[c]] = found[c];
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

std::string without_places(std::string_view name) {
  std::string result;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find(' ', 1), name.size());
    const std::string_view word = name.substr(0, end);
    const std::size_t colon = word.rfind(':');
    const bool place = !result.empty() && colon != std::string_view::npos && colon > 1 &&
                       word[colon - 1] != ':' && colon + 1 < word.size() &&
                       std::all_of(word.begin() + static_cast<long>(colon) + 1, word.end(),
                                   [](char c) { return c >= '0' && c <= '9'; });
    if (!place) result += word;
    name.remove_prefix(end);
  }
  return result;
}

Difference align(const Report& before, const Report& after) {
  Difference result;
  Report joined;
  const Mapping metrics = join_metrics(before, after, joined.metrics);
  const Mapping calls = join_call_nodes(before, after, joined, result.call_nodes_in);
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
