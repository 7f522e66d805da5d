#include "epilog/format/text/text_lines.h"

namespace kojak::text {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// Reads one line; every function returns false after setting what_.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  bool line(TextLine& line) {
    while (skip_blanks()) {
      if (line.name.empty()) {
        line.name = word();
        continue;
      }
      const std::size_t start = pos_;
      while (pos_ < text_.size() && is_key_char(text_[pos_])) ++pos_;
      if (pos_ < text_.size() && text_[pos_] == '=' && pos_ > start) {
        Value value;
        value.key = text_.substr(start, pos_ - start);
        ++pos_;
        if (!this->value(value)) return false;
        if (line.find(value.key) != nullptr) return fail("key " + value.key + " stands twice");
        line.values.push_back(std::move(value));
      } else {
        pos_ = start;
        line.words.push_back(word());
      }
    }
    return true;
  }
  const std::string& what() const { return what_; }

 private:
  bool fail(std::string what) {
    what_ = std::move(what);
    return false;
  }
  // Goes to the next word; false at the end or at a comment.
  bool skip_blanks() {
    while (pos_ < text_.size() && is_blank(text_[pos_])) ++pos_;
    return pos_ < text_.size() && text_[pos_] != '#';
  }
  std::string word() {
    const std::size_t start = pos_;
    while (pos_ < text_.size() && !is_blank(text_[pos_])) ++pos_;
    return std::string(text_.substr(start, pos_ - start));
  }
  bool value(Value& value) {
    if (pos_ < text_.size() && text_[pos_] == '"') {
      value.kind = Value::Kind::kString;
      return string(value);
    }
    if (pos_ < text_.size() && text_[pos_] == '[') {
      value.kind = Value::Kind::kList;
      return list(value);
    }
    value.text = word();
    if (value.text.empty()) return fail("key " + value.key + " has no value");
    return true;
  }
  bool list(Value& value) {
    ++pos_;
    std::string item;
    for (; pos_ < text_.size(); ++pos_) {
      const char c = text_[pos_];
      if (c == ']') {
        ++pos_;
        if (!item.empty() || !value.items.empty()) value.items.push_back(item);
        return end_of_value(value);
      }
      if (c == ',') {
        value.items.push_back(item);
        item.clear();
      } else if (!is_blank(c)) {
        item += c;
      }
    }
    return fail("the list of key " + value.key + " has no ]");
  }
  bool string(Value& value) {
    ++pos_;
    while (pos_ < text_.size()) {
      const char c = text_[pos_++];
      if (c == '"') return end_of_value(value);
      if (c != '\\') {
        value.text += c;
      } else if (!escape(value)) {
        return false;
      }
    }
    return fail("the string of key " + value.key + " has no closing quote");
  }
  bool escape(Value& value) {
    if (pos_ == text_.size()) return fail("a backslash ends the line");
    const char c = text_[pos_++];
    constexpr std::string_view kNames = "ntr\\\"abfv", kBytes = "\n\t\r\\\"\a\b\f\v";
    if (const std::size_t i = kNames.find(c); i != std::string_view::npos) {
      value.text += kBytes[i];
      return true;
    }
    unsigned code = 0;
    std::size_t digits = 0;
    if (c == 'x') {
      for (; pos_ < text_.size() && digits < 2; ++digits, ++pos_) {
        const std::size_t digit = std::string_view("0123456789abcdef").find(text_[pos_] | 0x20);
        if (digit == std::string_view::npos) break;
        code = code * 16 + static_cast<unsigned>(digit);
      }
    } else {
      for (--pos_; pos_ < text_.size() && digits < 3; ++digits, ++pos_) {
        if (text_[pos_] < '0' || text_[pos_] > '7') break;
        code = code * 8 + static_cast<unsigned>(text_[pos_] - '0');
      }
    }
    if (digits == 0 || code > 255) {
      return fail(std::string("\\") + c + " is no escape of C");
    }
    value.text += static_cast<char>(code);
    return true;
  }
  bool end_of_value(const Value& value) {
    if (pos_ < text_.size() && !is_blank(text_[pos_])) {
      return fail("a blank must follow the value of key " + value.key);
    }
    return true;
  }

  std::string_view text_;
  std::size_t pos_ = 0;
  std::string what_;
};

}  // namespace

const Value* TextLine::find(std::string_view key) const {
  for (const Value& value : values) {
    if (value.key == key) return &value;
  }
  return nullptr;
}

Error line_error(const std::string& file, std::size_t line, std::string what) {
  Error error;
  error.file = file + ":" + std::to_string(line);
  error.reason = std::move(what);
  return error;
}

Result<std::vector<TextLine>> parse_lines(std::string_view text, const std::string& name) {
  std::vector<TextLine> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::string_view one = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    TextLine line;
    line.number = ++number;
    Lexer lexer(one);
    if (!lexer.line(line)) return line_error(name, number, lexer.what());
    if (!line.name.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace kojak::text
