// Compact records, as files of version 3.0 hold them: a record is what differs from the last one of
// its type.
//
// A file is its header and then items, each of which begins with a code byte:
//   kBlock     a block begins: all that is remembered is forgotten, so that what follows can be
//   read
//              without what came before. One byte: checked.h, or what times are (Times); of ticks
//              follow base (u8), scale, shift (d8): seconds = (ticks - base) * scale + shift.
//   kVerbatim  a record as files of version 2.0 hold it follows: length, type, body. So are
//              definitions, and whatever does not fit into the scheme; it is remembered nowhere.
//   else       a compact record, or several (joint.h): its type, by code_of(). The top bit says
//   that it has the same
//              fields as the last record of its type; if not, a bit set follows (LEB128), one bit
//              for each field in the order of records.def. Then the fields of the set, in that
//              order.
// A field that is not in the set has the value that was expected; one that is there is its
// difference to that, as zigzag LEB128, or its value if it has one byte. Expected is
//   of a location             that of the last compact record, of whatever type
//   of a time                 the last time before it, in this record or another; differences are
//                             those of ticks, or of the bits of a double
//   of a duration             the last value of this type of record, in ticks or as the bits of a
//                             double, as times are
//   of a peer                 the process as far away from the location as that of the last record
//                             of this type
//   of what counts (kCounts)  the last value of this type of record, and once more what it differed
//                             by from the one before
//   of anything else          the last value of this type of record
// Values of counters follow as their number and the differences to the last ones of any record.
// All that is expected before a block's first record is 0.
//
// What is remembered does not grow with locations: processes that take turns in a merged trace do
// much the same, so that one value for all of them costs hardly a byte more than one for each, and
// it stays in the cache.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "epilog/format/compact/joint.h"

namespace kojak::compact {

inline constexpr std::uint8_t kMajor = 3;  // of the version
inline constexpr std::uint8_t kSameFields = 0x80, kVerbatim = 0x7F, kBlock = 0xFF;
enum class Times : std::uint8_t { kSeconds = 0, kTicks = 1 };

// How ticks become seconds.
struct TickClock {
  std::uint64_t base = 0;
  double scale = 1e-9;
  double shift = 0;
  Seconds seconds(std::uint64_t ticks) const {
    return {static_cast<double>(static_cast<std::int64_t>(ticks - base)) * scale + shift};
  }
  Duration length(std::uint64_t ticks) const {
    return {static_cast<double>(static_cast<std::int64_t>(ticks)) * scale};
  }
};
inline constexpr std::size_t kMaxBlockHead = 2 + 3 * 8;

// Events 100..222 and attributes 60..63.
constexpr std::uint8_t code_of(std::uint8_t type) {
  if (type >= 100 && type < 223) return static_cast<std::uint8_t>(type - 100);
  if (type >= 60 && type < 64) return static_cast<std::uint8_t>(type - 60 + 123);
  return kVerbatim;
}
constexpr std::uint8_t type_of(std::uint8_t code) {
  return static_cast<std::uint8_t>(code < 123 ? code + 100 : code - 123 + 60);
}
inline constexpr std::size_t kCodes = kVerbatim;
// Their bits must fit into the set.
inline constexpr unsigned kMostFields = 31;
inline constexpr std::size_t kMostMetrics = kMaxBody / 8;

// Fields whose steps tend to be equal.
template <class T>
inline constexpr bool kCounts = std::is_same_v<T, RmaId> || std::is_same_v<T, RequestId> ||
                                std::is_same_v<T, Count> || std::is_same_v<T, Count64>;

// How many values of its own a type of record needs to have remembered.
class Shape {
 public:
  unsigned bits = 0;   // fields
  unsigned slots = 0;  // values that are remembered
  unsigned bytes = 0;  // of the body, without counters
  bool plain = true;   // no lists and no texts
  bool counters = false;

  template <class T>
  constexpr void field(const FieldInfo&, const T&) {
    ++bits;
    bytes += sizeof(T);
    if (!std::is_same_v<T, LocationId> && !std::is_same_v<T, Seconds>) slots += kCounts<T> ? 2 : 1;
  }
  template <class T>
  constexpr void array(const FieldInfo&, const T&, std::uint32_t) {
    plain = false;
  }
  template <class T>
  constexpr void rest(const FieldInfo& info, const T& list) {
    if constexpr (std::is_same_v<T, MetricValues>) {
      metrics(info, list);
    } else {
      plain = false;
    }
  }
  constexpr void text(const FieldInfo&, const Text&) { plain = false; }
  constexpr void metrics(const FieldInfo&, const MetricValues&) {
    ++bits;
    counters = true;
  }
};

template <class R>
constexpr Shape shape_of() {
  R record{};
  Shape shape;
  visit_fields(record, Dialect{}, shape);
  return shape;
}
// Whether such records have a compact form.
template <class R>
inline constexpr bool kHasCode =
    code_of(static_cast<std::uint8_t>(R::kType)) != kVerbatim&& shape_of<R>().plain;

struct SlotTable {
  std::array<std::uint16_t, kCodes + 1> first{};
  std::uint16_t all = 0;
};
inline constexpr SlotTable kSlotTable = [] {
  SlotTable table;
  for (std::size_t code = 0; code < kCodes; ++code) {
    table.first[code] = table.all;
    const auto add = [&]<class R>() {
      table.all = static_cast<std::uint16_t>(table.all + shape_of<R>().slots);
    };
    const std::uint8_t type = type_of(static_cast<std::uint8_t>(code));
    if (!dispatch_record(type, add)) dispatch_joint(type, add);
  }
  return table;
}();

// What writer and reader remember of a block.
struct State {
  std::uint64_t time = 0;
  std::uint32_t location = 0;
  std::array<std::uint32_t, kCodes + 1> fields{};  // sets of the last record of each type
  std::array<std::uint64_t, kSlotTable.all> values{};
  std::array<std::uint64_t, kMostMetrics> metrics{};

  void reset() { *this = State{}; }
};

constexpr std::uint32_t zigzag(std::int32_t v) {
  return static_cast<std::uint32_t>(v) << 1 ^ static_cast<std::uint32_t>(v >> 31);
}
constexpr std::uint64_t zigzag(std::int64_t v) {
  return static_cast<std::uint64_t>(v) << 1 ^ static_cast<std::uint64_t>(v >> 63);
}
constexpr std::uint32_t unzigzag(std::uint32_t v) {
  return v >> 1 ^ (0 - (v & 1));
}
constexpr std::uint64_t unzigzag(std::uint64_t v) {
  return v >> 1 ^ (0 - (v & 1));
}

// How far a peer is from a location. "None" is as far as kNone, wherever the location is, and who
// is that far takes the number that this leaves free.
inline constexpr std::uint32_t kNone = 0u - 8191;
constexpr std::uint32_t distance_of(std::uint32_t peer, std::uint32_t location) {
  const std::uint32_t distance = peer - location;
  if (peer == kAbsent) return kNone;
  return distance == kNone ? kAbsent - location : distance;
}
constexpr std::uint32_t peer_at(std::uint32_t distance, std::uint32_t location) {
  if (distance == kNone) return kAbsent;
  return distance == kAbsent - location ? location + kNone : location + distance;
}

}  // namespace kojak::compact
