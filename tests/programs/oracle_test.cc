// The formulas of the oracle, by hand: each case is a few calls with round times whose severities
// can be read off. Times in seconds.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/programs/oracle/truth.h"

namespace kojak::oracle {
namespace {

class OracleTest : public ::testing::Test {
 protected:
  // Adds a call at the end of a process's program.
  void call(int rank, const std::string& function, double enter, double exit,
            std::map<std::string, std::string> notes = {}) {
    if (run_.ranks() <= rank) run_.calls.resize(static_cast<std::size_t>(rank) + 1);
    run_.calls[static_cast<std::size_t>(rank)].push_back(
        {rank, function, enter, exit, std::move(notes)});
  }
  double value(const std::string& metric, const std::string& function, int rank) const {
    return Truth(run_).value(metric, function, rank);
  }

  Notes run_;
};

TEST_F(OracleTest, OverlapStaysWithinTheCall) {
  const Call c{0, "MPI_Barrier", 2, 5, {}};
  EXPECT_DOUBLE_EQ(Truth::overlap(c, 3, 4), 1);
  EXPECT_DOUBLE_EQ(Truth::overlap(c, 0, 9), 3);
  EXPECT_DOUBLE_EQ(Truth::overlap(c, 6, 7), 0);
  EXPECT_DOUBLE_EQ(Truth::overlap(c, 4, 3), 0);
}

// A test that was alone, and one of five in turn.
TEST_F(OracleTest, OnlyALoopOfTestsWaits) {
  for (const bool loop : {false, true}) {
    run_.calls.clear();
    std::map<std::string, std::string> notes{{"recv", "a"}};
    if (loop) notes["polls"] = "5";
    call(0, "MPI_Test", 1, 5, notes);
    call(1, "MPI_Send", 4, 4.1, {{"send", "a"}});
    EXPECT_DOUBLE_EQ(value("mpi_latesender", "MPI_Test", 0), loop ? 3 : 0);
    EXPECT_DOUBLE_EQ(value("visits", "MPI_Test", 0), loop ? 5 : 1);
  }
}

TEST_F(OracleTest, BlockedLooksAtCausesBeforeTheEndOnly) {
  const Call c{0, "MPI_Put", 2, 5, {}};
  EXPECT_DOUBLE_EQ(Truth::blocked(c, {1, 3, 4.5, 8}), 2.5);
  EXPECT_DOUBLE_EQ(Truth::blocked(c, {6}), 0);
  EXPECT_DOUBLE_EQ(Truth::blocked(c, {1}), 0);
  EXPECT_DOUBLE_EQ(Truth::blocked(c, {5}), 3);
  EXPECT_DOUBLE_EQ(Truth::blocked(c, {}), 0);
}

TEST_F(OracleTest, FenceWaitsForTheLatestEnter) {
  for (int rank = 0; rank < 2; ++rank) call(rank, "MPI_Win_create", 0, 0.5, {{"win", "0"}});
  call(0, "MPI_Win_fence", 1, 4.1, {{"win", "0"}});
  call(1, "MPI_Win_fence", 4, 4.2, {{"win", "0"}});
  EXPECT_DOUBLE_EQ(value("mpi_rma_fence_wait", "MPI_Win_fence", 0), 3);
  EXPECT_DOUBLE_EQ(value("mpi_rma_fence_wait", "MPI_Win_fence", 1), 0);
  EXPECT_DOUBLE_EQ(value("mpi_rma_fence_wait", "*", 0), 3);
  EXPECT_DOUBLE_EQ(value("mpi_rma_wait_window_create", "MPI_Win_fence", 0), 0);
  EXPECT_DOUBLE_EQ(value("mpi_rma_fence", "MPI_Win_fence", 0), 3.1);
  EXPECT_DOUBLE_EQ(value("mpi_communication", "MPI_Win_fence", 0), 0);
}

TEST_F(OracleTest, FenceThatReturnedEarlyDidNotWait) {
  for (int rank = 0; rank < 2; ++rank) call(rank, "MPI_Win_create", 0, 0.5, {{"win", "0"}});
  call(0, "MPI_Win_fence", 1, 1.5, {{"win", "0"}, {"noprecede", "1"}});
  call(1, "MPI_Win_fence", 4, 4.2, {{"win", "0"}, {"noprecede", "1"}});
  call(0, "MPI_Win_fence", 5, 6, {{"win", "0"}});  // did not synchronise
  call(1, "MPI_Win_fence", 7, 8, {{"win", "0"}});
  EXPECT_DOUBLE_EQ(value("mpi_rma_fence_wait", "MPI_Win_fence", 0), 0);
}

TEST_F(OracleTest, LatePostOfTheLastTargetWhereverItBlocks) {
  call(0, "MPI_Win_start", 1, 3, {{"win", "0"}, {"group", "1,2"}});  // until the first post
  call(0, "MPI_Put", 3, 3.5, {{"win", "0"}, {"to", "1"}});           // returned before the second
  call(0, "MPI_Put", 4, 6, {{"win", "0"}, {"to", "2"}});             // blocked by it
  call(0, "MPI_Win_complete", 6, 7, {{"win", "0"}});
  call(1, "MPI_Win_post", 2.5, 2.6, {{"win", "0"}, {"group", "0"}});
  call(1, "MPI_Win_wait", 3, 7, {{"win", "0"}});
  call(2, "MPI_Win_post", 5, 5.1, {{"win", "0"}, {"group", "0"}});
  call(2, "MPI_Win_wait", 6.5, 7, {{"win", "0"}});
  EXPECT_DOUBLE_EQ(value("mpi_rma_latepost", "MPI_Win_start", 0), 1.5);
  EXPECT_DOUBLE_EQ(value("mpi_rma_latepost_first", "MPI_Win_start", 0), 1.5);
  EXPECT_DOUBLE_EQ(value("mpi_rma_latepost", "MPI_Win_complete", 0), 0);
  EXPECT_DOUBLE_EQ(value("mpi_rma_earlytransfer", "MPI_Put", 0), 1);
  // Target 1 waits from 3 until the complete at 6; its last transfer ended at 3.5.
  EXPECT_DOUBLE_EQ(value("mpi_rma_earlywait", "MPI_Win_wait", 1), 3);
  EXPECT_DOUBLE_EQ(value("mpi_rma_latecomplete", "MPI_Win_wait", 1), 2.5);
  EXPECT_DOUBLE_EQ(value("mpi_rma_latecomplete_pair", "MPI_Win_wait", 1), 2.5);
  EXPECT_DOUBLE_EQ(value("mpi_rma_earlywait", "MPI_Win_wait", 2), 0);
}

TEST_F(OracleTest, CorrespondingCompleteIsThatOfTheLastTransfer) {
  call(0, "MPI_Win_post", 0, 0.1, {{"win", "0"}, {"group", "1,2"}});
  call(0, "MPI_Win_wait", 1, 9, {{"win", "0"}});
  call(1, "MPI_Win_start", 0.2, 0.3, {{"win", "0"}, {"group", "0"}});
  call(1, "MPI_Put", 3.8, 4, {{"win", "0"}, {"to", "0"}});
  call(1, "MPI_Win_complete", 6, 6.1, {{"win", "0"}});
  call(2, "MPI_Win_start", 0.2, 0.3, {{"win", "0"}, {"group", "0"}});
  call(2, "MPI_Put", 2, 3, {{"win", "0"}, {"to", "0"}});
  call(2, "MPI_Win_complete", 8, 8.1, {{"win", "0"}});
  EXPECT_DOUBLE_EQ(value("mpi_rma_earlywait", "MPI_Win_wait", 0), 7);
  EXPECT_DOUBLE_EQ(value("mpi_rma_latecomplete", "MPI_Win_wait", 0), 4);
  EXPECT_DOUBLE_EQ(value("mpi_rma_latecomplete_pair", "MPI_Win_wait", 0), 2);
}

TEST_F(OracleTest, EpochsArePairedByCountPerPair) {
  // The origin's first access epoch names 1 only, its second 2 only: each is the first of its pair.
  call(0, "MPI_Win_start", 1, 2, {{"win", "0"}, {"group", "1"}});
  call(0, "MPI_Win_complete", 2, 3, {{"win", "0"}});
  call(0, "MPI_Win_start", 4, 8, {{"win", "0"}, {"group", "2"}});
  call(0, "MPI_Win_complete", 8, 9, {{"win", "0"}});
  call(1, "MPI_Win_post", 1.5, 1.6, {{"win", "0"}, {"group", "0"}});
  call(1, "MPI_Win_test", 1.7, 1.8, {{"win", "0"}, {"flag", "0"}});
  call(1, "MPI_Win_test", 3, 3.1, {{"win", "0"}, {"flag", "1"}});
  call(2, "MPI_Win_post", 7, 7.1, {{"win", "0"}, {"group", "0"}});
  call(2, "MPI_Win_wait", 9, 9.1, {{"win", "0"}});
  EXPECT_DOUBLE_EQ(value("mpi_rma_latepost", "MPI_Win_start", 0), 0.5 + 3);
  EXPECT_DOUBLE_EQ(value("mpi_rma_earlywait", "MPI_Win_test", 1), 0);
}

TEST_F(OracleTest, UnmatchedEpochsAreAnError) {
  call(0, "MPI_Win_start", 1, 2, {{"win", "0"}, {"group", "1"}});
  call(0, "MPI_Win_complete", 2, 3, {{"win", "0"}});
  call(1, "MPI_Win_post", 1, 2, {{"win", "1"}, {"group", "0"}});
  call(1, "MPI_Win_wait", 2, 3, {{"win", "1"}});
  EXPECT_THROW(Truth{run_}, std::runtime_error);
}

TEST_F(OracleTest, BarrierAndNxNWaitForTheLastAndComplete) {
  call(0, "MPI_Barrier", 1, 6, {{"comm", "world"}});
  call(1, "MPI_Barrier", 4, 5, {{"comm", "world"}});
  call(0, "MPI_Alltoall", 7, 9, {{"comm", "world"}});
  call(1, "MPI_Alltoall", 8, 8.5, {{"comm", "world"}});
  EXPECT_DOUBLE_EQ(value("mpi_barrier_wait", "MPI_Barrier", 0), 3);
  EXPECT_DOUBLE_EQ(value("mpi_barrier_completion", "MPI_Barrier", 0), 1);
  EXPECT_DOUBLE_EQ(value("mpi_barrier_completion", "MPI_Barrier", 1), 0);
  EXPECT_DOUBLE_EQ(value("mpi_wait_nxn", "MPI_Alltoall", 0), 1);
  EXPECT_DOUBLE_EQ(value("mpi_nxn_completion", "MPI_Alltoall", 0), 0.5);
}

TEST_F(OracleTest, RootedCollectivesWaitForTheRootOrAtIt) {
  call(0, "MPI_Bcast", 1, 5, {{"comm", "world"}, {"root", "1"}});
  call(1, "MPI_Bcast", 3, 4, {{"comm", "world"}, {"root", "1"}});
  call(2, "MPI_Bcast", 2, 2.5, {{"comm", "world"}, {"root", "1"}});
  EXPECT_DOUBLE_EQ(value("mpi_latebroadcast", "MPI_Bcast", 0), 2);
  EXPECT_DOUBLE_EQ(value("mpi_latebroadcast", "MPI_Bcast", 1), 0);
  EXPECT_DOUBLE_EQ(value("mpi_latebroadcast", "MPI_Bcast", 2), 0.5);
  call(0, "MPI_Gather", 8, 9, {{"comm", "world"}, {"root", "1"}});
  call(1, "MPI_Gather", 6, 9, {{"comm", "world"}, {"root", "1"}});
  call(2, "MPI_Gather", 7, 9, {{"comm", "world"}, {"root", "1"}});
  EXPECT_DOUBLE_EQ(value("mpi_earlyreduce", "MPI_Gather", 1), 1);
  EXPECT_DOUBLE_EQ(value("mpi_earlyreduce", "MPI_Gather", 2), 0);
}

TEST_F(OracleTest, ScanWaitsForLowerRanksOfTheCommunicator) {
  call(0, "MPI_Scan", 1, 9, {{"comm", "reversed"}, {"place", "2"}});
  call(1, "MPI_Scan", 4, 9, {{"comm", "reversed"}, {"place", "1"}});
  call(2, "MPI_Scan", 6, 9, {{"comm", "reversed"}, {"place", "0"}});
  EXPECT_DOUBLE_EQ(value("mpi_earlyscan", "MPI_Scan", 0), 5);
  EXPECT_DOUBLE_EQ(value("mpi_earlyscan", "MPI_Scan", 1), 2);
  EXPECT_DOUBLE_EQ(value("mpi_earlyscan", "MPI_Scan", 2), 0);
}

TEST_F(OracleTest, LateSenderOfSeveralMessages) {
  call(0, "MPI_Irecv", 0, 0.1, {{"post", "a"}});
  call(0, "MPI_Irecv", 0.1, 0.2, {{"post", "b"}});
  call(0, "MPI_Waitall", 1, 6, {{"recv", "a,b"}});
  call(0, "MPI_Waitsome", 7, 9, {{"recv", "c,d"}});
  call(0, "MPI_Test", 9, 9.5, {{"recv", "e"}});
  call(1, "MPI_Send", 2, 3, {{"send", "a"}});
  call(1, "MPI_Send", 5, 5.1, {{"send", "b"}});
  call(1, "MPI_Send", 8, 8.1, {{"send", "c"}});
  call(1, "MPI_Send", 8.5, 8.6, {{"send", "d"}});
  call(1, "MPI_Send", 9.2, 9.3, {{"send", "e"}});
  EXPECT_DOUBLE_EQ(value("mpi_latesender", "MPI_Waitall", 0), 4);
  EXPECT_DOUBLE_EQ(value("mpi_latesender", "MPI_Waitsome", 0), 1);
  EXPECT_DOUBLE_EQ(value("mpi_latesender", "MPI_Test", 0), 0);
  EXPECT_DOUBLE_EQ(value("mpi_latesender_wo", "*", 0), 0);
}

TEST_F(OracleTest, LateReceiverWithoutWhatLateSenderTook) {
  call(0, "MPI_Ssend", 1, 3, {{"send", "a"}});
  call(0, "MPI_Sendrecv", 4, 8, {{"send", "b"}, {"recv", "c"}});
  call(0, "MPI_Isend", 8, 8.1, {{"send", "d"}});
  call(0, "MPI_Wait", 8.5, 9.5, {{"finish", "d"}});
  call(1, "MPI_Recv", 2, 3, {{"recv", "a"}});
  call(1, "MPI_Recv", 7, 8, {{"recv", "b"}});
  call(1, "MPI_Irecv", 9, 9.1, {{"post", "d"}});
  call(1, "MPI_Wait", 11, 12, {{"recv", "d"}});
  call(2, "MPI_Send", 5, 5.1, {{"send", "c"}});
  EXPECT_DOUBLE_EQ(value("mpi_latereceiver", "MPI_Ssend", 0), 1);
  EXPECT_DOUBLE_EQ(value("mpi_latesender", "MPI_Sendrecv", 0), 1);
  EXPECT_DOUBLE_EQ(value("mpi_latereceiver", "MPI_Sendrecv", 0), 2);
  EXPECT_DOUBLE_EQ(value("mpi_latereceiver", "MPI_Isend", 0), 0);
  EXPECT_DOUBLE_EQ(value("mpi_latereceiver", "MPI_Wait", 0), 0.5);
}

TEST_F(OracleTest, WrongOrderNeedsAnOlderMessageStillUnderWay) {
  call(0, "MPI_Send", 1, 1.1, {{"send", "old"}});
  call(0, "MPI_Send", 4, 4.1, {{"send", "new"}});
  call(0, "MPI_Send", 7, 7.1, {{"send", "newest"}});
  call(1, "MPI_Recv", 2, 4.5, {{"recv", "new"}});
  call(1, "MPI_Recv", 5, 5.1, {{"recv", "old"}});
  call(1, "MPI_Recv", 6, 7.2, {{"recv", "newest"}});
  EXPECT_DOUBLE_EQ(value("mpi_latesender", "MPI_Recv", 1), 2 + 1);
  EXPECT_DOUBLE_EQ(value("mpi_latesender_wo", "MPI_Recv", 1), 2);
}

// Holder 1 proves its lock at 0.4 (flush) and releases it at 5.1, the end of its unlock; process 0
// asks at 1 and proves its own at 6, where its get is complete. Contention: [1, 5.1].
class LockOracleTest : public OracleTest {
 protected:
  void contend(const std::string& kind, const std::string& nocheck) {
    const std::map<std::string, std::string> lock = {
        {"win", "0"}, {"lock", "2"}, {"exclusive", kind}, {"nocheck", nocheck}};
    for (int rank = 0; rank < 3; ++rank) call(rank, "MPI_Win_create", 0, 0.05, {{"win", "0"}});
    call(1, "MPI_Win_lock", 0.1, 0.2, lock);
    call(1, "MPI_Put", 0.2, 0.3, {{"win", "0"}, {"to", "2"}});
    call(1, "MPI_Win_flush", 0.3, 0.4, {{"win", "0"}, {"flush", "2"}});
    call(1, "MPI_Win_unlock", 5, 5.1, {{"win", "0"}, {"unlock", "2"}});
    call(0, "MPI_Win_lock", 1, 1.25, lock);
    call(0, "MPI_Rget", 1.5, 1.625, {{"win", "0"}, {"to", "2"}, {"rma", "a"}, {"result", "1"}});
    call(0, "MPI_Wait", 2, 6, {{"rma", "a"}, {"site", "main:7"}});
    call(0, "MPI_Win_unlock", 6.1, 6.2, {{"win", "0"}, {"unlock", "2"}});
  }
};

TEST_F(LockOracleTest, EveryCallOfTheEpochWaitsForTheHolder) {
  contend("1", "0");
  EXPECT_DOUBLE_EQ(value("mpi_rma_sync_lock_contention", "MPI_Win_lock", 0), 0.25);
  EXPECT_DOUBLE_EQ(value("mpi_rma_comm_lock_contention", "MPI_Rget", 0), 0.125);
  EXPECT_NEAR(value("mpi_rma_comm_lock_contention", "MPI_Wait", 0), 3.1, 1e-12);
  EXPECT_DOUBLE_EQ(value("mpi_rma_sync_lock_contention", "MPI_Win_unlock", 0), 0);
  EXPECT_DOUBLE_EQ(value("mpi_rma_sync_lock_contention", "*", 1), 0);
  // The Wait belongs to the transfers, and to its call site.
  EXPECT_DOUBLE_EQ(value("mpi_rma_communication", "MPI_Wait", 0), 4);
  EXPECT_DOUBLE_EQ(value("mpi_point2point", "MPI_Wait", 0), 0);
  EXPECT_NEAR(value("mpi_rma_comm_lock_contention", "MPI_Wait@main:7", 0), 3.1, 1e-12);
  EXPECT_DOUBLE_EQ(value("visits", "MPI_Wait@main:7", 0), 1);
}

TEST_F(LockOracleTest, SharedLocksDoNotWait) {
  contend("0", "0");
  EXPECT_DOUBLE_EQ(value("mpi_rma_comm_lock_contention", "*", 0), 0);
  EXPECT_DOUBLE_EQ(value("mpi_rma_sync_lock_contention", "*", 0), 0);
}

TEST_F(LockOracleTest, LocksWithoutCheckDoNotWait) {
  contend("1", "1");
  EXPECT_DOUBLE_EQ(value("mpi_rma_comm_lock_contention", "*", 0), 0);
  EXPECT_DOUBLE_EQ(value("mpi_rma_sync_lock_contention", "*", 0), 0);
}

// Target 1 is outside MPI in [0.5, 5]. The get of process 0 is complete at 5.25: its Wait
// [1.5, 5.25] waited 3.5 for it.
class ProgressOracleTest : public OracleTest {
 protected:
  void compute() {
    for (int rank = 0; rank < 2; ++rank)
      call(rank, "MPI_Win_create", 0, 0.5, {{"win", "0"}, {"all_noted", "1"}});
    call(1, "MPI_Iprobe", 5, 5.125);
    call(0, "MPI_Win_lock", 1, 1.25, {{"win", "0"}, {"lock", "1"}, {"exclusive", "0"}});
    get("a", 1.25, 1.5, 5.25);
  }
  void get(const std::string& name, double enter, double wait, double done) {
    call(0, "MPI_Rget", enter, wait, {{"win", "0"}, {"to", "1"}, {"rma", name}, {"result", "1"}});
    call(0, "MPI_Wait", wait, done, {{"rma", name}});
  }
  void unlock() { call(0, "MPI_Win_unlock", 8, 8.5, {{"win", "0"}, {"unlock", "1"}}); }
};

TEST_F(ProgressOracleTest, TheWaitOfAGetNeedsItsTarget) {
  compute();
  unlock();
  EXPECT_DOUBLE_EQ(value("mpi_rma_comm_wait_for_progress", "MPI_Wait", 0), 3.5);
  EXPECT_DOUBLE_EQ(value("mpi_rma_comm_wait_for_progress", "MPI_Rget", 0), 0);
  EXPECT_DOUBLE_EQ(value("mpi_rma_sync_wait_for_progress", "*", 0), 0);
}

TEST_F(ProgressOracleTest, OneGetThatNeededNoTargetVoidsAll) {
  compute();
  get("b", 5.5, 6, 7);
  unlock();
  call(1, "MPI_Iprobe", 9, 9.5);
  EXPECT_DOUBLE_EQ(value("mpi_rma_comm_wait_for_progress", "*", 0), 0);
}

// The get that nobody was needed for, in an epoch whose lock [1, 5.25] ended only after its target
// had come back at 5: data move by themselves, grants of locks do not. One that ended while
// its target was away tells that lock calls do not wait, and then the get decides.
TEST_F(ProgressOracleTest, LocksThatWaitedStandWhateverDataNeed) {
  for (const bool passed : {false, true}) {
    run_ = {};
    for (int rank = 0; rank < 2; ++rank)
      call(rank, "MPI_Win_create", 0, 0.5, {{"win", "0"}, {"all_noted", "1"}});
    call(1, "MPI_Iprobe", 5, 5.125);
    const std::map<std::string, std::string> lock = {
        {"win", "0"}, {"lock", "1"}, {"exclusive", "0"}};
    call(0, "MPI_Win_lock", 1, 5.25, lock);
    get("a", 5.5, 6, 7);
    unlock();
    if (passed) {
      call(0, "MPI_Win_lock", 8.625, 8.75, lock);
      call(0, "MPI_Win_unlock", 8.75, 8.875, {{"win", "0"}, {"unlock", "1"}});
    }
    call(1, "MPI_Iprobe", 9, 9.5);
    EXPECT_DOUBLE_EQ(value("mpi_rma_sync_wait_for_progress", "MPI_Win_lock", 0), passed ? 0 : 4);
    EXPECT_DOUBLE_EQ(value("mpi_rma_comm_wait_for_progress", "*", 0), 0);
  }
}

TEST_F(OracleTest, CountsAndGuards) {
  call(0, "MPI_Put", 1, 2, {{"bytes_put", "24"}});
  call(0, "MPI_Put", 2, 3, {{"bytes_put", "8"}});
  using Kind = Guard::Kind;
  run_.guards = {{Kind::kAtLeast, "bytes_put+bytes_get", "MPI_Put", 0, 32},
                 {Kind::kAtLeast, "bytes_put", "MPI_Put", 0, 33},
                 {Kind::kAtMost, "bytes_put", "MPI_Put", 0, 32},
                 {Kind::kAtMost, "bytes_put", "MPI_Put", 0, 31},
                 {Kind::kZero, "mpi_rma_earlytransfer", "*", 0, 0},
                 {Kind::kZero, "bytes_put", "MPI_Put", 0, 0},
                 {Kind::kZero, "misspelt", "MPI_Put", 0, 0}};
  const Truth truth(run_);
  EXPECT_EQ(truth.value("visits", "MPI_Put", 0), 2);
  EXPECT_EQ(truth.value("bytes_put", "MPI_Put", 0), 32);
  const std::vector<std::string> broken = broken_guards(run_, truth);
  ASSERT_EQ(broken.size(), 4u);
  EXPECT_EQ(broken[0], "bytes_put at MPI_Put of rank 0 is 32, should be at least 33");
  EXPECT_EQ(broken[1], "bytes_put at MPI_Put of rank 0 is 32, should be at most 31");
  EXPECT_EQ(broken[2], "bytes_put at MPI_Put of rank 0 is 32, should be exactly 0");
  EXPECT_NE(broken[3].find("misspelt"), std::string::npos);
}

TEST_F(OracleTest, NotesAreReadBackOrRefused) {
  const std::string folder = ::testing::TempDir();
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder + name) << text;
    return folder + name;
  };
  write("notes.0",
        "ranks 2\nMPI_Put 1.25 1.5 win=0 to=1 bytes_put=4\nat_least visits MPI_Put 0 1\n"
        "MPI_Finalize 2 3\n");
  write("notes.1", "ranks 2\nMPI_Finalize 2 3\n");
  const Notes run = read_all_notes(folder + "notes");
  ASSERT_EQ(run.ranks(), 2);
  EXPECT_EQ(run.calls[0][0].function, "MPI_Put");
  EXPECT_DOUBLE_EQ(run.calls[0][0].exit, 1.5);
  EXPECT_EQ(run.calls[0][0].number("to"), 1);
  EXPECT_EQ(run.guards.size(), 1u);
  Notes other;
  EXPECT_THROW(read_notes(write("bad", "ranks 2\nMPI_Put 2 1 win=0\nMPI_Finalize 2 3\n"), 0, other),
               std::runtime_error);
  EXPECT_THROW(read_notes(write("bad", "ranks 2\nMPI_Put 1 2 win\nMPI_Finalize 2 3\n"), 0, other),
               std::runtime_error);
  EXPECT_THROW(read_notes(write("bad", "ranks 2\nMPI_Put 1 2 win=0\n"), 0, other),
               std::runtime_error);
  EXPECT_THROW(read_notes(folder + "nowhere", 0, other), std::runtime_error);
}

}  // namespace
}  // namespace kojak::oracle
