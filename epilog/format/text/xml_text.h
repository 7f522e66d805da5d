// Text for XML files from names of any bytes, and numbers that read back the same.
//
// Pure functions; thread-safe. Source: XML 1.0, production Char; UTF-8 as in the
// Unicode standard (overlong forms and surrogates are invalid).
#pragma once

#include <string>
#include <string_view>

namespace kojak {

// Valid UTF-8 in which every character is one that XML 1.0 can hold: what is not (broken sequences,
// control characters) becomes U+FFFD. Escaping of < & " is the XML writer's business.
std::string xml_text(std::string_view bytes);

// The shortest decimal form that reads back as the same double; integers without point or exponent.
void append_number(std::string& out, double value);

// A file:// address of a folder or file, other characters than those of plain paths encoded.
std::string file_url(std::string_view path);

}  // namespace kojak
