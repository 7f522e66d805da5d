// One struct for each EPILOG record, made from records.def, and ways to visit their fields.
//
// Structs are plain values; arrays and texts in them are views into the buffer they were decoded
// from. `visit_fields(record, visitor)` calls `visitor.field(FieldInfo, value&)` and its siblings
// in file order; reader, writer, printer, text reader, verifier and the merge's translation are
// such visitors. Source: docs/format.md; thesis, appendix.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "epilog/format/record/types.h"

namespace kojak {

enum class RecordKind : std::uint8_t { kDefinition, kAttribute, kEvent };
// The files that a record may stand in (records.def says what each means).
enum class RecordDialect : std::uint8_t {
  kBoth,
  kBothLocal,
  kClassicLocal,
  kNative,
  kLocal,
  kSkipped
};
// Whether classic files, local or merged, may hold such a record.
constexpr bool in_classic(RecordDialect dialect) {
  return dialect != RecordDialect::kNative && dialect != RecordDialect::kLocal;
}
// Whether merged files may not hold such a record, of either dialect.
constexpr bool only_local(RecordDialect dialect) {
  return dialect == RecordDialect::kBothLocal || dialect == RecordDialect::kLocal;
}

// The version and byte order of a file, and what the length of its records depends on.
struct Dialect {
  std::uint8_t major = 2;
  std::uint8_t minor = 0;
  bool big_endian = std::endian::native == std::endian::big;
  std::uint32_t metrics = 0;  // METRIC definitions so far

  constexpr bool native() const { return major >= 2; }
  constexpr bool compact() const { return major >= 3; }
  constexpr bool swapped() const { return big_endian != (std::endian::native == std::endian::big); }
  // A field that classic files have from version 1.<since> on.
  constexpr bool has(std::uint8_t since) const { return native() || minor >= since; }
};

enum class RecordType : std::uint8_t {
#define KOJAK_RECORD(type, Struct, NAME, kind) k##Struct = type,
#include "epilog/format/record/records_each.h"
};

// Value of a field that this dialect does not have: absent for identifiers and counts of bytes,
// else 0.
template <class T>
constexpr T default_value() {
  if constexpr (std::is_enum_v<T> && sizeof(T) == 4) {
    return absent<T>();
  } else {
    return T{};
  }
}

#define KOJAK_RECORD(type, Struct, NAME, kind)                 \
  struct Struct {                                              \
    static constexpr RecordType kType = RecordType::k##Struct; \
    static constexpr const char* kName = #NAME;                \
    static constexpr RecordKind kKind = RecordKind::kind;
#define KOJAK_EFFECT(effect)
#define KOJAK_FIELD(Type, name, doc) Type name{};
#define KOJAK_FIELD_SINCE(since, Type, name, doc) Type name = default_value<Type>();
#define KOJAK_FIELD_NATIVE(Type, name, doc) Type name = default_value<Type>();
#define KOJAK_FIELD_LATER(Type, name, doc) Type name{};
#define KOJAK_ARRAY(Type, count, name, doc) Type name{};
#define KOJAK_ARRAY_SINCE(since, Type, count, name, doc) Type name{};
#define KOJAK_REST(Type, name, doc) Type name{};
#define KOJAK_TEXT(name, doc) Text name{};
#define KOJAK_METRICS(name) MetricValues name{};
#define KOJAK_RECORD_END(dialect, doc)                              \
  static constexpr RecordDialect kDialect = RecordDialect::dialect; \
  static constexpr const char* kDoc = doc;                          \
  }                                                                 \
  ;
#include "epilog/format/record/records.def"
#include "epilog/format/record/records_undef.h"

// What a field must name (records.def says what each means).
enum class FieldRule : std::uint8_t { kPlain, kDefines, kKnown, kOptional, kCode };

struct FieldInfo {
  const char* name;
  const char* doc;
  FieldRule rule = FieldRule::kPlain;
  std::uint8_t most = 0;  // of kCode: the largest value
  bool later = false;     // a record of before ends where it would begin
};

// A visitor has: field(info, T&), array(info, View&, count), rest(info, View&), text(info, Text&),
// metrics(info, MetricValues&). Fields that the dialect lacks are not visited. R is the struct,
// const or not.
#define KOJAK_RECORD(type, Struct, NAME, kind)                                          \
  template <class V>                                                                    \
  KOJAK_INLINED constexpr void visit_fields(Struct& r, const Dialect& dialect, V&& v) { \
    (void)r;                                                                            \
    (void)dialect;                                                                      \
    (void)v;
#define KOJAK_EFFECT(effect)
#define KOJAK_FIELD(Type, name, doc) v.field(FieldInfo{#name, doc}, r.name);
#define KOJAK_DEFINES(Type, name, doc) v.field(FieldInfo{#name, doc, FieldRule::kDefines}, r.name);
#define KOJAK_KNOWN(Type, name, doc) v.field(FieldInfo{#name, doc, FieldRule::kKnown}, r.name);
#define KOJAK_OPTIONAL(Type, name, doc) \
  v.field(FieldInfo{#name, doc, FieldRule::kOptional}, r.name);
#define KOJAK_CODE(most, Type, name, doc) \
  v.field(FieldInfo{#name, doc, FieldRule::kCode, most}, r.name);
#define KOJAK_FIELD_SINCE(since, Type, name, doc) \
  if (dialect.has(since)) v.field(FieldInfo{#name, doc, FieldRule::kOptional}, r.name);
#define KOJAK_FIELD_NATIVE(Type, name, doc) \
  if (dialect.native()) v.field(FieldInfo{#name, doc, FieldRule::kOptional}, r.name);
#define KOJAK_FIELD_LATER(Type, name, doc) \
  v.field(FieldInfo{#name, doc, FieldRule::kPlain, 0, true}, r.name);
#define KOJAK_ARRAY(Type, count, name, doc) \
  v.array(FieldInfo{#name, doc}, r.name, static_cast<std::uint32_t>(raw(r.count)));
#define KOJAK_ARRAY_SINCE(since, Type, count, name, doc) \
  if (dialect.has(since))                                \
    v.array(FieldInfo{#name, doc}, r.name, static_cast<std::uint32_t>(raw(r.count)));
#define KOJAK_REST(Type, name, doc) v.rest(FieldInfo{#name, doc}, r.name);
#define KOJAK_TEXT(name, doc) v.text(FieldInfo{#name, doc}, r.name);
#define KOJAK_METRICS(name) \
  v.metrics(FieldInfo{#name, "one value for each hardware counter"}, r.name);
#define KOJAK_RECORD_END(dialect_, doc) }
#include "epilog/format/record/records.def"
#include "epilog/format/record/records_undef.h"

// What an event does to the regions that are open on its location.
enum class RegionEffect : std::uint8_t { kNone, kEnters, kLeaves, kEntersAndLeaves };

namespace detail {
template <class R>
struct EffectOf {};
#define KOJAK_RECORD(type, Struct, NAME, kind) \
  template <>                                  \
  struct EffectOf<Struct> {                    \
    static constexpr RegionEffect value() {    \
      RegionEffect effect = RegionEffect::kNone;
#define KOJAK_EFFECT(which) effect = RegionEffect::which;
#define KOJAK_FIELD(Type, name, doc)
#define KOJAK_FIELD_SINCE(since, Type, name, doc)
#define KOJAK_FIELD_NATIVE(Type, name, doc)
#define KOJAK_FIELD_LATER(Type, name, doc)
#define KOJAK_ARRAY(Type, count, name, doc)
#define KOJAK_ARRAY_SINCE(since, Type, count, name, doc)
#define KOJAK_REST(Type, name, doc)
#define KOJAK_TEXT(name, doc)
#define KOJAK_METRICS(name)
#define KOJAK_RECORD_END(dialect, doc) \
  return effect;                       \
  }                                    \
  }                                    \
  ;
#include "epilog/format/record/records.def"
#include "epilog/format/record/records_undef.h"
}  // namespace detail

template <class R>
inline constexpr RegionEffect kEffect = detail::EffectOf<R>::value();
// ENTER and its like: a region is open from here on.
template <class R>
inline constexpr bool kEnters = kEffect<R> == RegionEffect::kEnters;
// EXIT and its like: the innermost region is left.
template <class R>
inline constexpr bool kLeaves = kEffect<R> == RegionEffect::kLeaves;
// Records of the measurement itself: what they open and close is no region of the program.
template <class R>
inline constexpr bool kOfMeasurement =
    std::is_same_v<R, LogOff> || std::is_same_v<R, LogOn> || std::is_same_v<R, EnterTracing> ||
    std::is_same_v<R, ExitTracing>;

// Calls f.template operator()<Struct>() for the struct of a record type; false if there is none.
template <class F>
constexpr bool dispatch_record(std::uint8_t type, F&& f) {
  switch (type) {
#define KOJAK_RECORD(type_, Struct, NAME, kind) \
  case type_:                                   \
    f.template operator()<Struct>();            \
    return true;
#include "epilog/format/record/records_each.h"
    default:
      return false;
  }
}

// The effect by record type; of an unknown one, none.
inline constexpr std::array<RegionEffect, 256> kRegionEffects = [] {
  std::array<RegionEffect, 256> effects{};
  for (std::size_t type = 0; type < effects.size(); ++type) {
    dispatch_record(static_cast<std::uint8_t>(type),
                    [&]<class R>() { effects[type] = kEffect<R>; });
  }
  return effects;
}();
constexpr RegionEffect region_effect(std::uint8_t type) {
  return kRegionEffects[type];
}
constexpr RegionEffect region_effect(RecordType type) {
  return region_effect(static_cast<std::uint8_t>(type));
}

// The name of a record type ("MPI_PUT_1TS"), or "" if it is unknown.
std::string_view record_name(std::uint8_t type);
// The type of a record name, or 0.
std::uint8_t record_type(std::string_view name);

constexpr bool is_definition(std::uint8_t type) {
  return type < 60;
}
constexpr bool is_attribute(std::uint8_t type) {
  return type >= 60 && type < 100;
}
constexpr bool is_event(std::uint8_t type) {
  return type >= 100;
}

}  // namespace kojak
