// Where things stand in a buffer file (local_buffer_header.h says what it is for).
//
// The first header is written when the file is made; another one and the records when they are
// saved. Each begins a block of its own, which was reserved and never written before: a file system
// that copies on write needs new room for what is written again, and has none when it is full.
#pragma once

#include <cstdint>

namespace kojak {

inline constexpr std::uint64_t kSavedHeaderAt = 64 * 1024;
inline constexpr std::uint64_t kSavedRecordsAt = 128 * 1024;

}  // namespace kojak
