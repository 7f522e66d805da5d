#include "expert/findings/trace_findings.h"

#include <algorithm>
#include <string>

#include "epilog/format/check/trace_gaps.h"
#include "epilog/format/in_number.h"
#include "epilog/format/merge_properties.h"
#include "epilog/format/run_property_keys.h"
#include "epilog/format/text/count_words.h"
#include "expert/metrics/switched_off.h"
#include "expert/patterns/rma/passive/async_progress.h"

namespace kojak::expert {
namespace {

using Severity = Finding::Severity;

// What all tools say of it. (Records that are left out come with the findings of the replay.)
void add_gaps(const Definitions& definitions, std::vector<Finding>& found) {
  for (TraceGap& gap : gaps_of({}, definitions)) {
    found.push_back({gap.suspect ? Severity::kSuspect : Severity::kNote, gap.count,
                     std::move(gap.what), std::move(gap.advice)});
  }
}

// Whether everything that the processes did is in the trace, up to its end. (Regions that stay open
// when a process is killed take nothing away.)
bool is_complete(const earl::Trace& trace) {
  const Definitions& definitions = trace.definitions();
  const auto lost = [](const Lost& l) { return l.what != kLostOpenRegions; };
  return !trace.damage() && definitions.last_def && trace.native() && definitions.merged_run &&
         raw(definitions.merged_run->missing) == 0 && definitions.functions_off.empty() &&
         std::none_of(definitions.lost.begin(), definitions.lost.end(), lost) &&
         trace.findings()[earl::Finding::kGap].count == 0 &&
         trace.findings()[earl::Finding::kUnknownRecord].count == 0 &&
         trace.findings()[earl::Finding::kShortRecord].count == 0;
}

bool merged_with_clc(const earl::Trace& trace) {
  const std::string* const clock = trace.definitions().properties.find(run_property::kMergeClock);
  return clock != nullptr && *clock == "clc";
}

// What the replay found, in words that fit the rest of the trace.
Finding finding_of(const earl::Trace& trace, earl::Finding finding, std::uint64_t count) {
  const earl::FindingInfo& about = earl::info(finding);
  Finding row{about.suspect ? Severity::kSuspect : Severity::kNote, count, std::string(about.name),
              std::string(about.advice)};
  const earl::Findings& all = trace.findings();
  if (finding == earl::Finding::kUnreceivedSend && is_complete(trace)) {
    row.severity = Severity::kNote;
    row.what = "{message|messages} that nobody received";
    row.advice =
        "The receivers' traces are complete: these messages were sent, by the program or by a "
        "library (coarrays send some at their end), and nobody took them. Nobody waited for them, "
        "so no result is affected.";
  }
  if (finding == earl::Finding::kReceiveBeforeSend &&
      (all[earl::Finding::kUnmatchedReceive].count != 0 ||
       (all[earl::Finding::kUnreceivedSend].count != 0 && !is_complete(trace)))) {
    row.advice =
        "Messages are missing from the trace, so later ones are paired with those before "
        "them; the clocks are not to blame. Record and merge all processes from the start.";
  } else if (finding == earl::Finding::kReceiveBeforeSend && merged_with_clc(trace)) {
    row.advice =
        "The merge has put events in causal order (--clock clc) and left these: the messages "
        "contradict each other, or some are missing. Record and merge all processes from the "
        "start.";
  }
  return row;
}

// Operations that some members never began: which, and who is missing. `row`: all of them.
void add_unbegun(const Unbegun& unbegun, const Finding& row, std::vector<Finding>& found) {
  const std::string missing = "What is missing was not recorded or was cut off, or the program ";
  if (const std::uint64_t count = unbegun.count(true)) {
    found.push_back(
        {Severity::kSuspect, count,
         "{collective operation|collective operations} that some members never began, while others "
         "waited for "
         "them: " +
             unbegun.words(true),
         missing + "never came there. These waits are not computed, so the waits at such "
                   "operations are larger than reported; long ones are under Not explained."});
  }
  const std::uint64_t rest = row.count - std::min(row.count, unbegun.count(true));
  if (rest == 0) return;
  Finding note = row;
  note.count = rest;
  if (const std::string which = unbegun.words(false); !which.empty()) {
    note.what =
        "{collective operation|collective operations} that some members never began: " + which;
    note.advice = missing + "ended before. Nobody waited for them, so no result is affected.";
  }
  found.push_back(std::move(note));
}

// Hardware counters that have no place in the tree.
void add_counters(const Definitions& definitions, std::vector<Finding>& found) {
  std::uint64_t count = 0;
  std::string names;
  definitions.metrics.for_each([&](MetricId, const MetricDef& counter) {
    if (adds_up(counter)) return;
    constexpr std::uint64_t kNamed = 8;
    if (++count > kNamed) return;
    names += (names.empty() ? "" : ", ") + counter.name;
    if (counter.mode == 1) names += " (rate)";
    if (counter.mode == 2) names += " (sample)";
  });
  if (count == 0) return;
  found.push_back({Severity::kNote, count, "hardware {counter|counters} left out: " + names,
                   "Rates and samples cannot be added over calls; elg_print shows their values."});
}

// Those that ELG_METRICS asked for in vain.
void add_missing_counters(const Definitions& definitions, std::vector<Finding>& found) {
  std::uint64_t count = 0;
  const std::string* why = nullptr;
  bool all = false;
  definitions.properties.for_each(
      [&](const std::string& key, ProcessId process, const std::string& value) {
        if (key != run_property::kNoMetrics) return;
        ++count;
        all = all || is_absent(process);
        if (why == nullptr) why = &value;
      });
  if (why == nullptr) return;
  const std::string where = all ? "" : "in some processes ";
  found.push_back({Severity::kNote, count, where + "counters were not read: " + *why,
                   "What ELG_METRICS names otherwise is in the report."});
}

}  // namespace

std::vector<Finding> findings_of(const earl::Trace& trace,
                                 const std::array<std::uint64_t, kNotes>& notes,
                                 const Unbegun& unbegun) {
  std::vector<Finding> found;
  if (trace.damage()) {
    found.push_back({Severity::kSuspect, 1, trace.damage()->message(),
                     "Everything before the damage was analysed; the rest is missing. Merge the "
                     "run again, or copy the file again."});
  }
  const Definitions& definitions = trace.definitions();
  if (!definitions.last_def && !trace.damage()) {
    found.push_back({Severity::kSuspect, 1, "the trace ends before its definitions do",
                     "The file was cut off, or its merge was interrupted. Merge the run again."});
  }
  add_gaps(definitions, found);
  SwitchedOff(definitions).add_findings(found);
  AsyncProgress(definitions).add_findings(trace.process_count(), found);
  add_counters(definitions, found);
  add_missing_counters(definitions, found);
  trace.findings().for_each([&](earl::Finding finding, const earl::Findings::Row& row) {
    Finding said = finding_of(trace, finding, row.count);
    if (finding == earl::Finding::kIncompleteBegun) return add_unbegun(unbegun, said, found);
    found.push_back(std::move(said));
  });
  const std::uint64_t unsynchronised =
      notes[static_cast<std::size_t>(Note::kFenceDidNotSynchronise)];
  if (unsynchronised != 0) {
    found.push_back({Severity::kNote, unsynchronised,
                     of_count(unsynchronised, "fence", "fences") + " that did not synchronise",
                     "A process left the fence before the last one entered it. So the fence made "
                     "nobody wait, and no waiting is counted there. A fence that ends no epoch "
                     "need not synchronise."});
  }
  const auto note = [&](Note kind, const char* one, const char* several, const char* advice) {
    const std::uint64_t count = notes[static_cast<std::size_t>(kind)];
    if (count != 0) {
      found.push_back({Severity::kNote, count, of_count(count, one, several), advice});
    }
  };
  note(Note::kFileCallDidNotSynchronise, "collective file call that did not synchronise",
       "collective file calls that did not synchronise",
       "A process left the call before the last one entered it. So the call made nobody wait, and "
       "no "
       "waiting is counted there.");
  note(Note::kProgressIsAsynchronous, "kind of call on a window that needs no help from its target",
       "kinds of call on a window that need no help from their target",
       "Such a call ended while its target was computing, so the MPI library moves data there "
       "without the target's help. No Wait for Progress is counted for it.");
  note(Note::kCallsLeftOut, "one-sided call not examined", "one-sided calls not examined",
       "Too many calls could have waited for a lock or for progress at the same time, and not all "
       "were looked at. Lock Contention and Wait for Progress may be larger than the report says.");
  for (Finding& row : found) row.what = in_number(row.what, row.count);
  return found;
}

}  // namespace kojak::expert
