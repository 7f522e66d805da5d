#include "epilog/format/check/trace_gaps.h"

#include <map>
#include <set>

#include "epilog/format/in_number.h"
#include "epilog/format/merge_properties.h"

namespace kojak {
namespace {

struct Kind {
  Byte kind;
  bool suspect;
  const char* what;
  const char* advice;
};
constexpr const char* kIncomplete = "Times and waits of these locations may be incomplete.";
constexpr const char* kCutAnew =
    "Events are missing here that the run had. Merge the run again, or copy the file again, and "
    "cut "
    "anew.";
// Stands for regions left open at a location whose recording stopped before.
constexpr Byte kOpenAtStop{255};
constexpr Kind kKinds[] = {
    {kLostDiskFull, true, "{record|records} not written because the trace file could not be",
     kIncomplete},
    {kLostOpenRegions, false, "{region|regions} left open when the program ended",
     "The program ended without MPI_Finalize or shmem_finalize; its last calls count up to their "
     "location's last event."},
    {kOpenAtStop, false, "{region|regions} left open when the recording of the process stopped",
     "The last calls count up to their location's last event."},
    {kLostUnknownWindows, true, "{transfer|transfers} on windows of unknown identity", kIncomplete},
    {kLostBehindDamage, true, "{record|records} dropped after a damage", kIncomplete},
    {kLostDamaged, true, "damaged {record|records} in the trace that this part was cut out of",
     kCutAnew},
    {kLostEnd, true, "damaged end of the trace that this part was cut out of", kCutAnew},
    {kLostLimit, true, "{record|records} not written because ELG_MAX_SIZE was reached",
     kIncomplete},
};

constexpr TraceFault kMissingProcesses{
    "local {trace|traces} missing when the run was merged",
    "What they did and who waited for them is unknown. Merge again with all traces of the run.",
    true};
constexpr const char* kUnwritten =
    "{process was|processes were} ended before {it|they} could write a trace";

TraceGap gap_of(Byte kind) {
  for (const Kind& known : kKinds) {
    if (known.kind == kind) return {0, known.suspect, known.what, known.advice};
  }
  return {
      0, true,
      "{thing|things} that the measurement could not keep (kind " + std::to_string(raw(kind)) + ")",
      kIncomplete};
}

}  // namespace

std::vector<TraceGap> gaps_of(const std::vector<Lost>& lost) {
  struct Sum {
    std::uint64_t count = 0;
    std::set<LocationId> locations;
  };
  std::map<Byte, Sum> kinds;
  std::set<LocationId> stopped;
  for (const Lost& l : lost) {
    if (l.what == kLostDiskFull || l.what == kLostLimit) stopped.insert(l.lid);
  }
  for (const Lost& l : lost) {
    const bool at_stop = l.what == kLostOpenRegions && stopped.count(l.lid) != 0;
    Sum& sum = kinds[at_stop ? kOpenAtStop : l.what];
    sum.count += raw(l.count);
    if (!is_absent(l.lid)) sum.locations.insert(l.lid);
  }
  std::vector<TraceGap> gaps;
  for (const auto& [kind, sum] : kinds) {
    if (sum.count == 0) continue;  // recording stopped, but no call came after that
    TraceGap gap = gap_of(kind);
    gap.count = sum.count;
    gap.what = in_number(gap.what, sum.count);
    const std::size_t n = sum.locations.size();
    if (n > 0) {
      const std::string first = std::to_string(raw(*sum.locations.begin()));
      gap.what += n == 1 ? ", location " + first
                         : ", " + std::to_string(n) + " locations, the first is " + first;
    }
    gaps.push_back(std::move(gap));
  }
  return gaps;
}

std::vector<TraceGap> gaps_of(const BadRecords& bad, const Definitions& definitions) {
  std::vector<TraceGap> gaps;
  const auto add = [&](std::uint64_t count, const TraceFault& fault) {
    if (count != 0)
      gaps.push_back({count, fault.suspect, in_number(fault.what, count), fault.advice});
  };
  add(bad.damaged, kDamagedRecords);
  add(bad.definitions, kBadDefinitions);
  const std::uint64_t missing = definitions.merged_run ? raw(definitions.merged_run->missing) : 0;
  const std::string* const early = definitions.properties.find(run_property::kEndedEarly);
  if (missing != 0 && early != nullptr) {
    gaps.push_back({missing, true, in_number(kUnwritten, missing),
                    "What they did and who waited for them is unknown: " + *early + "."});
  } else {
    add(missing, kMissingProcesses);
  }
  for (TraceGap& gap : gaps_of(definitions.lost)) gaps.push_back(std::move(gap));
  add(bad.unknown, kUnknownRecords);
  return gaps;
}

Error ends_in_definitions(const TraceReader& reader, bool damaged) {
  Error error{ExitCode::kBadInput,
              reader.path(),
              reader.place(reader.offset()),
              "",
              "",
              "the trace ends inside its definitions",
              "it was cut off, or is still being written: repeat the merge or the copy"};
  if (damaged) {
    error.offset = reader.error().offset.value_or(0);
    error.reason += ": " + reader.error().reason;
  }
  return error;
}

}  // namespace kojak
