#include "epilog/runtime/python_text.h"

#include <string.h>

#include "epilog/format/record/types.h"

namespace kojak::measure {
namespace {

std::size_t put_utf8(std::uint32_t c, char* to) {
  if (c < 0x80) {
    to[0] = static_cast<char>(c);
    return 1;
  }
  const unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr unsigned kLead[] = {0, 0xC0, 0xE0, 0xF0};
  to[0] = static_cast<char>(kLead[more] | c >> (6 * more));
  for (unsigned i = 1; i <= more; ++i) {
    to[i] = static_cast<char>(0x80 | (c >> (6 * (more - i)) & 0x3F));
  }
  return more + 1;
}

}  // namespace

std::size_t utf8_of(const std::byte* raw, std::uint64_t length, unsigned kind, char* to) {
  std::size_t size = 0;
  for (std::uint64_t i = 0; i < length; ++i) {
    std::uint32_t c = 0;
    memcpy(&c, raw + i * kind, kind);
    // Surrogates stand for bytes of names that were no text; a record's text is one.
    if (c == 0 || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = '?';
    size += put_utf8(c, to + size);
  }
  to[size] = '\0';
  return size;
}

std::uint32_t python_line(const unsigned char* table, std::size_t size, std::uint32_t first_line,
                          std::uint64_t unit) {
  constexpr unsigned kNone = 15, kLong = 14, kNoColumns = 13, kOneLine = 10;
  std::int64_t line = first_line;
  std::uint64_t end = 0;
  std::size_t at = 0;
  while (at < size) {
    const unsigned first = table[at++];
    const unsigned code = first >> 3 & 15;
    end += (first & 7) + 1;
    if (code == kLong || code == kNoColumns) {
      std::uint64_t value = 0;
      for (unsigned shift = 0; at < size && shift < 60; shift += 6) {
        const unsigned byte = table[at++];
        value |= std::uint64_t{byte & 63} << shift;
        if ((byte & 64) == 0) break;
      }
      const auto amount = static_cast<std::int64_t>(value >> 1);
      line += (value & 1) != 0 ? -amount : amount;
    } else if (code >= kOneLine && code < kNoColumns) {
      line += code - kOneLine;
    }
    if (unit < end) {
      return code == kNone || line <= 0 || line >= kAbsent ? 0 : static_cast<std::uint32_t>(line);
    }
    while (at < size && (table[at] & 0x80) == 0) ++at;  // columns
  }
  return 0;
}

}  // namespace kojak::measure
