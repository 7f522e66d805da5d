// Relations between the report of a trace and the report of a changed trace, where the expected
// change is known; and the checks that hold on every report.
//
// Used by the tests over the cases and over random programs (metamorphic_*_test.cc). Values own all
// they hold. A trace that cannot be analysed throws std::runtime_error.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/trace_changes.h"

namespace kojak::metamorphic {

using support::TraceBytes;

// What a report says, independent of the order of call paths and locations.
struct Outcome {
  using Key = std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>;
  std::map<Key, double> values;         // metric, call path with call sites, rank, thread; no zeros
  std::vector<std::string> findings;    // "2 x messages received without ..."
  std::vector<std::string> broken;      // cross-checks that the report does not pass
  std::set<std::string> waits() const;  // the patterns that are not 0
};
// The trace and its report are kept under a name for the independent analysis
// (tests/support/kept_runs.h) unless the name is empty.
Outcome analysed(const TraceBytes& trace, const std::string& kept_as = "");

// How many traces went through each relation, and what they had to show.
class Tally {
 public:
  struct Row {
    std::uint64_t traces = 0;
    std::uint64_t with_waits = 0;                // traces with a pattern that is not 0
    std::map<std::string, std::uint64_t> waits;  // such traces, by pattern
  };
  void add(const std::string& relation, const std::set<std::string>& waits);
  const Row& operator[](const std::string& relation) const { return rows_.at(relation); }
  // A line for each relation.
  std::string table() const;
  const std::map<std::string, Row>& rows() const { return rows_; }

 private:
  std::map<std::string, Row> rows_;
};

// Applies every relation to a trace. Gives what does not hold, none if all is well.
//
// shifted, scaled:     the same severities; times as many times as large
// identifiers:         all definitions, operations and requests renumbered: the same
// far identifiers:     the same, with numbers of up to 32 bits, in bounded memory
// ranks:               the same severities at the renumbered ranks
// members:             the members of groups in another order: the same, unless there is a scan
// idle:                the same, and nothing but time at the idle process
// ties:                events of equal times in another order: the same
// windows:             one-sided waits, pairs and bytes are the sums of those of the windows alone;
//                      all other waits are the same in each part
// ends back:           ends of transfers, and their marks, at the calls that issued them, as in the
//                      basic model: the same
std::vector<std::string> check_relations(const TraceBytes& trace, std::uint64_t seed, Tally& tally);

// What differs between two reports that must be the same; of whom the names are.
std::vector<std::string> differences(const Outcome& expected, const Outcome& found,
                                     double tolerance);

}  // namespace kojak::metamorphic
