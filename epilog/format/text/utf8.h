// Which bytes are text that an XML file may hold.
//
// Pure functions; thread-safe. Source: XML 1.0, production Char; UTF-8 as in the
// Unicode standard (overlong forms and surrogates are invalid).
#pragma once

#include <string_view>

namespace kojak {

// U+FFFD, which stands for what cannot be shown.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// A character of one byte.
inline bool plain_xml_byte(unsigned char c) {
  return (c >= 0x20 && c < 0x80) || c == '\n' || c == '\t' || c == '\r';
}

// Length of the character that starts at text[0] if it is valid UTF-8 that XML 1.0 allows; 0 if
// not; -1 if the text ends before that can be said.
int xml_character_length(std::string_view text);

}  // namespace kojak
