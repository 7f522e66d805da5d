// JSON that may stand inside a <script> element of a page.
//
// Appends to one string. Text of any bytes is safe: `<` is always escaped, so that no name can end
// the element or open a comment in it; what is no UTF-8 becomes U+FFFD; numbers that JSON lacks
// become null. The caller opens and closes arrays and objects in pairs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kojak::html {

class Json {
 public:
  Json& begin_object() { return open('{'); }
  Json& end_object() { return close('}'); }
  Json& begin_array() { return open('['); }
  Json& end_array() { return close(']'); }
  Json& key(std::string_view name);
  Json& value(std::string_view text);
  Json& value(const char* text) { return value(std::string_view(text)); }
  Json& value(double number);
  Json& value(bool truth) { return raw(truth ? "true" : "false"); }
  template <class Integer>
  requires std::is_integral_v<Integer> Json& value(Integer number) {
    return raw(std::to_string(number));
  }
  Json& null() { return raw("null"); }
  template <class T>
  Json& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  // What is JSON already, made by another Json.
  Json& raw(std::string_view json);

  const std::string& text() const { return text_; }

 private:
  Json& open(char bracket);
  Json& close(char bracket);
  void separate();
  std::string text_;
  bool first_ = true;  // nothing stands in the open array or object yet
  bool after_key_ = false;
};

}  // namespace kojak::html
