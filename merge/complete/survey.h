// Pass 1 over the local traces: definitions, clocks, and what else must be known before the first
// event is written.
//
// Results: the merged definitions and a translation table for each trace; how each trace begins and
// ends; and for each process the epochs whose completing exits were recorded (epochs.h). A process
// with one thread is read once (trace_survey.h); one with several is read a second time, its
// threads in time order. Owns its results. Errors: contradictory definitions are fatal (exit 2);
// damage is counted in the summary and ends a trace early. Source: docs/merge.md.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "epilog/format/compact/find_place.h"
#include "epilog/format/event_loop.h"
#include "merge/complete/epochs.h"
#include "merge/complete/trace_watch.h"
#include "merge/define/definitions.h"
#include "merge/define/linear_clock.h"
#include "merge/input/helpers.h"
#include "merge/input/local_trace.h"
#include "merge/summary.h"

namespace kojak::merge {

struct WindowPart {
  std::uint64_t base = 0, size = 0, unit = 0;  // as in MPI_WIN_PART
};

// What the trace says by itself.
struct ReadFacts {
  std::uint64_t events = 0;        // that the merge will write, transfers in one record as four
  std::uint64_t last_exit = 0;     // offset of the record that holds the last exit, 0 if none
  std::uint32_t open_regions = 0;  // at the end
  bool locks = false;              // some record of a lock or unlock of one target
  bool lock_all = false;           // some event of lock_all
  double first_time = 0;           // recorded time of the first event
  std::uint64_t end = 0;           // offset behind the last whole record
  std::map<std::uint32_t, PollSite> poll_sites;  // where it polls, as it numbers regions and sites
  std::map<std::uint32_t, WindowPart> window_parts;  // of MPI_WIN_PART, by its own numbers
  std::set<std::uint32_t> polled_windows;            // in which a series read or swapped
  std::vector<compact::BlockPlace> blocks;           // where they begin, if somebody watches
  template <class Archive>
  void visit(Archive& archive) {
    archive(events, last_exit, open_regions, locks, lock_all, first_time, end, poll_sites,
            window_parts, polled_windows, blocks);
  }
};

struct TraceFacts : ReadFacts {
  // One for all traces that agree: of many ranks, most name the same things the same way.
  std::shared_ptr<const Translation> translation;
  ClockRecord clock;
  bool whole = false;  // the only one of its process, and does not contradict itself: then
  std::vector<std::uint32_t> windows;  // these were numbered from 0 while it was read
  bool came_to_end = false;  // its process called MPI_Finalize, or ended its trace in order
  // The call of a library that MPI_Finalize was called in (services.h); kAbsent: in none.
  std::optional<std::uint32_t> finalized_in;
  // A library has started it for itself (library_thread.h); since when it serves, where that is
  // told.
  bool library_thread = false;
  std::optional<double> library_thread_since;
  // It came to MPI_Finalize in the call that starts a library: since when it was there.
  std::optional<double> starts_library_since;
  std::optional<double> serves_since;  // recorded time from which on it serves the others
  const char* aborted = nullptr;       // the function by which it ended all, MPI_Abort
};

struct Survey {
  MergedDefinitions definitions;
  std::vector<TraceFacts> traces;
  std::vector<std::unique_ptr<ProcessEpochs>> processes;  // by rank; null where nothing is known
};

// What the reading of a trace finds (trace_survey.h).
struct FoundInTrace;

// What is known of all traces before, where others have read them: what the reading of each found,
// asked for in their order, and names that were looked up.
struct Surveyed {
  std::function<std::unique_ptr<FoundInTrace>(std::size_t)> trace;
  CodeNames::Found names;
};

// `traces` sorted by rank and thread, read side by side with the helpers unless they are
// `surveyed`; `progress` gets the bytes read, in the calling thread. `watches` is asked for each
// trace there, or empty.
Result<Survey> survey_traces(const std::vector<LocalTrace>& traces, FileCache& files,
                             Helpers& helpers, Summary& summary,
                             const std::function<void(std::uint64_t)>& progress,
                             const Watches& watches = {}, Surveyed* surveyed = nullptr);

}  // namespace kojak::merge
