// What is said of two runs: faster or slower, waits, what became worse, and where noise ends.
#include <gtest/gtest.h>

#include "expert/findings/differences.h"

namespace kojak {
namespace {

using expert::beyond_noise;
using expert::ComparedRun;

const std::vector<std::string> kTitles{"Late Post", "Wait at Fence", "Early Wait"};

std::string words(const ComparedRun& before, const ComparedRun& after, bool of_each = false) {
  return expert::difference_words(before, after, kTitles, of_each);
}

TEST(ExpertDifferences, NoiseIsAHundredthOfTheRunAndATwentiethOfTheValue) {
  EXPECT_TRUE(beyond_noise(2, 1, 100));       // 1 of 100 s, half of 2
  EXPECT_FALSE(beyond_noise(2, 1.001, 100));  // 0.999 of 100 s
  EXPECT_TRUE(beyond_noise(19, 20, 20));      // 1 of 20: a twentieth of the larger
  EXPECT_FALSE(beyond_noise(19.5, 20, 20));   // a fortieth
  EXPECT_FALSE(beyond_noise(0, 0, 0));
}

TEST(ExpertDifferences, AFasterRun) {
  // Two processes of 8 s, then 6: 25 % less. Waits 4 s, then 1.
  EXPECT_EQ(words({"a.cube", 8, 16, 10, {3, 1, 0}}, {"b.cube", 6, 12, 10, {1, 0, 0}}),
            "b.cube is 25 % faster than a.cube (6.0 s, not 8.0 s); it waits 3.0 s less; no kind of "
            "waiting got worse by more than noise.");
}

TEST(ExpertDifferences, ASlowerRunNamesTheTwoThatGrewMost) {
  // 10 to 13 s; waits 0.6 to 3.1; outside 15 to 17.
  EXPECT_EQ(words({"a", 10, 20, 15, {0.1, 0.5, 0}}, {"b", 13, 26, 17, {0.4, 1.2, 1.5}}),
            "b is 30 % slower than a (13 s, not 10 s); it waits 2.5 s more; it spends 2.0 s more "
            "outside of MPI; got worse: Early Wait (1.5 s, not 0 s), Wait at Fence (1.2 s, not "
            "0.50 s) and 1 more.");
}

TEST(ExpertDifferences, AsLongWithinAHundredth) {
  EXPECT_EQ(
      words({"a", 10, 10, 10, {0, 0, 0}}, {"b", 9.96, 9.96, 9.96, {0, 0, 0}}),
      "b takes as long as a (10.0 s, within 1 %); neither waits; no kind of waiting got worse "
      "by more than noise.");
}

TEST(ExpertDifferences, OfDifferentSizesAProcess) {
  EXPECT_EQ(
      words({"a", 8, 8, 6, {2, 0, 0}}, {"b", 4, 4, 3.5, {0.5, 0, 0}}, true),
      "b is 50 % faster than a (4.0 s, not 8.0 s); it waits 1.5 s a process less; it spends "
      "2.5 s a process less outside of MPI; no kind of waiting got worse by more than noise.");
}

}  // namespace
}  // namespace kojak
