#include "epilog/format/text/text_fields.h"

#include <cstddef>

#include "epilog/format/field_values.h"

namespace kojak::text {
namespace {

template <class T, class... U>
constexpr bool is_one_of() {
  return (std::is_same_v<T, U> || ...);
}

// What a field is when its key is left out; nothing: the key must be there.
template <class R, class T>
constexpr std::optional<std::uint64_t> left_out(std::string_view name, bool first) {
  constexpr std::optional<std::uint64_t> kMustBeThere, kZero = 0, kNone = kAbsent;
  if (is_one_of<R, LocalRun, MergedRun>()) {
    if (std::is_same_v<T, Hash64>) return 1;
    return is_one_of<T, ThreadId, Byte>() || name == "missing" ? kZero : kMustBeThere;
  }
  if (R::kKind == RecordKind::kDefinition) {
    if (first) return kMustBeThere;
    if (is_one_of<T, FileId, StringId, Line, CallPathId>()) return kNone;
    if (is_one_of<R, RunProperty>()) return kNone;
    const bool harmless = is_one_of<T, Byte, Flags, Count, CommId, MachineId, NodeId, ThreadId>() ||
                          std::is_same_v<R, Node>;
    return harmless ? kZero : kMustBeThere;
  }
  if (std::is_same_v<R, MpiRecvRequest> && is_one_of<T, PeerId, Tag>()) {
    return kNone;  // any source, any tag
  }
  if (is_one_of<R, MpiPolled, MpiPoll, MpiPollCall>()) {
    if (is_one_of<T, LocationId, Seconds>() || name == "judged" || name == "kind" ||
        name == "count" || name == "members" || name == "end") {
      return kMustBeThere;
    }
    if (std::is_same_v<R, MpiPollCall> && (name == "rid" || name == "polls")) return kMustBeThere;
    if (name == "ran" || name == "disp") return raw(kUnknown64);
    const bool number = is_one_of<T, Count, Count64, Byte, Flags, Duration>();
    return number ? kZero : kNone;
  }
  if (std::is_same_v<R, MpiValue> && name == "other") return kZero;
  if (std::is_same_v<R, MpiRmaPlace> && name == "op") return kZero;
  if (name == "rlid") return kNone;
  const bool harmless = is_one_of<T, CommId, WindowId, Tag, Bytes, Bytes64>() || name == "local";
  return harmless ? kZero : kMustBeThere;
}

// The list of the same record that a field counts.
template <class R>
constexpr const char* counted(std::string_view name) {
  if (std::is_same_v<R, MpiComm> && name == "grpc") return "grpv";
  if (std::is_same_v<R, MpiGroup> && name == "count") return "ranks";
  if (std::is_same_v<R, CartTopology> && name == "ndims") return "dimv";
  if (std::is_same_v<R, CartCoords> && name == "ndims") return "coordv";
  return nullptr;
}

template <class T>
constexpr FieldMeaning meaning() {
  if (std::is_same_v<T, StringId>) return FieldMeaning::kString;
  if (std::is_same_v<T, FileId>) return FieldMeaning::kFile;
  if (std::is_same_v<T, RegionId>) return FieldMeaning::kRegion;
  if (std::is_same_v<T, GroupId>) return FieldMeaning::kGroup;
  if (std::is_same_v<T, CommId>) return FieldMeaning::kComm;
  if (std::is_same_v<T, CallSiteId>) return FieldMeaning::kCallSite;
  if (std::is_same_v<T, LocationId>) return FieldMeaning::kLocation;
  if (std::is_same_v<T, PeerId>) return FieldMeaning::kPeer;
  if (std::is_same_v<T, WindowId>) return FieldMeaning::kWindow;
  return FieldMeaning::kPlain;
}

template <class R, class T>
constexpr TextField number(const char* name, bool first, std::uint8_t since, bool native) {
  TextField field{name, FieldForm::kNumber, meaning<T>(), sizeof(T), since, native};
  if (kIsTime<T>) field.form = FieldForm::kSeconds;
  field.counts = counted<R>(name);
  field.left_out = left_out<R, T>(name, first);
  return field;
}

constexpr TextField later(TextField field) {
  field.left_out = 0;
  return field;
}

template <class View>
constexpr TextField list(const char* name, FieldForm form, std::uint8_t since = 0,
                         const char* count = nullptr) {
  TextField field{name, form, FieldMeaning::kPlain, sizeof(View{}[0]), since};
  if (std::is_same_v<View, BitArray>) field.form = FieldForm::kBits;
  field.count = count;
  return field;
}

template <class R>
constexpr TextRecord record(const TextField* fields) {
  return {R::kName, static_cast<std::uint8_t>(R::kType), R::kKind, R::kDialect, fields};
}

// A record's first field names the object that it defines.
#define KOJAK_RECORD(type, Struct, NAME, kind) \
  namespace fields_of_##Struct {               \
    using R = Struct;                          \
    constexpr TextField kFields[] = {
#define KOJAK_EFFECT(effect)
#define KOJAK_FIELD(Type, name, doc) number<R, Type>(#name, offsetof(R, name) == 0, 0, false),
#define KOJAK_FIELD_SINCE(since, Type, name, doc) number<R, Type>(#name, false, since, false),
#define KOJAK_FIELD_NATIVE(Type, name, doc) number<R, Type>(#name, false, 0, true),
#define KOJAK_FIELD_LATER(Type, name, doc) later(number<R, Type>(#name, false, 0, true)),
#define KOJAK_ARRAY(Type, count, name, doc) list<Type>(#name, FieldForm::kArray, 0, #count),
#define KOJAK_ARRAY_SINCE(since, Type, count, name, doc) \
  list<Type>(#name, FieldForm::kArray, since, #count),
#define KOJAK_REST(Type, name, doc) list<Type>(#name, FieldForm::kRest),
#define KOJAK_TEXT(name, doc) TextField{#name, FieldForm::kText},
#define KOJAK_METRICS(name) list<MetricValues>(#name, FieldForm::kMetrics),
#define KOJAK_RECORD_END(dialect, doc) \
  TextField {}                         \
  }                                    \
  ;                                    \
  }
#include "epilog/format/record/records.def"
#include "epilog/format/record/records_undef.h"

#define KOJAK_RECORD(type, Struct, NAME, kind) record<Struct>(fields_of_##Struct::kFields),
constexpr TextRecord kRecords[] = {
#include "epilog/format/record/records_each.h"
};

}  // namespace

const TextRecord* find_text_record(std::string_view name) {
  for (const TextRecord& record : kRecords) {
    if (name == record.name) return &record;
  }
  return nullptr;
}

}  // namespace kojak::text
