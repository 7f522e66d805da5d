// The records that define a string, which may be longer than one record.
#pragma once

#include <cstddef>

#include "epilog/format/compact/encode.h"

namespace kojak::measure {

// `text` ends with a NUL, which is written, too, and of which Text knows nothing.
template <class F>
void put_string(StringId id, const char* text, std::size_t length, F&& put) {
  constexpr std::size_t kFirst = 250, kNext = 255;
  const std::size_t total = length + 1;
  std::size_t parts = total <= kFirst ? 0 : (total - kFirst + kNext - 1) / kNext;
  if (parts > 255) {
    parts = 255;
    length = kFirst + 255 * kNext - 1;
  }
  const auto piece = [&](std::size_t from, std::size_t most) {
    const std::size_t left = length + 1 - from;
    return Text{text + from, left < most ? left : most};
  };
  put(String{id, Byte{static_cast<std::uint8_t>(parts)}, piece(0, kFirst)});
  for (std::size_t i = 0; i < parts; ++i) put(StringCnt{piece(kFirst + i * kNext, kNext)});
}

}  // namespace kojak::measure
