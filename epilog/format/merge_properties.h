// Keys of RUN_PROPERTY that the merge writes and the analysis reads.
#pragma once

namespace kojak::run_property {

// "clc" if the merge put events in causal order (elg_merge --clock clc); absent otherwise.
inline constexpr const char* kMergeClock = "merge.clock";

}  // namespace kojak::run_property
