// Where in a compact file a record stands, for messages: decodes from a block on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace kojak::compact {

// Where a block begins: its offset in the file, and the one of its first record as version 2.0
// has it.
struct BlockPlace {
  std::uint64_t file, records;
};

// The place in the file of the record with the offset `offset`, which is in `from` or behind it. Of
// several records that one item stands for it is that of the item. `read` gives the file's bytes
// from an offset on, up to `n`; 0 is the end, or that they cannot be read: then the place is as far
// as they go.
using ReadAt = std::function<std::size_t(std::uint64_t at, std::byte* to, std::size_t n)>;
std::uint64_t find_place(BlockPlace from, std::uint64_t offset, bool swap, const ReadAt& read);

}  // namespace kojak::compact
