// MPI functions whose calls a measurement left out (groups by ELG_MPI) or does not know, and what
// that does to a report: metrics that cannot be had without them, and those that lack something.
//
// Made from FUNCTIONS_OFF and the run's properties; a trace without such records recorded all that
// can block or make progress. Plain values. Source: docs/patterns.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "epilog/format/definitions.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

// The processes of which calls that can wait or make progress were not recorded, and why.
std::map<ProcessId, const char*> processes_with_unrecorded_calls(const Definitions& definitions);

class SwitchedOff {
 public:
  explicit SwitchedOff(const Definitions& definitions);

  // Whether some process may have made progress in calls that were not recorded: then the trace
  // does not show when it was outside MPI.
  bool hides_progress() const { return hides_progress_; }
  // Patterns that would be wrong because some calls are not recorded: they pair calls by counting
  // (the second send belongs to the second receive), and these calls are missing in the count.
  std::vector<std::string> wrong_patterns(std::span<const Metric> all) const;

  using Groups = std::uint8_t;  // a bit for each family
  // How many processes left out exactly these groups.
  const std::map<Groups, std::uint64_t>& processes() const { return processes_; }
  // Functions that the program imports and the measurement does not know, with the file that
  // imports them; of these, the ones that were called; and how many more there are.
  const std::map<std::string, std::string>& unrecorded() const { return unrecorded_; }
  const std::map<std::string, std::string>& called() const { return called_; }
  std::uint64_t further_unrecorded() const { return further_unrecorded_; }
  // Families with calls that nobody counts.
  Groups uncounted() const { return uncounted_; }
  // What is missing in the time of a node of the tree: groups, and at how many processes.
  struct Missing {
    Groups groups = 0;
    std::uint64_t processes = 0;
  };
  Missing missing(const Metric& metric) const;
  // "p2p, coll"
  static std::string names(Groups groups);

 private:
  std::map<std::string, std::string> unrecorded_, called_;
  std::uint64_t further_unrecorded_ = 0;
  std::map<Groups, std::uint64_t> processes_;
  bool hides_progress_ = false;
  Groups uncounted_ = 0;
};

}  // namespace kojak::expert
