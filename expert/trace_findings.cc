#include "expert/trace_findings.h"

#include <string>

namespace kojak::expert {
namespace {

using Severity = Finding::Severity;

// What a LOST record counts.
std::string lost(std::uint8_t what) {
  switch (what) {
    case 1:
      return "records not written because the disk was full";
    case 2:
      return "regions left open when the program ended";
    case 3:
      return "transfers on windows of unknown identity";
    case 4:
      return "records dropped after a damage";
    default:
      return "things that the measurement could not keep (kind " + std::to_string(what) + ")";
  }
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
                     "processes whose traces were missing when the run was merged",
                     "What they did and who waited for them is unknown. Merge again with all "
                     "traces of the run."});
  }
  for (const Lost& l : definitions.lost) {
    const bool open_only = raw(l.what) == 2;
    found.push_back({open_only ? Severity::kNote : Severity::kSuspect, raw(l.count),
                     lost(raw(l.what)) + ", location " + std::to_string(raw(l.lid)),
                     open_only ? "The program did not end in MPI_Finalize; its last calls count up "
                                 "to their location's last event."
                               : "Times and waits of that location may be incomplete."});
  }
  trace.findings().for_each([&](earl::Finding finding, const earl::Findings::Row& row) {
    const earl::FindingInfo& about = earl::info(finding);
    found.push_back({about.suspect ? Severity::kSuspect : Severity::kNote, row.count,
                     std::string(about.name), std::string(about.advice)});
  });
  const std::uint64_t unsynchronised =
      notes[static_cast<std::size_t>(Note::kFenceDidNotSynchronise)];
  if (unsynchronised != 0) {
    found.push_back({Severity::kNote, unsynchronised, "fences that did not synchronise",
                     "A process left the fence before the last had come, so no waiting is counted "
                     "there. A fence that ends no epoch need not synchronise."});
  }
  return found;
}

}  // namespace kojak::expert
