#include "expert/output/timeline_drawing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace kojak::expert {
namespace {

constexpr double kColumnsPerUnit = 6;

std::size_t column(double time) {
  return static_cast<std::size_t>(std::lround(kColumnsPerUnit * time));
}

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(by);
    std::string part(text.substr(0, end));
    const std::size_t first = part.find_first_not_of(' ');
    parts.push_back(first == std::string::npos ? "" : part.substr(first));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// "1-7" at the end of the text, taken off it.
bool take_times(std::string& text, char mark, double& begin, double& end) {
  const std::size_t blank = text.rfind(' ');
  if (blank == std::string::npos) return false;
  std::string last = text.substr(blank + 1);
  if (mark != '\0') {
    if (last.empty() || last.front() != mark) return false;
    last.erase(0, 1);
  }
  if (std::sscanf(last.c_str(), "%lf-%lf", &begin, &end) != 2) return false;
  text.resize(blank);
  return true;
}

}  // namespace

std::vector<TimelineRow> parse_timeline(std::string_view timeline) {
  std::vector<TimelineRow> rows;
  for (const std::string& text : split(timeline, ';')) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) continue;
    TimelineRow row;
    row.who = text.substr(0, colon);
    for (std::string item : split(std::string_view(text).substr(colon + 1), ',')) {
      TimelineCall call;
      take_times(item, '~', call.wait_begin, call.wait_end);
      if (!take_times(item, '\0', call.begin, call.end)) continue;
      call.name = item;
      row.calls.push_back(call);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string draw_timeline(std::string_view timeline) {
  const std::vector<TimelineRow> rows = parse_timeline(timeline);
  std::size_t margin = 0, width = 0;
  for (const TimelineRow& row : rows) {
    margin = std::max(margin, row.who.size() + 2);
    for (const TimelineCall& call : row.calls) width = std::max(width, column(call.end + 0.5));
  }
  std::string out;
  for (const TimelineRow& row : rows) {
    std::string names, bar(width, '-');
    for (const TimelineCall& call : row.calls) {
      const std::size_t begin = column(call.begin), end = column(call.end);
      const std::size_t at = names.empty() ? begin : std::max(begin, names.size() + 1);
      names.resize(at, ' ');
      names += call.name;
      for (std::size_t c = begin; c < end; ++c) {
        const bool waits = c >= column(call.wait_begin) && c < column(call.wait_end);
        bar[c] = waits ? '~' : '=';
      }
      bar[begin] = '[';
      bar[end - 1] = ']';
    }
    out += std::string(margin, ' ') + names + '\n';
    out += row.who + std::string(margin - row.who.size(), ' ') + bar + '\n';
  }
  return out;
}

}  // namespace kojak::expert
