#include "epilog/format/compact/pack.h"

#include <zlib.h>

namespace kojak::compact {

// One record. There is room for kMaxItem bytes.
std::byte* Packer::add(std::uint8_t type, const std::byte* body, std::size_t length,
                       std::byte* to) {
  std::byte* end = nullptr;
  Dialect dialect;
  if (swap_) dialect.big_endian = !dialect.big_endian;
  (void)dispatch_record(type, [&]<class R>() KOJAK_INLINED {
    if constexpr (kHasCode<R>) {
      constexpr Shape kShape = shape_of<R>();
      // Longer ones have fields of a later version, shorter ones are damaged: both stay as they
      // are.
      const std::size_t more = length - kShape.bytes;
      if (length < kShape.bytes || more % 8 != 0 || (more != 0 && !kShape.counters)) return;
      dialect.metrics = static_cast<std::uint32_t>(more / 8);
      R record;
      if (decode({type, static_cast<std::uint8_t>(length), body, 0}, dialect, record) != nullptr) {
        return;
      }
      end = encode(state_, record, to);
    }
  });
  if (end != nullptr) [[likely]]
    return end;
  to[0] = std::byte{kVerbatim};
  to[1] = static_cast<std::byte>(length);
  to[2] = static_cast<std::byte>(type);
  if (length != 0) std::memcpy(to + 3, body, length);
  return to + 3 + length;
}

void Packer::put_u4(std::byte* to, std::uint32_t value) const {
  if (swap_) value = byte_swapped(value);
  std::memcpy(to, &value, sizeof value);
}

std::byte* Packer::block(const std::byte*& data, const std::byte* end, std::byte* to) {
  std::byte* const head = to;
  const bool checked = blocks_ == Blocks::kChecked;
  if (checked) {
    state_.reset();
    head[0] = std::byte{kBlock};
    head[1] = std::byte{kCheckedBlock};
    to += kCheckedHead;
  } else {
    to = begin_block(state_, to);
  }
  const std::byte* const from = data;
  while (data != end && static_cast<std::size_t>(data - from) < kBlockRecords) {
    const auto length = std::to_integer<std::size_t>(data[0]);
    const auto type = std::to_integer<std::uint8_t>(data[1]);
    if (alone(type) && data != from) break;
    to = add(type, data + 2, length, to);
    data += 2 + length;
    if (alone(type)) break;
  }
  if (checked) {
    const auto size = static_cast<std::size_t>(to - head) - kCheckedHead;
    put_u4(head + 2, static_cast<std::uint32_t>(size));
    put_u4(head + 6,
           static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(head + kCheckedHead),
                                            static_cast<uInt>(size))));
  }
  return to;
}

std::vector<std::byte> pack(std::span<const std::byte> trace, Blocks blocks) {
  const Dialect dialect{kMajor, 0, std::to_integer<int>(trace[kHeaderSize - 1]) == 2};
  std::vector<std::byte> packed(kHeaderSize);
  encode_header(dialect, packed.data());
  const std::byte* data = trace.data() + kHeaderSize;
  const std::byte* end = data;
  const std::byte* const all = trace.data() + trace.size();
  while (all - end >= 2 && all - end >= 2 + std::to_integer<std::ptrdiff_t>(*end)) {
    end += 2 + std::to_integer<std::ptrdiff_t>(*end);
  }
  Packer packer(dialect.swapped(), blocks);
  std::byte block[kMaxBlock];
  while (data != end) {
    const std::byte* const to = packer.block(data, end, block);
    packed.insert(packed.end(), static_cast<const std::byte*>(block), to);
  }
  return packed;
}

}  // namespace kojak::compact
