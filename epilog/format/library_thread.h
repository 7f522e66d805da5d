// Threads that a communication library starts for itself: how the measurement tells the merge.
#pragma once

namespace kojak::run_property {

// In a thread's local trace alone: the thread began with a function of such a library, and its
// first call of MPI came from there, without a function of the program between.
inline constexpr char kLibraryThread[] = "library.thread";

}  // namespace kojak::run_property
