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
#include <optional>
#include <span>

#include "earl/standing.h"
#include "earl/trace.h"
#include "expert/metrics/selection.h"
#include "expert/profile/report.h"
#include "expert/sums/send_modes.h"
#include "expert/waits/gate.h"
#include "expert/waits/wait_list.h"

namespace kojak::html {
class TimelineReader;
}

namespace kojak::expert {

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
// The same report from parts in their order, which hold all of the run; nothing, and why, where
// something is open between them, or more of it is decided by the whole run than can be added up.
// Instances, root causes, consumers of the caller and what threads, samples and processors tell
// cannot be asked for: they are not added up yet. All that the parts refer to must outlive the
// report.
std::optional<Report> analyse_parts(std::span<const TracePart> parts,
                                    const AnalysisOptions& options, std::string& why);

}  // namespace kojak::expert
