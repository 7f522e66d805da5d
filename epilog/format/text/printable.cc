#include "epilog/format/text/printable.h"

#include <algorithm>

#include "epilog/format/text/harmful.h"
#include "epilog/format/text/utf8.h"

namespace kojak {
Character take_character(std::string_view& text) {
  const int length = xml_character_length(text);
  const std::string_view bytes = text.substr(0, length > 0 ? static_cast<std::size_t>(length) : 1);
  text.remove_prefix(bytes.size());
  return {bytes, length > 0 && harmful_length(bytes.data(), bytes.size()) == 0};
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
