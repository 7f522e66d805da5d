// Whether threads had a processor: bounds for stretches of time, and what a report says.
#include <gtest/gtest.h>

#include <optional>
#include <sstream>

#include "expert/findings/processor_words.h"
#include "expert/output/terminal.h"
#include "expert/sums/processors.h"
#include "tests/unit/expert_script.h"

namespace kojak::expert {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

earl::ProcessorTimes wanted(double seconds) {
  return {.ran = 0, .wanted = static_cast<std::uint64_t>(seconds * 1e9), .preempted = 0};
}

// Readings at 1, 3 and 4: without a processor for 0.5 s of [1, 3], for all of [3, 4].
class Readings : public testing::Test {
 protected:
  Readings() {
    processors_.add(0, 0, {1}, wanted(2));
    processors_.add(0, 0, {3}, wanted(2.5));
    processors_.add(0, 0, {4}, wanted(3.5));
  }
  void expect(double from, double to, double least, double most) const {
    const Processors::Bounds bounds = processors_.without(0, {from}, {to});
    EXPECT_DOUBLE_EQ(bounds.least, least) << from << " to " << to;
    EXPECT_DOUBLE_EQ(bounds.most, most) << from << " to " << to;
  }
  Processors processors_{2};
};

TEST_F(Readings, AreExactBetweenTwo) {
  expect(1, 3, 0.5, 0.5);
  expect(3, 4, 1, 1);
  expect(1, 4, 1.5, 1.5);
}

TEST_F(Readings, BoundAPartOfTheTimeBetweenTwo) {
  // [1, 2]: the 0.5 s may lie there or in [2, 3]. [1, 2.75]: 0.25 s at most lie behind it.
  expect(1, 2, 0, 0.5);
  expect(1, 2.75, 0.25, 0.5);
  // 0.25 s at most, and all of what is in [3, 4].
  expect(2.75, 3.5, 0.5, 0.75);
  expect(2, 2, 0, 0);
}

TEST_F(Readings, KnowNothingOutside) {
  expect(0, 1, 0, 1);
  expect(4, 6, 0, 2);
  expect(0, 6, 1.5, 4.5);
  EXPECT_EQ(processors_.without(1, {1}, {2}).most, 1);  // a thread without readings
}

// Of 1,000 readings 64 places keep a part; totals do not change, and bounds hold.
TEST(Processors, KeepPartOfManyReadings) {
  Processors processors(1, 64);
  for (int i = 0; i <= 1000; ++i) {
    processors.add(0, 0, {0.1 * i}, wanted(0.05 * i));
  }
  const ProcessorUse use = processors.finish(Definitions{}, std::vector<CallPath>(8));
  ASSERT_EQ(use.threads.size(), 1u);
  EXPECT_NEAR(use.threads[0].wanted, 50, 1e-6);
  EXPECT_NEAR(use.threads[0].covered, 100, 1e-9);
  // Half of any stretch: the ends are known to within one kept interval, at most 3.2 s.
  const Processors::Bounds bounds = processors.without(0, {20}, {60});
  EXPECT_LE(bounds.least, 20);
  EXPECT_GE(bounds.most, 20);
  EXPECT_GT(bounds.least, 17);
  EXPECT_LT(bounds.most, 23);
}

TEST(Processors, IgnoreCountsThatFall) {
  Processors processors(1);
  processors.add(0, 0, {1}, wanted(1));
  processors.add(0, 0, {2}, wanted(0.5));
  processors.add(0, 0, {3}, wanted(1.25));
  const ProcessorUse use = processors.finish(Definitions{}, std::vector<CallPath>(8));
  EXPECT_DOUBLE_EQ(use.threads.at(0).wanted, 0.25);
}

TEST(Processors, AreCountedInLists) {
  EXPECT_EQ(count_processors("0"), 1u);
  EXPECT_EQ(count_processors("0-3,8"), 5u);
  EXPECT_EQ(count_processors("2,4-4"), 2u);
  EXPECT_EQ(count_processors(""), 0u);
  EXPECT_EQ(count_processors("3-1"), 0u);
  EXPECT_EQ(count_processors("0;1"), 0u);
}

// Two processes of one node; what each may use, and how long rank 1 had no processor of 10 s.
Report report_of(const std::string& allowed, double without) {
  std::ostringstream text;
  text << allowed << "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
       << "ENTER lid=0 time=1 region=MPI_Barrier\nENTER lid=1 time=1 region=MPI_Barrier\n";
  for (int p = 0; p < 2; ++p) {
    text << "PROCESSOR lid=" << p << " time=1 ran=0 wanted=500 preempted=7\nMPI_COLLEXIT lid=" << p
         << " time=1.5\n";
  }
  text << "ENTER lid=0 time=10 region=MPI_Barrier\nENTER lid=1 time=11 region=MPI_Barrier\n";
  for (int p = 0; p < 2; ++p) {
    text << "PROCESSOR lid=" << p << " time=11 ran=" << 9 * kSecond
         << " wanted=" << 500 + (p == 1 ? static_cast<std::uint64_t>(without * 1e9) : 0)
         << " preempted=9\n"
         << "MPI_COLLEXIT lid=" << p << " time=11.5\nEXIT lid=" << p << " time=12\n";
  }
  static std::optional<earl::Trace> kept;
  return analyse_script(text.str(), kept, {});
}

std::string property(int process, const std::string& list) {
  return "RUN_PROPERTY key=\"processor.allowed\" value=\"" + list +
         "\" pid=" + std::to_string(process) + "\n";
}

std::string notes(const Report& report) {
  std::string text;
  for (const Finding& f : report.findings()) {
    text += std::to_string(f.count) + ' ' + f.what + ": " + f.advice + '\n';
  }
  return text;
}

TEST(Processors, AreAMetricOfEachThread) {
  const Report report = report_of("", 4);
  const std::size_t metric = report.find_metric("no_processor");
  ASSERT_NE(metric, kNone);
  EXPECT_EQ(report.by_thread(metric), (std::vector<double>{0, 4}));
  EXPECT_FALSE(report.is_wait(metric));
  EXPECT_EQ(report.processors().threads.at(1).preempted, 2u);
}

// Rank 1 had none for 4 of 10 s: 40 % of its time, 20 % of both threads'.
TEST(Processors, AreNamedBeforeTheWaits) {
  const Report report = report_of(property(0, "0-1") + property(1, "0-1"), 4);
  const std::string warning = processor_warning(report);
  EXPECT_NE(warning.find("for 20 % of their time"), std::string::npos) << warning;
  EXPECT_NE(warning.find("rank 1 for 40 %"), std::string::npos) << warning;
  EXPECT_EQ(warning.find("share"), std::string::npos) << warning;  // two may use two
  std::ostringstream out;
  print_summary(out, report, {});
  EXPECT_NE(out.str().find("Processors were missing"), std::string::npos) << out.str();
  EXPECT_NE(notes(report).find("1 thread without a processor"), std::string::npos);
}

// Rank 0 waits [10, 11] for rank 1, which had no processor for 9.5 of the 10 s from 1 to 11: at
// most 9 of them lie before 10, so for at least 0.5 s of the wait.
TEST(Processors, AreNamedBesideAWait) {
  const Report report = report_of("", 9.5);
  const std::size_t barrier = report.find_metric("mpi_barrier_wait");
  ASSERT_NE(barrier, kNone);
  for (const Instance& i : report.waits().worst) {
    if (report.metrics()[report.metric_at(i.metric)].metric.name != "mpi_barrier_wait") continue;
    if (i.waiting.seconds() != 1) continue;
    EXPECT_NEAR(i.without_processor, 0.5, 1e-9);
    return;
  }
  FAIL() << "no wait of 1 s";
}

TEST(Processors, AreSharedWhereProcessesAreMore) {
  const Report same = report_of(property(0, "3") + property(1, "3"), 4);
  EXPECT_NE(processor_warning(same).find("share 1 processor (3)"), std::string::npos)
      << processor_warning(same);
  ASSERT_EQ(same.processors().sharing.size(), 1u);
  EXPECT_EQ(same.processors().sharing[0].processes, 2u);
  const Report other = report_of(property(0, "3") + property(1, "4"), 4);
  EXPECT_TRUE(other.processors().sharing.empty());
}

// Both tell of the same group: what it counted at the later end holds, and nothing is added up.
TEST(Processors, AreLimitedByAControlGroup) {
  const auto told = [](int process, const std::string& limit, const std::string& stops) {
    const std::string pid = " pid=" + std::to_string(process) + "\n";
    return "RUN_PROPERTY key=\"processor.limit\" value=\"" + limit + "\"" + pid +
           "RUN_PROPERTY key=\"processor.stopped\" value=\"" + stops + "\"" + pid;
  };
  const Report report = report_of(told(0, "0.5 /batch/job 7", "30 times, 1.5 s") +
                                      told(1, "0.5 /batch/job 7", "31 times, 1.625000 s"),
                                  4);
  const std::vector<ProcessorUse::Limit>& limits = report.processors().limits;
  ASSERT_EQ(limits.size(), 1u);
  EXPECT_EQ(limits[0].group, "/batch/job 7");
  EXPECT_EQ(limits[0].stops, 31u);
  EXPECT_EQ(limits[0].stopped, 1.625);
  for (const std::string& words : {processor_warning(report), notes(report)}) {
    EXPECT_NE(words.find("The control group /batch/job 7 on "), std::string::npos) << words;
    EXPECT_NE(words.find("allows 0.5 processors and stopped its processes 31 times for that (1.625 "
                         "s, over all its processors)."),
              std::string::npos)
        << words;
  }
  // A limit that stopped nobody, and one that nobody can read.
  EXPECT_TRUE(report_of(told(0, "2 /a", "0 times, 0 s"), 4).processors().limits.empty());
  EXPECT_TRUE(report_of(told(0, "many", "1 times"), 4).processors().limits.empty());
}

// 0.2 s of 10 s are 2 % of the thread's time and 1 % of both threads': a note, no warning. 0.05 s:
// neither.
TEST(Processors, AreNotSpokenOfForLittle) {
  const Report little = report_of("", 0.2);
  EXPECT_EQ(processor_warning(little), "");
  EXPECT_NE(notes(little).find("1 thread without a processor"), std::string::npos);
  const Report less = report_of("", 0.05);
  EXPECT_EQ(notes(less).find("without a processor"), std::string::npos);
}

TEST(Processors, AreUnknownWhereTheKernelDoesNotTell) {
  const Report report = report_of(
      "RUN_PROPERTY key=\"processor.unknown\" value=\"/proc/x: No such file\" pid=absent\n", 0);
  EXPECT_NE(notes(report).find("/proc/x: No such file"), std::string::npos);
}

}  // namespace
}  // namespace kojak::expert
