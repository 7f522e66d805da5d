// What the merge writes and the analysis reads: keys of RUN_PROPERTY, and a name.
#pragma once

namespace kojak::run_property {

// "clc" if the merge put events in causal order (elg_merge --clock clc); absent otherwise.
inline constexpr const char* kMergeClock = "merge.clock";

// The folders in which the compiler ran, with ':' between: names of files that are not absolute are
// relative to one of them. Absent if there are no such names.
inline constexpr const char* kCompiledIn = "source.folders";

// Where traces are missing and no process came to MPI_Finalize: who ended the run, or that it was.
inline constexpr const char* kEndedEarly = "merge.ended_early";

}  // namespace kojak::run_property

namespace kojak {

// Machine and node of processes of which the merge had no trace.
inline constexpr const char* kNoPlace = "unknown";

}  // namespace kojak
