// What a terminal would obey in a text: control characters, also those of two bytes (U+0080 to
// U+009F), and marks and overrides with which a name could rearrange the line that it stands in.
//
// For tools and the measurement library alike: no memory, no library of C++. Pure.
#pragma once

#include <cstddef>

namespace kojak {

// How many bytes such a character at the begin of a text has; 0 if there is none.
constexpr std::size_t harmful_length(const char* text, std::size_t size) {
  const auto byte = [&](std::size_t i) {
    return i < size ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned a = byte(0), b = byte(1), c = byte(2);
  if (size == 0) return 0;
  if (a < 0x20 || a == 0x7F) return 1;
  if (a == 0xC2 && b >= 0x80 && b < 0xA0) return 2;  // U+0080 to U+009F
  if (a == 0xD8 && b == 0x9C) return 2;              // U+061C
  if (a != 0xE2) return 0;
  const bool marks = b == 0x80 && (c == 0x8E || c == 0x8F || (c >= 0xAA && c <= 0xAE));
  const bool isolates = b == 0x81 && c >= 0xA6 && c <= 0xA9;  // U+2066 to U+2069
  return marks || isolates ? 3 : 0;                           // U+200E, U+200F, U+202A to U+202E
}

}  // namespace kojak
