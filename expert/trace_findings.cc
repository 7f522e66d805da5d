#include "expert/trace_findings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "expert/async_progress.h"
#include "expert/switched_off.h"

namespace kojak::expert {
namespace {

using Severity = Finding::Severity;

// What a LOST record counts.
std::string lost(Byte what) {
  switch (what) {
    case kLostDiskFull:
      return "records not written because the disk was full";
    case kLostOpenRegions:
      return "regions left open when the program ended";
    case kLostUnknownWindows:
      return "transfers on windows of unknown identity";
    case kLostBehindDamage:
      return "records dropped after a damage";
    case kLostDamaged:
      return "damaged records in the trace that this part was cut out of";
    case kLostEnd:
      return "damaged end of the trace that this part was cut out of";
    case kLostLimit:
      return "records not written because ELG_MAX_SIZE was reached";
    default:
      return "things that the measurement could not keep (kind " + std::to_string(raw(what)) + ")";
  }
}

std::string advice_for(Byte what) {
  switch (what) {
    case kLostOpenRegions:
      return "The program did not end in MPI_Finalize; its last calls count up to their location's "
             "last event.";
    case kLostDamaged:
    case kLostEnd:
      return "Events are missing here that the run had. Merge the run again, or copy the file "
             "again, and cut anew.";
    default:
      return "Times and waits of these locations may be incomplete.";
  }
}

// One row for each kind, however many locations lost something.
void add_lost(const std::vector<Lost>& records, std::vector<Finding>& found) {
  struct Sum {
    std::uint64_t count = 0;
    std::set<LocationId> locations;
  };
  std::map<Byte, Sum> kinds;
  for (const Lost& l : records) {
    Sum& sum = kinds[l.what];
    sum.count += raw(l.count);
    if (!is_absent(l.lid)) sum.locations.insert(l.lid);
  }
  for (const auto& [what, sum] : kinds) {
    const std::size_t n = sum.locations.size();
    std::string where;
    if (n > 0) where = std::to_string(raw(*sum.locations.begin()));
    if (n == 1) where = ", location " + where;
    if (n > 1) where = ", " + std::to_string(n) + " locations, the first is " + where;
    found.push_back({what == kLostOpenRegions ? Severity::kNote : Severity::kSuspect, sum.count,
                     lost(what) + where, advice_for(what)});
  }
}

// Whether everything that the processes did is in the trace, up to its end. (Regions that stay open
// when a process is killed take nothing away.)
bool is_complete(const earl::Trace& trace) {
  const Definitions& definitions = trace.definitions();
  const auto lost = [](const Lost& l) { return raw(l.what) != 2; };
  return !trace.damage() && definitions.last_def && trace.native() && definitions.merged_run &&
         raw(definitions.merged_run->missing) == 0 && definitions.functions_off.empty() &&
         std::none_of(definitions.lost.begin(), definitions.lost.end(), lost) &&
         trace.findings()[earl::Finding::kGap].count == 0 &&
         trace.findings()[earl::Finding::kUnknownRecord].count == 0 &&
         trace.findings()[earl::Finding::kShortRecord].count == 0;
}

// What the replay found, in words that fit the rest of the trace.
Finding finding_of(const earl::Trace& trace, earl::Finding finding, std::uint64_t count) {
  const earl::FindingInfo& about = earl::info(finding);
  Finding row{about.suspect ? Severity::kSuspect : Severity::kNote, count, std::string(about.name),
              std::string(about.advice)};
  const earl::Findings& all = trace.findings();
  if (finding == earl::Finding::kUnreceivedSend && is_complete(trace)) {
    row.severity = Severity::kNote;
    row.what = "messages that nobody received";
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
        "them: not the clocks are wrong. Record and merge all processes from the start.";
  }
  return row;
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
  found.push_back({Severity::kNote, count, "hardware counters left out: " + names,
                   "Rates and samples cannot be added over calls; elg_print shows their values."});
}

}  // namespace

std::vector<Finding> findings_of(const earl::Trace& trace,
                                 const std::array<std::uint64_t, kNotes>& notes) {
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
  if (definitions.merged_run && raw(definitions.merged_run->missing) != 0) {
    found.push_back({Severity::kSuspect, raw(definitions.merged_run->missing),
                     "local traces missing when the run was merged",
                     "What they did and who waited for them is unknown. Merge again with all "
                     "traces of the run."});
  }
  add_lost(definitions.lost, found);
  SwitchedOff(definitions).add_findings(found);
  AsyncProgress(definitions).add_findings(trace.process_count(), found);
  add_counters(definitions, found);
  trace.findings().for_each([&](earl::Finding finding, const earl::Findings::Row& row) {
    found.push_back(finding_of(trace, finding, row.count));
  });
  const std::uint64_t unsynchronised =
      notes[static_cast<std::size_t>(Note::kFenceDidNotSynchronise)];
  if (unsynchronised != 0) {
    found.push_back({Severity::kNote, unsynchronised, "fences that did not synchronise",
                     "A process left the fence before the last had come, so no waiting is counted "
                     "there. A fence that ends no epoch need not synchronise."});
  }
  const auto note = [&](Note kind, const char* what, const char* advice) {
    const std::uint64_t count = notes[static_cast<std::size_t>(kind)];
    if (count != 0) found.push_back({Severity::kNote, count, what, advice});
  };
  note(Note::kFileCallDidNotSynchronise, "collective file calls that did not synchronise",
       "A process left the call before the last had come, so no waiting is counted there.");
  note(Note::kProgressIsAsynchronous, "windows and kinds of call with progress of their own",
       "A call that needs its target ended while the target was outside MPI, so no Wait for "
       "Progress "
       "is counted there.");
  note(
      Note::kCallsLeftOut, "one-sided calls not examined",
      "Too many calls could have waited for a lock or for progress at the same time; what the rest "
      "waited is too low.");
  return found;
}

}  // namespace kojak::expert
