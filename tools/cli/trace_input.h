// Opens the trace that a command was given: merged or local, plain or gzip, "-" for standard input.
//
// A local trace comes with the unflushed part that a killed process left in its buffer file.
#pragma once

#include <string>

#include "epilog/format/local_buffer.h"

namespace kojak::cli {

inline Result<TraceReader> open_trace(const std::string& path) {
  auto source = path == "-" ? open_source(path) : open_local_source(path);
  if (!source) return source.error();
  return TraceReader::from(std::move(*source), path == "-" ? "standard input" : path);
}

}  // namespace kojak::cli
