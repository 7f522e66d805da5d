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

// What gzip or zstd make of the bytes, of which they are the beginning, up to kMostUnpacked; the
// same in small pieces. Nothing if they are not of these kinds.
inline constexpr std::size_t kMostUnpacked = 1 << 20;
std::optional<Bytes> check_compressed(const Bytes& bytes);

// A directory of this process, in memory where there is such a place; it goes away at the end.
const std::filesystem::path& directory();
void write(const std::filesystem::path& path, const Bytes& bytes);
Bytes read(const std::filesystem::path& path);
// Through open_source(): decompressed if it is compressed. `piece`: what is asked for at once.
Bytes read_source(const std::filesystem::path& path, std::size_t most, std::size_t piece = 4096);

// ---- analysis_checks.cc
// The analysis, if it takes the trace: severities are finite and not negative.
void check_analysis(const Bytes& trace);

// The same events at each place of a trace by random access as its records have one after the
// other: what a compact trace has, its records in version 2.0 have, too; states can be asked for.
void check_random_access(const Bytes& trace);

}  // namespace kojak::fuzz
