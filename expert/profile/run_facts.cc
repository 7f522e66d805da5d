#include "expert/profile/run_facts.h"

#include <map>
#include <string_view>

#include "epilog/format/merge_properties.h"
#include "epilog/format/run_properties.h"
#include "epilog/format/run_property_keys.h"
#include "epilog/format/text/counts.h"

namespace kojak::expert {
namespace {

// "./solve 100 (ranks 0, 1); ./io (rank 2)": what the whole run says stands alone.
std::string by_process(const RunProperties& properties, std::string_view key) {
  constexpr std::size_t kNamed = 4;
  std::map<std::string, std::vector<ProcessId>> said;
  properties.for_each([&](const std::string& k, ProcessId process, const std::string& value) {
    if (k == key) said[value].push_back(process);
  });
  if (said.empty()) return {};
  if (said.size() == 1 &&
      (is_absent(said.begin()->second.front()) || key == run_property::kStart)) {
    return said.begin()->first;
  }
  std::string text;
  std::size_t values = 0;
  for (const auto& [value, processes] : said) {
    if (++values > kNamed) {
      return text + "; and " + std::to_string(said.size() - kNamed) + " more";
    }
    text += (text.empty() ? "" : "; ") + value + " (";
    if (is_absent(processes.front())) {
      text += "the others)";
      continue;
    }
    text += processes.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < processes.size() && i < kNamed; ++i) {
      text += (i == 0 ? "" : ", ") + std::to_string(raw(processes[i]));
    }
    text += processes.size() > kNamed
                ? " and " + std::to_string(processes.size() - kNamed) + " more)"
                : ")";
  }
  return text;
}

std::string hosts_of(const Report& report) {
  constexpr std::size_t kNamed = 16;
  std::string text;
  std::size_t nodes = 0;
  for (const MachineNode& machine : report.machines()) {
    for (const HostNode& node : machine.nodes) {
      if (!node.known || ++nodes > kNamed) continue;
      text += (text.empty() ? "" : ", ") + node.name + " (" +
              counted(node.processes.size(), "process", "processes") + ')';
    }
  }
  if (nodes > kNamed) text += " and " + std::to_string(nodes - kNamed) + " more";
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> run_facts(const Report& report) {
  const RunProperties& properties = report.definitions().properties;
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](std::string name, std::string value) {
    if (!value.empty()) facts.emplace_back(std::move(name), std::move(value));
  };
  add("command", by_process(properties, run_property::kCommand));
  add("start", by_process(properties, run_property::kStart));
  add("mpi", by_process(properties, run_property::kMpiLibrary));
  add("between the program and MPI", by_process(properties, run_property::kBetween));
  add("hosts", hosts_of(report));
  add("processes", std::to_string(report.processes()));
  add("threads", std::to_string(report.threads()));
  if (const std::string* clock = properties.find(run_property::kMergeClock)) {
    add("clock", *clock);
  }
  std::string last;
  properties.for_each([&](const std::string& key, ProcessId, const std::string&) {
    if (key == last || !key.starts_with(run_property::kEnvironment)) return;
    last = key;
    add(key, by_process(properties, key));
  });
  return facts;
}

}  // namespace kojak::expert
