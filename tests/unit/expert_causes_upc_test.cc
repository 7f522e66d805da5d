// Root causes of hand-made runs of UPC: what is barrier-like there, and what threads are called.
#include "tests/unit/expert_causes_script.h"

namespace kojak::expert {
namespace {

constexpr double kUpcNear = 1e-9;

void together(CauseScript& s, const std::string& region, const std::vector<double>& enters,
              double exit) {
  for (std::size_t p = 0; p < enters.size(); ++p) {
    s.add(static_cast<int>(p), enters[p], "ENTER", "region=" + region);
    s.add(static_cast<int>(p), exit, "COLLEXIT");
  }
}
void notify(CauseScript& s, int thread, double enter, int phase) {
  const std::string number = std::to_string(phase);
  s.call(thread, enter, enter + 0.25, "upc_notify",
         {{enter, "MPI_COLL_BEGIN", "reqid=" + number + " key=0 ordinal=" + number + " op=1"}});
}
void wait(CauseScript& s, int thread, double enter, double exit, int phase) {
  s.call(thread, enter, exit, "upc_wait",
         {{exit, "MPI_REQUEST_COMPLETE", "reqid=" + std::to_string(phase) + " kind=1"}});
}

// After a barrier that ends at 2 the threads compute until 5, 5 and 8: two wait 3 s for the third.
TEST(RootCausesOfUpc, WhoComputesLongerBeforeABarrier) {
  CauseScript s(3);
  together(s, "upc_barrier", {1, 1, 1}, 2);
  together(s, "upc_barrier", {5, 5, 8}, 9);
  const CauseScript::Found found = s.analyse_until(10);
  EXPECT_NEAR(found.causes.waits, 6, kUpcNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_EQ(found.causes.causes[0].location, 2u);
  EXPECT_NEAR(found.causes.causes[0].seconds, 6, kUpcNear);
  EXPECT_NEAR(found.causes.unexplained, 0, kUpcNear);
  EXPECT_EQ(
      found.words[0],
      "thread 2 is outside of UPC 3.000 s longer in main, between upc_barrier and upc_barrier");
}

// All have notified at 10, one of them after 8 s in a, the other after 8 s in b; nobody waits. Then
// thread 0 comes to its next upc_wait at 14, thread 1 notifies at 16: 2 s for what thread 1 did
// since 10, which is no part of b.
TEST(RootCausesOfUpc, WhatCameBeforeANotifyIsNoCauseBehindIt) {
  CauseScript s(2);
  s.call(0, 1, 9, "a");
  s.call(1, 1, 9, "b");
  for (const int thread : {0, 1}) notify(s, thread, 10, 0);
  for (const int thread : {0, 1}) wait(s, thread, 11, 11.25, 0);
  notify(s, 0, 13, 1);
  wait(s, 0, 14, 16.5, 1);
  notify(s, 1, 16, 1);
  wait(s, 1, 16.25, 16.5, 1);
  const CauseScript::Found found = s.analyse_until(17);
  EXPECT_NEAR(found.causes.waits, 2, kUpcNear);
  EXPECT_NEAR(found.computing(1), 2, kUpcNear);
  EXPECT_NEAR(found.causes.unexplained, 0, kUpcNear);
  for (const std::string& words : found.words) {
    EXPECT_EQ(words.find(" in b"), std::string::npos) << words;
  }
}

// With the flag that asks for it a broadcast is a barrier: who comes last is charged with what it
// did since the one before. Threads 0 and 1 (the root) enter at 4, thread 2 at 7: 3 s each.
TEST(RootCausesOfUpc, ACollectiveInAllsyncWaitsForTheLast) {
  CauseScript s(3);
  const auto broadcast = [&](const std::vector<double>& enters, double exit) {
    for (std::size_t p = 0; p < enters.size(); ++p) {
      s.add(static_cast<int>(p), enters[p], "ENTER", "region=upc_all_broadcast");
      s.add(static_cast<int>(p), exit, "COLLEXIT", "rlid=1");
    }
  };
  broadcast({1, 1, 1}, 2);
  broadcast({4, 4, 7}, 8);
  const CauseScript::Found found = s.analyse_until(9);
  EXPECT_NEAR(found.causes.waits, 6, kUpcNear);
  ASSERT_EQ(found.causes.causes.size(), 1u);
  EXPECT_EQ(found.causes.causes[0].location, 2u);
  EXPECT_NEAR(found.causes.causes[0].seconds, 6, kUpcNear);
}

}  // namespace
}  // namespace kojak::expert
