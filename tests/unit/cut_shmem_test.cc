// Cuts of SHMEM traces whose severities are known from arithmetic: a lock that is held where the
// cut begins makes others wait in it; what is cut through is not evaluated, and proves nothing.
#include <gtest/gtest.h>

#include "tests/unit/cut_severities.h"

namespace kojak::test {
namespace {

bool holds(const Bytes& part, const std::string& line) {
  return (*trace_to_text(part)).find(line) != std::string::npos;
}

// Process 0 holds lock 16 from 2 on and clears it [20, 21]; 1 asks at 5 and gets it at 21, clears
// it [25, 26]; 2 asks at 12 and gets it at 26, clears it [34, 35].
constexpr const char* kLocks = R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=2 time=0 region=main
ENTER lid=0 time=1 region=shmem_set_lock
ALOCK lid=0 time=2 lkid=16 glid=absent
EXIT lid=0 time=2
ENTER lid=0 time=3 region=work
ENTER lid=1 time=5 region=shmem_set_lock
ENTER lid=2 time=12 region=shmem_set_lock
EXIT lid=0 time=19
ENTER lid=0 time=20 region=shmem_clear_lock
SHMEM_QUIET lid=0 time=21 ctx=0
RLOCK lid=0 time=21 lkid=16 glid=absent
EXIT lid=0 time=21
ALOCK lid=1 time=21 lkid=16 glid=absent
EXIT lid=1 time=21
ENTER lid=1 time=25 region=shmem_clear_lock
RLOCK lid=1 time=26 lkid=16 glid=absent
EXIT lid=1 time=26
ALOCK lid=2 time=26 lkid=16 glid=absent
EXIT lid=2 time=26
ENTER lid=2 time=34 region=shmem_clear_lock
RLOCK lid=2 time=35 lkid=16 glid=absent
EXIT lid=2 time=35
EXIT lid=0 time=40
EXIT lid=1 time=40
EXIT lid=2 time=40
)";
constexpr const char* kContention = "shmem_lock_contention";
constexpr const char* kSetLock = "shmem_set_lock";

TEST(CutShmemLocks, TheWholeIsWhatItIs) {
  const Severities whole(trace_of(kLocks));
  EXPECT_NEAR(whole(kContention, kSetLock, 1), 21 - 5, kTolerance);
  EXPECT_NEAR(whole(kContention, kSetLock, 2), 26 - 12, kTolerance);
}

// 0 holds the lock at 10, in `work`; 1 waits for it since then.
TEST(CutShmemLocks, TheHolderAtTheBeginningMakesOthersWait) {
  const Bytes part = cut(trace_of(kLocks), window(10, 30));
  ASSERT_EQ(faults(part), std::vector<std::string>{});
  ASSERT_EQ(suspicions(part), std::vector<std::string>{});
  EXPECT_TRUE(holds(part, "ALOCK lid=0 time=10 lkid=16"));
  const Severities s(part);
  EXPECT_NEAR(s(kContention, kSetLock, 1), 21 - 10, kTolerance);
  EXPECT_NEAR(s(kContention, kSetLock, 2), 26 - 12, kTolerance);
  EXPECT_NEAR(s.total("time"), 3 * 20, kTolerance);
  EXPECT_NEAR(s("visits", kSetLock, 0), 0, kTolerance);
}
// The holder is in the call that clears the lock; and a cut of a cut is as good.
TEST(CutShmemLocks, TheHolderMayBeClearingIt) {
  const Bytes part = cut(cut(trace_of(kLocks), window(10, 30)), window(20.5, 24));
  ASSERT_EQ(faults(part), std::vector<std::string>{});
  ASSERT_EQ(suspicions(part), std::vector<std::string>{});
  const Severities s(part);
  EXPECT_NEAR(s(kContention, kSetLock, 1), 21 - 20.5, kTolerance);
  // It gets the lock behind the cut: time, but no waiting that the cut could tell of.
  EXPECT_NEAR(s(kContention, kSetLock, 2), 0, kTolerance);
  EXPECT_NEAR(s("time", kSetLock, 2), 24 - 20.5, kTolerance);
}
// Nobody holds it at 37, and 0 no longer does at 30.
TEST(CutShmemLocks, OnlyTheHolderIsTold) {
  EXPECT_FALSE(holds(cut(trace_of(kLocks), window(37, 40)), "LOCK"));
  const Bytes part = cut(trace_of(kLocks), window(30, 40));
  EXPECT_FALSE(holds(part, "ALOCK lid=0"));
  EXPECT_FALSE(holds(part, "ALOCK lid=1"));
  EXPECT_TRUE(holds(part, "ALOCK lid=2 time=30 lkid=16"));
}
// 1 holds lock 16 and sets lock 24 where the cut begins: the state stands before that call is
// entered, since in it it would be what the call got. 0 asks for 16 at 6 and gets it at 9.
TEST(CutShmemLocks, AHolderThatWaitsForAnotherLock) {
  const Bytes part = cut(trace_of(R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=1 time=1 region=shmem_set_lock
ALOCK lid=1 time=2 lkid=16 glid=0
EXIT lid=1 time=2
ENTER lid=1 time=3 region=shmem_set_lock
ENTER lid=0 time=6 region=shmem_set_lock
ALOCK lid=1 time=7 lkid=24 glid=0
EXIT lid=1 time=7
ENTER lid=1 time=8 region=shmem_clear_lock
RLOCK lid=1 time=9 lkid=16 glid=0
EXIT lid=1 time=9
ALOCK lid=0 time=9 lkid=16 glid=0
EXIT lid=0 time=9
EXIT lid=0 time=10
EXIT lid=1 time=10
)"),
                         window(5, 10));
  ASSERT_EQ(faults(part), std::vector<std::string>{});
  const Severities s(part);
  EXPECT_NEAR(s(kContention, kSetLock, 0), 9 - 6, kTolerance);
  EXPECT_NEAR(s("visits", kSetLock, 1), 1, kTolerance);
  EXPECT_NEAR(s("time", kSetLock, 1), 7 - 5, kTolerance);
}
// 0 takes the lock where `part` has been left, and 1 waits for it in `part`, [5, 9]. What 0 held
// while it was paused does not count: [7, 9].
TEST(CutShmemLocks, AHolderThatCameOutOfAPause) {
  const Bytes part = cut(trace_of(R"(
ENTER lid=0 time=0 region=part
ENTER lid=1 time=0 region=part
EXIT lid=0 time=1
ENTER lid=0 time=1 region=shmem_set_lock
ALOCK lid=0 time=2 lkid=16 glid=absent
EXIT lid=0 time=2
ENTER lid=1 time=5 region=shmem_set_lock
ENTER lid=0 time=7 region=part
ENTER lid=0 time=8 region=shmem_clear_lock
RLOCK lid=0 time=9 lkid=16 glid=absent
EXIT lid=0 time=9
ALOCK lid=1 time=9 lkid=16 glid=absent
EXIT lid=1 time=9
EXIT lid=0 time=10
EXIT lid=1 time=10
)"),
                         only_regions({"part"}));
  ASSERT_EQ(faults(part), std::vector<std::string>{});
  const Severities s(part);
  EXPECT_NEAR(s(kContention, kSetLock, 1), 9 - 7, kTolerance);
}

// 1 waits [2, 10] for the eight bytes at 64. 0 writes at 4, but 2 writes last, at 8: 8 - 2. 0 gets
// from 1, which computes, [12, 18]; 1 enters shmem_fence at 17, [14, 17] of the second get of 2,
// [14, 20].
constexpr const char* kMemory = R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=2 time=0 region=main
ENTER lid=1 time=2 region=shmem_long_wait_until
ENTER lid=0 time=4 region=shmem_long_p
SHMEM_PLACE lid=0 time=4 dlid=1 rmaid=0 offset=64 ctx=0 flags=0
PUT_1TS lid=0 time=4 dlid=1 rmaid=0 sent=8
EXIT lid=0 time=5
ENTER lid=2 time=8 region=shmem_long_p
SHMEM_PLACE lid=2 time=8 dlid=1 rmaid=0 offset=64 ctx=0 flags=0
PUT_1TS lid=2 time=8 dlid=1 rmaid=0 sent=8
EXIT lid=2 time=9
SHMEM_WAIT lid=1 time=10 offset=64 bytes=8 cmp=1 value=2
EXIT lid=1 time=10
ENTER lid=0 time=12 region=shmem_getmem
SHMEM_PLACE lid=0 time=12 dlid=1 rmaid=1 offset=64 ctx=0 flags=0
MPI_GET_1TO lid=0 time=12 rmaid=1 wid=absent
GET_1TS lid=1 time=12 dlid=0 rmaid=1 sent=8
ENTER lid=1 time=17 region=shmem_fence
EXIT lid=1 time=17.5
GET_1TE lid=0 time=18 slid=1 rmaid=1 recvd=8
EXIT lid=0 time=18
ENTER lid=2 time=20 region=shmem_getmem
SHMEM_PLACE lid=2 time=20 dlid=1 rmaid=1 offset=64 ctx=0 flags=0
MPI_GET_1TO lid=2 time=20 rmaid=1 wid=absent
GET_1TS lid=1 time=20 dlid=2 rmaid=1 sent=8
ENTER lid=1 time=25 region=shmem_fence
EXIT lid=1 time=25.5
GET_1TE lid=2 time=26 slid=1 rmaid=1 recvd=8
EXIT lid=2 time=26
ENTER lid=2 time=28 region=shmem_getmem_nbi
SHMEM_PLACE lid=2 time=28 dlid=1 rmaid=2 offset=64 ctx=0 flags=1
MPI_GET_1TO lid=2 time=28 rmaid=2 wid=absent
GET_1TS lid=1 time=28 dlid=2 rmaid=2 sent=8
EXIT lid=2 time=28.5
ENTER lid=2 time=30 region=shmem_quiet
ENTER lid=1 time=34 region=shmem_fence
EXIT lid=1 time=34.5
SHMEM_QUIET lid=2 time=35 ctx=0
GET_1TE lid=2 time=35 slid=1 rmaid=2 recvd=8
EXIT lid=2 time=35
EXIT lid=0 time=40
EXIT lid=1 time=40
EXIT lid=2 time=40
)";
constexpr const char* kNotification = "shmem_late_notification";
constexpr const char* kWaitUntil = "shmem_long_wait_until";
constexpr const char* kProgress = "shmem_rma_wait_for_progress";
constexpr const char* kQuietProgress = "shmem_quiet_wait_for_progress";

TEST(CutShmemMemory, TheWholeIsWhatItIs) {
  const Severities whole(trace_of(kMemory));
  EXPECT_NEAR(whole(kNotification, kWaitUntil, 1), 8 - 2, kTolerance);
  EXPECT_NEAR(whole(kProgress, "shmem_getmem", 0), 17 - 12, kTolerance);
  EXPECT_NEAR(whole(kProgress, "shmem_getmem", 2), 25 - 20, kTolerance);
  EXPECT_NEAR(whole(kQuietProgress, "shmem_quiet", 2), 34 - 30, kTolerance);
}
TEST(CutShmemMemory, AWaitIsClippedWithItsCall) {
  EXPECT_NEAR(Severities(cut(trace_of(kMemory), window(6, 40)))(kNotification, kWaitUntil, 1),
              8 - 6, kTolerance);
  // Written before the cut begins.
  EXPECT_NEAR(Severities(cut(trace_of(kMemory), window(8.5, 40))).total(kNotification), 0,
              kTolerance);
}
// Without the process that wrote last nobody can tell how long it was waited for: the earlier write
// was not what ended the waiting.
TEST(CutShmemMemory, AWaitForAProcessThatIsLeftOut) {
  const Bytes part = cut(trace_of(kMemory), only_ranks({0, 1}));
  ASSERT_EQ(faults(part), std::vector<std::string>{});
  EXPECT_FALSE(holds(part, "SHMEM_WAIT"));
  const Severities s(part);
  EXPECT_NEAR(s.total(kNotification), 0, kTolerance);
  EXPECT_NEAR(s("time", kWaitUntil, 1), 10 - 2, kTolerance);
  EXPECT_NEAR(s(kProgress, "shmem_getmem", 0), 17 - 12, kTolerance);
  EXPECT_TRUE(holds(cut(trace_of(kMemory), only_ranks({1, 2})), "SHMEM_WAIT"));
}
// The second get has not returned at 24, while its target computes since 17.5. That the cut ends
// the call does not prove that gets need no call of their target: the first one still waited.
TEST(CutShmemMemory, AGetThatTheCutEndsProvesNothing) {
  const Bytes part = cut(trace_of(kMemory), window(1, 24));
  ASSERT_EQ(faults(part), std::vector<std::string>{});
  EXPECT_FALSE(holds(part, "time=20 dlid="));  // neither place nor start
  const Severities s(part);
  EXPECT_NEAR(s(kProgress, "shmem_getmem", 0), 17 - 12, kTolerance);
  EXPECT_NEAR(s(kProgress, "shmem_getmem", 2), 0, kTolerance);
  EXPECT_NEAR(s("time", "shmem_getmem", 2), 24 - 20, kTolerance);
}
// A transfer counts where its call is: of one from before the cut no quiet in it tells.
TEST(CutShmemMemory, AQuietCompletesWhatIsInTheCut) {
  const Severities with(cut(trace_of(kMemory), window(27, 40)));
  EXPECT_NEAR(with(kQuietProgress, "shmem_quiet", 2), 34 - 30, kTolerance);
  const Bytes part = cut(trace_of(kMemory), window(29, 40));
  ASSERT_EQ(faults(part), std::vector<std::string>{});
  ASSERT_EQ(suspicions(part), std::vector<std::string>{});
  const Severities without(part);
  EXPECT_NEAR(without.total(kQuietProgress), 0, kTolerance);
  EXPECT_NEAR(without("time", "shmem_quiet", 2), 35 - 30, kTolerance);
  const Bytes ended = cut(trace_of(kMemory), window(27, 33));  // in the quiet
  EXPECT_FALSE(holds(ended, "SHMEM_QUIET"));
  EXPECT_NEAR(Severities(ended).total(kQuietProgress), 0, kTolerance);
}
// 1 waits [1, 8] for what 0 writes by an atomic operation with a result, [4, 12], after 2 had
// written at 2. Cut at 10, the operation has not returned: it leaves the cut, and with it the wait.
TEST(CutShmemMemory, AnOperationWithAResultThatTheCutEnds) {
  const Bytes whole = trace_of(R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=2 time=0 region=main
ENTER lid=1 time=1 region=shmem_long_wait_until
ENTER lid=2 time=2 region=shmem_long_p
SHMEM_PLACE lid=2 time=2 dlid=1 rmaid=0 offset=64 ctx=0 flags=0
PUT_1TS lid=2 time=2 dlid=1 rmaid=0 sent=8
EXIT lid=2 time=3
ENTER lid=0 time=4 region=shmem_long_atomic_fetch_inc
SHMEM_PLACE lid=0 time=4 dlid=1 rmaid=0 offset=64 ctx=0 flags=2
MPI_GET_1TO lid=0 time=4 rmaid=0 wid=absent
GET_1TS lid=1 time=4 dlid=0 rmaid=0 sent=8
PUT_1TS lid=0 time=4 dlid=1 rmaid=1 sent=8
SHMEM_WAIT lid=1 time=8 offset=64 bytes=8 cmp=1 value=2
EXIT lid=1 time=8
PUT_1TE lid=1 time=12 slid=0 rmaid=1 recvd=8
GET_1TE lid=0 time=12 slid=1 rmaid=0 recvd=8
EXIT lid=0 time=12
EXIT lid=0 time=14
EXIT lid=1 time=14
EXIT lid=2 time=14
)");
  EXPECT_NEAR(Severities(whole)(kNotification, kWaitUntil, 1), 4 - 1, kTolerance);
  EXPECT_NEAR(Severities(cut(whole, window(0, 13)))(kNotification, kWaitUntil, 1), 4 - 1,
              kTolerance);
  const Bytes part = cut(whole, window(0, 10));
  ASSERT_EQ(faults(part), std::vector<std::string>{});
  EXPECT_FALSE(holds(part, "lid=0 time=4 dlid=1"));
  EXPECT_FALSE(holds(part, "SHMEM_WAIT"));
  EXPECT_NEAR(Severities(part).total(kNotification), 0, kTolerance);
}

// Barriers entered at 2 and 6, at 12 and 15, at 22 and 27; the window begins in the first one and
// ends where only 0 has left the third.
TEST(CutShmemCollectives, AreWholeOrNotEvaluated) {
  const Bytes whole = trace_of(R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=0 time=2 region=shmem_barrier_all
ENTER lid=1 time=6 region=shmem_barrier_all
SHMEM_QUIET lid=0 time=7 ctx=0
COLLEXIT lid=0 time=7
SHMEM_QUIET lid=1 time=7 ctx=0
COLLEXIT lid=1 time=7
ENTER lid=0 time=12 region=shmem_malloc
ENTER lid=1 time=15 region=shmem_malloc
COLLEXIT lid=0 time=16
COLLEXIT lid=1 time=16
ENTER lid=0 time=22 region=shmem_barrier_all
ENTER lid=1 time=27 region=shmem_barrier_all
SHMEM_QUIET lid=0 time=28 ctx=0
COLLEXIT lid=0 time=28
SHMEM_QUIET lid=1 time=30 ctx=0
COLLEXIT lid=1 time=30
EXIT lid=0 time=40
EXIT lid=1 time=40
)");
  EXPECT_NEAR(Severities(whole)("shmem_barrier_wait", "shmem_barrier_all", 0), 4 + 5, kTolerance);
  const Bytes part = cut(whole, window(5, 29));
  ASSERT_EQ(faults(part), std::vector<std::string>{});
  ASSERT_EQ(suspicions(part), std::vector<std::string>{});
  const Severities s(part);
  EXPECT_NEAR(s("shmem_barrier_wait", "shmem_barrier_all", 0), 6 - 5, kTolerance);
  EXPECT_NEAR(s("time", "shmem_barrier_all", 0), (7 - 5) + (28 - 22), kTolerance);
  EXPECT_NEAR(s("shmem_memory_wait", "shmem_malloc", 0), 15 - 12, kTolerance);
  const Bytes later = cut(whole, window(7.5, 40));
  EXPECT_TRUE(holds(later, "COLL_STATE lid=0 time=7.5"));  // one operation before
  EXPECT_NEAR(Severities(later)("shmem_barrier_wait", "shmem_barrier_all", 0), 5, kTolerance);
  const Bytes alone = cut(whole, only_ranks({0}));
  ASSERT_EQ(suspicions(alone), std::vector<std::string>{});
  EXPECT_NEAR(Severities(alone).total("shmem_barrier_wait"), 0, kTolerance);
}

}  // namespace
}  // namespace kojak::test
