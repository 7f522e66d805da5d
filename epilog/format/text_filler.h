// Fills a record's fields from the keys of a text line: one visitor for all records.
//
// Used by the text reader alone, one Filler for each line. Arrays and names that the record then
// views live in the Context. A mistake is kept as a sentence (what()); the first one counts.
#pragma once

#include <charconv>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "epilog/format/records.h"
#include "epilog/format/text_lines.h"
#include "epilog/format/text_world.h"

namespace kojak::text {

// More processes than a text case has: a larger number is a slip, not a reason to define them all.
inline constexpr std::uint32_t kMaxRank = 1u << 20;

template <class T>
bool parse_integer(const std::string& word, T& out) {
  const bool hex = word.size() > 2 && word[0] == '0' && word[1] == 'x';
  const char* begin = word.data() + (hex ? 2 : 0);
  const char* end = word.data() + word.size();
  const auto result = std::from_chars(begin, end, out, hex ? 16 : 10);
  return result.ec == std::errc() && result.ptr == end && begin != end;
}

// What all lines of a text share while they are encoded.
struct Context {
  Dialect dialect;
  World world;
  std::deque<std::vector<std::uint8_t>> bytes;
  std::deque<std::vector<std::uint32_t>> numbers;
  std::deque<std::vector<std::uint64_t>> values;
  std::map<std::uint32_t, std::vector<std::uint32_t>> stacks;  // open regions of each location

  auto& keep(std::uint8_t) { return bytes.emplace_back(); }
  auto& keep(std::uint32_t) { return numbers.emplace_back(); }
  auto& keep(std::uint64_t) { return values.emplace_back(); }
};

// What a field is when its key is left out; nothing: the key must be there.
template <class R, class T>
std::optional<T> left_out(std::string_view name, bool first) {
  [[maybe_unused]] constexpr auto kIs = []<class... U>() { return (std::is_same_v<T, U> || ...); };
  if constexpr (std::is_same_v<R, LocalRun> || std::is_same_v<R, MergedRun>) {
    if (kIs.template operator()<Hash64>()) return static_cast<T>(1);
    if (kIs.template operator()<ThreadId, Byte>() || name == "missing") return T{};
    return std::nullopt;
  } else if constexpr (R::kKind == RecordKind::kDefinition) {
    if constexpr (sizeof(T) == 4) {
      if (!first && kIs.template operator()<FileId, StringId, Line, CallPathId>())
        return absent<T>();
    }
    const bool harmless =
        kIs.template operator()<Byte, Flags, Count, CommId, MachineId, NodeId, ThreadId>() ||
        std::is_same_v<R, Node>;
    return harmless && !first ? std::optional<T>(T{}) : std::nullopt;
  } else if constexpr (std::is_same_v<R, MpiRecvRequest> &&
                       (std::is_same_v<T, PeerId> || std::is_same_v<T, Tag>)) {
    return absent<T>();  // any source, any tag
  } else {
    if constexpr (sizeof(T) == 4) {
      if (name == "rlid") return absent<T>();
    }
    const bool harmless = kIs.template operator()<CommId, WindowId, Tag, Bytes, Bytes64>();
    return harmless || name == "local" ? std::optional<T>(T{}) : std::nullopt;
  }
}

// The count that a list on the same line implies, where its own key is left out.
template <class R>
std::optional<std::size_t> implied_count(const TextLine& line, std::string_view name) {
  const auto items = [&](const char* key) -> std::optional<std::size_t> {
    const Value* value = line.find(key);
    return value == nullptr ? std::nullopt : std::optional(value->items.size());
  };
  if (std::is_same_v<R, MpiComm> && name == "grpc") {
    const Value* bits = line.find("grpv");
    return bits == nullptr ? std::nullopt : std::optional((bits->text.size() + 7) / 8);
  }
  if (std::is_same_v<R, MpiGroup> && name == "count") return items("ranks");
  if (std::is_same_v<R, CartTopology> && name == "ndims") return items("dimv");
  if (std::is_same_v<R, CartCoords> && name == "ndims") return items("coordv");
  return std::nullopt;
}

template <class R>
class Filler {
 public:
  Filler(Context& context, const TextLine& line) : context_(context), line_(line) {}
  const std::string& what() const { return what_; }

  template <class T>
  void field(const FieldInfo& info, T& out) {
    const bool first = !std::exchange(begun_, true);
    if (const Value* value = find(info.name)) {
      parse(*value, out);
    } else if (!shorthand(out)) {
      if (const auto count = implied_count<R>(line_, info.name)) {
        if constexpr (!std::is_same_v<T, Seconds>) out = static_cast<T>(*count);
      } else if (const auto standard = left_out<R, T>(info.name, first)) {
        out = *standard;
      } else {
        fail("key " + std::string(info.name) + " is missing");
      }
    }
    if (what_.empty()) use(info.name, out);
  }
  template <class U>
  void array(const FieldInfo& info, PackedArray<U>& view, std::uint32_t count) {
    rest(info, view);
    if (view.size() != count) {
      fail(std::string(info.name) + " has " + std::to_string(view.size()) + " elements, not " +
           std::to_string(count));
    }
  }
  template <class U>
  void rest(const FieldInfo& info, PackedArray<U>& view) {
    const Value* value = find(info.name);
    if (value == nullptr) return;
    if (value->kind != Value::Kind::kList) return fail(std::string(info.name) + " is a list");
    auto& values = context_.keep(U{});
    for (const std::string& item : value->items) {
      U number{};
      if (!parse_integer(item, number)) {
        return fail("`" + item + "` is no element of " + std::string(info.name));
      }
      values.push_back(number);
    }
    view = PackedArray<U>::of(values);
  }
  void rest(const FieldInfo& info, BitArray& bits) {
    const Value* value = find(info.name);
    if (value == nullptr || value->kind == Value::Kind::kList) return;
    auto& bytes = context_.keep(std::uint8_t{});
    bytes.resize((value->text.size() + 7) / 8);
    for (std::size_t i = 0; i < value->text.size(); ++i) {
      const char c = value->text[i];
      if (c != '0' && c != '1') return fail(std::string(info.name) + " is a row of 0 and 1");
      if (c == '1') bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] | 1u << i % 8);
    }
    bits = ByteArray::of(bytes);
  }
  void text(const FieldInfo& info, Text& out) {
    if (const Value* value = find(info.name)) out = value->text;
  }
  void metrics(const FieldInfo& info, MetricValues& view) {
    const std::uint32_t count = context_.dialect.metrics;
    if (line_.find(info.name) == nullptr) {
      auto& zeros = context_.keep(std::uint64_t{});
      zeros.resize(count);
      view = MetricValues::of(zeros);
    } else {
      array(info, view, count);
    }
  }

  // That no key is left over.
  void finish() {
    for (const Value& value : line_.values) {
      if (used_.find(value.key) != used_.end()) continue;
      if (R::kKind == RecordKind::kEvent && value.key == "node") {
        std::uint32_t lid = 0, node = 0;
        const Value* at = line_.find("lid");
        if (at == nullptr || !parse_integer(at->text, lid) || !parse_integer(value.text, node)) {
          return fail("`" + value.text + "` is no node");
        }
        context_.world.place(lid, node);
      } else {
        fail(std::string(R::kName) + " has no key " + value.key);
      }
    }
  }

 private:
  void fail(std::string what) {
    if (what_.empty()) what_ = std::move(what);
  }
  const Value* find(const char* key) {
    const Value* value = line_.find(key);
    if (value != nullptr) used_.insert(value->key);
    return value;
  }

  void parse(const Value& value, Seconds& out) {
    const char* end = value.text.data() + value.text.size();
    const auto result = std::from_chars(value.text.data(), end, out.value);
    if (result.ec != std::errc() || result.ptr != end || value.text.empty()) {
      fail("`" + value.text + "` is no number of seconds");
    }
  }
  template <class T>
  void parse(const Value& value, T& out) {
    if (value.kind == Value::Kind::kString) return parse_name(value, out);
    if (value.kind == Value::Kind::kList) return parse_group(value, out);
    if constexpr (sizeof(T) == 4) {
      if (value.text == "absent") {
        out = absent<T>();
        return;
      }
    }
    std::underlying_type_t<T> number{};
    if (!parse_integer(value.text, number)) {
      return fail("`" + value.text + "` is no value for key " + value.key);
    }
    out = static_cast<T>(number);
  }
  template <class T>
  void parse_name(const Value& value, T& out) {
    if constexpr (std::is_same_v<T, StringId>) {
      out = static_cast<T>(context_.world.string(value.text));
    } else if constexpr (std::is_same_v<T, FileId>) {
      out = static_cast<T>(context_.world.file(value.text));
    } else if constexpr (std::is_same_v<T, RegionId>) {
      out = static_cast<T>(context_.world.region(value.text));
    } else {
      fail("key " + value.key + " takes no string");
    }
  }
  template <class T>
  void parse_group(const Value& value, T& out) {
    if constexpr (std::is_same_v<T, GroupId> || std::is_same_v<T, CommId>) {
      std::vector<std::uint32_t> ranks;
      for (const std::string& item : value.items) {
        std::uint32_t rank = 0;
        if (!parse_integer(item, rank) || rank >= kMaxRank) return fail(item + " is no rank");
        ranks.push_back(rank);
      }
      out = static_cast<T>(std::is_same_v<T, GroupId> ? context_.world.group(ranks)
                                                      : context_.world.comm(ranks));
    } else {
      fail("key " + value.key + " takes no list");
    }
  }

  // region= for a region's number, group= for a communicator's, site= for a call site's.
  template <class T>
  bool shorthand(T&) {
    return false;
  }
  bool shorthand(RegionId& out) {
    const Value* value = find("region");
    if (value != nullptr) out = static_cast<RegionId>(context_.world.region(value->text));
    return value != nullptr;
  }
  bool shorthand(CommId& out) {
    const Value* value = find("group");
    if (value != nullptr) parse(*value, out);
    return value != nullptr;
  }
  bool shorthand(CallSiteId& out) {
    const Value* site = find("site");
    const Value* region = find("region");
    if (site == nullptr || region == nullptr) return false;
    const std::size_t colon = site->text.rfind(':');
    std::uint32_t line = kAbsent, lid = 0;
    if (colon == std::string::npos || !parse_integer(site->text.substr(colon + 1), line)) {
      fail("`" + site->text + "` is no call site: file:line");
      return true;
    }
    if (const Value* at = line_.find("lid"); at != nullptr && !parse_integer(at->text, lid))
      lid = 0;
    const auto& stack = context_.stacks[lid];
    out = static_cast<CallSiteId>(context_.world.call_site(site->text.substr(0, colon), line,
                                                           context_.world.region(region->text),
                                                           stack.empty() ? kAbsent : stack.back()));
    return true;
  }

  // Tells what has to be defined that an event mentions this.
  template <class T>
  void use(std::string_view name, const T& value) {
    if constexpr (R::kKind == RecordKind::kEvent) {
      World& world = context_.world;
      if constexpr (sizeof(T) == 4) {
        if (is_absent(value)) return;
      }
      if constexpr (std::is_same_v<T, LocationId> || std::is_same_v<T, PeerId>) {
        if (raw(value) >= kMaxRank) return fail(std::string(name) + " is too large");
      }
      if constexpr (std::is_same_v<T, LocationId>) world.use_location(raw(value));
      if constexpr (std::is_same_v<T, PeerId>) world.use_peer(raw(value));
      if constexpr (std::is_same_v<T, CommId>) world.use_comm(raw(value));
      if constexpr (std::is_same_v<T, WindowId>) world.use_window(raw(value));
    } else {
      (void)name;
      if constexpr (std::is_same_v<R, MpiWin> && std::is_same_v<T, CommId>) {
        context_.world.use_comm(raw(value));
      }
    }
  }

  Context& context_;
  const TextLine& line_;
  std::set<std::string, std::less<>> used_;
  std::string what_;
  bool begun_ = false;
};

}  // namespace kojak::text
