// elg_filter on series of polls: what a cut that goes through one leaves on either side.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/unit/filter_support.h"

namespace kojak::test {
namespace {

// Process 0 polls from 1 to 5 s for two requests, and finds the first at 6 s.
const char* const kSeries = R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=0 time=0.5 region=MPI_Irecv
MPI_RECV_REQUEST lid=0 time=0.5 reqid=0 slid=1 cid=0 tag=3
EXIT lid=0 time=0.5
ENTER lid=0 time=1 region=MPI_Test
ENTER lid=1 time=4 region=MPI_Send
MPI_SEND lid=1 time=4 dlid=0 cid=0 tag=3 sent=8
EXIT lid=1 time=4.5
MPI_POLLED lid=0 time=5 begin=1 count=9 called=1 rest=3 judged=1 end=1 members=2
MPI_POLL lid=0 time=5 kind=1 region=MPI_Test count=6 first_enter=1 last_enter=4.75 reqid=0 requests=1
MPI_POLL lid=0 time=5 kind=2 region=MPI_Iprobe count=3 first_enter=3.5 last_enter=4.5 plid=1 cid=0
ATTR_UI4 kind=2 value=0
MPI_RECV lid=0 time=6 slid=1 cid=0 tag=3 recvd=8
EXIT lid=0 time=6
EXIT lid=0 time=7
EXIT lid=1 time=7
)";

std::string lines_of(const Bytes& bytes, const std::string& name) {
  const auto text = trace_to_text(bytes, "part");
  if (!text) throw std::runtime_error(text.error().message());
  std::istringstream in(*text);
  std::string result;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name + " ")) result += line + "\n";
  }
  return result;
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The counts stay where the end is.
TEST(FilterPolls, ThePartWithTheEndHasTheCounts) {
  const Bytes part = cut(trace_of(kSeries), window(3, 100));
  EXPECT_EQ(faults(part), std::vector<std::string>());
  const std::string polled = lines_of(part, "MPI_POLLED"), members = lines_of(part, "MPI_POLL");
  EXPECT_TRUE(has(polled, "time=5 count=9 begin=3 called=1")) << polled;
  EXPECT_TRUE(has(polled, "judged=1 end=1 flags=2 members=2")) << polled;
  EXPECT_TRUE(has(members, "count=6 first_enter=3 last_enter=4.75")) << members;
  EXPECT_TRUE(has(members, "count=3 first_enter=3.5 last_enter=4.5")) << members;
}

// The other one knows that there was a series, and for what.
TEST(FilterPolls, ThePartWithoutTheEndHasTheClass) {
  const Bytes part = cut(trace_of(kSeries), window(0, 3));
  EXPECT_EQ(faults(part), std::vector<std::string>());
  const std::string polled = lines_of(part, "MPI_POLLED"), members = lines_of(part, "MPI_POLL");
  EXPECT_TRUE(has(polled, "lid=0 time=3 count=0 begin=1 called=0")) << polled;
  EXPECT_TRUE(has(polled, "judged=1 end=5 flags=4 members=1")) << polled;
  EXPECT_TRUE(has(members, "reqid=0")) << members;
  EXPECT_TRUE(has(members, "count=0 first_enter=1 last_enter=3")) << members;
  EXPECT_FALSE(has(members, "kind=2")) << "it had not asked for that yet";
}

TEST(FilterPolls, APartInItsMidstHasBothEdges) {
  const Bytes part = cut(trace_of(kSeries), window(2, 4.6));
  EXPECT_EQ(faults(part), std::vector<std::string>());
  const std::string polled = lines_of(part, "MPI_POLLED");
  EXPECT_TRUE(has(polled, "time=4.5999999999999996 count=0 begin=2 ")) << polled;
  EXPECT_TRUE(has(polled, "end=5 flags=6 members=2")) << polled;
}

TEST(FilterPolls, WhoIsLeftOutIsNobodysSource) {
  const Bytes part = cut(trace_of(kSeries), only_ranks({0}));
  EXPECT_TRUE(has(lines_of(part, "MPI_POLL"), "plid=absent")) << lines_of(part, "MPI_POLL");
  const Bytes whole = cut(trace_of(kSeries), only_ranks({0, 1}));
  EXPECT_TRUE(has(lines_of(whole, "MPI_POLL"), "plid=1"));
}

}  // namespace
}  // namespace kojak::test
