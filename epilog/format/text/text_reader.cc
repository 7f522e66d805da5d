#include "epilog/format/text/text_reader.h"

#include "epilog/format/compact/pack.h"
#include "epilog/format/io/reader.h"
#include "epilog/format/io/writer.h"
#include "epilog/format/record/continuation.h"
#include "epilog/format/text/print.h"
#include "epilog/format/text/text_filler.h"

namespace kojak {
namespace {

using text::FieldValue;
using text::FilledRecord;
using text::TextLine;
using text::Value;

class Builder {
 public:
  Builder(const Dialect& dialect, bool local, const std::string& name)
      : context_{dialect, text::ImpliedDefinitions(dialect, local), {}}, name_(name) {}

  void scan(const TextLine& line) { context_.implied.scan(line); }
  Status encode_line(const TextLine& line);
  // The header, then everything in the right order. `complete`: nothing has to be added.
  std::vector<std::byte> put_together(bool complete, bool local);
  std::uint32_t processes() const { return context_.implied.processes(); }

 private:
  struct Part {  // a record in bytes_
    std::size_t begin;
    std::uint8_t type;
  };

  Error error(const TextLine& line, std::string what) const {
    return text::line_error(name_, line.number, std::move(what));
  }
  Status encode_unknown(const TextLine& line);
  Status encode_record(const TextLine& line, const text::TextRecord& record);
  bool put(const FilledRecord& record, bool nul = false);
  template <class R>
  void put_part(const R& record);
  bool put_all(const TextLine& line, const FilledRecord& record);
  bool put_string(const TextLine& line, const FilledRecord& record);
  void put_group(const FilledRecord& record);
  void put_comm(const FilledRecord& record);
  void follow(const TextLine& line, const FilledRecord& record);

  text::Context context_;
  std::string name_;
  std::vector<std::byte> bytes_;
  std::vector<Part> parts_;
  FilledRecord record_;             // of the line at hand
  std::uint64_t string_parts_ = 0;  // continuations of a STRING still to come
};

Status Builder::encode_line(const TextLine& line) {
  if (!line.words.empty()) return error(line, "`" + line.words[0] + "` is no key=value");
  if (line.name == "UNKNOWN") return encode_unknown(line);
  const text::TextRecord* record = text::find_text_record(line.name);
  if (record == nullptr) return error(line, "no record is called " + line.name);
  return encode_record(line, *record);
}

Status Builder::encode_unknown(const TextLine& line) {
  const Value* type = line.find("type");
  const Value* body = line.find("body");
  std::uint8_t code = 0;
  if (type == nullptr || body == nullptr || line.values.size() != 2 ||
      !text::parse_integer(type->text, code) || body->kind != Value::Kind::kList ||
      body->items.size() > kMaxBody) {
    return error(line, "an unknown record is `UNKNOWN type=N body=[...]`, at most 255 bytes");
  }
  parts_.push_back({bytes_.size(), code});
  bytes_.push_back(static_cast<std::byte>(body->items.size()));
  bytes_.push_back(static_cast<std::byte>(code));
  for (const std::string& item : body->items) {
    std::uint8_t byte = 0;
    if (!text::parse_integer(item, byte)) return error(line, "`" + item + "` is no byte");
    bytes_.push_back(static_cast<std::byte>(byte));
  }
  return {};
}

Status Builder::encode_record(const TextLine& line, const text::TextRecord& record) {
  if (!context_.dialect.native() && !in_classic(record.dialect)) {
    return error(line, line.name + " has no place in a classic trace");
  }
  record_.record = &record;
  if (std::string what = fill_record(context_, line, record_); !what.empty()) {
    return error(line, std::move(what));
  }
  if (!put_all(line, record_)) return error(line, "the record is longer than 255 bytes");
  follow(line, record_);
  return {};
}

bool Builder::put(const FilledRecord& record, bool nul) {
  const std::size_t begin = bytes_.size();
  if (!append_record(record, context_.dialect, nul, bytes_)) return false;
  parts_.push_back({begin, record.record->type});
  return true;
}

template <class R>
void Builder::put_part(const R& record) {
  std::byte buffer[kMaxRecord];
  const std::size_t size = encode(record, context_.dialect, buffer);
  if (size == 0) return;
  parts_.push_back({bytes_.size(), static_cast<std::uint8_t>(R::kType)});
  bytes_.insert(bytes_.end(), buffer, buffer + size);
}

bool Builder::put_all(const TextLine& line, const FilledRecord& record) {
  if (record.is(RecordType::kString)) return put_string(line, record);
  if (record.is(RecordType::kStringCnt)) {
    const bool last = string_parts_ == 0 || --string_parts_ == 0;
    return (last && put(record, true)) || put(record);
  }
  if (record.is(RecordType::kMpiGroup) && line.find("count") == nullptr) {
    put_group(record);
  } else if (record.is(RecordType::kMpiComm) && line.find("grpc") == nullptr) {
    put_comm(record);
  } else {
    return put(record);
  }
  return true;
}

// The NUL of a string stands in its last part; a long one without cntc= is split.
bool Builder::put_string(const TextLine& line, const FilledRecord& record) {
  if (line.find("cntc") == nullptr) {
    emit_string(static_cast<StringId>(record.at("strid").number), record.at("str").text,
                [this](const auto& part) { put_part(part); });
    return true;
  }
  string_parts_ = record.at("cntc").number;
  return (string_parts_ == 0 && put(record, true)) || put(record);
}

// What does not fit into one record goes on in others.
void Builder::put_group(const FilledRecord& record) {
  const auto& items = record.at("ranks").items;
  const std::vector<std::uint32_t> ranks(items.begin(), items.end());
  emit_group(static_cast<GroupId>(record.at("gid").number),
             static_cast<std::uint8_t>(record.at("mode").number), ranks.data(), ranks.size(),
             [this](const auto& part) { put_part(part); });
}
void Builder::put_comm(const FilledRecord& record) {
  const auto& items = record.at("grpv").items;
  const std::vector<std::uint8_t> bits(items.begin(), items.end());
  emit_comm_bits(static_cast<CommId>(record.at("cid").number),
                 static_cast<std::uint8_t>(record.at("uag").number), bits.data(), bits.size(),
                 [this](const auto& part) { put_part(part); });
}

// Keeps the open regions, which are the callers of call sites.
void Builder::follow(const TextLine& line, const FilledRecord& record) {
  const auto number = [&](const char* field) {
    return static_cast<std::uint32_t>(record.at(field).number);
  };
  switch (static_cast<RecordType>(record.record->type)) {
    case RecordType::kEnter:
      context_.stacks[number("lid")].push_back(number("rid"));
      break;
    case RecordType::kEnterCs: {
      const Value* region = line.find("region");
      context_.stacks[number("lid")].push_back(
          region == nullptr ? kAbsent : context_.implied.region(region->text));
      break;
    }
    case RecordType::kLogOff:
    case RecordType::kEnterTracing:
      context_.stacks[number("lid")].push_back(kAbsent);  // no region that a call site could name
      break;
    case RecordType::kLocalRun:
      context_.implied.set_size(number("size"));
      break;
    default:
      if (region_effect(record.record->type) == RegionEffect::kLeaves) {
        auto& stack = context_.stacks[number("lid")];
        if (!stack.empty()) stack.pop_back();
      }
  }
}

std::vector<std::byte> Builder::put_together(bool complete, bool local) {
  std::vector<std::byte> out;
  out.reserve(kHeaderSize + bytes_.size());
  out.resize(kHeaderSize);
  encode_header(context_.dialect, out.data());
  const auto add = [&](const std::byte* data, std::size_t size) {
    out.insert(out.end(), data, data + size);
  };
  const auto end_of = [&](std::size_t part) {
    return part + 1 < parts_.size() ? parts_[part + 1].begin : bytes_.size();
  };
  if (complete) {
    add(bytes_.data(), bytes_.size());
    return out;
  }
  std::uint64_t events = 0;
  bool numbered = false;
  std::size_t last = parts_.size();  // where the text's first definitions end
  std::size_t places = 0;            // and its machines, nodes, processes, threads and locations
  for (std::size_t i = parts_.size(); i-- > 0;) {
    const bool number = parts_[i].type == static_cast<std::uint8_t>(RecordType::kNumEvents);
    if (is_event(parts_[i].type)) ++events;
    numbered = numbered || number;
    if (number || !is_definition(parts_[i].type)) last = i;
  }
  for (std::size_t i = 0; i < last; ++i) {
    if (parts_[i].type >= 3 && parts_[i].type <= 7) places = i + 1;
  }
  std::size_t next = 0;
  if (local && !parts_.empty() &&
      parts_[0].type == static_cast<std::uint8_t>(RecordType::kLocalRun)) {
    add(bytes_.data(), end_of(next++));
  }
  const auto copy_to = [&](std::size_t until) {
    for (; next < until; ++next) {
      add(bytes_.data() + parts_[next].begin, end_of(next) - parts_[next].begin);
    }
  };
  context_.implied.write_names(add);
  copy_to(places);
  context_.implied.write_places(add);
  copy_to(last);
  context_.implied.write_last(add);
  if (!local) {
    std::byte buffer[kMaxRecord];
    if (numbered) {  // whatever it says
      copy_to(next + 1);
    } else {
      const NumEvents count{static_cast<Count>(events)};
      add(buffer, encode(count, context_.dialect, buffer));
    }
    add(buffer, encode(LastDef{}, context_.dialect, buffer));
  }
  copy_to(parts_.size());
  return out;
}

// Takes the header line off, if there is one.
Result<Dialect> take_header(std::vector<TextLine>& lines, const std::string& name) {
  Dialect dialect;
  if (lines.empty() || lines[0].name != "EPILOG") return dialect;
  const TextLine line = std::move(lines[0]);
  lines.erase(lines.begin());
  const Error bad =
      text::line_error(name, line.number, "the header is `EPILOG <major>.<minor> [little|big]`");
  if (line.words.empty() || line.words.size() > 2 || !line.values.empty()) return bad;
  const std::string& version = line.words[0];
  const std::size_t dot = version.find('.');
  if (dot == std::string::npos || !text::parse_integer(version.substr(0, dot), dialect.major) ||
      !text::parse_integer(version.substr(dot + 1), dialect.minor)) {
    return bad;
  }
  if (line.words.size() == 2) {
    if (line.words[1] != "big" && line.words[1] != "little") return bad;
    dialect.big_endian = line.words[1] == "big";
  }
  return dialect;
}

}  // namespace

Result<std::vector<std::byte>> text_to_trace(std::string_view source, const std::string& name) {
  auto lines = text::parse_lines(source, name);
  if (!lines) return lines.error();
  auto dialect = take_header(*lines, name);
  if (!dialect) return dialect.error();
  bool complete = false, local = false;
  for (const TextLine& line : *lines) {
    complete = complete || line.name == LastDef::kName;
    local = local || line.name == LocalRun::kName;
    dialect->metrics += line.name == Metric::kName ? 1u : 0u;
  }
  Builder builder(*dialect, local, name);
  for (const TextLine& line : *lines) builder.scan(line);
  for (const TextLine& line : *lines) {
    if (Status status = builder.encode_line(line); !status) return status.error();
  }
  if (!complete && builder.processes() > text::ImpliedDefinitions::kMostProcesses) {
    return text::line_error(name, lines->back().number,
                            "the text names process " + std::to_string(builder.processes() - 1) +
                                ": more than can be made up");
  }
  std::vector<std::byte> trace = builder.put_together(complete, local);
  const bool packed = dialect->major == compact::kMajor && dialect->minor == 0;
  return packed ? compact::pack(trace) : trace;
}

Status text_to_trace_file(std::string_view source, const std::string& path,
                          const std::string& name) {
  auto trace = text_to_trace(source, name);
  if (!trace) return trace.error();
  return OutputFile::write_whole(path, std::span<const std::byte>(*trace));
}

Result<std::string> trace_to_text(const std::vector<std::byte>& trace, const std::string& name) {
  auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), name);
  if (!reader) return reader.error();
  std::string out = print_header(reader->dialect()) + "\n";
  RawRecord record;
  std::uint64_t end = kHeaderSize;
  while (true) {
    switch (reader->next(record)) {
      case TraceReader::Next::kRecord:
        end = record.offset + 2 + record.length;
        print_record(record, reader->dialect(), out);
        out += '\n';
        break;
      case TraceReader::Next::kEnd:
        return out;
      case TraceReader::Next::kDamaged:
        if (reader->place(end) == trace.size())
          return out;  // whole records, if not those that were announced
        return reader->error();
    }
  }
}

}  // namespace kojak
