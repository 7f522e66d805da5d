#include "expert/cube/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace kojak::expert {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The length of the valid character at the front of `s`, or 0; its code point in `code`.
std::size_t decode_utf8(std::string_view s, std::uint32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    code = lead;
    return 1;
  }
  std::size_t length = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
    code = lead & 0x1Fu;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    code = lead & 0x0Fu;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    code = lead & 0x07u;
  } else {
    return 0;
  }
  if (s.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return overlong || surrogate || code > 0x10FFFF ? 0 : length;
}

bool xml_character(std::uint32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  return code != 0xFFFE && code != 0xFFFF;
}

}  // namespace

std::string xml_text(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    std::uint32_t code = 0;
    const std::size_t length = decode_utf8(bytes, code);
    if (length != 0 && xml_character(code)) {
      out += bytes.substr(0, length);
    } else {
      out += kReplacement;
    }
    bytes.remove_prefix(length == 0 ? 1 : length);
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

}  // namespace kojak::expert
