#include "expert/output/json.h"

#include <array>
#include <charconv>
#include <cmath>

#include "epilog/format/text/utf8.h"

namespace kojak::html {

void Json::separate() {
  if (!first_ && !after_key_) text_ += ',';
  first_ = after_key_ = false;
}

Json& Json::open(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
  return *this;
}

Json& Json::close(char bracket) {
  text_ += bracket;
  first_ = false;
  return *this;
}

Json& Json::raw(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

Json& Json::key(std::string_view name) {
  value(name);
  text_ += ':';
  after_key_ = true;
  return *this;
}

Json& Json::value(double number) {
  if (!std::isfinite(number)) return null();
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return raw({buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data())});
}

Json& Json::value(std::string_view text) {
  separate();
  text_ += '"';
  while (!text.empty()) {
    const char c = text[0];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      const int length = xml_character_length(text);
      const std::size_t size = length > 0 ? static_cast<std::size_t>(length) : 1;
      const std::string_view character = text.substr(0, size);
      // Line separators end a line in JavaScript, though not in JSON.
      if (character == "\xE2\x80\xA8" || character == "\xE2\x80\xA9") {
        text_ += character.back() == '\xA8' ? "\\u2028" : "\\u2029";
      } else {
        text_ += length > 0 ? character : std::string_view("\xEF\xBF\xBD");
      }
      text.remove_prefix(size);
      continue;
    }
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (byte < 0x20 || byte == 0x7F || c == '<') {
      constexpr std::string_view kHex = "0123456789abcdef";
      text_ += "\\u00";
      text_ += kHex[byte >> 4];
      text_ += kHex[byte & 15];
    } else {
      text_ += c;
    }
    text.remove_prefix(1);
  }
  text_ += '"';
  return *this;
}

}  // namespace kojak::html
