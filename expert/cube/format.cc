#include "expert/cube/format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "expert/cube/utf8.h"

namespace kojak::cube {
namespace {

// Marks and overrides with which a name could rearrange the line that it stands in.
bool changes_direction(std::string_view c) {
  if (c.size() == 2) return c == "\u061C";
  if (c.size() != 3) return false;
  return c == "\u200E" || c == "\u200F" || (c >= "\u202A" && c <= "\u202E") ||
         (c >= "\u2066" && c <= "\u2069");
}

// The characters of a text, each safe to print.
std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const int length = xml_character_length(text);
    const std::size_t size = length > 0 ? static_cast<std::size_t>(length) : 1;
    const std::string_view character = text.substr(0, size);
    const auto first = static_cast<unsigned char>(character[0]);
    // U+0080 to U+009F are control characters too.
    const bool control =
        first < 0x20 || first == 0x7F ||
        (first == 0xC2 && size == 2 && static_cast<unsigned char>(character[1]) < 0xA0);
    result.emplace_back(length <= 0 || control || changes_direction(character) ? kReplacement
                                                                               : character);
    text.remove_prefix(size);
  }
  return result;
}

std::string joined(const std::vector<std::string>& parts, std::size_t from, std::size_t to) {
  std::string text;
  for (std::size_t i = from; i < to; ++i) text += parts[i];
  return text;
}

}  // namespace

std::string format_value(Unit unit, double value) {
  const int decimals = unit == Unit::kSeconds ? 6 : value == std::trunc(value) ? 0 : 3;
  std::array<char, 400> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::fixed, decimals);
  return {buffer.data(), end.ptr};
}

std::string format_change(Unit unit, double value) {
  return (value > 0 ? "+" : "") + format_value(unit, value);
}

std::string format_exact(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end.ptr};
}

std::string printable(std::string_view name, std::size_t width) {
  const std::vector<std::string> all = characters(name);
  if (width == 0 || all.size() <= width) return joined(all, 0, all.size());
  if (width <= 3) return joined(all, 0, width);
  return joined(all, 0, width - 3) + "...";
}

std::string printable_path(std::string_view path, std::size_t width) {
  const std::vector<std::string> all = characters(path);
  if (width == 0 || all.size() <= width) return joined(all, 0, all.size());
  if (width <= 3) return joined(all, all.size() - width, all.size());
  return "..." + joined(all, all.size() - (width - 3), all.size());
}

}  // namespace kojak::cube
