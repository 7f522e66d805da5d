#include "epilog/format/compact/pack.h"

namespace kojak::compact {

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

std::vector<std::byte> pack(std::span<const std::byte> trace) {
  const Dialect dialect{kMajor, 0, std::to_integer<int>(trace[kHeaderSize - 1]) == 2};
  std::vector<std::byte> packed(kHeaderSize);
  encode_header(dialect, packed.data());
  Packer packer(dialect.swapped());
  std::byte item[kMaxItem];
  const auto add = [&](const std::byte* end) {
    packed.insert(packed.end(), static_cast<const std::byte*>(item), end);
  };
  std::size_t in_block = kBlockRecords;
  for (std::size_t at = kHeaderSize; at + 2 <= trace.size();) {
    const auto length = std::to_integer<std::size_t>(trace[at]);
    if (trace.size() - at < 2 + length) break;
    if (in_block >= kBlockRecords) {
      add(packer.begin_block(item));
      in_block = 0;
    }
    add(packer.add(std::to_integer<std::uint8_t>(trace[at + 1]), &trace[at] + 2, length, item));
    at += 2 + length;
    in_block += 2 + length;
  }
  return packed;
}

}  // namespace kojak::compact
