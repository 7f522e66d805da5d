// A trace from text, as a page sees it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "cube_reports.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"
#include "expert/page/trace_reader.h"

namespace kojak::html {

inline constexpr Nanoseconds kSecond = 1'000'000'000;

inline Result<TraceContent> read_trace(const std::string& path, const TraceLimits& limits) {
  Result<earl::Trace> trace = earl::Trace::open(path);
  if (!trace) return trace.error();
  TimelineReader reader(limits);
  expert::analyse(*trace, {.page = &reader});
  return reader.finish();
}

inline TraceContent read(const std::string& text, const TraceLimits& limits = {}) {
  const std::string path = test::write_file("html_trace.elg", "");
  const Status written = text_to_trace_file(text, path);
  EXPECT_TRUE(written) << written.error().message();
  Result<TraceContent> content = read_trace(path, limits);
  EXPECT_TRUE(content) << content.error().message();
  return content ? std::move(*content) : TraceContent{};
}

// Rank 1 receives from 1 to 5, rank 0 sends at 3.
inline constexpr const char* kLateSender = R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=1 time=1 region=MPI_Recv
ENTER lid=0 time=3 region=MPI_Send
MPI_SEND lid=0 time=3 dlid=1 cid=0 tag=7 sent=1000
EXIT lid=0 time=4
MPI_RECV lid=1 time=5 slid=0 cid=0 tag=7 recvd=1000
EXIT lid=1 time=5
EXIT lid=0 time=8
EXIT lid=1 time=8
)";

}  // namespace kojak::html
