#include "expert/output/format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "epilog/format/text/printable.h"
#include "epilog/format/text/utf8.h"

namespace kojak::cube {
namespace {

// The characters of a text, each safe to print.
std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const Character c = take_character(text);
    result.emplace_back(c.harmless ? c.bytes : kReplacement);
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
