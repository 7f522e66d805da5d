// elg_filter on a trace that says more than once how many events it has.
#include <gtest/gtest.h>

#include "tests/unit/filter_support.h"

namespace kojak::test {
namespace {

TEST(FilterAnnounced, ASecondNumberOfEventsIsLeftOut) {
  Bytes trace = trace_of(R"(
ENTER lid=0 time=0 region=main
EXIT lid=0 time=1
ENTER lid=0 time=2 region=main
EXIT lid=0 time=3
)");
  std::byte record[kMaxRecord];
  const std::size_t size = encode(NumEvents{Count{4}}, Dialect{}, record);
  trace.insert(trace.begin() + kHeaderSize, record, record + size);
  ASSERT_EQ(faults(trace), std::vector<std::string>{});
  // The part holds the two events behind 1.5 s, and no number that says otherwise.
  EXPECT_EQ(faults(cut(trace, window(1.5, 4))), std::vector<std::string>{});
}

}  // namespace
}  // namespace kojak::test
