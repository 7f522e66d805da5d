#include "expert/metrics/switched_off.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "epilog/format/mpi_functions.h"
#include "epilog/format/run_properties.h"

namespace kojak::expert {
namespace {

constexpr std::uint8_t kAllFamilies = (1u << kMpiFamilyNames.size()) - 1;

constexpr std::uint8_t bit(MpiFamily family) {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(family));
}

// The groups that hold functions of a class which take time.
std::uint8_t groups_of(TimeClass time) {
  std::uint8_t groups = 0;
  for (const MpiFunction& f : mpi_functions()) {
    if (time_class(f.cls) == time && (f.may_block || f.can_progress)) groups |= bit(f.family);
  }
  return groups;
}

// Which families a function that is not recorded may do something of: PMPI_Send sends, and one that
// no table knows may do anything.
std::uint8_t families_of(const std::string& function) {
  const auto known = [&](const MpiFunction& f) {
    return function.size() == f.name.size() + 1 && function[0] == 'P' &&
           function.compare(1, std::string::npos, f.name) == 0;
  };
  for (const MpiFunction& f : mpi_functions()) {
    if (known(f)) return f.may_block || f.can_progress ? bit(f.family) : 0;
  }
  return bit(MpiFamily::kP2p) | bit(MpiFamily::kColl) | bit(MpiFamily::kRma);
}

// Whether a pattern of this class of calls is found by counting calls of one of the families.
bool counts_calls(TimeClass time, std::uint8_t families) {
  constexpr TimeClass kLast = time_class(MpiClass::kManagement);
  return time <= kLast && (groups_of(time) & families) != 0;
}

}  // namespace

std::map<ProcessId, const char*> processes_with_unrecorded_calls(const Definitions& definitions) {
  std::map<ProcessId, const char*> found;
  std::uint8_t waiting = 0;
  for (const MpiFunction& f : mpi_functions()) {
    if (f.may_block || f.can_progress) waiting |= bit(f.family);
  }
  for (const auto& [process, flags] : definitions.functions_off) {
    if ((raw(flags) & waiting) != 0) found.emplace(process, "groups of calls were left out");
  }
  definitions.properties.for_each(
      [&](const std::string& key, ProcessId process, const std::string&) {
        if (key.rfind(run_property::kUnrecordedCalled, 0) != 0) return;
        if (families_of(key.substr(std::strlen(run_property::kUnrecordedCalled))) == 0) return;
        found.emplace(process, "it calls MPI by functions that are not recorded");
      });
  return found;
}

SwitchedOff::SwitchedOff(const Definitions& definitions) {
  std::uint8_t progress = 0;
  for (const MpiFunction& f : mpi_functions()) {
    if (f.can_progress) progress |= bit(f.family);
  }
  definitions.properties.for_each([&](const std::string& key, ProcessId, const std::string& value) {
    if (key == run_property::kUnrecordedMore) {
      further_unrecorded_ =
          std::max<std::uint64_t>(further_unrecorded_, std::strtoull(value.c_str(), nullptr, 10));
    } else if (key.rfind(run_property::kUnrecorded, 0) == 0) {
      unrecorded_.emplace(key.substr(std::strlen(run_property::kUnrecorded)), value);
    } else if (key.rfind(run_property::kUnrecordedCalled, 0) == 0) {
      called_.emplace(key.substr(std::strlen(run_property::kUnrecordedCalled)), value);
    }
  });
  for (const auto& [function, file] : called_) uncounted_ |= families_of(function);
  for (const auto& [process, flags] : definitions.functions_off) {
    const Groups groups = raw(flags) & kAllFamilies;
    if (groups != 0) ++processes_[groups];
    hides_progress_ = hides_progress_ || (groups & progress) != 0;
  }
}

std::vector<std::string> SwitchedOff::wrong_patterns(std::span<const Metric> all) const {
  std::vector<std::string> wrong;
  std::map<std::string_view, const Metric*> by_name;
  for (const Metric& metric : all) by_name[metric.name] = &metric;
  for (const Metric& metric : all) {
    if (metric.kind != Metric::Kind::kPattern || metric.unit != Unit::kSeconds || metric.own) {
      continue;
    }
    const Metric* above = &metric;
    while (above != nullptr && !above->own) {
      const auto parent = by_name.find(above->parent);
      above = parent != by_name.end() ? parent->second : nullptr;
    }
    // Any of these calls may have made progress, too.
    if (uncounted_ != 0 && above != nullptr &&
        (counts_calls(*above->own, uncounted_) || metric.needs == Needs::kAllProgress)) {
      wrong.emplace_back(metric.name);
    }
  }
  return wrong;
}

SwitchedOff::Missing SwitchedOff::missing(const Metric& metric) const {
  Missing missing;
  if (!metric.own) return missing;
  for (const auto& [groups, processes] : processes_) {
    const Groups here = groups & groups_of(*metric.own);
    missing.groups |= here;
    if (here != 0) missing.processes += processes;
  }
  return missing;
}

std::string SwitchedOff::names(Groups groups) {
  std::string text;
  for (std::size_t f = 0; f < kMpiFamilyNames.size(); ++f) {
    if ((groups >> f & 1) == 0) continue;
    if (!text.empty()) text += ", ";
    text += kMpiFamilyNames[f];
  }
  return text;
}

}  // namespace kojak::expert
