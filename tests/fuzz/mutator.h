// Changes traces by whole records: what the fuzzers use besides libFuzzer's own changes of bytes.
//
// A change of a byte mostly makes a record that is refused; deeper parts are reached by dropping,
// repeating, exchanging and moving records, also between the files of one input, and by changing
// single fields to numbers that matter. Compact files are changed by items, too, and as the records
// that these stand for; their checksums are made right again. LLVMFuzzerCustomMutator is defined in
// mutator.cc. No state.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kojak::fuzz {

// Each `EPILOG\0` begins a file; bytes before the first are dropped.
std::vector<std::vector<std::byte>> split_files(std::span<const std::byte> bytes);

}  // namespace kojak::fuzz
