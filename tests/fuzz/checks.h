// What every fuzzer expects of a trace, whatever its bytes: no crash, finite numbers, the same
// counts from all readers.
//
// A broken expectation ends the process (that is how libFuzzer is told). No state.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "epilog/format/check/verify.h"

namespace kojak::fuzz {

using Bytes = std::vector<std::byte>;

// Prints what is wrong and aborts unless `holds`.
void expect(bool holds, const std::string& what);

// Verifier, printer and profile; they must agree on the number of events. Nothing if the trace is
// refused as a whole.
std::optional<Verification> check_readers(const Bytes& trace);

// The text of the trace, if it has one, made into a trace again says the same.
void check_text(const Bytes& trace);

// A directory of this process, in memory where there is such a place; it goes away at the end.
const std::filesystem::path& directory();
Bytes read(const std::filesystem::path& path);

// The analysis, if it takes the trace: severities are finite and not negative.
void check_analysis(const Bytes& trace);

}  // namespace kojak::fuzz
