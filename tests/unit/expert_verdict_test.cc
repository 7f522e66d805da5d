// The verdict's sentences, the bar, the numbers and the twelve lines: each template once, by hand.
#include "expert/findings/numbers.h"
#include "expert/findings/short_names.h"
#include "tests/unit/expert_causes_script.h"

namespace kojak::expert {
namespace {

// ---- numbers

TEST(ShortNumbers, TwoSignificantDigits) {
  for (const auto& [seconds, text] :
       std::vector<std::pair<double, const char*>>{{0, "0 s"},
                                                   {12e-6, "12 us"},
                                                   {0.4e-3, "0.4 ms"},
                                                   {0.00099, "1.0 ms"},
                                                   {0.001, "0.001 s"},
                                                   {0.0064, "0.006 s"},
                                                   {0.0614, "0.061 s"},
                                                   {0.0996, "0.10 s"},
                                                   {0.163, "0.16 s"},
                                                   {0.996, "1.0 s"},
                                                   {1.84, "1.8 s"},
                                                   {9.96, "10 s"},
                                                   {31.1, "31 s"},
                                                   {599, "599 s"},
                                                   {840, "14 min"},
                                                   {12240, "3.4 h"}}) {
    EXPECT_EQ(short_time(seconds), text);
  }
  EXPECT_EQ(short_times(1.08, 2.04), "1.1 of 2.0 s");
}

TEST(ShortNumbers, SharesAreWhole) {
  EXPECT_EQ(short_share(0.226, 1), "23 %");
  EXPECT_EQ(short_share(0.004, 1), "<1 %");
  EXPECT_EQ(short_share(0.9999, 1), ">99 %");
  EXPECT_EQ(short_share(1, 1), "100 %");
  EXPECT_EQ(short_share(0, 1), "0 %");
}

// 10.5, 8.6, 66.8, 13.9 and 0.2 of the demo: the last is below 0.5; of 99.8 the others have 10.52,
// 8.62, 66.93 and 13.93 of 100: 10, 8, 66 and 13 are 97, three remainders go up.
TEST(ShortNumbers, WhatIsPrintedAddsUp) {
  const std::vector<double> parts{10.5, 8.6, 66.8, 13.9, 0.2};
  EXPECT_EQ(whole_parts(parts, 100, 0.005), (std::vector<unsigned>{10, 9, 67, 14, 0}));
  for (const unsigned whole : {43u, 57u, 77u, 100u, 197u}) {
    unsigned sum = 0;
    for (const unsigned p : whole_parts(parts, whole, 0.005)) sum += p;
    EXPECT_EQ(sum, whole);
  }
  // One letter at least from half a per cent on.
  const std::vector<double> small{0.006, 0.994};
  EXPECT_EQ(whole_parts(small, 77, 0.005), (std::vector<unsigned>{1, 76}));
  EXPECT_EQ(whole_parts(std::vector<double>{0, 0}, 77, 0.005), (std::vector<unsigned>{0, 0}));
}

// ---- sentences

void expect_fits(const CauseScript::Found& found) {
  for (const auto& [width, text] : found.lines) {
    std::istringstream lines(text);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      const auto columns =
          std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LT(columns, width) << line;
      for (const char c : line) EXPECT_TRUE(c >= ' ' || c < 0) << line;
    }
    EXPECT_LE(count, width >= 80 ? 12u : 40u) << text;
  }
}

// Rank 0 is in alpha() until 2.9 and sends at 3, rank 1 receives since 1: it waits 2 of 8 s.
// alpha() takes 2.4 s longer at rank 0; without that rank 0 sends at 0.6, and rank 1 leaves at 1: 2
// of 4 s.
TEST(VerdictWords, OneWhoSendsLate) {
  CauseScript s(2);
  s.call(0, 0.5, 2.9, "alpha");
  s.message(0, 3, 1, 1, 3);
  const CauseScript::Found found = s.analyse_until(4);
  EXPECT_EQ(found.verdict,
            "25 % of the time is waiting. rank 0 is outside of MPI in alpha() and makes rank 1 "
            "wait; without it the run would take 2.0 s less (50 %). Try to send before alpha(), or "
            "to let rank 1 compute before it receives.");
  EXPECT_EQ(found.lines.at(80),
            "run.elg: 2 processes on node0, 4.0 s\n"
            "25 % of the time is waiting. rank 0 is outside of MPI in alpha() and makes rank\n"
            "1 wait; without it the run would take 2.0 s less (50 %). Try to send before\n"
            "alpha(), or to let rank 1 compute before it receives.\n"
            "[##########################################################...................]\n"
            " # computing 75 %  . waiting 25 %\n"
            "       waits      gain  who          where\n"
            " 1     2.0 s     2.0 s  rank 0       alpha()\n"
            "everything: expert --full run.elg\n");
  expect_fits(found);
  const Bar& bar = found.bar;
  EXPECT_NEAR(bar.whole(), 8, 1e-9);
  EXPECT_NEAR(bar.seconds(Bar::kWaiting), 2, 1e-9);
  Ticks sum = 0;
  for (const Ticks part : bar.parts) sum += part;
  EXPECT_EQ(sum, bar.base);
}

// A chain: rank 0 computes until 3, each sends on what it has received.
TEST(VerdictWords, AChain) {
  CauseScript s(4);
  s.call(0, 0.5, 2.9, "alpha");
  for (int r = 1; r < 4; ++r) s.message(r - 1, 3, r, 1, 3);
  const CauseScript::Found found = s.analyse_until(4);
  EXPECT_NE(found.verdict.find("rank 0 is outside of MPI in alpha() and makes rank 1 wait and "
                               "through it ranks 2 and 3; without it"),
            std::string::npos)
      << found.verdict;
  EXPECT_NE(found.lines.at(80).find("; 1, 2 and 3 wait in turn"), std::string::npos)
      << found.lines.at(80);
  EXPECT_EQ(found.steps, (std::vector<std::string>{
                             "rank 3 waits 2.0 s in MPI_Recv(), until rank 2 sends",
                             "rank 2 waits 2.0 s in MPI_Recv(), until rank 1 sends",
                             "rank 1 waits 2.0 s in MPI_Recv(), until rank 0 sends",
                             "rank 0 is outside of MPI for 2.4 s in alpha(), before MPI_Send()"}));
  expect_fits(found);
}

// Two that are late alike: the run gains without both only, 3 of 5 s.
TEST(VerdictWords, TwoThatGainTogether) {
  CauseScript s(3);
  s.call(1, 0.5, 4, "alpha");
  s.call(2, 0.5, 4, "beta");
  s.barrier({1, 4, 4}, 4);
  const CauseScript::Found found = s.analyse_until(5);
  EXPECT_NE(found.verdict.find("rank 1 is outside of MPI in alpha() and makes rank 0 wait; without "
                               "it and beta() (rank 2) it would take 3.0 s less (60 %)."),
            std::string::npos)
      << found.verdict;
  expect_fits(found);
}

// Rank 1 waits 2 s for alpha(), and rank 2 computes until the end, so that without alpha() the run
// is as long. Where rank 2 has polled for 2 s for a message that nobody sends, half of all waiting
// is nobody's: what a gain would be is not known.
TEST(VerdictWords, WhereMuchIsNotAttributedNoGainIsNotSaid) {
  for (const bool polls : {false, true}) {
    CauseScript s(3);
    s.call(0, 0.5, 2.9, "alpha");
    s.message(0, 3, 1, 1, 3);
    if (polls) {
      s.call(
          2, 10, 12, "MPI_Iprobe",
          {{12, "MPI_POLLED", "begin=10 count=100 called=2 judged=1 end=3 flags=4 members=1"},
           {12, "MPI_POLL", "kind=2 region=MPI_Iprobe count=100 first_enter=10 last_enter=11.9"}});
    }
    const CauseScript::Found found = s.analyse_until(13);
    EXPECT_NEAR(found.causes.unexplained, polls ? 2 : 0, 1e-9);
    const std::string expected =
        polls
            ? "makes rank 1 wait; how much shorter the run would be without it is not known. 50 % "
              "of the waiting is not attributed."
            : "makes rank 1 wait; removing it alone would not shorten the run.";
    EXPECT_NE(found.verdict.find(expected), std::string::npos) << found.verdict;
    expect_fits(found);
  }
}

TEST(VerdictWords, ACallThatTakesLonger) {
  CauseScript s(3);
  s.call(1, 1, 4, "MPI_Type_commit");
  s.barrier({1, 4, 1}, 4);
  const CauseScript::Found found = s.analyse_until(5);
  EXPECT_NE(found.verdict.find("MPI_Type_commit() itself takes longer on rank 1 and makes the "
                               "others wait; without it the run would take 3.0 s less (60 %)."),
            std::string::npos)
      << found.verdict;
  EXPECT_EQ(found.verdict.find("computes"), std::string::npos);
  EXPECT_NE(found.lines.at(80).find("MPI_Type_commit() itself\n"), std::string::npos)
      << found.lines.at(80);
}

TEST(VerdictWords, EvenPairs) {
  CauseScript s(16);
  for (int p = 0; p < 8; ++p) {
    s.call(2 * p, 0, 0.5, "late");
    s.message(2 * p, 0.5, 2 * p + 1, 0, 0.5);
  }
  const CauseScript::Found found = s.analyse_until(1);
  EXPECT_NE(found.verdict.find("8 pairs of neighbours wait alike, spread evenly: the lower rank of "
                               "each makes the other wait in late(); without it the run would take "
                               "0.50 s less (50 %). Try to send before late()."),
            std::string::npos)
      << found.verdict;
  EXPECT_NE(found.lines.at(80).find(" 1     4.0 s    0.50 s  8 pairs      late(), 0.50 s each\n"),
            std::string::npos)
      << found.lines.at(80);
  expect_fits(found);
}

// Of twenty pairs one waits 0.5 s, the others 0.1 s: without what that one takes longer the run
// ends 0.5 s earlier, as its rank 20 needs 0.5 s alone (all is left out), the others until 0.1.
TEST(VerdictWords, AnOddPair) {
  CauseScript s(40);
  for (int p = 0; p < 20; ++p) {
    const double late = p == 10 ? 0.5 : 0.1;
    s.call(2 * p, 0, late, "late");
    s.message(2 * p, late, 2 * p + 1, 0, late);
  }
  for (int r = 0; r < 40; ++r) {
    const int pair = r / 2;
    s.add(r, pair == 10 ? 0.5 : 0.1, "ENTER", "region=MPI_Finalize");
    s.add(r, pair == 10 ? 0.5 : 0.1, "EXIT");
  }
  const CauseScript::Found found = s.analyse_until(0.6);
  EXPECT_NE(found.verdict.find("20 pairs of neighbours wait for late(). The odd one is rank 20: it "
                               "makes rank 21 wait 0.50 s, 5 times as long as the others"),
            std::string::npos)
      << found.verdict;
  EXPECT_NE(found.verdict.find("Try to find what is special about rank 20."), std::string::npos);
  EXPECT_NE(found.lines.at(80).find("rank 20      the odd one: rank 21 waits\n"), std::string::npos)
      << found.lines.at(80);
  EXPECT_NE(found.lines.at(80).find("19 pairs     evenly, 0.10 s each\n"), std::string::npos)
      << found.lines.at(80);
  expect_fits(found);
}

// Eight ranks by turns: each makes the others wait once.
TEST(VerdictWords, AllByTurns) {
  CauseScript s(8);
  s.fence(std::vector<double>(8, 1.0), 1);
  for (int i = 0; i < 8; ++i) {
    const double t = 1 + 3 * i;
    std::vector<double> enters(8, t + 2);
    enters[static_cast<std::size_t>(i)] = t + 3;
    for (int r = 0; r < 8; ++r) {
      s.call(r, t, enters[static_cast<std::size_t>(r)], "step");
    }
    s.fence(enters, t + 3);
  }
  const CauseScript::Found found = s.analyse_until(26);
  EXPECT_NE(found.verdict.find("Waiting is spread evenly over 8 ranks: step() on each; without it "
                               "the run would take 8.0 s less (31 %)."),
            std::string::npos)
      << found.verdict;
  EXPECT_NE(found.lines.at(80).find("8 ranks      step()\n"), std::string::npos)
      << found.lines.at(80);
}

// Three hold a lock for a second each, twice, one after the other. Rank 0 computes until the end.
TEST(VerdictWords, TurnsAtALock) {
  CauseScript s(4);
  double wanted[3] = {0, 0, 0};
  for (int turn = 0; turn < 6; ++turn) {
    const int rank = 1 + turn % 3;
    s.lock(rank, wanted[turn % 3], turn, 0, true);
    s.call(rank, turn, turn + 1, "update");
    s.unlock(rank, turn + 1, 0);
    wanted[turn % 3] = turn + 1;
  }
  const CauseScript::Found found = s.analyse_until(7);
  EXPECT_NE(found.verdict.find("3 ranks take turns at the lock of window 0, which is held in "
                               "update(), and wait evenly for each other; removing it alone would "
                               "not shorten the run."),
            std::string::npos)
      << found.verdict;
  EXPECT_NE(found.verdict.find("Try to keep out of the lock what needs none."), std::string::npos);
}

// The flush of rank 0 ends as soon as rank 1, which computes until 5, calls MPI.
TEST(VerdictWords, WaitForProgress) {
  CauseScript s(2);
  s.lock(0, 0.5, 0.75, 1, false);
  s.put(0, 1, 1.25, 1);
  s.call(0, 2, 5, "MPI_Win_flush", {{5, "MPI_WIN_FLUSH", "tlid=1 wid=0 local=0"}});
  s.add(1, 5, "MPI_PUT_1TE", "slid=0 wid=0 rmaid=0 recvd=8");
  s.unlock(0, 5.5, 1);
  s.call(1, 0.5, 5, "alpha");
  s.call(1, 5, 5.25, "MPI_Iprobe");
  const CauseScript::Found found = s.analyse_until(6);
  EXPECT_NE(found.verdict.find(
                "Try to call MPI in alpha() now and then, or a library that needs no call."),
            std::string::npos)
      << found.verdict;
  EXPECT_EQ(found.steps,
            (std::vector<std::string>{
                "rank 0 waits 3.0 s in MPI_Win_flush(), until rank 1 calls MPI",
                "rank 1 is outside of MPI for 4.5 s in alpha(), before MPI_Iprobe()"}));
}

// A function whose calls have no lines: the call at its end tells two groups of it apart.
TEST(VerdictWords, TwoGroupsOfOneFunctionSayWhatTellsThemApart) {
  CauseScript s(2);
  const double late[2] = {4, 1}, early[2] = {1, 1};
  for (int r = 0; r < 2; ++r) s.add(r, 0.5, "ENTER", "region=step");
  s.barrier({late[0], late[1]}, 4);
  s.fence({early[0] + 6, early[1] + 4}, 7);
  for (int r = 0; r < 2; ++r) s.add(r, 7.5, "EXIT");
  const CauseScript::Found found = s.analyse_until(8);
  ASSERT_EQ(found.causes.groups.listed.size(), 2u);
  EXPECT_NE(found.lines.at(80).find("step(), before MPI_Barrier()"), std::string::npos)
      << found.lines.at(80);
  EXPECT_NE(found.lines.at(80).find("step(), before MPI_Win_fence()"), std::string::npos)
      << found.lines.at(80);
}

TEST(VerdictWords, NothingWaits) {
  CauseScript s(2);
  s.call(0, 1, 3, "step");
  s.call(1, 1, 3, "step");
  s.barrier({3, 3}, 3);
  const CauseScript::Found found = s.analyse_until(4);
  EXPECT_EQ(found.verdict, "No wait takes 1 % of the time. 100 % of it is computing.");
  expect_fits(found);
}

// Forty functions, each makes rank 0 wait 0.1 s, of 4 s: none has a tenth.
TEST(VerdictWords, SpreadOverFunctions) {
  CauseScript s(2);
  for (int i = 0; i < 40; ++i) {
    s.call(1, i, i + 0.2, "f" + std::to_string(i));
    s.barrier({i + 0.1, i + 0.2}, i + 0.2);
  }
  const CauseScript::Found found = s.analyse_until(40);
  EXPECT_NE(found.verdict.find("Waiting is spread over 40 functions, 100 % of it outside of MPI"),
            std::string::npos)
      << found.verdict;
  EXPECT_EQ(found.verdict.find("Try"), std::string::npos);
}

// Names that are long, or hold what a terminal obeys.
TEST(VerdictWords, HostileNames) {
  std::string deep = "int";
  for (int i = 0; i < 30; ++i)
    deep = "std::vector<" + deep + ", std::allocator<" + deep.substr(0, 40) + ">>";
  for (const std::string& name : std::vector<std::string>{deep + "::advance", std::string(300, 'x'),
                                                          "a\\033[31mb", "\\342\\200\\256rtl"}) {
    CauseScript s(2);
    s.call(0, 0.5, 2.9, "\"" + name + "\"");
    s.message(0, 3, 1, 1, 3);
    expect_fits(s.analyse_until(4));
  }
}

TEST(ShortenedNames, ArgumentsGoFirst) {
  EXPECT_EQ(shortened_name("Engine<std::pair<int, Grid<3>>>::advance()", 30),
            "Engine<...>::advance()");
  EXPECT_EQ(shortened_name("f()", 10), "f()");
  EXPECT_EQ(shortened_name("abcdefghijklmnopqrstuvwxyz", 10), "ab...vwxyz");
}

}  // namespace
}  // namespace kojak::expert
