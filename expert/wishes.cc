#include "expert/wishes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "epilog/format/io/log_memory.h"
#include "expert/findings/report_metrics.h"

namespace kojak::expert {
namespace {

// Names joined by commas, in one option or several.
std::vector<std::string> names_of(const boost::program_options::variables_map& options,
                                  const char* option) {
  std::vector<std::string> names;
  if (options.count(option) == 0) return names;
  for (const std::string& list : options[option].as<std::vector<std::string>>()) {
    std::istringstream words(list);
    for (std::string name; std::getline(words, name, ',');) {
      if (!name.empty()) names.push_back(name);
    }
  }
  return names;
}

// What is wrong with the names of metrics; empty if nothing is. Names of branches that this trace
// has nothing for are known, too.
std::string wrong_selection(const Selection& selection, const Definitions& definitions) {
  const std::vector<ReportMetric> there = metrics_of(definitions);
  std::vector<ReportMetric> known = metrics_where([](Needs) { return true; });
  known.insert(known.end(), there.begin(), there.end());
  if (const std::string name = selection.unknown(known); !name.empty()) {
    return "no metric " + name + " (see --list-patterns for the names)";
  }
  const std::vector<std::string>& names = selection.select;
  const bool all_absent = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return !Selection{{name}, {}}.unknown(there).empty();
  });
  if (names.empty() || !all_absent) return {};
  return "the trace has nothing for what --select names: " + names.front() +
         " (without --select the findings may say why)";
}

// Whether the logs of root causes of so many events have no room; empty if they have. (They may
// need more. What has no room takes memory, epilog/format/io/log_memory.h.)
std::string lacking_room(double events) {
  constexpr double kOfEvent = 6, kMega = 1e6;
  const char* const told = ::secure_getenv("TMPDIR");
  const std::string folder = told != nullptr && *told != '\0' ? told : "/tmp";
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  const double wanted = events * kOfEvent, room = static_cast<double>(space.available);
  if (error || wanted <= LogMemory::kInMemory || wanted <= room) return "";
  const auto megabytes = [](double bytes) { return std::to_string(std::llround(bytes / kMega)); };
  return "root causes may need " + megabytes(wanted) + " MB in " + folder + ", which has " +
         megabytes(room) + ": the rest takes memory (set TMPDIR to another place)";
}

}  // namespace

std::size_t processes_of(const boost::program_options::variables_map& options) {
  return options.count("processes") == 0 ? 1 : options["processes"].as<std::size_t>();
}
std::string wrong_processes(const boost::program_options::variables_map& options, int launched) {
  constexpr std::size_t kMost = 1024;
  const std::size_t n = processes_of(options);
  if (n == 0 || n > kMost) return "--processes is a number from 1 to 1024";
  if (n > 1 && launched > 1) return "--processes starts processes of its own: not under a launcher";
  if (n > 1 && options.count("keep") != 0)
    return "--keep keeps what one process merges: not with --processes";
  if (n == 1 && launched == 1 && options.count("restart") != 0)
    return "--restart is for several processes: with --processes N, or under mpirun";
  return "";
}

std::string Wishes::complete(const boost::program_options::variables_map& options,
                             const earl::Trace& trace, std::uint64_t events) {
  constexpr std::size_t kMostInstances = 1'000'000'000;  // a negative number becomes a huge one
  analysis.instances = options["instances"].as<std::size_t>();
  if (analysis.instances > kMostInstances) return "--instances is a number from 0 to 1000000000";
  if (options.count("json") != 0) json = options["json"].as<std::string>();
  print_send_modes = options.count("send-modes") != 0;
  print_instances = !options["instances"].defaulted();
  SendModeOptions modes;
  modes.epsilon = options["epsilon"].as<double>();
  modes.sendrecv_gap = options["sendrecv-gap"].as<double>();
  if (options.count("latency") != 0) modes.latency = options["latency"].as<double>();
  if (options.count("bandwidth") != 0) modes.bandwidth = options["bandwidth"].as<double>();
  if (!(modes.epsilon >= 0 && modes.sendrecv_gap >= 0 && modes.latency.value_or(0) >= 0 &&
        modes.bandwidth.value_or(1) > 0)) {
    return "--epsilon, --sendrecv-gap, --latency and --bandwidth are not negative";
  }
  if (print_send_modes || !json.empty()) analysis.send_modes = &send_modes.emplace(trace, modes);
  // Root causes cost several times the analysis without them.
  constexpr std::uint64_t kMany = 12'000'000;
  const std::string when = options["causes"].as<std::string>();
  if (when != "always" && when != "auto" && when != "never") {
    return "--causes is always, auto or never, not \"" + when + "\"";
  }
  analysis.root_causes = when == "always" || (when == "auto" && events <= kMany);
  if (when == "auto" && !analysis.root_causes) {
    notes.push_back(
        "the trace is large: the report leaves out who made the others wait; expert "
        "--causes=always " +
        options["trace"].as<std::string>() + " says it");
  }
  const std::string lacking = lacking_room(static_cast<double>(events) * in_folder);
  if (analysis.root_causes && !lacking.empty()) notes.push_back(lacking);
  analysis.selection = {names_of(options, "select"), names_of(options, "exclude")};
  return wrong_selection(analysis.selection, trace.definitions());
}

}  // namespace kojak::expert
