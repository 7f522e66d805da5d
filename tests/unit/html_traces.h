// A trace from text, as a page sees it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "cube_reports.h"
#include "epilog/format/text_reader.h"
#include "expert/html/trace_reader.h"

namespace kojak::html {

inline constexpr Nanoseconds kSecond = 1'000'000'000;

inline TraceContent read(const std::string& text, const TraceLimits& limits = {}) {
  const std::string path = test::write_file("html_trace.elg", "");
  const Status written = text_to_trace_file(text, path);
  EXPECT_TRUE(written) << written.error().message();
  Result<TraceContent> content = read_trace(path, limits);
  EXPECT_TRUE(content) << content.error().message();
  return content ? std::move(*content) : TraceContent{};
}

}  // namespace kojak::html
