// What is noted of Python's frames in a sample (python.h), in memory that elg_keep shares.
#pragma once

#include <cstdint>

namespace kojak::measure {

inline constexpr unsigned kMostPythonFrames = 8;

struct NotedPythonFrame {
  std::uint64_t code, instruction;
  std::uint64_t identity;  // of the code object, which may be freed before the sample is written
};

struct PythonSample {
  std::uint16_t frames;
  std::uint16_t more;                         // frames, further out
  NotedPythonFrame frame[kMostPythonFrames];  // the innermost ones
};

}  // namespace kojak::measure
