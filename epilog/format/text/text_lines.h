// The words of a text trace: lines of `NAME key=value ...`, taken apart but not yet understood.
//
// A value is a word (number, `absent`, name), a quoted string with C escapes, or a list [a,b,c].
// `#` starts a comment, blank lines are skipped. Lines own their text. Errors name file and line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "epilog/format/error.h"

namespace kojak::text {

struct Value {
  enum class Kind : std::uint8_t { kWord, kString, kList };
  std::string key;
  Kind kind = Kind::kWord;
  std::string text;                // of a word or string
  std::vector<std::string> items;  // of a list
};

struct TextLine {
  std::size_t number = 0;  // from 1
  std::string name;
  std::vector<std::string> words;  // what follows the name without a key: "EPILOG 2.0 big"
  std::vector<Value> values;

  const Value* find(std::string_view key) const;
};

// An error about a line: "file:12: what".
Error line_error(const std::string& file, std::size_t line, std::string what);

// Takes a whole text apart. `name` is that of the file, for errors.
Result<std::vector<TextLine>> parse_lines(std::string_view text, const std::string& name);

}  // namespace kojak::text
