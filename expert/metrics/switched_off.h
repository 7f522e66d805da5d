// MPI functions whose calls a measurement left out (groups by ELG_MPI) or does not know, and what
// that does to a report: metrics that cannot be had without them, remarks on those that lack
// something.
//
// Made from FUNCTIONS_OFF and the run's properties; a trace without such records recorded all that
// can block or make progress. Plain values. Source: docs/patterns.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "epilog/format/definitions.h"
#include "expert/metrics/metric.h"
#include "expert/profile/findings.h"

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
  std::vector<std::string> wrong_patterns() const;
  // What a node of the tree lacks, in a sentence; empty if nothing.
  std::string remark(const Metric& metric) const;
  // Rows for the table of findings.
  void add_findings(std::vector<Finding>& found) const;

 private:
  // Functions that the program imports and the measurement does not know, with the file that
  // imports them.
  std::map<std::string, std::string> unrecorded_;
  std::map<std::string, std::string> called_;  // of these, the ones that were called
  std::uint64_t further_unrecorded_ = 0;
  using Groups = std::uint8_t;                 // a bit for each family
  std::map<Groups, std::uint64_t> processes_;  // how many left out exactly these
  bool hides_progress_ = false;
  std::uint8_t uncounted_ = 0;  // families with calls that nobody counts
};

}  // namespace kojak::expert
