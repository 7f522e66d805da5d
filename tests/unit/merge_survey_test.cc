// Pass 1 reads traces side by side, each by itself, and puts them together in order: what they name
// gets the same numbers, and what is found is the same, as if they were read one after the other.
#include <gtest/gtest.h>

#include "epilog/format/definitions.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

merge::Summary merge_with(LocalRun& run, unsigned threads) {
  merge::MergeOptions options = run.options();
  options.threads = threads;
  options.least_for_threads = 0;
  return run.merge(options);
}

// Names of the numbers that a rank's trace gives them, from `first` on.
std::string names(std::uint32_t first, const std::vector<std::string>& regions) {
  std::string text;
  for (const std::string& region : regions) {
    const std::string id = std::to_string(first++);
    text += "STRING strid=" + id + " cntc=0 str=\"" + region + "\"\nREGION rid=" + id +
            " rnid=" + id + " fid=absent begln=absent endln=absent rdid=absent rtype=1\n";
  }
  return text;
}

std::string window(std::uint32_t id) {
  const std::string wid = std::to_string(id);
  return "MPI_WIN wid=" + wid + " cid=0\nWIN_IDENTITY wid=" + wid +
         " hi=3 lo=4 flags=0 flavour=1 model=2\n";
}
const std::string kComm =
    "MPI_GROUP gid=0 mode=1 count=2 ranks=[]\nMPI_COMM_REF cid=0 gid=0\n"
    "COMM_IDENTITY cid=0 hi=1 lo=2 flags=0\n";

// A fence of each of these windows in turn, each in the region with that number; puts of rank 0 in
// between, on the other window number.
std::string fences(std::uint32_t rank, std::uint32_t region,
                   const std::vector<std::uint32_t>& windows) {
  const std::string lid = std::to_string(rank);
  std::string text;
  for (std::uint32_t i = 0; i < 6; ++i) {
    const std::string wid = std::to_string(windows[i % windows.size()]);
    const std::string other = std::to_string(windows[(i + 1) % windows.size()]);
    const std::string at = std::to_string(i), id = std::to_string(region);
    text += "ENTER lid=" + lid + " time=" + at + ".5 rid=" + id + "\nMPI_WINCOLLEXIT lid=" + lid +
            " time=" + at + ".9 wid=" + wid + "\n";
    if (rank != 0 || i == 5) continue;
    text += "MPI_RMA_CALL lid=0 time=" + std::to_string(i + 1) +
            ".1 exit=" + std::to_string(i + 1) + ".2 rid=" + std::to_string(region + 1) +
            " dlid=1 wid=" + other + " rmaid=" + at + " bytes=8 got=0 kind=1\n";
  }
  return text;
}

TEST(MergeSurvey, NumbersFollowTheOrderOfTracesNotOfReading) {
  // A process with two threads among others with one. Regions get their numbers when a record that
  // moves a window asks for one, the others at the end of each trace by their own numbers: of rank
  // 0 MPI_Win_fence, then first and MPI_Put; of rank 1 second and third; of rank 2 fourth.
  LocalRun run(3);
  run.add(0, kComm + window(0) + names(6, {"first"}) + names(7, {"MPI_Win_fence", "MPI_Put"}) +
                 fences(0, 7, {0}));
  run.add(1, names(1, {"second"}) + "ENTER lid=1 time=0 rid=1\nEXIT lid=1 time=9\n", 1);
  run.add(1, kComm + window(9) + names(1, {"MPI_Win_fence", "third"}) + fences(1, 1, {9}));
  run.add(2, names(3, {"fourth"}) + "ENTER lid=2 time=0 rid=3\nEXIT lid=2 time=9\n");
  merge_with(run, 1);
  const std::vector<std::byte> alone = run.merged;
  std::vector<std::string> order;
  run.definitions().regions.for_each(
      [&](RegionId, const RegionDef& region) { order.push_back(region.name); });
  EXPECT_EQ(order, (std::vector<std::string>{"MPI_Win_fence", "first", "MPI_Put", "third", "second",
                                             "fourth"}));
  for (const unsigned threads : {2u, 4u, 16u}) {
    merge_with(run, threads);
    EXPECT_TRUE(run.merged == alone) << threads;
  }
}

TEST(MergeSurvey, TwoNumbersOfOneWindowAreOneWindow) {
  // Which a sound trace does not have. Each put then ends at the target's fence of the same
  // ordinal, whichever number names the window: as if there were one.
  const std::vector<std::string> regions = {"MPI_Win_fence", "MPI_Put"};
  LocalRun one(2);
  LocalRun two(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    one.add(rank, kComm + window(0) + names(1, regions) + fences(rank, 1, {0}));
    two.add(rank, kComm + window(0) + window(1) + names(1, regions) + fences(rank, 1, {0, 1}));
  }
  const merge::Summary plain = merge_with(one, 1);
  EXPECT_EQ(plain.moved, 5u) << "all puts";
  for (const unsigned threads : {1u, 2u, 16u}) {
    EXPECT_EQ(merge_with(two, threads).moved, 5u) << threads;
    EXPECT_TRUE(two.merged == one.merged) << threads;
  }
}

TEST(MergeSurvey, WhatIsNotDefinedYetIsNotKnown) {
  // The regions are defined behind the first of three fences on rank 0: that one is of no MPI
  // function, and counted, and opens no epoch.
  LocalRun run(2);
  const std::string fence = "ENTER lid=0 time=1 rid=1\nMPI_WINCOLLEXIT lid=0 time=2 wid=0\n";
  const std::vector<std::string> regions = {"MPI_Win_fence", "MPI_Put"};
  run.add(0, kComm + window(0) + fence + names(1, regions) +
                 "ENTER lid=0 time=3 rid=1\nMPI_WINCOLLEXIT lid=0 time=4 wid=0\n"
                 "ENTER lid=0 time=5 rid=1\nMPI_WINCOLLEXIT lid=0 time=6 wid=0\n");
  run.add(1, kComm + window(0) + names(1, regions) + fences(1, 1, {0}));
  merge_with(run, 1);
  const std::vector<std::byte> alone = run.merged;
  for (const unsigned threads : {1u, 2u, 16u}) {
    EXPECT_EQ(merge_with(run, threads)[merge::Finding::kUnknownRole].count, 1u) << threads;
    EXPECT_TRUE(run.merged == alone) << threads;
  }
}

TEST(MergeSurvey, FindingsNameTheFirstTraceInOrder) {
  // Records of unknown types and open regions in all of 40 traces: the first is named.
  LocalRun run(40);
  for (std::uint32_t rank = 0; rank < 40; ++rank) {
    run.add(rank, "ENTER lid=" + std::to_string(rank) + " time=1 region=main\n");
    std::vector<std::byte> bytes = run.locals[rank];
    for (const std::uint8_t byte : {0, 251}) bytes.push_back(static_cast<std::byte>(byte));
    write_file(run.paths[rank], bytes);
  }
  for (const unsigned threads : {1u, 2u, 16u}) {
    const merge::Summary summary = merge_with(run, threads);
    for (const auto finding : {merge::Finding::kUnknownType, merge::Finding::kOpenRegions}) {
      EXPECT_EQ(summary[finding].count, 40u) << threads;
      EXPECT_EQ(summary[finding].where.substr(0, run.paths[0].size()), run.paths[0]) << threads;
    }
  }
}

TEST(MergeSurvey, TheFirstContradictionIsTold) {
  // Three processes whose communicators of one identity have other members: rank 1 contradicts.
  LocalRun run(4);
  const auto text = [](std::uint32_t rank) {
    return "MPI_GROUP gid=1 mode=2 count=1 ranks=[" + std::to_string(rank) +
           "]\nMPI_COMM_REF cid=0 gid=1\nCOMM_IDENTITY cid=0 hi=1 lo=2 flags=0\n";
  };
  for (std::uint32_t rank = 0; rank < 4; ++rank) run.add(rank, text(rank));
  for (const unsigned threads : {1u, 2u, 16u}) {
    merge::MergeOptions options = run.options();
    options.threads = threads;
    options.least_for_threads = 0;
    const auto merged = merge::merge_traces(options);
    ASSERT_FALSE(merged.ok()) << threads;
    EXPECT_EQ(merged.error().file, run.paths[1]) << threads;
    EXPECT_EQ(merged.error().code, ExitCode::kBadInput) << threads;
  }
}

}  // namespace
}  // namespace kojak::test
