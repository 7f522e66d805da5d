// The controlled logical clock: random programs under clocks with offset, drift and wobble. No
// effect comes before its cause in the merged trace, every process keeps its order, and intervals
// change by no more than what is reported.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "epilog/format/text/text_reader.h"
#include "tests/support/clock_program.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

using support::ClockProgram;
using support::PlainEvent;

merge::MergeOptions controlled(merge::MergeOptions options) {
  options.clock = merge::ClockCorrection::kControlled;
  return options;
}

struct Placed {
  double time = 0;
  std::size_t order = 0;  // in the file
};
// Where each event of each process stands in the merged trace.
std::vector<std::vector<Placed>> placed(const std::vector<std::byte>& merged, std::size_t size) {
  std::vector<std::vector<Placed>> places(size);
  std::size_t order = 0;
  for (const PlainEvent& event : support::merged_events(merged)) {
    if (event.is_end || event.is_mark) continue;
    places.at(event.source).push_back({event.time, order++});
  }
  return places;
}

class ControlledClock : public ::testing::Test {
 protected:
  // Everything that must hold of one program; what is wrong, in words.
  std::vector<std::string> check(const ClockProgram& program) {
    LocalRun run(static_cast<std::uint32_t>(program.traces.size()));
    for (std::uint32_t p = 0; p < program.traces.size(); ++p) run.add(p, program.traces[p]);
    const merge::Summary summary = run.merge(controlled(run.options()));
    const auto found = placed(run.merged, program.traces.size());
    report = summary.clocks.value();
    std::vector<std::string> wrong;
    std::uint64_t backwards = 0;
    std::set<std::pair<std::uint32_t, std::uint32_t>> joint;  // exits of calls that are too early
    for (const ClockProgram::Dependency& d : program.dependencies) {
      const Placed& cause = found[d.cause.process].at(d.cause.index);
      const Placed& effect = found[d.effect.process].at(d.effect.index);
      if (cause.time > effect.time || cause.order > effect.order) {
        wrong.push_back(std::string(d.what) + " runs backwards by " +
                        std::to_string(cause.time - effect.time));
      }
      if (program.times[d.cause.process][d.cause.index] <=
          program.times[d.effect.process][d.effect.index]) {
        continue;
      }
      if (!d.joint || joint.emplace(d.effect.process, d.effect.index).second) ++backwards;
    }
    // Not one more: what need not wait must not be moved. After pauses less is known.
    if (program.pauses ? (backwards != 0) != (report.violations_before != 0)
                       : backwards != report.violations_before) {
      wrong.emplace_back("violations before");
    }
    if (report.violations_after != 0) wrong.emplace_back("violations after");
    if (report.unchecked != program.unknown && !program.pauses) {
      wrong.emplace_back("unchecked effects");
    }
    std::size_t stretched = 0;
    for (std::size_t p = 0; p < found.size(); ++p) {
      if (found[p].size() != program.times[p].size()) wrong.emplace_back("lost events");
      for (std::size_t i = 1; i < found[p].size(); ++i) {
        const double before = program.times[p][i] - program.times[p][i - 1];
        const double after = found[p][i].time - found[p][i - 1].time;
        const double rounding = 1e-8;
        if (after < 0.99 * before - rounding) wrong.emplace_back("an interval shrank");
        if (after > 1.01 * before + rounding) {
          ++stretched;
          if (after > 1.01 * before + report.largest_step + rounding) {
            wrong.emplace_back("an interval grew more than reported");
          }
        }
        if (found[p][i].order < found[p][i - 1].order) wrong.emplace_back("order of a process");
      }
    }
    if (stretched > report.stretched) wrong.emplace_back("more intervals grew than reported");
    moved += report.violations_before != 0 ? 1 : 0;
    return wrong;
  }
  merge::ClockReport report;
  int moved = 0;
};

TEST_F(ControlledClock, NoEffectBeforeItsCause) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const std::vector<std::string> wrong = check(support::clock_program(seed));
    if (!wrong.empty()) {
      std::string text;
      for (std::size_t i = 0; i < wrong.size() && i < 10; ++i) text += "\n  " + wrong[i];
      FAIL() << "seed " << seed << text;
    }
  }
  EXPECT_GT(moved, 150) << "the clocks are too good";
}

// A message that seems to arrive 0.5 s before it was sent.
const char* kSender = R"(
ENTER lid=0 time=0 region=main
ENTER lid=0 time=10 region=MPI_Send
MPI_SEND lid=0 time=10 dlid=1 cid=0 tag=1 sent=8
EXIT lid=0 time=10.25
EXIT lid=0 time=200
)";
const char* kReceiver = R"(
ENTER lid=1 time=0 region=main
ENTER lid=1 time=9 region=MPI_Recv
MPI_RECV lid=1 time=9.5 slid=0 cid=0 tag=1 recvd=8
EXIT lid=1 time=9.5
ENTER lid=1 time=39.5 region=work
EXIT lid=1 time=109.5
EXIT lid=1 time=200
)";

TEST_F(ControlledClock, OneMessageByHand) {
  LocalRun run(2);
  run.add(0, kSender);
  run.add(1, kReceiver);
  const merge::Summary summary = run.merge(controlled(run.options()));
  const auto found = placed(run.merged, 2);
  // The receive moves to 10 (and a nanosecond). Forward: 30 s later the clock is 0.3 s nearer to
  // its own, so 39.5 becomes 39.7; after 50 s it is itself again. Backward: MPI_Recv was entered
  // 0.5 s before, which may become 0.505 s: at 9.495; main 9.5 s before, so at 10 - 9.595 = 0.405.
  // The first event of all, main of rank 0, is at 0.
  EXPECT_NEAR(found[1][2].time, 10, 1e-8);
  EXPECT_GT(found[1][2].time, 10);
  EXPECT_NEAR(found[1][3].time, 10, 1e-8);
  EXPECT_NEAR(found[1][4].time, 39.7, 1e-8);
  EXPECT_NEAR(found[1][5].time, 109.5, 1e-8);
  EXPECT_NEAR(found[1][1].time, 9.495, 1e-8);
  EXPECT_NEAR(found[1][0].time, 0.405, 1e-8);
  ASSERT_TRUE(summary.clocks);
  EXPECT_EQ(summary.clocks->checked, 1u);
  EXPECT_EQ(summary.clocks->violations_before, 1u);
  EXPECT_EQ(summary.clocks->violations_after, 0u);
  EXPECT_NEAR(summary.clocks->worst_before, 0.5, 1e-12);
  EXPECT_NEAR(summary.clocks->largest_shift, 0.5, 1e-8);
  EXPECT_EQ(summary.clocks->stretched, 0u);
}

TEST_F(ControlledClock, WhatACauseAllowsIsTheLimitOfTheBackwardPass) {
  // Before the late receive, rank 1 has sent something that arrives 0.1 s later at rank 2, whose
  // clock is right: so this send cannot follow by more than 0.1 s, and the rest is a step behind
  // it.
  LocalRun run(3);
  run.add(0, kSender);
  run.add(1, R"(
ENTER lid=1 time=0 region=main
ENTER lid=1 time=8 region=MPI_Send
MPI_SEND lid=1 time=8 dlid=2 cid=0 tag=1 sent=8
EXIT lid=1 time=8.5
ENTER lid=1 time=9 region=MPI_Recv
MPI_RECV lid=1 time=9.5 slid=0 cid=0 tag=1 recvd=8
EXIT lid=1 time=9.5
EXIT lid=1 time=200
)");
  run.add(2, R"(
ENTER lid=2 time=0 region=main
ENTER lid=2 time=7 region=MPI_Recv
MPI_RECV lid=2 time=8.1 slid=1 cid=0 tag=1 recvd=8
EXIT lid=2 time=8.1
EXIT lid=2 time=200
)");
  const merge::Summary summary = run.merge(controlled(run.options()));
  const auto found = placed(run.merged, 3);
  EXPECT_NEAR(found[1][2].time, 8.1, 1e-8);
  EXPECT_LT(found[1][2].time, found[2][2].time);
  EXPECT_NEAR(found[1][3].time, 10 - 1.01 * 1.0, 1e-8) << "drawn after the receive";
  EXPECT_EQ(summary.clocks->stretched, 1u);
  // 1.5 s from the send to the receive may become 1.515 s; they are 1.9 s apart.
  EXPECT_NEAR(summary.clocks->largest_step, 1.9 - 1.515, 1e-8);
}

TEST_F(ControlledClock, GoodClocksStayAsTheyAre) {
  LocalRun run(2);
  run.add(0, kSender);
  run.add(1, R"(
ENTER lid=1 time=0 region=main
ENTER lid=1 time=9 region=MPI_Recv
MPI_RECV lid=1 time=10.5 slid=0 cid=0 tag=1 recvd=8
EXIT lid=1 time=10.5
EXIT lid=1 time=200
)");
  run.merge();
  const std::string linear = *trace_to_text(run.merged);
  const merge::Summary summary = run.merge(controlled(run.options()));
  std::string corrected = *trace_to_text(run.merged);
  // That it looked at the clocks is all that it adds.
  for (const char* line : {"str=\"merge.clock\"", "str=\"clc\"", "RUN_PROPERTY "}) {
    const std::size_t at = corrected.find(line);
    ASSERT_NE(at, std::string::npos) << line << corrected;
    const std::size_t begin = corrected.rfind('\n', at) + 1;
    corrected.erase(begin, corrected.find('\n', at) + 1 - begin);
  }
  EXPECT_EQ(corrected, linear);
  EXPECT_EQ(summary.clocks->checked, 1u);
  EXPECT_EQ(summary.clocks->violations_before, 0u);
  EXPECT_EQ(summary.clocks->largest_shift, 0);
}

}  // namespace
}  // namespace kojak::test
