// Opens the trace that a command was given: merged or local, plain or gzip, "-" for standard input.
//
// A local trace comes with the unflushed part that a killed process left in its buffer file.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "epilog/format/check/trace_gaps.h"
#include "epilog/format/io/local_buffer.h"
#include "tools/cli/cli.h"

namespace kojak::cli {

inline Result<TraceReader> open_trace(const std::string& path) {
  auto source = path == "-" ? open_source(path) : open_local_source(path);
  if (!source) return source.error();
  return TraceReader::from(std::move(*source), path == "-" ? "standard input" : path);
}

// Prints what is wrong with a trace. True if that makes results suspect (exit status 3).
inline bool print_gaps(const std::string& path, std::span<const TraceGap> gaps) {
  bool suspect = false;
  for (const TraceGap& gap : gaps) {
    suspect = suspect || gap.suspect;
    const std::string text =
        path + ": " + std::to_string(gap.count) + " x " + gap.what + " (" + gap.advice + ")";
    gap.suspect ? print_warning(text) : print_note(text);
  }
  return suspect;
}

// The same, and where the trace ends too early.
inline bool print_faults(const std::string& path, std::span<const TraceGap> gaps,
                         const std::optional<Error>& damage) {
  const bool suspect = print_gaps(path, gaps);
  if (damage) print_warning(damage->message());
  return suspect || damage.has_value();
}

}  // namespace kojak::cli
