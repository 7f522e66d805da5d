// What a reader makes of bytes that may be no trace: the common part of the tests of damage.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kojak::test {

struct Outcome {
  bool refused = false;     // the header was not accepted, or a local file of the classic tools
  bool suspicious = false;  // a finding that is more than a note
  std::string text;         // what the printer makes of it, if it was not refused
  std::string explanation;  // the error or the findings
};

// Reads the bytes in every way that there is: verifier, printer, definitions, profile.
Outcome read_all(const std::vector<std::byte>& bytes);

// A native and a local trace with records of all kinds that the measurement and the merge write.
std::vector<std::byte> native_merged_trace();
std::vector<std::byte> native_local_trace();

}  // namespace kojak::test
