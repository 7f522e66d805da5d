// What the severities of a run must be, computed from the times that the program took around its
// calls.
//
// The formulas are those of the patterns' definitions, written down a second time, plainly and
// without regard to speed, over complete lists of calls: nothing is shared with the analysis under
// test, which sees events one by one. Within a node all clocks are one, so the clock error delta is
// 0.
//
// Fails by std::runtime_error if the notes contradict themselves.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/programs/oracle/notes.h"

namespace kojak::oracle {

// (metric, function, rank). The function "*" is the sum over all functions; FUNCTION@CALLER:LINE is
// the function where it is called there.
using Key = std::tuple<std::string, std::string, int>;

class Truth {
 public:
  explicit Truth(const Notes& run);

  // The part of a call between two times.
  static double overlap(const Call& call, double from, double to);
  // What the latest of the causes that lie before the call's end took of it.
  static double blocked(const Call& call, const std::vector<double>& causes);

  double value(const std::string& metric, const std::string& function, int rank) const;
  const std::map<Key, double>& values() const { return values_; }

 private:
  void add(const std::string& metric, const Call& call, double value);
  void add_counts_and_times(const Notes& run);
  void add_collectives(const Notes& run);  // collectives.cc
  void add_begun(const Notes& run);        // begun.cc
  void add_group_calls(const Notes& run);  // begun.cc
  void add_windows(const Notes& run);      // windows.cc
  void add_epochs(const Notes& run);       // epochs.cc
  // Times within calls that patterns listed earlier claim.
  using Taken = std::map<const Call*, std::vector<std::pair<double, double>>>;
  void add_passive(const Notes& run, const Taken& taken);  // passive.cc
  void add_messages(const Notes& run);                     // messages.cc

  std::map<Key, double> values_;
  Taken posts_;  // what waiting for posts took of calls
  // Waits of exposure epochs, and the Win_complete that each of them waited for last.
  std::vector<std::pair<const Call*, const Call*>> completed_by_;
};

// The classes of EXPERT's tree that hold a function's time, from the root on; empty if unknown
// here.
std::vector<std::string> classes_of(const std::string& function);
// The same of a call: one that completes requests of transfers only belongs to these.
std::vector<std::string> classes_of(const Call& call);

// One line per guard that does not hold.
std::vector<std::string> broken_guards(const Notes& run, const Truth& truth);

}  // namespace kojak::oracle
