// Blocks with a checksum, as merged traces have them (state.h has the form of all others).
//
// Behind kBlock and kCheckedBlock stand the number of bytes of the items that follow, and their
// crc32 as zlib computes it, both u4 in the file's byte order. Times are seconds. Behind such a
// block comes another one, or the end of the file. Whoever reads it can tell whether it is right
// before its first record is used. Records that tell how many events there are have blocks of their
// own, since they are replaced when the number is known.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kojak::compact {

// In the place of Times; far from both in bits, so that no single wrong bit makes it one of them.
inline constexpr std::uint8_t kCheckedBlock = 0x5A;
inline constexpr std::size_t kCheckedHead = 2 + 2 * 4;
// A block ends behind so many bytes of records: what random access to one event decodes at most.
inline constexpr std::size_t kBlockRecords = 4 * 1024;
// No block with a checksum is longer: an item is at most twice as long as its record.
inline constexpr std::size_t kMaxBlock = kCheckedHead + 2 * kBlockRecords + 1024;

}  // namespace kojak::compact
