#include "epilog/format/text/xml_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "epilog/format/text/utf8.h"

namespace kojak {

std::string xml_text(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const int length = xml_character_length(bytes);
    // The two characters that are well-formed but no XML are replaced whole, not byte by byte.
    const bool noncharacter =
        bytes.starts_with("\xEF\xBF\xBE") || bytes.starts_with("\xEF\xBF\xBF");
    const std::size_t size = length > 0 ? static_cast<std::size_t>(length) : noncharacter ? 3 : 1;
    out += length > 0 ? bytes.substr(0, size) : kReplacement;
    bytes.remove_prefix(size);
  }
  return out;
}

void append_number(std::string& out, double value) {
  std::array<char, 32> digits;
  // The shortest form of 100000 is 1e+05, which is no number for a reader of INTEGER metrics.
  constexpr double kLimit = 9e18;
  if (value == std::trunc(value) && value > -kLimit && value < kLimit && !std::signbit(value)) {
    const auto whole = static_cast<std::int64_t>(value);
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), whole);
    out.append(digits.data(), end.ptr);
    return;
  }
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end.ptr);
}

std::string file_url(std::string_view path) {
  std::string out = "file://";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/._-~+").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      const auto u = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[u >> 4];
      out += kHex[u & 15];
    }
  }
  return out;
}

}  // namespace kojak
