// The analysis of a trace: one forward pass that computes every severity.
//
//   auto trace = earl::Trace::open("a.elg");
//   Report report = analyse(*trace);
//
// The report refers to the trace's definitions: the trace must outlive it. Faults in the trace end
// up in the report's findings; a damaged trace is analysed up to its damage. Single-threaded.
// Memory: call paths x locations, and what is open in the trace.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "earl/standing.h"
#include "earl/trace.h"
#include "expert/metrics/selection.h"
#include "expert/part_sums.h"
#include "expert/profile/report.h"
#include "expert/sums/send_modes.h"
#include "expert/waits/gate.h"
#include "expert/waits/wait_list.h"

namespace kojak::html {
class TimelineReader;
}

namespace kojak::expert {

class CausePart;
class CauseParts;

struct AnalysisOptions {
  // Called now and then with the number of calls seen so far, for a progress bar.
  std::function<void(std::uint64_t events)> progress;
  // Also find out whom calls waited for, and how many instances of a pattern the report keeps.
  bool partners = true;
  std::size_t instances = 10;
  // Also find out who made the others wait, and the critical path: Report::root_causes(), and
  // metrics for the places that are to blame.
  bool root_causes = false;
  std::size_t most_of_root_causes = kMostOfRootCauses;  // CauseFinder::Options::most
  // Consumers of the caller, of which each may be null: findings by send mode, what the page shows
  // of the trace, all waits.
  SendModes* send_modes = nullptr;
  html::TimelineReader* page = nullptr;
  WaitList* waits = nullptr;
  // What the report shows of the tree.
  Selection selection;

  // Somebody looks at each wait, not at their sums alone.
  bool want_each_wait() const {
    return partners || root_causes || page != nullptr || waits != nullptr;
  }
};

Report analyse(earl::Trace& trace, const AnalysisOptions& options = {});

// A part of a run: a trace that begins in its midst, and ends there.
struct TracePart {
  earl::Trace* trace = nullptr;
  const earl::Standing* standing = nullptr;  // null: it begins where the run does
  const Gate* gate = nullptr;                // null: all of it
};
// The analysis of one part, for the report of all: what the parts add up to is added in their order
// (PartSums::add), and the last one makes the report of it. Lists of waits cannot be
// asked for, and what polls and threads tell is not added up. What the part refers to must outlive
// this object and the report.
class PartAnalysis {
 public:
  PartAnalysis(const TracePart& part, const AnalysisOptions& options, bool last);
  ~PartAnalysis();

  // Why the run cannot be analysed with this part; empty if it can, as far as this part knows.
  const std::string& why() const { return why_; }
  // What it shows of what the whole run decides.
  PassiveEvidence evidence() const;
  // Whether its sums are the same whatever the others show.
  bool decided() const;
  // Once. `of_run`: what all parts show.
  PartSums take_sums(const PassiveEvidence& of_run);
  // Of any part, before they are read.
  PartSums no_sums() const;
  // Then, of each part but the last: who knows what its waits cost. Null: nobody looks for causes.
  CausePart* causes();
  // Of the last part, once, when its sums were taken; those of options.send_modes and .page are
  // set to all.
  // `others`: who know that of the other parts, where causes are looked for; if they give up, the
  // report is of no use.
  Report report(PartSums all, CauseParts* others);

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string why_;
};

}  // namespace kojak::expert
