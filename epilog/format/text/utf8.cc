#include "epilog/format/text/utf8.h"

#include <cstddef>
#include <cstdint>

namespace kojak {

int xml_character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (plain_xml_byte(byte(0))) return 1;
  const unsigned char first = byte(0);
  const int length = first >= 0xC2 && first < 0xE0   ? 2
                     : first >= 0xE0 && first < 0xF0 ? 3
                     : first >= 0xF0 && first < 0xF5 ? 4
                                                     : 0;
  if (length == 0) return 0;
  std::uint32_t value = first & (0x7F >> length);
  for (std::size_t i = 1; i < static_cast<std::size_t>(length); ++i) {
    if (i >= text.size()) return -1;
    if ((byte(i) & 0xC0) != 0x80) return 0;
    value = value << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  const bool forbidden = value == 0xFFFE || value == 0xFFFF || value > 0x10FFFF;
  return overlong || surrogate || forbidden ? 0 : length;
}

}  // namespace kojak
