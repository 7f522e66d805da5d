#include "epilog/format/text/csv_cell.h"

#include <charconv>

#include "epilog/format/text/printable.h"

namespace kojak {
namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool looks_like_formula(std::string_view text) {
  if (text.empty()) return false;
  const char first = text.front();
  return first == '=' || first == '@' || ((first == '+' || first == '-') && !is_number(text));
}

}  // namespace

void append_csv_cell(std::string& out, std::string_view text) {
  const std::string clean = printable(text);
  const bool formula = looks_like_formula(clean);
  if (!formula && clean.find_first_of(",\"") == std::string::npos) {
    out += clean;
    return;
  }
  out += formula ? "\"'" : "\"";
  for (const char c : clean) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace kojak
