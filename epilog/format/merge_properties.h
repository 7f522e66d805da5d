// Keys of RUN_PROPERTY that the merge writes and the analysis reads.
#pragma once

namespace kojak::run_property {

// "clc" if the merge put events in causal order (elg_merge --clock clc); absent otherwise.
inline constexpr const char* kMergeClock = "merge.clock";

// The folders in which the compiler ran, with ':' between: names of files that are not absolute are
// relative to one of them. Absent if there are no such names.
inline constexpr const char* kCompiledIn = "source.folders";

}  // namespace kojak::run_property
