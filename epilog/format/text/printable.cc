#include "epilog/format/text/printable.h"

#include <algorithm>

#include "epilog/format/text/utf8.h"

namespace kojak {
namespace {

// Marks and overrides with which a name could rearrange the line that it stands in.
bool changes_direction(std::string_view c) {
  if (c.size() == 2) return c == "\u061C";
  if (c.size() != 3) return false;
  return c == "\u200E" || c == "\u200F" || (c >= "\u202A" && c <= "\u202E") ||
         (c >= "\u2066" && c <= "\u2069");
}

bool is_control(std::string_view c) {
  const auto first = static_cast<unsigned char>(c[0]);
  return first < 0x20 || first == 0x7F ||
         (first == 0xC2 && c.size() == 2 && static_cast<unsigned char>(c[1]) < 0xA0);
}

}  // namespace

Character take_character(std::string_view& text) {
  const int length = xml_character_length(text);
  const std::string_view bytes = text.substr(0, length > 0 ? static_cast<std::size_t>(length) : 1);
  text.remove_prefix(bytes.size());
  return {bytes, length > 0 && !is_control(bytes) && !changes_direction(bytes)};
}

std::string printable(std::string_view text, bool lines) {
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7F; };
  if (std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const Character c = take_character(text);
    out += c.harmless || (lines && c.bytes == "\n") ? c.bytes : kReplacement;
  }
  return out;
}

}  // namespace kojak
