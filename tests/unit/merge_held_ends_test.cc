// Ends that do not fit into memory: in the spill file, and taken out one by one. What
// comes out must be what comes out of memory.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

// Rank 0 of `targets` + 1, in one lock_all epoch: `rounds` operations to each target in turn, puts
// and gets, of which some are completed by their requests, in an order of its own.
std::string epoch(std::uint32_t targets, std::uint32_t rounds, int request_percent) {
  std::mt19937 random(17);
  std::string text =
      "ENTER lid=0 time=0 region=main\n"
      "ENTER lid=0 time=1 region=MPI_Win_lock_all\n"
      "MPI_WIN_LOCK_ALL lid=0 time=2 wid=0\n"
      "EXIT lid=0 time=2\n";
  std::uint32_t rmaid = 0;
  double time = 3;
  std::vector<std::uint32_t> requests;
  const auto wait_some = [&](std::size_t keep) {
    std::shuffle(requests.begin(), requests.end(), random);
    text += "ENTER lid=0 time=" + std::to_string(time) + " region=MPI_Waitall\n";
    while (requests.size() > keep) {
      text += "MPI_RMA_COMPLETE lid=0 time=" + std::to_string(time) +
              " wid=0 rmaid=" + std::to_string(requests.back()) + "\n";
      requests.pop_back();
    }
    text += "EXIT lid=0 time=" + std::to_string(time) + "\n";
    time += 0.5;
  };
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t target = 1; target <= targets; ++target) {
      const bool get = random() % 2 == 0;
      const bool request = static_cast<int>(random() % 100) < request_percent;
      text += "MPI_RMA_CALL lid=0 time=" + std::to_string(time) +
              " exit=" + std::to_string(time + 0.25) + " region=" +
              (get ? (request ? "MPI_Rget" : "MPI_Get") : (request ? "MPI_Rput" : "MPI_Put")) +
              " dlid=" + std::to_string(target) + " wid=0 rmaid=" + std::to_string(rmaid) +
              " bytes=8 got=0 kind=" + (get ? "2" : "1") + "\n";
      if (request) requests.push_back(rmaid);
      ++rmaid;
      time += 0.5;
    }
    if (round % 50 == 49) wait_some(20);
  }
  wait_some(0);
  text += "ENTER lid=0 time=" + std::to_string(time) + " region=MPI_Win_unlock_all\n" +
          "MPI_WIN_UNLOCK_ALL lid=0 time=" + std::to_string(time + 1) + " wid=0\n" +
          "EXIT lid=0 time=" + std::to_string(time + 1) + "\n" +
          "EXIT lid=0 time=" + std::to_string(time + 2) + "\n";
  return text;
}

void expect_the_same(std::uint32_t targets, std::uint32_t rounds, int request_percent) {
  LocalRun run(targets + 1);
  run.add(0, epoch(targets, rounds, request_percent));
  for (std::uint32_t rank = 1; rank <= targets; ++rank) {
    const std::string lid = std::to_string(rank);
    run.add(rank, "ENTER lid=" + lid + " time=0 region=main\nEXIT lid=" + lid + " time=1\n");
  }
  merge::MergeOptions options = run.options();
  const merge::Summary whole = run.merge(options);
  EXPECT_EQ(whole.reread, 0u);
  EXPECT_EQ(whole.moved, targets * rounds);
  const std::vector<std::byte> merged = run.merged;
  EXPECT_EQ(support::check_merge(run.locals, merged), std::vector<std::string>());
  for (const std::size_t pool : {std::size_t{1}, std::size_t{2000}, std::size_t{20000}}) {
    options.pool = pool;
    const merge::Summary summary = run.merge(options);
    EXPECT_EQ(run.merged, merged) << "with " << pool << " bytes for ends";
    EXPECT_GT(summary.reread, 0u);
  }
}

TEST(MergeHeldEnds, OneListSpills) {
  expect_the_same(1, 700, 0);
}
TEST(MergeHeldEnds, ManyListsSpill) {
  expect_the_same(7, 400, 0);
}
TEST(MergeHeldEnds, RequestsFromOneList) {
  expect_the_same(1, 600, 60);
}
TEST(MergeHeldEnds, RequestsFromManyLists) {
  expect_the_same(7, 300, 40);
}
TEST(MergeHeldEnds, AllRequests) {
  expect_the_same(3, 300, 100);
}

}  // namespace
}  // namespace kojak::test
