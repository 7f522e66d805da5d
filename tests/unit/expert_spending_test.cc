// How what a late process took longer was spent: it ran, was blocked, or had no processor. Times
// are those of the scripts; the sums are in the comments.
#include "tests/unit/expert_causes_script.h"

namespace kojak::expert {
namespace {

constexpr double kNear = 1e-9;

class SpendingScript : public CauseScript {
 public:
  explicit SpendingScript(int processes, bool looked_at = true) : CauseScript(processes) {
    if (looked_at) define("RUN_PROPERTY key=\"processor.stretches\" value=\"0.001\" pid=absent");
  }
  // Seconds since the thread began; a negative number: not known.
  void reading(int process, double time, double ran, double wanted, int kind) {
    const auto nanoseconds = [](double s) {
      return s < 0 ? std::string("18446744073709551615")
                   : std::to_string(static_cast<std::uint64_t>(s * 1e9 + 0.5));
    };
    add(process, time, "PROCESSOR",
        "ran=" + nanoseconds(ran) + " wanted=" + nanoseconds(wanted) +
            " preempted=0 blocked_kind=" + std::to_string(kind));
  }
};

// Rank 0 is in alpha() from 0.5 to 2.9 and sends at 3, rank 1 receives since 1: it waits 2 of 8 s.
// alpha() takes 2.4 s longer at rank 0, in which it ran and was ready to run for so long.
CauseScript::Found late_sender(double ran, double wanted, int kind, bool looked_at = true) {
  SpendingScript s(2, looked_at);
  if (kind >= 0) {
    s.reading(0, 0.5, 0.5, 0, 0);
    s.reading(0, 2.9, 0.5 + ran, wanted, kind);
  }
  s.call(0, 0.5, 2.9, "alpha");
  s.message(0, 3, 1, 1, 3);
  return s.analyse_until(4);
}

void expect_spent(const std::optional<Spending>& spent, double ran, double blocked,
                  double no_processor) {
  ASSERT_TRUE(spent.has_value());
  EXPECT_NEAR(spent->ran, ran, kNear);
  EXPECT_NEAR(spent->blocked, blocked, kNear);
  EXPECT_NEAR(spent->no_processor, no_processor, kNear);
}

// 2.4 - 0.4 - 0.2 = 1.8 s blocked.
TEST(Spending, OneWhoSleeps) {
  const CauseScript::Found found = late_sender(0.4, 0.2, 1);
  EXPECT_EQ(found.words.at(0),
            "rank 0 is blocked 1.800 s of 2.400 s (sleeps) in alpha, before MPI_Send");
  expect_spent(found.causes.causes.at(0).spent, 0.4, 1.8, 0.2);
  EXPECT_NE(found.verdict.find("25 % of the time is waiting. rank 0 is blocked (sleeps) in alpha() "
                               "and makes rank 1 wait; without it the run would take 2.0 s less "
                               "(50 %). Try to do it before, or in another thread."),
            std::string::npos)
      << found.verdict;
  EXPECT_NEAR(found.bar.seconds(Bar::kBlocked), 1.8, 1e-9);
  EXPECT_NEAR(found.bar.seconds(Bar::kNoProcessor), 0.2, 1e-9);
  EXPECT_NEAR(found.bar.seconds(Bar::kWaiting), 2, 1e-9);
  EXPECT_NEAR(found.bar.seconds(Bar::kComputing), 8 - 1.8 - 0.2 - 2, 1e-9);
}

TEST(Spending, ByWhatItWasBlocked) {
  EXPECT_NE(late_sender(0, 0, 2).words.at(0).find("is blocked 2.400 s (page faults) in alpha"),
            std::string::npos);
  const CauseScript::Found files = late_sender(0, 0, 3);
  EXPECT_NE(files.words.at(0).find("is blocked 2.400 s (reads or writes files) in alpha"),
            std::string::npos);
  EXPECT_NE(files.verdict.find("rank 0 is blocked (reads or writes files) in alpha()"),
            std::string::npos);
  EXPECT_NE(late_sender(0, 0, 4).words.at(0).find("is blocked 2.400 s in alpha"),
            std::string::npos);
}

// Nearly all is not told from all: 2.352 s are 98 % of 2.4 s, 2.350 s are less.
TEST(Spending, NearlyAll) {
  EXPECT_NE(late_sender(0.0479, 0, 1).words.at(0).find("is blocked 2.352 s (sleeps) in alpha"),
            std::string::npos);
  EXPECT_NE(
      late_sender(0.05, 0, 1).words.at(0).find("is blocked 2.350 s of 2.400 s (sleeps) in alpha"),
      std::string::npos);
}

// 2.4 - 0.9 = 1.5 s, in which it was ready to run.
TEST(Spending, OneWithoutAProcessor) {
  const CauseScript::Found found = late_sender(0.9, 1.5, 4);
  EXPECT_NE(found.words.at(0).find("rank 0 had no processor for 1.500 s of 2.400 s in alpha"),
            std::string::npos)
      << found.words.at(0);
  expect_spent(found.causes.causes.at(0).spent, 0.9, 0, 1.5);
  // The send takes no time.
  EXPECT_TRUE(
      found.verdict.starts_with("Processors were missing: rank 0 had none for 1.5 of 4.0 "
                                "s. 25 % of the time is waiting. rank 0 had no processor "
                                "for 1.5 of 2.4 s in alpha() and makes rank 1 wait;"))
      << found.verdict;
  EXPECT_NE(found.verdict.find("Try to measure with a processor for each."), std::string::npos)
      << found.verdict;
  EXPECT_NEAR(found.bar.seconds(Bar::kNoProcessor), 1.5, 1e-9);
}

// What it did most is said, in all of 2.4 s.
TEST(Spending, TheLargestPartIsSaid) {
  EXPECT_NE(late_sender(0.801, 0.8, 1).words.at(0).find(" computes 2.400 s longer"),
            std::string::npos);
  EXPECT_NE(late_sender(0.799, 0.8, 1).words.at(0).find(" is blocked 0.801 s of 2.400 s"),
            std::string::npos);
  EXPECT_NE(late_sender(0.79, 0.81, 1).words.at(0).find(" had no processor for 0.810 s of"),
            std::string::npos);
}

// Readings stand where it did not run: none, or such as stand each 0.1 s, say that it ran.
TEST(Spending, WhoRanComputes) {
  for (const int kind : {-1, 0}) {
    const CauseScript::Found found = late_sender(0.4, 0.2, kind);
    EXPECT_EQ(found.words.at(0), "rank 0 computes 2.400 s longer in alpha, before MPI_Send");
    expect_spent(found.causes.causes.at(0).spent, 2.4, 0, 0);
    EXPECT_NE(found.verdict.find("rank 0, alpha(), makes rank 1 wait;"), std::string::npos)
        << found.verdict;
    EXPECT_NEAR(found.bar.seconds(Bar::kBlocked), 0, 1e-9);
  }
}

// A trace of before, whatever its readings each 0.1 s say.
TEST(Spending, WithoutReadingsNobodyKnows) {
  for (const int kind : {-1, 0}) {
    const CauseScript::Found found = late_sender(0.4, 0.2, kind, false);
    EXPECT_EQ(found.words.at(0),
              "rank 0 is outside of MPI 2.400 s longer in alpha, before MPI_Send");
    EXPECT_FALSE(found.causes.causes.at(0).spent.has_value());
  }
}

// Where the kernel does not tell who wanted a processor, time that is not blocked by something
// known may have been without one.
TEST(Spending, WithoutCountsOfTheKernel) {
  SpendingScript s(2);
  s.reading(0, 0.5, 0.5, -1, 0);
  s.reading(0, 2.9, 0.5, -1, 4);
  s.call(0, 0.5, 2.9, "alpha");
  s.message(0, 3, 1, 1, 3);
  EXPECT_EQ(s.analyse_until(4).words.at(0),
            "rank 0 is outside of MPI 2.400 s longer in alpha, before MPI_Send");
}

// After a fence that ends at 2 the processes compute until 5, 5 and 8; each sleeps 2 s of it. So
// what rank 2 takes longer, 3 s, it ran.
TEST(Spending, SleepingAsTheOthersDoIsNoReason) {
  SpendingScript s(3);
  s.fence({1, 1, 1}, 2);
  for (int p = 0; p < 3; ++p) s.reading(p, 2, 1, 0, 0);
  for (int p = 0; p < 3; ++p) s.reading(p, p == 2 ? 8 : 5, p == 2 ? 5 : 2, 0, 1);
  s.fence({5, 5, 8}, 9);
  const CauseScript::Found found = s.analyse_until(10);
  expect_spent(found.causes.causes.at(0).spent, 3, 0, 0);
  EXPECT_NE(found.words.at(0).find("rank 2 computes 3.000 s longer"), std::string::npos);
  EXPECT_NEAR(found.bar.seconds(Bar::kBlocked), 6, 1e-9);
}

// The same, but rank 2 sleeps 4.5 s: 2.5 s more than the others, and runs 1.5 s, 0.5 s more.
TEST(Spending, WhatItSleptLonger) {
  SpendingScript s(3);
  s.fence({1, 1, 1}, 2);
  for (int p = 0; p < 3; ++p) s.reading(p, 2, 1, 0, 0);
  for (int p = 0; p < 3; ++p) s.reading(p, p == 2 ? 8 : 5, p == 2 ? 2.5 : 2, 0, 1);
  s.fence({5, 5, 8}, 9);
  expect_spent(s.analyse_until(10).causes.causes.at(0).spent, 0.5, 2.5, 0);
}

// A chain ends with what its first one does.
TEST(Spending, TheChainSaysIt) {
  SpendingScript s(3);
  s.reading(0, 0, 0, 0, 0);
  s.reading(0, 3, 0, 0, 1);
  for (int r = 1; r < 3; ++r) s.message(r - 1, 3, r, 1, 3);
  EXPECT_EQ(s.analyse_until(4).chains.at(0),
            "rank 2 waits for 1, 1 for 0, all in MPI_Recv; 0 is blocked (sleeps)");
}

}  // namespace
}  // namespace kojak::expert
