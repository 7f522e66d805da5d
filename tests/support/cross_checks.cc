#include "tests/support/cross_checks.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <list>
#include <map>
#include <sstream>
#include <stdexcept>

#include "epilog/format/reader.h"
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

struct Line {
  std::string text;
  std::string name;

  explicit Line(std::string line) : text(std::move(line)) { name = text.substr(0, text.find(' ')); }
  // Where the value of " key=" begins, npos if there is none.
  std::size_t value_at(std::string_view key) const {
    const std::string pattern = " " + std::string(key) + "=";
    const std::size_t at = text.find(pattern);
    return at == std::string::npos ? at : at + pattern.size();
  }
  std::string value(std::string_view key) const {
    const std::size_t at = value_at(key);
    if (at == std::string::npos) return {};
    return text.substr(at, text.find(' ', at) - at);
  }
  void replace(std::string_view key, const std::string& by) {
    const std::size_t at = value_at(key);
    if (at == std::string::npos) throw std::runtime_error("no " + std::string(key) + ": " + text);
    const std::size_t end = std::min(text.find(' ', at), text.size());
    text.replace(at, end - at, by);
  }
};

std::list<Line> lines_of(std::string_view text) {
  std::list<Line> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines.emplace_back(line);
  return lines;
}
std::string text_of(const std::list<Line>& lines) {
  std::string text;
  for (const Line& line : lines) text += line.text + '\n';
  return text;
}

bool text_is_enter(const Line& line) {
  return line.name == "ENTER" || line.name == "ENTER_CS" || line.name == "LOG_OFF" ||
         line.name == "ENTER_TRACING";
}
bool text_is_exit(const Line& line) {
  return line.name == "EXIT" || line.name == "LOG_ON" || line.name == "EXIT_TRACING" ||
         line.name == "MPI_COLLEXIT" || line.name == "MPI_WINEXIT" ||
         line.name == "MPI_WINCOLLEXIT" || line.name == "OMP_COLLEXIT" || line.name == "COLLEXIT";
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
  double found = 0;
  const int time = cube.find_metric("time");
  if (const auto rows = cube.rows.find(time); rows != cube.rows.end()) {
    for (const auto& [cnode, values] : rows->second) {
      for (const double value : values) found += value;
    }
  }
  if (std::abs(found - expected) <= 1e-9 * std::max(1.0, expected)) return {};
  return {"the sum of Time is " + short_form(found) + ", first enters to last exits are " +
          short_form(expected)};
}

std::vector<std::string> cross_checks(const Cube& cube, const std::vector<std::byte>& trace) {
  std::vector<std::string> wrong = check_report(cube);
  for (std::string& line : check_time(cube, trace)) wrong.push_back(std::move(line));
  return wrong;
}

std::string shifted(std::string_view trace_text, double seconds) {
  std::list<Line> lines = lines_of(trace_text);
  for (Line& line : lines) {
    const std::string time = line.value("time");
    if (time.empty() || line.text.starts_with('#')) continue;
    line.replace("time", short_form(std::stod(time) + seconds));
  }
  return text_of(lines);
}

std::string basic_model(std::string_view trace_text) {
  std::list<Line> lines = lines_of(trace_text);
  // First pass: the exit record of the call that issued each transfer, by (origin, rmaid).
  using Iterator = std::list<Line>::iterator;
  std::map<std::string, std::vector<std::vector<std::string>>> open;  // by location
  std::map<std::string, Iterator> exit_of;
  for (auto it = lines.begin(); it != lines.end(); ++it) {
    const std::string lid = it->value("lid");
    if (text_is_enter(*it)) open[lid].emplace_back();
    if ((it->name == "MPI_PUT_1TS" || it->name == "MPI_GET_1TO") && !open[lid].empty()) {
      open[lid].back().push_back(lid + "/" + it->value("rmaid"));
    }
    if (text_is_exit(*it) && !open[lid].empty()) {
      for (const std::string& transfer : open[lid].back()) exit_of[transfer] = it;
      open[lid].pop_back();
    }
  }
  for (auto it = lines.begin(); it != lines.end();) {
    const bool put = it->name == "MPI_PUT_1TE", get = it->name == "MPI_GET_1TE";
    const std::string origin = it->value(put ? "slid" : "lid");
    const auto exit = exit_of.find(origin + "/" + it->value("rmaid"));
    if ((put || get) && exit != exit_of.end()) {
      it->replace("time", exit->second->value("time"));
      const auto next = std::next(it);
      auto first = it;  // a mark of the end goes with it
      if (it != lines.begin() && std::prev(it)->name == "RMA_MARK") {
        first = std::prev(it);
        first->replace("time", exit->second->value("time"));
      }
      lines.splice(exit->second, lines, first, next);
      it = next;
    } else {
      ++it;
    }
  }
  return text_of(lines);
}

}  // namespace kojak::support
