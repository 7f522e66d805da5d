// elg_filter on SHMEM: transfers with what tells where they work, locks whose granting process is
// left out, a cut in time.
#include <gtest/gtest.h>

#include "tests/unit/filter_support.h"

namespace kojak::test {
namespace {

const char* const kTrace = R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=2 time=0 region=main
ENTER lid=0 time=1 region=shmem_putmem
SHMEM_PLACE lid=0 time=1 dlid=1 rmaid=0 offset=64 ctx=0 flags=0
PUT_1TS lid=0 time=1 dlid=1 rmaid=0 sent=8
EXIT lid=0 time=2
ENTER lid=0 time=3 region=shmem_getmem
SHMEM_PLACE lid=0 time=3 dlid=2 rmaid=1 offset=64 ctx=0 flags=0
MPI_GET_1TO lid=0 time=3 rmaid=1 wid=absent
GET_1TS lid=2 time=3 dlid=0 rmaid=1 sent=8
GET_1TE lid=0 time=4 slid=2 rmaid=1 recvd=8
EXIT lid=0 time=4
ENTER lid=0 time=5 region=shmem_quiet
PUT_1TE lid=1 time=6 slid=0 rmaid=0 recvd=8
SHMEM_QUIET lid=0 time=6 ctx=0
EXIT lid=0 time=6
ENTER lid=0 time=7 region=shmem_set_lock
ALOCK lid=0 time=8 lkid=16 glid=2
EXIT lid=0 time=8
ENTER lid=0 time=8.5 region=shmem_clear_lock
RLOCK lid=0 time=9 lkid=16 glid=2
EXIT lid=0 time=9
EXIT lid=0 time=10
EXIT lid=1 time=10
EXIT lid=2 time=10
)";

std::string text_of(const Bytes& bytes) {
  auto reader = TraceReader::from(memory_source(bytes.data(), bytes.size()), "cut");
  auto verified = verify_trace(*reader);
  EXPECT_TRUE(verified.ok());
  for (const auto& finding : verified->findings) {
    EXPECT_NE(finding.level, Level::kError) << finding.message();
  }
  return *trace_to_text(bytes);
}
bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(FilterShmem, ProcessesTakeTheirTransfersWithThem) {
  const std::string text = text_of(cut(trace_of(kTrace), only_ranks({0, 1})));
  EXPECT_TRUE(holds(text, "PUT_1TS"));
  EXPECT_TRUE(holds(text, "PUT_1TE"));
  EXPECT_TRUE(holds(text, "SHMEM_PLACE lid=0 time=1 dlid=1"));
  EXPECT_FALSE(holds(text, "dlid=2"));  // the get from 2, and where it works
  EXPECT_FALSE(holds(text, "GET_1T"));
  EXPECT_TRUE(holds(text, "ALOCK lid=0 time=8 lkid=16 glid=absent"));
  EXPECT_TRUE(holds(text, "RLOCK lid=0 time=9 lkid=16 glid=absent"));
}
TEST(FilterShmem, ACutInTimeKeepsWholeTransfers) {
  const std::string text = text_of(cut(trace_of(kTrace), window(2.5, 20)));
  EXPECT_FALSE(holds(text, "PUT_1T"));  // it began before
  EXPECT_TRUE(holds(text, "GET_1TS"));
  EXPECT_TRUE(holds(text, "GET_1TO"));
  EXPECT_TRUE(holds(text, "GET_1TE"));
  EXPECT_TRUE(holds(text, "SHMEM_QUIET"));
  EXPECT_TRUE(holds(text, "ALOCK lid=0 time=8 lkid=16 glid=2"));
}

}  // namespace
}  // namespace kojak::test
