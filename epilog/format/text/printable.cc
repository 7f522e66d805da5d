#include "epilog/format/text/printable.h"

#include <algorithm>
#include <vector>

#include "epilog/format/text/harmful.h"
#include "epilog/format/text/utf8.h"

namespace kojak {
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

std::string printable_name(std::string_view text, std::size_t width) {
  const std::vector<std::string> all = characters(text);
  if (width == 0 || all.size() <= width) return joined(all, 0, all.size());
  if (width <= 3) return joined(all, 0, width);
  return joined(all, 0, width - 3) + "...";
}

std::string printable_path(std::string_view text, std::size_t width) {
  const std::vector<std::string> all = characters(text);
  if (width == 0 || all.size() <= width) return joined(all, 0, all.size());
  if (width <= 3) return joined(all, all.size() - width, all.size());
  return "..." + joined(all, all.size() - (width - 3), all.size());
}

}  // namespace kojak
