// What a merge found and did: one table of counted findings, and counts of records.
//
// Every fault is a row that says how often it occurred, where first, how bad it is and what to do.
// The summary owns its texts; only the program prints it. Not thread-safe. Never fails.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilog/format/error.h"

namespace kojak::merge {

// kNote: nothing is lost. kWarning: events were lost or a result is suspect (exit code 3).
enum class Severity : std::uint8_t { kNote, kWarning };

// KOJAK_FINDING(Name, severity, text, advice)
#define KOJAK_FINDINGS                                                                             \
  KOJAK_FINDING(MissingRank, kWarning, "processes have no local trace",                            \
                "copy their files into the directory, or repeat the run; the rest is analysed "    \
                "around them")                                                                     \
  KOJAK_FINDING(Truncated, kWarning, "local traces end inside a record",                           \
                "the process was killed or its disk was full; all whole records were kept")        \
  KOJAK_FINDING(NoEvents, kWarning, "local traces hold no events",                                 \
                "the process was killed early; nothing of it is in the result")                    \
  KOJAK_FINDING(Unreadable, kWarning, "local traces could not be read to their end",               \
                "check the disk; what could be read was kept")                                     \
  KOJAK_FINDING(BadBuffer, kWarning, "buffer files contradict themselves and were left out",       \
                "the newest records of these processes are lost")                                  \
  KOJAK_FINDING(ForeignBuffer, kWarning, "buffer files are not those of their trace, left out",    \
                "they came from another run or process, or are older; remove them")                \
  KOJAK_FINDING(BufferElsewhere, kWarning, "processes have their newest records in memory only",   \
                "of one that runs, merge when it has ended; of one that was killed together with " \
                "all around it, they are lost")                                                    \
  KOJAK_FINDING(ShortRecord, kWarning, "records are too short for their type and were left out",   \
                "the file is damaged; repeat the measurement")                                     \
  KOJAK_FINDING(BadDefinition, kWarning, "definitions could not be used",                          \
                "the file is damaged; repeat the measurement")                                     \
  KOJAK_FINDING(CountersLeftOut, kWarning,                                                         \
                "hardware counters were left out, too many for an event",                          \
                "measure fewer different ones in a run")                                           \
  KOJAK_FINDING(UnknownType, kWarning, "records of unknown types were left out",                   \
                "a newer kojak may have written the trace; merge it with that one")                \
  KOJAK_FINDING(UnknownId, kWarning, "identifiers that no definition introduced",                  \
                "the file is damaged; these fields were set to absent")                            \
  KOJAK_FINDING(BadPeer, kWarning, "transfers and messages of processes outside the run",          \
                "the file is damaged; what concerns these processes was left out")                 \
  KOJAK_FINDING(TimeBackwards, kWarning, "records whose time is before that of the one before",    \
                "the clock of that process went backwards; times were held")                       \
  KOJAK_FINDING(OpenRegions, kWarning, "regions were open at the end of a trace",                  \
                "the process ended early; they were closed at its last time")                      \
  KOJAK_FINDING(UnmatchedExit, kWarning, "exits without a matching enter",                         \
                "the file is damaged; repeat the measurement")                                     \
  KOJAK_FINDING(LocalLost, kWarning, "records that the measurement could not keep",                \
                "free some space, or allow more with ELG_MAX_SIZE, and repeat the measurement")    \
  KOJAK_FINDING(TargetExitLost, kNote,                                                             \
                "transfers whose completing call at the target was not recorded",                  \
                "they end where the origin completed them and take part in no pattern")            \
  KOJAK_FINDING(BothExitsLost, kNote,                                                              \
                "transfers whose completing call was recorded at neither side",                    \
                "they end as in the basic model and take part in no pattern")                      \
  KOJAK_FINDING(LateStart, kWarning,                                                               \
                "transfers that began after their target had completed them (clocks disagree)",    \
                "they end before the target's next exit and take part in no pattern; try "         \
                "better clocks or a longer offset measurement")                                    \
  KOJAK_FINDING(NoEpoch, kWarning, "transfers issued outside of any epoch that names the target",  \
                "the program is in error there, or the epoch began while recording was off")       \
  KOJAK_FINDING(UnpairedWindow, kNote, "transfers on windows of unknown identity",                 \
                "they were seen first in use; nothing on them is paired between processes")        \
  KOJAK_FINDING(ClosedByFree, kWarning, "transfers that only the freeing of the window completed", \
                "the program lacks a closing synchronisation")                                     \
  KOJAK_FINDING(NoEnd, kNote, "transfers without a recorded end",                                  \
                "the process ended inside the call")                                               \
  KOJAK_FINDING(NoStart, kWarning, "transfer ends without a recorded start",                       \
                "the file is damaged; repeat the measurement")                                     \
  KOJAK_FINDING(UnknownRole, kNote, "window calls in regions that are no MPI functions",           \
                "they open and close no epoch")                                                    \
  KOJAK_FINDING(NoOffset, kNote, "nodes without a measured clock offset",                          \
                "their times were taken as they are")                                              \
  KOJAK_FINDING(NativeLeftOut, kNote, "records that classic files do not have were left out",      \
                "merge without --format classic to keep them")                                     \
  KOJAK_FINDING(MarksLeftOut, kWarning,                                                            \
                "transfers of uncertain place, which classic files cannot mark",                   \
                "the classic tools take them for good ones; merge without --format classic")       \
  KOJAK_FINDING(OrderOfRanks, kNote,                                                               \
                "communicators whose ranks are not in the order of MPI_COMM_WORLD's",              \
                "classic files lose that order")                                                   \
  KOJAK_FINDING(                                                                                   \
      CodeMissing, kNote, "programs and libraries are not here as they were measured",             \
      "their call sites are named by offsets; merge where the program ran, before it is "          \
      "built again")                                                                               \
  KOJAK_FINDING(CircularLocks, kWarning, "lock epochs whose order goes in a circle",               \
                "the clocks disagree; try --clock clc")                                            \
  KOJAK_FINDING(StillBackwards, kWarning, "effects before their causes, corrected clocks or not",  \
                "the traces contradict each other; what depends on these times is suspect")        \
  KOJAK_FINDING(NotLocal, kNote, "traces in the directory that are not local traces, ignored", "") \
  KOJAK_FINDING(NoTrace, kWarning, "files in the directory that are no traces, ignored",           \
                "the processes that wrote them are missing in the result")                         \
  KOJAK_FINDING(TwiceGiven, kNote, "files given twice, taken once", "")

enum class Finding : std::uint8_t {
#define KOJAK_FINDING(Name, severity, text, advice) k##Name,
  KOJAK_FINDINGS
#undef KOJAK_FINDING
      kCount
};

struct FindingInfo {
  const char* name;
  Severity severity;
  const char* text;
  const char* advice;
};
const FindingInfo& finding_info(Finding finding);

// How often, and where first.
struct FindingRow {
  std::uint64_t count = 0;
  std::string where;
};

// What the controlled logical clock found and did. Times in seconds.
struct ClockReport {
  std::uint64_t checked = 0;            // dependencies between two events
  std::uint64_t violations_before = 0;  // of them, those that ran backwards
  std::uint64_t violations_after = 0;
  double worst_before = 0;      // by how much at most
  std::uint64_t unchecked = 0;  // effects whose cause was not recorded or is not certain
  std::uint64_t stretched = 0;  // intervals that grew by more than a hundredth
  double largest_step = 0;      // by how much more at most
  double largest_shift = 0;     // of an event against the linear correction
};

class Summary {
 public:
  void add(Finding finding, std::uint64_t count = 1) { row(finding).count += count; }
  // `where` is called for the first occurrence only.
  template <class Where>
  void add(Finding finding, std::uint64_t count, Where&& where) {
    FindingRow& r = row(finding);
    if (r.count == 0 && count != 0) r.where = where();
    r.count += count;
  }
  const FindingRow& operator[](Finding finding) const {
    return rows_[static_cast<std::size_t>(finding)];
  }
  // Forgets a finding: pass 2 may run twice.
  void reset(Finding finding) { row(finding) = {}; }
  // Some finding of severity kWarning.
  bool suspect() const;

  std::uint64_t files = 0;
  std::uint64_t processes = 0;    // of the run
  std::uint64_t locations = 0;    // of the merged trace
  std::uint64_t events = 0;       // written
  std::uint64_t moved = 0;        // transfer ends moved to their completing synchronisation
  std::uint64_t reread = 0;       // of them, ends that were in the spill file
  std::uint64_t open_ends = 0;    // transfers whose end was still held when their trace ended
  double seconds = 0;             // from first to last event
  std::uint64_t lock_epochs = 0;  // whose grants and releases were found
  std::uint64_t locks_by_duration = 0, locks_by_request = 0;  // of them, not by proof
  std::optional<ClockReport> clocks;
  std::array<std::uint64_t, 256> by_type{};  // events written, by record type

 private:
  FindingRow& row(Finding finding) { return rows_[static_cast<std::size_t>(finding)]; }
  std::array<FindingRow, static_cast<std::size_t>(Finding::kCount)> rows_;
};

// What there is to say of a merge: the findings with their advice, and what was done to wrong
// clocks.
struct Message {
  Severity severity;
  std::string text;
};
std::vector<Message> messages_of(const Summary& summary);
// What the clocks' correction did, in one sentence.
std::string clock_text(const ClockReport& clocks);
// A table for people: what was read and written, events by record type, ends that moved, what was
// open at the end. Ends with a newline.
std::string summary_text(const Summary& summary);

}  // namespace kojak::merge
