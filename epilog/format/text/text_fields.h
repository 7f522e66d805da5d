// What the text reader has to know of each record's fields: tables made from records.def.
//
// Plain data, so that one Filler serves all records. Constant, safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "epilog/format/record/records.h"

namespace kojak::text {

// How a field is written in a text, and how it lies in a record.
enum class FieldForm : std::uint8_t {
  kEnd,  // behind the last field
  kNumber,
  kSeconds,
  kArray,  // as many elements as the field `count` says
  kRest,   // elements up to the end of the record
  kBits,   // a row of 0 and 1, eight a byte
  kText,
  kMetrics,
};

// Numbers that can be written another way, or that have something defined when an event uses them.
enum class FieldMeaning : std::uint8_t {
  kPlain,
  kString,
  kFile,
  kRegion,
  kGroup,
  kComm,
  kCallSite,
  kLocation,
  kPeer,
  kWindow,
};

struct TextField {
  const char* name = nullptr;
  FieldForm form = FieldForm::kEnd;
  FieldMeaning meaning = FieldMeaning::kPlain;
  std::uint8_t size = 0;         // bytes of the number, or of one element
  std::uint8_t since = 0;        // classic files have it from 1.<since> on
  bool native = false;           // classic files never have it
  const char* count = nullptr;   // of an array
  const char* counts = nullptr;  // the list whose length this is where its own key is left out
  std::optional<std::uint64_t> left_out;  // its value without a key; nothing: the key must be there

  bool is_in(const Dialect& dialect) const {
    return native ? dialect.native() : dialect.has(since);
  }
};

struct TextRecord {
  const char* name;
  std::uint8_t type;
  RecordKind kind;
  RecordDialect dialect;
  const TextField* fields;  // up to kEnd
};

// nullptr if no record is called so.
const TextRecord* find_text_record(std::string_view name);

}  // namespace kojak::text
