#include "tests/support/cross_checks.h"

#include <charconv>
#include <cmath>
#include <map>
#include <stdexcept>

#include "epilog/format/io/reader.h"
#include "tests/support/report_checks.h"

namespace kojak::support {
namespace {

bool is_enter(std::uint8_t type) {
  return type == 101 || type == 111 || type == 201 || type == 203;
}
bool is_exit(std::uint8_t type) {
  return type == 102 || type == 105 || type == 110 || type == 117 || type == 118 || type == 129 ||
         type == 202 || type == 204;
}

std::string short_form(double value) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  return {digits, end.ptr};
}

}  // namespace

std::vector<std::string> check_time(const Cube& cube, const std::vector<std::byte>& trace) {
  auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), "trace");
  if (!reader) throw std::runtime_error(reader.error().message());
  struct Span {
    double first_enter = 0, last_exit = 0, last = 0;
    int open = 0;
    double entered = 0;  // region instances
    bool any = false;
  };
  std::map<std::uint32_t, Span> spans;
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    if (!is_event(record.type)) continue;
    const double time = event_time(record, reader->dialect().swapped()).value;
    Span& span = spans[raw(event_location(record, reader->dialect().swapped()))];
    span.last = time;
    if (is_enter(record.type)) {
      if (!span.any) span.first_enter = time;
      span.any = true;
      ++span.open;
      ++span.entered;
    } else if (is_exit(record.type) && span.open > 0) {
      span.last_exit = time;
      --span.open;
    }
  }
  double expected = 0;
  for (const auto& [location, span] : spans) {
    // A region that the trace does not close counts up to the location's last event.
    if (span.any) expected += (span.open > 0 ? span.last : span.last_exit) - span.first_enter;
  }
  // Each region instance is rounded to a whole tick of 2^-40 s, by half a tick at most.
  double rounding = 1e-9 * std::max(1.0, expected);
  for (const auto& [location, span] : spans) rounding += span.entered * 0x1p-41;
  double found = 0;
  const int time = cube.find_metric("time");
  if (const auto rows = cube.rows.find(time); rows != cube.rows.end()) {
    for (const auto& [cnode, values] : rows->second) {
      for (const double value : values) found += value;
    }
  }
  if (std::abs(found - expected) <= rounding) return {};
  return {"the sum of Time is " + short_form(found) + ", first enters to last exits are " +
          short_form(expected)};
}

std::vector<std::string> cross_checks(const Cube& cube, const std::vector<std::byte>& trace) {
  std::vector<std::string> wrong = check_report(cube);
  for (std::string& line : check_time(cube, trace)) wrong.push_back(std::move(line));
  return wrong;
}

}  // namespace kojak::support
