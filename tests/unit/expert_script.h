// Analyses of hand-made runs, given as text.
#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "earl/trace.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"

namespace kojak::expert {

// Lines of text with their times.
using ScriptLines = std::vector<std::pair<double, std::string>>;

inline std::string in_order_of_time(ScriptLines lines) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& line : lines) text += line.second;
  return text;
}

// `kept` must live as long as the report.
inline Report analyse_script(const std::string& text, std::optional<earl::Trace>& kept,
                             const AnalysisOptions& options) {
  auto bytes = text_to_trace(text, "script");
  if (!bytes) throw std::runtime_error(bytes.error().message());
  auto trace = earl::Trace::from(memory_source(bytes->data(), bytes->size()), "script");
  if (!trace) throw std::runtime_error(trace.error().message());
  kept.emplace(std::move(*trace));
  return analyse(*kept, options);
}

}  // namespace kojak::expert
