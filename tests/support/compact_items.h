// Compact files (version 3.0) as tests and fuzzers change them: item by item, with checksums made
// right again, so that changes come as far as the decoder behind them. No state.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kojak::support {

bool is_compact(std::span<const std::byte> file);

// The records of a compact trace, as far as it is whole, as a file of version 2.0; any other trace,
// and what is none, as it is.
std::vector<std::byte> unpacked(const std::vector<std::byte>& trace);

// What stands behind the header, the heads of blocks as items of their own; from the first damage
// on it is one.
std::vector<std::vector<std::byte>> items_of(std::span<const std::byte> file);

// Gives each block with a checksum the length that it has and the checksum of its bytes.
void repair_blocks(std::span<std::byte> file);

}  // namespace kojak::support
