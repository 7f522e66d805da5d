#include "expert/profile/from_analysis.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "epilog/format/text/counts.h"
#include "epilog/format/text/xml_text.h"
#include "expert/profile/run_facts.h"
#include "expert/profile/unite_twins.h"
#include "expert/profile/what_if.h"

namespace kojak::expert {
namespace {

constexpr const char* kNothing = "(nothing was recorded)";

const char* unit_name(Unit unit) {
  switch (unit) {
    case Unit::kSeconds:
      return "sec";
    case Unit::kOccurrences:
      return "occ";
    case Unit::kBytes:
      return "bytes";
  }
  return "";
}

long line_number(Line line) {
  return is_absent(line) ? -1 : static_cast<long>(raw(line));
}

void add_metrics(const Report& analysis, cube::Report& profile) {
  for (const MetricNode& node : analysis.metrics()) {
    const Metric& metric = node.metric;
    std::string description(metric.summary);
    if (!node.remark.empty()) description += ' ' + node.remark;
    profile.metrics.push_back(
        {.parent = node.parent,
         .title = xml_text(metric.title),
         .name = xml_text(metric.name),
         .type = metric.unit == Unit::kSeconds || metric.fractions ? "FLOAT" : "INTEGER",
         .unit = unit_name(metric.unit),
         .url = xml_text("@mirror@patterns.html#" + std::string(metric.name)),
         .description = xml_text(description)});
  }
}

void add_program(const Report& analysis, cube::Report& profile) {
  const Definitions& definitions = analysis.definitions();
  // Only the regions that were entered, in the order of their identifiers.
  std::map<RegionId, std::size_t> numbers;
  for (const CallPathNode& node : analysis.call_paths()) numbers.emplace(node.region, 0);
  for (auto& [region, number] : numbers) {
    number = profile.regions.size();
    const RegionDef* def = definitions.regions.find(region);
    RegionIdentity identity = identity_of(definitions, region, analysis.region_name(region));
    profile.regions.push_back(
        {.name = std::move(identity.name),
         .module = std::move(identity.module),
         .url = {},
         .description =
             xml_text(def != nullptr                ? def->description
                      : analysis.is_stretch(region) ? "what its caller computes between two calls"
                                                    : ""),
         .begin = line_number(identity.begin),
         .end = line_number(identity.end)});
  }
  for (const CallPathNode& node : analysis.call_paths()) {
    cube::CallNode& call = profile.call_nodes.emplace_back();
    call.parent = node.parent;
    call.region = numbers[node.region];
    const CallSiteDef* site =
        is_absent(node.site) ? nullptr : definitions.call_sites.find(node.site);
    if (site == nullptr) continue;
    const std::string* file = definitions.files.find(site->file);
    call.has_site = true;
    call.line = line_number(site->line);
    if (file != nullptr) call.module = xml_text(*file);
  }
  // A program has a function at least, or CUBE does not read it.
  if (!profile.call_nodes.empty()) return;
  profile.regions.push_back({.name = kNothing,
                             .module = {},
                             .url = {},
                             .description = "the trace holds no call of any function"});
  profile.call_nodes.emplace_back();
}

// The last node of each level.
using Last = std::array<std::size_t, 4>;

// Below the last one of the level above it.
void add_system_node(cube::Report& profile, Last& last, cube::SystemKind kind,
                     const std::string& name, long rank = -1) {
  const auto level = static_cast<std::size_t>(kind);
  cube::SystemNode node;
  node.parent = level == 0 ? kNone : last[level - 1];
  node.kind = kind;
  node.name = xml_text(name);
  node.rank = rank;
  last[level] = profile.system.size();
  if (kind == cube::SystemKind::kThread) {
    node.location = profile.threads.size();
    profile.threads.push_back(profile.system.size());
  }
  profile.system.push_back(std::move(node));
}

void add_system(const Report& analysis, cube::Report& profile) {
  using Kind = cube::SystemKind;
  Last last{};
  for (const MachineNode& machine : analysis.machines()) {
    add_system_node(profile, last, Kind::kMachine, machine.name);
    for (const HostNode& node : machine.nodes) {
      add_system_node(profile, last, Kind::kNode, node.name);
      for (const ProcessNode& process : node.processes) {
        add_system_node(profile, last, Kind::kProcess, process.name, process.rank);
        for (const ThreadNode& thread : process.threads) {
          add_system_node(profile, last, Kind::kThread, thread.name, thread.number);
        }
      }
    }
  }
  // A system has a thread at least.
  if (!profile.system.empty()) return;
  add_system_node(profile, last, Kind::kMachine, kNothing);
  add_system_node(profile, last, Kind::kNode, kNothing);
  add_system_node(profile, last, Kind::kProcess, kNothing, 0);
  add_system_node(profile, last, Kind::kThread, kNothing, 0);
}

// CUBE refuses a file with a place outside of its grid.
bool within(const std::vector<std::uint32_t>& coord, const std::vector<std::uint32_t>& size) {
  return std::equal(coord.begin(), coord.end(), size.begin(), size.end(), std::less<>());
}

void add_topologies(const Report& analysis, cube::Report& profile) {
  analysis.definitions().topologies.for_each([&](TopologyId, const TopologyDef& topology) {
    cube::Topology grid;
    for (std::size_t d = 0; d < topology.size.size(); ++d) {
      const bool periodic = d < topology.periodic.size() && topology.periodic[d];
      grid.dimensions.push_back({{}, topology.size[d], periodic});
    }
    for (const auto& [location, coord] : topology.coords) {
      const std::size_t thread = analysis.thread_of(location);
      if (thread == kNone || !within(coord, topology.size)) continue;
      grid.points.push_back({profile.threads[thread], {coord.begin(), coord.end()}});
    }
    if (grid.dimensions.empty() || grid.points.empty()) return;
    std::stable_sort(grid.points.begin(), grid.points.end(),
                     [](const auto& a, const auto& b) { return a.system_node < b.system_node; });
    profile.topologies.push_back(std::move(grid));
  });
}

}  // namespace

cube::Report profile_of(const Report& analysis) {
  cube::Report profile;
  profile.version = "3.0";
  profile.attributes.emplace_back("CUBE_CT_AGGR", "SUM");
  for (const auto& [name, value] : run_facts(analysis)) {
    profile.attributes.emplace_back(xml_text(kFactAttribute + name), xml_text(value));
  }
  for (const WhatIf& without : what_if(analysis)) {
    profile.attributes.emplace_back(
        "kojak.what_if." + without.name,
        "run " + fixed(without.run, 6) + " s, gain " + fixed(without.gain, 6) + " s");
  }
  add_metrics(analysis, profile);
  add_program(analysis, profile);
  add_system(analysis, profile);
  add_topologies(analysis, profile);
  profile.severities.set_locations(profile.locations());
  return profile;
}

bool profile_row(const Report& analysis, std::size_t metric, std::size_t call_node,
                 std::span<double> out) {
  return call_node < analysis.call_paths().size() && analysis.row(metric, call_node, out);
}

void add_severities(const Report& analysis, cube::Report& profile) {
  std::vector<double> values(profile.locations());
  for (std::size_t m = 0; m < profile.metrics.size(); ++m) {
    for (std::size_t c = 0; c < profile.call_nodes.size(); ++c) {
      if (!profile_row(analysis, m, c, values)) continue;
      std::copy(values.begin(), values.end(), profile.severities.add_row(m, c).begin());
    }
  }
}

}  // namespace kojak::expert
