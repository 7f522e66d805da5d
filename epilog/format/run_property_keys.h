// Keys of RUN_PROPERTY that the measurement writes and the analysis reads.
#pragma once

namespace kojak::run_property {

inline constexpr const char* kMpiLibrary =
    "mpi.library";                                   // "Open MPI v4.1.4", "MPICH Version: ..."
inline constexpr const char* kEnvironment = "env.";  // before the name of a variable

inline constexpr const char* kProcessors = "processor.allowed";  // of the process: "0-3,8"
// Why there is no PROCESSOR.
inline constexpr const char* kNoProcessorTimes = "processor.unknown";
// PROCESSOR stands around whatever a thread does outside of calls for so long (seconds) and did not
// run in all the time.
inline constexpr const char* kStretches = "processor.stretches";
// What the process's control group allows: "0.5 /batch/job7", and how often all processes of the
// group were stopped for it while this one was recorded: "31 times, 2.109485 s".
inline constexpr const char* kProcessorLimit = "processor.limit";
inline constexpr const char* kProcessorStops = "processor.stopped";

// The level of threads that MPI granted the process: "single", "funneled", "serialized",
// "multiple".
inline constexpr const char* kThreads = "mpi.threads";

// Files that stand between the program and MPI, and get its calls: "libwrap.so, libcheck.so".
inline constexpr const char* kBetween = "mpi.between";

// Counters that ELG_METRICS names and that are not there, and why.
inline constexpr const char* kNoMetrics = "metrics.missing";

// Where polls are joined: "seen", or "unseen": pauses count as time between polls.
inline constexpr const char* kPauses = "polls.pauses";

inline constexpr const char* kSampleInterval = "sample.interval";  // seconds, of SAMPLE

// UPC: the compiler, as its event numbers tell ("GNU UPC", "Berkeley UPC", "a UPC compiler"), the
// version of its gasp_upc.h ("40302"), and, behind upc.event. and an event's name without GASP_
// ("upc.event.UPC_BARRIER"), its number there. An event without a number is one that this compiler
// never tells.
inline constexpr const char* kUpcCompiler = "upc.compiler";
inline constexpr const char* kUpcVersion = "upc.version";
inline constexpr const char* kUpcEvent = "upc.event.";
// How many kinds of events were told, of the process, that have no number there; and how many ends
// of events did not fit to what was open.
inline constexpr const char* kUpcUnknown = "upc.unknown";
inline constexpr const char* kUpcUnbalanced = "upc.unbalanced";

// What is for people: reports show it.
inline constexpr const char* kCommand = "run.command";  // the process's words, with blanks between
inline constexpr const char* kStart = "run.start";      // of rank 0: "2026-11-23T14:05:09Z"

// Before the name of an MPI function that the program imports and nobody records; the value is the
// importing file.
inline constexpr const char* kUnrecorded = "unrecorded.";
// Before the name of one that the file has called.
inline constexpr const char* kUnrecordedCalled = "unrecorded_called.";
inline constexpr const char* kUnrecordedMore = "unrecorded_more";  // how many more there are

}  // namespace kojak::run_property
