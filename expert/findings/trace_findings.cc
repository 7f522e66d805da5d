#include "expert/findings/trace_findings.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <string>

#include "epilog/format/check/trace_gaps.h"
#include "epilog/format/in_number.h"
#include "epilog/format/merge_properties.h"
#include "epilog/format/run_property_keys.h"
#include "epilog/format/text/counts.h"
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
bool is_complete(const earl::Trace& trace, const earl::Findings& of_events) {
  const Definitions& definitions = trace.definitions();
  const auto lost = [](const Lost& l) { return l.what != kLostOpenRegions; };
  return !trace.damage() && definitions.last_def && trace.native() && definitions.merged_run &&
         raw(definitions.merged_run->missing) == 0 && definitions.functions_off.empty() &&
         std::none_of(definitions.lost.begin(), definitions.lost.end(), lost) &&
         of_events[earl::Finding::kGap].count == 0 &&
         of_events[earl::Finding::kUnknownRecord].count == 0 &&
         of_events[earl::Finding::kShortRecord].count == 0;
}

bool merged_with_clc(const earl::Trace& trace) {
  const std::string* const clock = trace.definitions().properties.find(run_property::kMergeClock);
  return clock != nullptr && *clock == "clc";
}

// What the replay found, in words that fit the rest of the trace.
Finding finding_of(const earl::Trace& trace, const earl::Findings& all, earl::Finding finding,
                   std::uint64_t count) {
  const earl::FindingInfo& about = earl::info(finding);
  Finding row{about.suspect ? Severity::kSuspect : Severity::kNote, count, std::string(about.name),
              std::string(about.advice)};
  if (finding == earl::Finding::kUnreceivedSend && is_complete(trace, all)) {
    row.severity = Severity::kNote;
    row.what = "{message|messages} that nobody received";
    row.advice =
        "The receivers' traces are complete: these messages were sent, by the program or by a "
        "library (coarrays send some at their end), and nobody took them. Nobody waited for them, "
        "so no result is affected.";
  }
  if (finding == earl::Finding::kReceiveBeforeSend &&
      (all[earl::Finding::kUnmatchedReceive].count != 0 ||
       (all[earl::Finding::kUnreceivedSend].count != 0 && !is_complete(trace, all)))) {
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

// Functions of MPI that were not recorded.
void add_functions_off(const SwitchedOff& off, std::vector<Finding>& found) {
  for (const auto& [groups, count] : off.processes()) {
    found.push_back({Finding::Severity::kNote, count,
                     of_count(count, "process", "processes") +
                         " that recorded no calls of these groups: " + SwitchedOff::names(groups),
                     "ELG_MPI left them out. Their time counts as that of their callers; their "
                     "waits, messages and bytes are unknown, not 0."});
  }
  for (const auto& [function, file] : off.unrecorded()) {
    found.push_back({Finding::Severity::kNote, 1,
                     file + (off.called().count(function) != 0 ? " calls " : " can call ") +
                         function + ", which is not recorded",
                     "Waits in it are missing, and so is what it does to windows and messages. Its "
                     "time counts as "
                     "that of its caller."});
  }
  if (off.further_unrecorded() != 0) {
    found.push_back({Finding::Severity::kNote, off.further_unrecorded(),
                     of_count(off.further_unrecorded(), "further MPI function that is",
                              "further MPI functions that are") +
                         " not recorded",
                     "Waits in them are missing. Their time counts as that of their callers."});
  }
  if (off.uncounted() != 0) {
    found.push_back({Finding::Severity::kNote, off.called().size(),
                     of_count(off.called().size(), "function is", "functions are") +
                         " called but not recorded; left out are patterns of " +
                         SwitchedOff::names(off.uncounted()),
                     "Messages, collective operations and epochs are paired by counting calls, and "
                     "these were not counted. Call the MPI_ functions instead of PMPI_ ones, put "
                     "kojak's library in front of another that has the function, or build kojak "
                     "with an MPI that has it."});
  }
  if (off.hides_progress()) {
    found.push_back({Finding::Severity::kNote, 1, "pattern left out: Wait for Progress",
                     "It needs to know when a process is outside of MPI. Record all groups of "
                     "functions that can make progress (the default of ELG_MPI)."});
  }
}

// Processes that make progress outside of MPI calls.
void add_async_progress(const Definitions& definitions, std::uint32_t processes,
                        std::vector<Finding>& found) {
  if (definitions.properties.size() == 0) return;
  const AsyncProgress environment(definitions);
  std::uint64_t count = 0;
  std::string first;
  for (std::uint32_t p = 0; p < processes; ++p) {
    const std::string said = environment.variable(ProcessId{p});
    if (said.empty()) continue;
    if (count == 0) first = said;
    ++count;
  }
  if (count == 0) return;
  found.push_back(
      {Finding::Severity::kNote, count,
       of_count(count, "process", "processes") + " with asynchronous progress: " + first,
       "Nobody waits for the progress of these processes, as the environment of the "
       "run says: Wait for Progress claims nothing for them."});
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

std::vector<Finding> findings_of(const earl::Trace& trace, const earl::Findings& of_events,
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
  add_functions_off(SwitchedOff(definitions), found);
  add_async_progress(definitions, trace.process_count(), found);
  add_counters(definitions, found);
  add_missing_counters(definitions, found);
  of_events.for_each([&](earl::Finding finding, const earl::Findings::Row& row) {
    Finding said = finding_of(trace, of_events, finding, row.count);
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
  constexpr const char* kLeftEarly =
      "A process left the call before the last one entered it. So the call made nobody wait, and "
      "no waiting is counted there.";
  note(Note::kFileCallDidNotSynchronise, "collective file call that did not synchronise",
       "collective file calls that did not synchronise", kLeftEarly);
  note(Note::kTeamCallDidNotSynchronise, "end or split of a team that did not synchronise",
       "ends or splits of teams that did not synchronise", kLeftEarly);
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

std::string suspects(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.severity != Finding::Severity::kSuspect) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(finding.count) + " x " + finding.what;
  }
  return text;
}

bool any_suspect(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.severity == Finding::Severity::kSuspect;
  });
}

Finding causes_end_early(double until) {
  std::ostringstream what;
  what << "root causes end at " << std::fixed << std::setprecision(6) << until << " s";
  return {Severity::kNote, 1, what.str(),
          "There were more waits or operations than can be numbered. What was told later is left "
          "out of root causes and critical path, and its waiting counts as unexplained. Analyse a "
          "later part of the trace on its own (--from)."};
}

Finding causes_are_left_out() {
  return {Severity::kNote, 1, "root causes left out",
          "Patterns are left out, so it is not known who waited for whom."};
}

void add_limits(const SeverityStore& severities, std::vector<Finding>& findings) {
  if (severities.limited() != 0) {
    findings.push_back(
        {Severity::kSuspect, severities.limited(), "sum beyond what a cell holds",
         "It stays at the limit (97 days of one call path in one thread, 2^63 of what "
         "is counted). Analyse a part of the trace (--from, --to)."});
  }
  if (severities.left_out() != 0) {
    findings.push_back({Severity::kSuspect, severities.left_out(), "value that is no number",
                        "A hardware counter's, most likely: left out."});
  }
}

}  // namespace kojak::expert
