// Where threads of UPC stood when their run was ended, and for whom: in the words of UPC.
#include <gtest/gtest.h>

#include "tests/unit/expert_ended_run.h"

namespace kojak::expert {
namespace {

using ThreadNumbers = std::vector<std::uint32_t>;

bool said_of_threads(const LastFound& found, const std::string& words) {
  return found.said.find(words) != std::string::npos;
}

TEST(LastCallsOfUpc, ABarrierToWhichAThreadDoesNotCome) {
  const LastFound found(EndedRun(3)
                            .stands(0, 2, "upc_barrier", "ordinal=0")
                            .stands(1, 2.5, "upc_barrier", "ordinal=0"));
  EXPECT_EQ(found.of(0).awaits, "upc_barrier of thread 2");
  EXPECT_EQ(found.of(0).ranks, ThreadNumbers{2});
  EXPECT_TRUE(said_of_threads(
      found, "No deadlock: thread 2 has computed since 0.000 s; threads 0 and 1 wait for it."))
      << found.said;
  EXPECT_TRUE(said_of_threads(found, "threads 0-1 (2) have been in upc_barrier")) << found.said;
  EXPECT_TRUE(said_of_threads(found, "thread 2 is outside of UPC calls that can wait"))
      << found.said;
}

// Threads 0 and 1 have notified; thread 1 computes, thread 0 waits for thread 2 alone.
TEST(LastCallsOfUpc, ANotifyThatDoesNotCome) {
  EndedRun run(3);
  for (const unsigned thread : {0u, 1u}) {
    run.line("ENTER", thread, 1, "region=upc_notify")
        .line("MPI_COLL_BEGIN", thread, 1, "reqid=0 key=0 ordinal=0 op=1")
        .line("EXIT", thread, 1.5, "");
  }
  run.stands(0, 2, "upc_wait", "ordinal=0");
  const LastFound found(run);
  EXPECT_EQ(found.of(0).awaits, "upc_notify of thread 2");
  EXPECT_EQ(found.of(0).ranks, ThreadNumbers{2});
}

// Thread 0 holds the lock 7 and stands in a barrier for thread 1, which wants the lock.
TEST(LastCallsOfUpc, ADeadlockOfThreads) {
  const LastFound found(EndedRun(2)
                            .line("ENTER", 0, 1, "region=upc_lock")
                            .line("ALOCK", 0, 1.5, "lkid=7 glid=0")
                            .line("EXIT", 0, 1.5, "")
                            .stands(0, 2, "upc_barrier", "ordinal=0")
                            .stands(1, 3, "upc_lock", "cid=absent ordinal=7 dlid=0"));
  EXPECT_EQ(found.of(1).awaits, "upc_unlock of thread 0");
  EXPECT_TRUE(
      said_of_threads(found,
                      "Deadlock of threads 0 and 1: thread 0 is in upc_barrier and waits for "
                      "upc_barrier of thread 1, thread 1 is in upc_lock and waits for "
                      "upc_unlock of thread 0."))
      << found.said;
}

}  // namespace
}  // namespace kojak::expert
