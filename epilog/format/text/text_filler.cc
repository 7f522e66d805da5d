#include "epilog/format/text/text_filler.h"

#include <bit>

#include "epilog/format/record/codec.h"

namespace kojak::text {
namespace {

// More processes than a text case has: a larger number is a slip, not a reason to define them all.
constexpr std::uint32_t kMaxRank = 1u << 20;

constexpr std::uint64_t largest(std::uint8_t size) {
  return size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1;
}

// Every function returns false after setting what_.
class Filler {
 public:
  Filler(Context& context, const TextLine& line, FilledRecord& out)
      : context_(context), line_(line), out_(out), used_(line.values.size()) {}

  bool fill() {
    out_.values.clear();
    for (const TextField* field = out_.record->fields; field->form != FieldForm::kEnd; ++field) {
      if (!field->is_in(context_.dialect)) continue;
      FieldValue& value = out_.values.emplace_back();
      value.field = field;
      if (!fill(*field, value)) return false;
    }
    return no_key_is_left();
  }
  std::string take_what() { return std::move(what_); }

 private:
  bool is_event() const { return out_.record->kind == RecordKind::kEvent; }
  bool fail(std::string what) {
    what_ = std::move(what);
    return false;
  }
  const Value* find(std::string_view key) {
    const Value* value = line_.find(key);
    if (value != nullptr) used_[static_cast<std::size_t>(value - line_.values.data())] = true;
    return value;
  }

  bool fill(const TextField& field, FieldValue& out) {
    switch (field.form) {
      case FieldForm::kEnd:
        break;
      case FieldForm::kNumber:
      case FieldForm::kSeconds:
        return number(field, out.number) && use(field, out.number);
      case FieldForm::kArray:
        return list(field, out.items) && has_size(field, out, out_.at(field.count).number);
      case FieldForm::kRest:
        return list(field, out.items);
      case FieldForm::kBits:
        return bits(field, out.items);
      case FieldForm::kText:
        if (const Value* value = find(field.name)) out.text = value->text;
        break;
      case FieldForm::kMetrics:
        if (line_.find(field.name) == nullptr) {
          out.items.resize(context_.dialect.metrics);
          break;
        }
        return list(field, out.items) && has_size(field, out, context_.dialect.metrics);
    }
    return true;
  }

  bool number(const TextField& field, std::uint64_t& out) {
    if (const Value* value = find(field.name)) {
      return field.form == FieldForm::kSeconds ? seconds(*value, out) : parse(field, *value, out);
    }
    switch (field.meaning) {       // region= for a region's number, group= for a communicator's
      case FieldMeaning::kRegion:  // (what was found is another call's)
        if (std::string_view(field.name) == "found") break;
        if (const Value* value = find("region")) {
          out = context_.implied.region(value->text);
          return true;
        }
        break;
      case FieldMeaning::kComm:
        if (const Value* value = find("group")) return parse(field, *value, out);
        break;
      case FieldMeaning::kCallSite: {
        const Value* site = find("site");
        const Value* region = find("region");
        if (site != nullptr && region != nullptr) return call_site(site->text, region->text, out);
        break;
      }
      default:
        break;
    }
    if (const Value* counted = field.counts == nullptr ? nullptr : line_.find(field.counts)) {
      const bool row = out_.is(RecordType::kMpiComm);  // of bits
      out = (row ? (counted->text.size() + 7) / 8 : counted->items.size()) & largest(field.size);
    } else if (field.left_out) {
      out = *field.left_out;
    } else {
      return fail("key " + std::string(field.name) + " is missing");
    }
    return true;
  }
  bool seconds(const Value& value, std::uint64_t& out) {
    double number = 0;
    const char* end = value.text.data() + value.text.size();
    const auto result = std::from_chars(value.text.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end || value.text.empty()) {
      return fail("`" + value.text + "` is no number of seconds");
    }
    out = std::bit_cast<std::uint64_t>(number);
    return true;
  }
  bool parse(const TextField& field, const Value& value, std::uint64_t& out) {
    if (value.kind == Value::Kind::kString) return name(field, value, out);
    if (value.kind == Value::Kind::kList) return group(field, value, out);
    if (field.size == 4 && value.text == "absent") {
      out = kAbsent;
    } else if (!parse_integer(value.text, out) || out > largest(field.size)) {
      return fail("`" + value.text + "` is no value for key " + value.key);
    }
    return true;
  }
  bool name(const TextField& field, const Value& value, std::uint64_t& out) {
    switch (field.meaning) {
      case FieldMeaning::kString:
        out = context_.implied.string(value.text);
        return true;
      case FieldMeaning::kFile:
        out = context_.implied.file(value.text);
        return true;
      case FieldMeaning::kRegion:
        out = context_.implied.region(value.text);
        return true;
      default:
        return fail("key " + value.key + " takes no string");
    }
  }
  bool group(const TextField& field, const Value& value, std::uint64_t& out) {
    const bool group = field.meaning == FieldMeaning::kGroup;
    if (!group && field.meaning != FieldMeaning::kComm) {
      return fail("key " + value.key + " takes no list");
    }
    std::vector<std::uint32_t> ranks;
    for (const std::string& item : value.items) {
      std::uint32_t rank = 0;
      if (!parse_integer(item, rank) || rank >= kMaxRank) return fail(item + " is no rank");
      ranks.push_back(rank);
    }
    out = group ? context_.implied.group(ranks) : context_.implied.comm(ranks);
    return true;
  }
  // `site` is file:line; the region left is the one that the location is in, or, where it is in the
  // call already, the one around that.
  bool call_site(const std::string& site, const std::string& region, std::uint64_t& out) {
    const std::size_t colon = site.rfind(':');
    std::uint32_t line = kAbsent, lid = 0;
    if (colon == std::string::npos ||
        !parse_integer(std::string_view(site).substr(colon + 1), line)) {
      return fail("`" + site + "` is no call site: file:line");
    }
    const Value* at = line_.find("lid");
    if (at != nullptr && !parse_integer(at->text, lid)) lid = 0;
    const auto& stack = context_.stacks[lid];
    const std::uint32_t entered = context_.implied.region(region);
    const bool inside = !out_.is(RecordType::kEnterCs) && !stack.empty() && stack.back() == entered;
    const std::size_t around = stack.size() - (inside ? 1 : 0);
    out = context_.implied.call_site(site.substr(0, colon), line, entered,
                                     around == 0 ? kAbsent : stack[around - 1]);
    return true;
  }

  bool list(const TextField& field, std::vector<std::uint64_t>& out) {
    const Value* value = find(field.name);
    if (value == nullptr) return true;
    if (value->kind != Value::Kind::kList) return fail(std::string(field.name) + " is a list");
    for (const std::string& item : value->items) {
      std::uint64_t number = 0;
      if (!parse_integer(item, number) || number > largest(field.size)) {
        return fail("`" + item + "` is no element of " + field.name);
      }
      out.push_back(number);
    }
    return true;
  }
  bool has_size(const TextField& field, const FieldValue& value, std::uint64_t count) {
    if (value.items.size() == count) return true;
    return fail(std::string(field.name) + " has " + std::to_string(value.items.size()) +
                " elements, not " + std::to_string(count));
  }
  bool bits(const TextField& field, std::vector<std::uint64_t>& bytes) {
    const Value* value = find(field.name);
    if (value == nullptr || value->kind == Value::Kind::kList) return true;
    bytes.resize((value->text.size() + 7) / 8);
    for (std::size_t i = 0; i < value->text.size(); ++i) {
      const char c = value->text[i];
      if (c != '0' && c != '1') return fail(std::string(field.name) + " is a row of 0 and 1");
      if (c == '1') bytes[i / 8] |= 1u << i % 8;
    }
    return true;
  }

  // Tells what has to be defined that an event, or a window, mentions this.
  bool use(const TextField& field, std::uint64_t number) {
    if (!is_event() && !(out_.is(RecordType::kMpiWin) && field.meaning == FieldMeaning::kComm)) {
      return true;
    }
    ImpliedDefinitions& implied = context_.implied;
    const auto id = static_cast<std::uint32_t>(number);
    if (field.size == 4 && id == kAbsent) return true;
    switch (field.meaning) {
      case FieldMeaning::kLocation:
      case FieldMeaning::kPeer:
        if (id >= kMaxRank) return fail(std::string(field.name) + " is too large");
        field.meaning == FieldMeaning::kPeer ? implied.use_peer(id) : implied.use_location(id);
        break;
      case FieldMeaning::kComm:
        implied.use_comm(id);
        break;
      case FieldMeaning::kWindow:
        implied.use_window(id);
        break;
      default:
        break;
    }
    return true;
  }

  bool no_key_is_left() {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) continue;
      const Value& value = line_.values[i];
      if (!is_event() || value.key != "node") {
        return fail(std::string(out_.record->name) + " has no key " + value.key);
      }
      std::uint32_t lid = 0, node = 0;
      const Value* at = line_.find("lid");
      if (at == nullptr || !parse_integer(at->text, lid) || !parse_integer(value.text, node)) {
        return fail("`" + value.text + "` is no node");
      }
      context_.implied.place(lid, node);
    }
    return true;
  }

  Context& context_;
  const TextLine& line_;
  FilledRecord& out_;
  std::vector<bool> used_;  // of the line's values
  std::string what_;
};

void append_number(std::uint64_t number, std::uint8_t size, bool big, std::vector<std::byte>& out) {
  for (unsigned i = 0; i < size; ++i) {
    out.push_back(static_cast<std::byte>(number >> 8 * (big ? size - 1 - i : i)));
  }
}

}  // namespace

const FieldValue& FilledRecord::at(std::string_view name) const {
  static const FieldValue kNone;
  for (const FieldValue& value : values) {
    if (value.field->name == name) return value;
  }
  return kNone;
}

std::string fill_record(Context& context, const TextLine& line, FilledRecord& out) {
  Filler filler(context, line, out);
  filler.fill();
  return filler.take_what();
}

bool append_record(const FilledRecord& record, const Dialect& dialect, bool nul,
                   std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  out.push_back(std::byte{0});
  out.push_back(static_cast<std::byte>(record.record->type));
  for (const FieldValue& value : record.values) {
    const TextField& field = *value.field;
    if (field.form == FieldForm::kNumber || field.form == FieldForm::kSeconds) {
      append_number(value.number, field.size, dialect.big_endian, out);
    }
    for (const std::uint64_t item : value.items) {
      append_number(item, field.size, dialect.big_endian, out);
    }
    for (const char c : value.text) out.push_back(static_cast<std::byte>(c));
  }
  if (nul) out.push_back(std::byte{0});
  const std::size_t body = out.size() - begin - 2;
  if (body > kMaxBody) {
    out.resize(begin);
    return false;
  }
  out[begin] = static_cast<std::byte>(body);
  return true;
}

}  // namespace kojak::text
