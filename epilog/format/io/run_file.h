// What the processes of a run leave for `kojak run`, which started them: one file, a line for each
// thing.
//
// `kojak run` makes the file, which is the lock of the run's folder too, and names it in the
// environment; the measurement library adds lines to it. Each line is a word, a blank, and what the
// word is about, which holds no line break. Nobody else needs the file, and nothing fails without
// it.
//   host, kernel, process, since  who holds the folder
//   program NAME                  a process was started with the library preloaded
//   world SPAWNED RANKS FOLDER    processes that record together (MPI_COMM_WORLD) have this folder;
//                                 SPAWNED: 1 if others of the run started them, else 0
//   abort RANK CODE               a process called MPI_Abort
//   stopped RANK TEXT             why the recording of a process ended before the process
//   reason TEXT                   why nothing is recorded
//   inside FOLDER                 another `kojak run`, inside of this one, had its report there
#pragma once

namespace kojak::run_file {

inline constexpr const char* kVariable = "KOJAK_RUN_FILE";

inline constexpr const char* kHost = "host";
inline constexpr const char* kKernel = "kernel";
inline constexpr const char* kProcess = "process";
inline constexpr const char* kSince = "since";
inline constexpr const char* kProgram = "program";
inline constexpr const char* kWorld = "world";
inline constexpr const char* kAbort = "abort";
inline constexpr const char* kStopped = "stopped";
inline constexpr const char* kReason = "reason";
inline constexpr const char* kInside = "inside";

}  // namespace kojak::run_file
