#include "expert/page/run_name.h"

#include <algorithm>
#include <cstdio>

#include "epilog/format/text/counts.h"

namespace kojak::html {
namespace {

std::string attribute(const cube::Report& report, std::string_view key) {
  for (const auto& [name, value] : report.attributes) {
    if (name == key) return value;
  }
  return {};
}

std::size_t count(const cube::Report& report, cube::SystemKind kind) {
  return static_cast<std::size_t>(std::count_if(report.system.begin(), report.system.end(),
                                                [&](const auto& n) { return n.kind == kind; }));
}

// "main" says nothing, nor do the regions that threads of older and newer traces begin in.
bool says_nothing(const std::string& root) {
  return root.empty() || root == "main" || root == "PARALLEL" || root.starts_with("!$omp");
}

}  // namespace

std::string file_name(const std::string& path, int parts) {
  std::size_t at = path.size();
  for (; parts > 0 && at != std::string::npos && at != 0; --parts) at = path.rfind('/', at - 1);
  return at == std::string::npos || at == 0 ? path : path.substr(at + 1);
}

std::string program_or_file(const cube::Report& report) {
  std::string program;
  bool several = false;
  for (const cube::CallNode& node : report.call_nodes) {
    if (node.parent != cube::kNone) continue;
    const std::string& name = report.regions[node.region].name;
    several = several || (!program.empty() && name != program);
    program = name;
  }
  if (!several && !says_nothing(program)) return program;
  const std::string command = attribute(report, "run.command");
  const std::string started = file_name(command.substr(0, command.find(' ')));
  return started.empty() ? file_name(report.file) : started;
}

std::string processes_of(const cube::Report& report) {
  const std::size_t processes = count(report, cube::SystemKind::kProcess);
  const std::size_t threads = count(report, cube::SystemKind::kThread);
  std::string words = counted(processes, "process", "processes");
  if (threads > processes) words += ", " + counted(threads, "thread", "threads");
  return words;
}

std::string run_words(const cube::Report& report, double seconds) {
  std::string words = processes_of(report);
  const std::size_t nodes = count(report, cube::SystemKind::kNode);
  if (nodes > 1) {
    words += " on " + counted(nodes, "node", "nodes");
  } else {
    const std::string hosts = attribute(report, "run.hosts");
    if (!hosts.empty()) words += " on " + hosts.substr(0, hosts.find(' '));
  }
  if (seconds > 0) {
    char text[32];
    const int decimals = seconds >= 100 ? 0 : seconds >= 10 ? 1 : seconds >= 1 ? 2 : 3;
    std::snprintf(text, sizeof text, ", %.*f\u00a0s", decimals, seconds);
    words += text;
  }
  const std::string mpi = attribute(report, "run.mpi");
  return mpi.empty() ? words : words + ", " + mpi;
}

}  // namespace kojak::html
