// Makes compact records out of those of version 2.0 (state.h and checked.h have the form).
//
// For writers of whole files; the measurement library encodes by itself. One Packer for each file.
#pragma once

#include <span>
#include <vector>

#include "epilog/format/compact/checked.h"
#include "epilog/format/compact/encode.h"

namespace kojak::compact {

// Whether blocks have checksums.
enum class Blocks : std::uint8_t { kPlain, kChecked };

// The dialect of the records that a file of this one holds: those of a compact file are of version
// 2.0.
inline Dialect of_records(Dialect file) {
  if (file.compact()) file.major = 2;
  return file;
}

class Packer {
 public:
  // `swap`: bodies are in the other byte order.
  explicit Packer(bool swap, Blocks blocks = Blocks::kChecked) : swap_(swap), blocks_(blocks) {}

  // The next block, of the whole records that lie in [data, end); `data` is moved behind those that
  // are in it. A record that may be replaced later is alone in its block. There is room for
  // kMaxBlock bytes. Returns where the block ends.
  std::byte* block(const std::byte*& data, const std::byte* end, std::byte* to);
  static bool alone(std::uint8_t type) {
    return type == static_cast<std::uint8_t>(RecordType::kNumEvents) ||
           type == static_cast<std::uint8_t>(RecordType::kEventCount64);
  }

 private:
  std::byte* add(std::uint8_t type, const std::byte* body, std::size_t length, std::byte* to);
  void put_u4(std::byte* to, std::uint32_t value) const;

  State state_;
  bool swap_;
  Blocks blocks_;
};

// A file of version 2.0 as one of version 3.0; a record that is cut off at its end is left out.
std::vector<std::byte> pack(std::span<const std::byte> trace, Blocks blocks = Blocks::kChecked);

}  // namespace kojak::compact
