#include "epilog/format/text/print.h"

#include <array>
#include <charconv>

#include "epilog/format/text/printable.h"

namespace kojak {
namespace {

template <class T>
void print_number(T value, std::string& out, int base = 10) {
  std::array<char, 24> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, base);
  out.append(buffer.data(), end.ptr);
}

// Always three digits: nothing can follow them.
void print_octal(std::string_view bytes, std::string& out) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += '\\';
    out += static_cast<char>('0' + (byte >> 6));
    out += static_cast<char>('0' + (byte >> 3 & 7));
    out += static_cast<char>('0' + (byte & 7));
  }
}

class Printer {
 public:
  explicit Printer(std::string& out) : out_(out) {}

  template <class T>
  void field(const FieldInfo& info, const T& value) {
    key(info);
    if constexpr (kIsTime<T>) {
      print_double(value.value, out_);
    } else if constexpr (std::is_same_v<T, Hash64>) {
      out_ += "0x";
      print_number(raw(value), out_, 16);
    } else if constexpr (sizeof(T) == 4) {
      if (is_absent(value)) {
        out_ += "absent";
      } else {
        print_number(raw(value), out_);
      }
    } else {
      print_number(std::uint64_t{raw(value)}, out_);
    }
  }
  template <class T>
  void rest(const FieldInfo& info, const PackedArray<T>& view) {
    key(info);
    out_ += '[';
    for (std::uint32_t i = 0; i < view.size(); ++i) {
      if (i > 0) out_ += ',';
      print_number(std::uint64_t{view[i]}, out_);
    }
    out_ += ']';
  }
  void rest(const FieldInfo& info, const BitArray& bits) {
    key(info);
    if (bits.empty()) out_ += "[]";
    for (std::uint32_t i = 0; i < bits.size(); ++i) {
      for (unsigned bit = 0; bit < 8; ++bit) out_ += (bits[i] >> bit & 1) != 0 ? '1' : '0';
    }
  }
  template <class T>
  void array(const FieldInfo& info, const PackedArray<T>& view, std::uint32_t) {
    rest(info, view);
  }
  void text(const FieldInfo& info, const Text& text) {
    key(info);
    print_quoted(text, out_);
  }
  void metrics(const FieldInfo& info, const MetricValues& view) {
    if (!view.empty()) rest(info, view);
  }

 private:
  void key(const FieldInfo& info) {
    out_ += ' ';
    out_ += info.name;
    out_ += '=';
  }
  std::string& out_;
};

void print_unknown(const RawRecord& record, std::string& out) {
  out += "UNKNOWN type=";
  print_number(static_cast<unsigned>(record.type), out);
  Printer(out).rest(FieldInfo{"body", ""}, ByteArray(record.body, record.length, false));
}

}  // namespace

std::string print_header(const Dialect& dialect) {
  return "EPILOG " + std::to_string(dialect.major) + "." + std::to_string(dialect.minor) +
         (dialect.big_endian ? " big" : " little");
}

const char* print_record(const RawRecord& record, const Dialect& dialect, std::string& out) {
  const char* failed = nullptr;
  const bool known = dispatch_record(record.type, [&]<class R>() {
    R decoded;
    failed = decode(record, dialect, decoded);
    if (failed != nullptr) return;
    out += R::kName;
    visit_fields(decoded, dialect, Printer(out));
  });
  if (!known || failed != nullptr) print_unknown(record, out);
  return failed;
}

void print_quoted(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const char c = text.front();
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (byte >= 0x20 && byte < 0x7F) {
          out += c;
          break;
        }
        const Character character = take_character(text);
        if (character.harmless) {
          out += character.bytes;
        } else {
          print_octal(character.bytes, out);
        }
        continue;
    }
    text.remove_prefix(1);
  }
  out += '"';
}

void print_double(double value, std::string& out) {
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::general, 17);
  out.append(buffer.data(), end.ptr);
}

}  // namespace kojak
