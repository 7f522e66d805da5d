#include "tools/record_list.h"

#include <ostream>
#include <string>
#include <string_view>

#include "epilog/format/compact/state.h"

namespace kojak {
namespace {

// Bytes of a field's type, as the format spells them, and what compact files expect of it.
template <class T>
std::string size_name() {
  if constexpr (kIsTime<T>) {
    return std::is_same_v<T, Duration> ? "d8 length" : "d8";
  } else if constexpr (std::is_same_v<T, U4Array>) {
    return "u4[]";
  } else if constexpr (std::is_same_v<T, ByteArray> || std::is_same_v<T, BitArray>) {
    return "u1[]";
  } else if constexpr (std::is_same_v<T, MetricValues>) {
    return "u8[]";
  } else {
    std::string name = "u" + std::to_string(sizeof(T));
    if (std::is_same_v<T, PeerId>) name += " peer";
    if (compact::kCounts<T>) name += " count";
    return name;
  }
}

struct Row {
  std::string fields;

  void add(std::string_view name, const std::string& type, std::string_view doc,
           std::string_view where) {
    if (!fields.empty()) fields += "<br>";
    fields += '`';
    fields += name;
    fields += "` ";
    fields += type;
    if (!where.empty()) {
      fields += ", ";
      fields += where;
    }
    fields += ": ";
    fields += doc;
  }
};

void print_kind(std::ostream& out, RecordKind kind, const char* title) {
  out << "### " << title << "\n\n| type | name | fields | meaning |\n|---|---|---|---|\n";
#define KOJAK_RECORD(type, Struct, NAME, kind_) \
  if (RecordKind::kind_ == kind) {              \
    Row row;                                    \
    const std::string head = "| " #type " | " #NAME " | ";
#define KOJAK_EFFECT(effect)
#define KOJAK_FIELD(Type, name, doc) row.add(#name, size_name<Type>(), doc, "");
#define KOJAK_FIELD_SINCE(since, Type, name, doc) \
  row.add(#name, size_name<Type>(), doc, "classic from 1." #since);
#define KOJAK_FIELD_NATIVE(Type, name, doc) row.add(#name, size_name<Type>(), doc, "native only");
#define KOJAK_FIELD_LATER(Type, name, doc) \
  row.add(#name, size_name<Type>(), doc, "not in files of before");
#define KOJAK_ARRAY(Type, count, name, doc) \
  row.add(#name, size_name<Type>(), doc, "`" #count "` elements");
#define KOJAK_ARRAY_SINCE(since, Type, count, name, doc) \
  row.add(#name, size_name<Type>(), doc, "`" #count "` elements, classic from 1." #since);
#define KOJAK_REST(Type, name, doc) row.add(#name, size_name<Type>(), doc, "to the end");
#define KOJAK_TEXT(name, doc) row.add(#name, "characters", doc, "to the end");
#define KOJAK_METRICS(name) row.add(#name, "u8[]", "a value for each METRIC", "");
#define KOJAK_RECORD_END(dialect, doc)                                                       \
  const char* where = RecordDialect::dialect == RecordDialect::kNative  ? " *Native.*"       \
                      : RecordDialect::dialect == RecordDialect::kLocal ? " *Local traces.*" \
                                                                        : "";                \
  out << head << row.fields << " | " << doc << where << " |\n";                              \
  }
#include "epilog/format/record/records.def"
#include "epilog/format/record/records_undef.h"
  out << '\n';
}

}  // namespace

void print_record_list(std::ostream& out) {
  print_kind(out, RecordKind::kDefinition, "Definitions");
  print_kind(out, RecordKind::kAttribute, "Attributes");
  print_kind(out, RecordKind::kEvent, "Events");
}

}  // namespace kojak
