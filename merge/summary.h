// What a merge found and did: one table of counted findings, and counts of records.
//
// Every fault is a row that says how often it occurred, where first, how bad it is and what to do.
// The summary owns its texts; only the program prints it. Never fails.
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

// KOJAK_FINDING(Name, severity, text, advice). The text stands behind the count: of "{one|several}"
// the word that fits.
#define KOJAK_FINDINGS                                                                             \
  KOJAK_FINDING(MissingRank, kWarning, "{process has|processes have} no local trace",              \
                "copy the missing files into the directory, or repeat the run; the other "         \
                "processes are analysed without them")                                             \
  KOJAK_FINDING(EndedUnwritten, kWarning,                                                          \
                "{process was|processes were} ended before {it|they} could write a trace",         \
                "the other processes are analysed without them")                                   \
  KOJAK_FINDING(Truncated, kWarning, "{local trace ends|local traces end} inside a record",        \
                "the process was killed, or could not write more; all whole records were kept")    \
  KOJAK_FINDING(NoEvents, kWarning, "{local trace holds|local traces hold} no events",             \
                "the result has nothing of the process: it ended too early, or could not write")   \
  KOJAK_FINDING(Unreadable, kWarning, "{local trace|local traces} could not be read to the end",   \
                "check the disk; what could be read was kept")                                     \
  KOJAK_FINDING(BadBuffer, kWarning,                                                               \
                "{buffer file contradicts itself and was|buffer files contradict themselves and "  \
                "were} left out",                                                                  \
                "the newest records of the process are lost")                                      \
  KOJAK_FINDING(ForeignBuffer, kWarning,                                                           \
                "{buffer file does not belong to its trace and was|buffer files do not belong to " \
                "their traces and were} left out",                                                 \
                "such a file comes from another run or process, or is older: remove it")           \
  KOJAK_FINDING(BufferElsewhere, kWarning,                                                         \
                "{process has its|processes have their} newest records in memory only",            \
                "if the process still runs, merge again when it has ended; else these records "    \
                "are lost")                                                                        \
  KOJAK_FINDING(ShortRecord, kWarning,                                                             \
                "{record was|records were} left out: too short for the type",                      \
                "the file is damaged; repeat the measurement")                                     \
  KOJAK_FINDING(BadDefinition, kWarning, "{definition|definitions} could not be used",             \
                "the file is damaged; repeat the measurement")                                     \
  KOJAK_FINDING(                                                                                   \
      CountersLeftOut, kWarning,                                                                   \
      "{hardware counter was|hardware counters were} left out: an event has no room for more",     \
      "measure fewer different ones in a run")                                                     \
  KOJAK_FINDING(UnknownType, kWarning,                                                             \
                "{record of an unknown type was|records of unknown types were} left out",          \
                "a newer kojak may have written the trace; merge it with that one")                \
  KOJAK_FINDING(UnknownId, kWarning, "{identifier|identifiers} without a definition",              \
                "the file is damaged; these fields were left empty")                               \
  KOJAK_FINDING(BadPeer, kWarning,                                                                 \
                "{transfer or message|transfers and messages} of processes outside the run",       \
                "the file is damaged; what concerns these processes was left out")                 \
  KOJAK_FINDING(                                                                                   \
      TimeBackwards, kWarning, "{record has|records have} an earlier time than the record before", \
      "the clock of that process went backwards; such a record got the time of the one before")    \
  KOJAK_FINDING(OpenRegions, kWarning, "{region was|regions were} open at the end of a trace",     \
                "the process, or its recording, ended early; its open regions end with its last "  \
                "event")                                                                           \
  KOJAK_FINDING(UnmatchedExit, kWarning, "{exit|exits} without a matching enter",                  \
                "the file is damaged; repeat the measurement")                                     \
  KOJAK_FINDING(LocalLost, kWarning, "{record|records} that the measurement could not keep",       \
                "its trace file could not be written (a full disk, or what was said at the "       \
                "time), or ELG_MAX_SIZE was reached; mend that and repeat the measurement")        \
  KOJAK_FINDING(TargetExitLost, kNote,                                                             \
                "{transfer|transfers} whose completing call at the target was not recorded",       \
                "such a transfer ends where the origin completed it, and patterns leave it out")   \
  KOJAK_FINDING(BothExitsLost, kNote,                                                              \
                "{transfer|transfers} whose completing call was recorded on neither side",         \
                "such a transfer ends with its own call, and patterns leave it out")               \
  KOJAK_FINDING(                                                                                   \
      LateStart, kWarning,                                                                         \
      "{transfer|transfers} that began after the target had completed them: the clocks disagree",  \
      "such a transfer ends before the target's next exit, and patterns leave it out; try "        \
      "--clock clc")                                                                               \
  KOJAK_FINDING(NoEpoch, kWarning,                                                                 \
                "{transfer|transfers} outside of any epoch that names the target",                 \
                "the program is wrong there, or the epoch began while recording was off")          \
  KOJAK_FINDING(UnpairedWindow, kNote,                                                             \
                "{transfer on a window|transfers on windows} of unknown identity",                 \
                "recording did not see how the window was created, so its epochs cannot be "       \
                "paired between processes")                                                        \
  KOJAK_FINDING(ClosedByFree, kWarning,                                                            \
                "{transfer|transfers} that only the freeing of the window completed",              \
                "the program lacks the synchronisation that ends the epoch")                       \
  KOJAK_FINDING(NoEnd, kNote, "{transfer|transfers} without a recorded end",                       \
                "the process ended inside the call")                                               \
  KOJAK_FINDING(NoStart, kWarning,                                                                 \
                "{end of a transfer|ends of transfers} without a recorded start",                  \
                "the file is damaged; repeat the measurement")                                     \
  KOJAK_FINDING(UnknownRole, kNote,                                                                \
                "{window call|window calls} in regions that are no MPI functions",                 \
                "such a call opens and closes no epoch")                                           \
  KOJAK_FINDING(NoOffset, kNote, "{node|nodes} without a measured clock offset",                   \
                "times of such a node were taken as they are")                                     \
  KOJAK_FINDING(NativeLeftOut, kNote,                                                              \
                "{record|records} left out, which classic files do not have",                      \
                "merge without --format classic to keep them")                                     \
  KOJAK_FINDING(                                                                                   \
      MarksLeftOut, kWarning,                                                                      \
      "{transfer|transfers} of uncertain place, which classic files cannot mark",                  \
      "the classic tools take such a transfer for a good one; merge without --format classic")     \
  KOJAK_FINDING(OrderOfRanks, kNote,                                                               \
                "{communicator|communicators} with another order of ranks than MPI_COMM_WORLD",    \
                "classic files lose that order")                                                   \
  KOJAK_FINDING(CodeMissing, kNote,                                                                \
                "{program or library is gone or has|programs and libraries are gone or have} "     \
                "changed since the run",                                                           \
                "call sites in such a file are named by offsets; merge where the program ran, "    \
                "before it is built again")                                                        \
  KOJAK_FINDING(DebugFileMissing, kNote,                                                           \
                "{file of debugging information (.dwo) was|files of debugging information (.dwo) " \
                "were} not found",                                                                 \
                "calls in functions that were inlined have the name of the function around them; " \
                "keep such files beside the program or where it was compiled")                     \
  KOJAK_FINDING(CircularLocks, kWarning, "{lock epoch|lock epochs} whose order goes in a circle",  \
                "the clocks disagree; try --clock clc")                                            \
  KOJAK_FINDING(                                                                                   \
      StillBackwards, kWarning,                                                                    \
      "{effect|effects} before the cause, although the clocks were corrected",                     \
      "the traces contradict each other; results that depend on these times are suspect")          \
  KOJAK_FINDING(NotLocal, kNote,                                                                   \
                "{trace in the directory is no local trace and was|traces in the directory are "   \
                "no local traces and were} ignored",                                               \
                "")                                                                                \
  KOJAK_FINDING(NoTrace, kWarning,                                                                 \
                "{file in the directory is no trace and was|files in the directory are no traces " \
                "and were} ignored",                                                               \
                "if a process wrote such a file, the result lacks this process")                   \
  KOJAK_FINDING(TwiceGiven, kNote,                                                                 \
                "{file was given twice and|files were given twice and} taken once", "")

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
