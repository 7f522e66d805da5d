// Makes compact records out of those of version 2.0 (state.h has the form).
//
// For writers of whole files; the measurement library encodes by itself. One Packer for each file.
#pragma once

#include <span>
#include <vector>

#include "epilog/format/compact/encode.h"

namespace kojak::compact {

// A block ends behind so many bytes of records: what random access to one event decodes at most.
inline constexpr std::size_t kBlockRecords = 16 * 1024;

class Packer {
 public:
  // `swap`: bodies are in the other byte order.
  explicit Packer(bool swap) : swap_(swap) {}

  // A block begins, where times are seconds. Returns where it ends, as all of these do.
  std::byte* begin_block(std::byte* to) { return compact::begin_block(state_, to); }
  // One record. There is room for kMaxItem bytes.
  std::byte* add(std::uint8_t type, const std::byte* body, std::size_t length, std::byte* to);

 private:
  State state_;
  bool swap_;
};

// A file of version 2.0 as one of version 3.0; a record that is cut off at its end is left out.
std::vector<std::byte> pack(std::span<const std::byte> trace);

}  // namespace kojak::compact
