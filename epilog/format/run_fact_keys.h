// Keys of RUN_PROPERTY that tell people of a run: the measurement writes them, reports show them.
#pragma once

namespace kojak::run_property {

inline constexpr const char* kCommand = "run.command";  // the process's words, with blanks between
inline constexpr const char* kStart = "run.start";      // of rank 0: "2026-11-23T14:05:09Z"

}  // namespace kojak::run_property
