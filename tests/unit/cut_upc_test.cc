// Cuts of UPC traces between upc_notify and upc_wait: who waits in the cut for the last notify
// waits as in the whole.
#include <gtest/gtest.h>

#include "tests/unit/cut_severities.h"

namespace kojak::test {
namespace {

constexpr const char* kMetric = "upc_splitphase_wait";
constexpr const char* kWait = "upc_wait";

// Two phases: notified at 1, 2, 5, thread 0 in upc_wait [3, 6], thread 1 [5, 6.5], thread 2
// [6, 6.5]; and at 12, 8, 10, thread 1 in upc_wait [8.5, 13], thread 2 [10.5, 13].
Bytes two_phases() {
  const std::string text = read_text(std::string(KOJAK_CASES_DIR) + "/upc_split_barrier.case");
  return trace_of(text.substr(0, text.find("\n--- ") + 1));
}

void expect(const Bytes& part, double thread0, double thread1, double thread2) {
  EXPECT_EQ(faults(part), std::vector<std::string>{});
  EXPECT_EQ(suspicions(part), std::vector<std::string>{});
  const Severities s(part);
  EXPECT_NEAR(s(kMetric, kWait, 0), thread0, kTolerance);
  EXPECT_NEAR(s(kMetric, kWait, 1), thread1, kTolerance);
  EXPECT_NEAR(s(kMetric, kWait, 2), thread2, kTolerance);
}

TEST(CutUpc, TheWholeIsWhatItIs) {
  expect(two_phases(), 5 - 3, 12 - 8.5, 12 - 10.5);
}

// 0 and 1 have notified, 2 does at 5.
TEST(CutUpc, TheLastNotifyIsInTheCut) {
  expect(cut(two_phases(), window(2.5, 7)), 5 - 3, 0, 0);
  expect(cut(two_phases(), window(4, 7)), 5 - 4, 0, 0);
  expect(cut(cut(two_phases(), window(2.5, 20)), window(4, 7)), 5 - 4, 0, 0);
  expect(cut(two_phases(), window(9, 20)), 0, 12 - 9, 12 - 10.5);
  expect(cut(two_phases(), window(11, 20)), 0, 12 - 11, 12 - 11);
  expect(cut(cut(two_phases(), window(9, 20)), window(11, 20)), 0, 12 - 11, 12 - 11);
}
// All have notified at 5.5 and at 12.25: nobody waits for anybody behind that.
TEST(CutUpc, AllHaveNotifiedBefore) {
  expect(cut(two_phases(), window(5.5, 7)), 0, 0, 0);
  expect(cut(cut(two_phases(), window(5.5, 20)), window(6.25, 11)), 0, 0, 0);
  expect(cut(two_phases(), window(12.3, 20)), 0, 0, 0);
}
// It comes behind the cut: how long they wait for it there nobody knows.
TEST(CutUpc, TheLastNotifyIsBehindTheCut) {
  const Bytes part = cut(two_phases(), window(2.5, 4.5));
  EXPECT_EQ(faults(part), std::vector<std::string>{});
  const Severities s(part);
  EXPECT_NEAR(s(kMetric, kWait, 0), 0, kTolerance);
  EXPECT_NEAR(s("time", kWait, 0), 4.5 - 3, kTolerance);
}

// A reduction to 0: 1 has sent its part before the cut, and that request is complete; 0 waits since
// 2 for 2, which begins at 6.
TEST(CutUpc, ARequestThatIsCompleteCounts) {
  const Bytes whole = trace_of(R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=2 time=0 region=main
ENTER lid=1 time=1 region=MPI_Ireduce
MPI_COLL_BEGIN lid=1 time=1 reqid=0 rlid=0 cid=0 key=0 ordinal=0 op=7 sent=8 recvd=0
EXIT lid=1 time=1.1
ENTER lid=0 time=1 region=MPI_Ireduce
MPI_COLL_BEGIN lid=0 time=1 reqid=0 rlid=0 cid=0 key=0 ordinal=0 op=7 sent=8 recvd=8
EXIT lid=0 time=1.1
ENTER lid=1 time=1.5 region=MPI_Wait
MPI_REQUEST_COMPLETE lid=1 time=1.75 reqid=0 kind=1
EXIT lid=1 time=1.75
ENTER lid=0 time=2 region=MPI_Wait
ENTER lid=2 time=6 region=MPI_Ireduce
MPI_COLL_BEGIN lid=2 time=6 reqid=0 rlid=0 cid=0 key=0 ordinal=0 op=7 sent=8 recvd=0
EXIT lid=2 time=6.25
ENTER lid=2 time=6.5 region=MPI_Wait
MPI_REQUEST_COMPLETE lid=2 time=6.75 reqid=0 kind=1
EXIT lid=2 time=6.75
MPI_REQUEST_COMPLETE lid=0 time=7 reqid=0 kind=1
EXIT lid=0 time=7
EXIT lid=0 time=10
EXIT lid=1 time=10
EXIT lid=2 time=10
)");
  EXPECT_NEAR(Severities(whole)("mpi_reduce_wait", "MPI_Wait", 0), 6 - 2, kTolerance);
  const Bytes part = cut(whole, window(3, 20));
  EXPECT_EQ(faults(part), std::vector<std::string>{});
  EXPECT_EQ(suspicions(part), std::vector<std::string>{});
  EXPECT_NEAR(Severities(part)("mpi_reduce_wait", "MPI_Wait", 0), 6 - 3, kTolerance);
}

}  // namespace
}  // namespace kojak::test
