// Threads that a communication library starts for itself, and processes that it keeps: how the
// measurement tells the merge.
#pragma once

namespace kojak::run_property {

// In a thread's local trace alone: the thread began with a function of such a library, and its
// first call of MPI came from there, without a function of the program between: "yes". Where the
// library's own functions are recorded, what the thread calls of MPI is not: then since when it
// serves, as below.
inline constexpr char kLibraryThread[] = "library.thread";
// In a process's local trace alone: when it came to MPI_Finalize it was still in the call that
// starts the library; since when: the bits of the recorded time as a whole number.
inline constexpr char kLibraryProcess[] = "library.process";

}  // namespace kojak::run_property
