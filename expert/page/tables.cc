#include "expert/page/tables.h"

#include <algorithm>
#include <string>
#include <type_traits>

namespace kojak::html {
namespace {

// A distance of times, which is negative where clocks disagree: zigzag.
std::uint64_t distance(Nanoseconds time, Nanoseconds origin) {
  const auto step = static_cast<std::int64_t>(time - origin);
  return static_cast<std::uint64_t>(step) << 1 ^ static_cast<std::uint64_t>(step >> 63);
}
std::uint64_t known_distance(Nanoseconds time, Nanoseconds origin) {
  return time == 0 ? 0 : distance(time, origin) + 1;
}
std::uint64_t or_zero(std::uint32_t number) {
  return number == Traffic::kNone ? 0 : std::uint64_t{number} + 1;
}

struct FenceMember {
  std::uint32_t row = 0;
  Nanoseconds enter = 0, exit = 0;
};
std::vector<FenceMember> members_of(const std::vector<FenceInstance>& fences) {
  std::vector<FenceMember> members;
  for (const FenceInstance& fence : fences) {
    for (std::size_t i = 0; i < fence.rows.size(); ++i) {
      members.push_back({fence.rows[i], fence.enters[i], fence.exits[i]});
    }
  }
  return members;
}

enum class Packed { varint, delta, byte, or_none, since, since_known, short_of };

template <class Thing, class F>
void each(const std::vector<Thing>& things, F&& f) {
  for (const Thing& thing : things) f(thing);
}
template <class Thing, class F>
void each(const std::vector<std::vector<Thing>>& rows, F&& f) {
  for (const std::vector<Thing>& things : rows) each(things, f);
}

template <Packed kPacked, class Things, class Value>
void add_column(Blob& blob, const std::string& name, const Things& things, Value&& value) {
  if constexpr (kPacked == Packed::byte) {
    std::vector<std::uint8_t> bytes;
    each(things,
         [&](const auto& thing) { bytes.push_back(static_cast<std::uint8_t>(value(thing))); });
    blob.bytes(name, bytes);
  } else {
    const auto fill = [&](auto&& put) {
      each(things, [&](const auto& thing) { put(static_cast<std::uint64_t>(value(thing))); });
    };
    kPacked == Packed::delta ? blob.fill_deltas(name, fill) : blob.fill_varints(name, fill);
  }
}

// How many things each row has, begins as distances from the one before, lengths.
template <class Thing>
void add_spans(Blob& blob, const std::string& table, const std::vector<std::vector<Thing>>& rows) {
  blob.fill_varints(table + ".counts", [&](auto&& put) {
    for (const std::vector<Thing>& things : rows) put(things.size());
  });
  blob.fill_varints(table + ".begin", [&](auto&& put) {
    for (const std::vector<Thing>& things : rows) {
      Nanoseconds last = 0;
      for (const Thing& thing : things) {
        put(thing.begin - last);
        last = thing.begin;
      }
    }
  });
  add_column<Packed::varint>(blob, table + ".length", rows,
                             [](const Thing& t) { return t.end - t.begin; });
}

}  // namespace

#define TABLE(name, Thing, list)                             \
  void add_##name(Blob& blob, const TraceContent& content) { \
    using T = Thing;                                         \
    const std::string table = #name ".";                     \
    const auto& things = list;
#define ROWS(name, Thing, list) \
  TABLE(name, Thing, list)      \
  add_spans(blob, #name, things);
#define COLUMN(name, packed, base, meaning, ...) \
  add_column<Packed::packed>(blob, table + #name, things, [](const T& t) { return __VA_ARGS__; });
#define END() }
#include "expert/page/tables.def"
#undef TABLE
#undef ROWS
#undef COLUMN
#undef END

}  // namespace kojak::html
