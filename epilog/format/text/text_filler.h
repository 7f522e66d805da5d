// Takes a record's fields from the keys of a text line, and packs them into bytes.
//
// Used by the text reader alone, one call for each line. What the keys of each record mean stands
// in the tables of text_fields.h. Texts in a FilledRecord view the line that it was made from.
#pragma once

#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "epilog/format/implied_definitions.h"
#include "epilog/format/text/text_fields.h"
#include "epilog/format/text/text_lines.h"

namespace kojak::text {

// A whole word, decimal or 0x...
template <class T>
bool parse_integer(std::string_view word, T& out) {
  const bool hex = word.size() > 2 && word[0] == '0' && word[1] == 'x';
  const char* begin = word.data() + (hex ? 2 : 0);
  const char* end = word.data() + word.size();
  const auto result = std::from_chars(begin, end, out, hex ? 16 : 10);
  return result.ec == std::errc() && result.ptr == end && begin != end;
}

// What all lines of a text share while they are encoded.
struct Context {
  Dialect dialect;
  ImpliedDefinitions implied;
  std::map<std::uint32_t, std::vector<std::uint32_t>> stacks;  // open regions of each location
};

struct FieldValue {
  const TextField* field = nullptr;
  std::uint64_t number = 0;          // of seconds: the bits of the double
  std::string_view text;             // kText
  std::vector<std::uint64_t> items;  // of lists; of kBits the bytes
};

// A record with those of its fields that the dialect has, in file order.
struct FilledRecord {
  const TextRecord* record = nullptr;
  std::vector<FieldValue> values;

  bool is(RecordType type) const { return record->type == static_cast<std::uint8_t>(type); }
  // 0 and empty where the dialect lacks the field.
  const FieldValue& at(std::string_view name) const;
};

// Returns what is wrong with the line as a sentence, "" if nothing is.
std::string fill_record(Context& context, const TextLine& line, FilledRecord& out);

// Appends length, type and body to `out`; with `nul`, a NUL behind them. False, and nothing
// appended, if the body is longer than 255 bytes.
bool append_record(const FilledRecord& record, const Dialect& dialect, bool nul,
                   std::vector<std::byte>& out);

}  // namespace kojak::text
