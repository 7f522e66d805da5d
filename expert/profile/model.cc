#include "expert/profile/model.h"

#include <algorithm>
#include <string_view>

#include "expert/profile/path.h"
#include "expert/profile/process_word.h"

namespace kojak::cube {

std::span<const double> Severities::row(std::size_t metric, std::size_t call_node) const {
  const auto found = index_.find(key(metric, call_node));
  if (found == index_.end()) return {};
  return {values_.data() + found->second, locations_};
}

std::span<double> Severities::add_row(std::size_t metric, std::size_t call_node) {
  const auto [entry, added] = index_.try_emplace(key(metric, call_node), values_.size());
  if (added) {
    values_.resize(values_.size() + locations_);
    keys_.push_back(entry->first);
  }
  return {values_.data() + entry->second, locations_};
}

std::size_t Report::find_metric(std::string_view name) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  return found == metrics.end() ? kNone : static_cast<std::size_t>(found - metrics.begin());
}

std::string Report::call_path(std::size_t call_node) const {
  std::vector<std::size_t> path;
  for (std::size_t node = call_node; node != kNone; node = call_nodes[node].parent) {
    path.push_back(node);
  }
  return joined_path(path.size(),
                     [&](std::size_t depth) { return region_name(path[path.size() - 1 - depth]); });
}

std::string Report::call_site(std::size_t call_node) const {
  const CallNode& node = call_nodes[call_node];
  if (node.module.empty() || node.line < 0) return node.module;
  return node.module + ":" + std::to_string(node.line);
}

std::string_view process_word(const Report& report) {
  const auto is = [](SystemKind kind) {
    return [kind](const SystemNode& node) { return node.kind == kind; };
  };
  const auto processes =
      std::count_if(report.system.begin(), report.system.end(), is(SystemKind::kProcess));
  const bool single = static_cast<std::size_t>(processes) == report.threads.size();
  return single && report.find_metric("upc") != kNone ? "thread" : "rank";
}

std::string Report::location_name(std::size_t location) const {
  const std::size_t thread = threads[location];
  const std::size_t process = system[thread].parent;
  if (process == kNone) return system[thread].name;
  std::string text(process_word(*this));
  text += ' ' + std::to_string(system[process].rank);
  // The threads of a process stand side by side.
  const auto same_process = [&](std::size_t node) {
    return node < system.size() && system[node].kind == SystemKind::kThread &&
           system[node].parent == process;
  };
  if (same_process(thread - 1) || same_process(thread + 1)) {
    text += ", thread " + std::to_string(system[thread].rank);
  }
  return text;
}

}  // namespace kojak::cube
