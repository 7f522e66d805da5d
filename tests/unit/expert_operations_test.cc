// Instances are operations: what belongs to one, which are kept, for whom they waited. Waits are
// made by hand or come from text traces; sums are in the comments.
#include <gtest/gtest.h>

#include "earl/findings.h"
#include "earl/trace.h"
#include "epilog/format/in_number.h"
#include "epilog/format/text/counts.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"
#include "expert/findings/wait_words.h"
#include "expert/patterns/catalogue.h"

namespace kojak::expert {
namespace {

Wait wait_at(LocationIndex location, std::uint64_t operation, double enter, double seconds,
             LocationIndex by = kNoLocation, bool scattered = false) {
  Wait w;
  w.metric = metric_index<FenceWait>();
  w.location = location;
  w.enter = w.begin = Seconds{enter};
  w.exit = w.end = Seconds{enter + seconds};
  w.waiting = Seconds{seconds};
  if (by != kNoLocation) w.ended_by = {by, 9, w.end};
  w.operation = {
      .object = Operation::Object::kWindow, .scattered = scattered, .id = 0, .number = operation};
  return w;
}

TEST(Operations, AddUpWhatWaitedInThem) {
  Instances instances(10, 16);
  instances.on_wait(wait_at(0, 1, 2, 3, 2));  // [2, 5]
  instances.on_wait(wait_at(1, 1, 1, 4, 2));  // [1, 5]
  instances.on_wait(wait_at(0, 2, 6, 5));     // another operation
  const WaitResults results = instances.finish();
  ASSERT_EQ(results.worst.size(), 2u);
  const Instance& first = results.worst[0];
  EXPECT_EQ(first.waiting.seconds(), 7);  // 3 + 4, more than the other one's 5
  EXPECT_EQ(first.begin.value, 1);
  EXPECT_EQ(first.end.value, 5);
  ASSERT_EQ(first.waiters.size(), 2u);
  EXPECT_EQ(first.waiters[0].location, 1u);  // the longest first
  EXPECT_EQ(results.worst[1].waiting.seconds(), 5);
  ASSERT_EQ(partners_of(first).size(), 1u);
  EXPECT_EQ(partners_of(first)[0].location, 2u);
  EXPECT_EQ(partners_of(first)[0].waited.seconds(), 7);
  EXPECT_TRUE(partners_of(results.worst[1]).empty());
}

TEST(Operations, OnlyTheWorstAreKept) {
  Instances instances(2, 16);
  for (const double seconds : {3.0, 1.0, 5.0, 4.0, 2.0}) {
    instances.on_wait(wait_at(0, static_cast<std::uint64_t>(seconds), 10 * seconds, seconds));
  }
  const WaitResults results = instances.finish();
  ASSERT_EQ(results.worst.size(), 2u);
  EXPECT_EQ(results.worst[0].waiting.seconds(), 5);
  EXPECT_EQ(results.worst[1].waiting.seconds(), 4);
  ASSERT_EQ(results.of_places.size(), 1u);  // all at one call path
  EXPECT_EQ(results.of_places[0].waiting.seconds(), 5);
  Instances none(0, 16);
  none.on_wait(wait_at(0, 1, 0, 1));
  EXPECT_TRUE(none.finish().worst.empty());
}

TEST(Operations, OfEqualOnesTheEarlier) {
  Instances instances(1, 16);
  instances.on_wait(wait_at(0, 1, 20, 1));
  instances.on_wait(wait_at(0, 2, 10, 1));
  const WaitResults results = instances.finish();
  ASSERT_EQ(results.worst.size(), 1u);
  EXPECT_EQ(results.worst[0].begin.value, 10);
}

TEST(Operations, ScatteredOnesArePutTogetherByNumber) {
  Instances instances(10, 16);
  instances.on_wait(wait_at(0, 1, 0, 1, 5, true));
  instances.on_wait(wait_at(0, 2, 1, 2, 6, true));
  instances.on_wait(wait_at(1, 1, 0, 4, 5, true));
  const WaitResults results = instances.finish();
  ASSERT_EQ(results.worst.size(), 2u);
  EXPECT_EQ(results.worst[0].waiting.seconds(), 5);  // 1 + 4
  EXPECT_EQ(results.worst[1].waiting.seconds(), 2);
}

// Of 16 locations the waits of a scattered operation are put together as long as fewer than 1,024
// of its metric's operations came after it.
TEST(Operations, ScatteredWaitsArePutTogetherForAWhile) {
  for (const std::uint64_t later : {Instances::kLeastOpen - 1, Instances::kLeastOpen}) {
    Instances instances(2, 16);
    instances.on_wait(wait_at(0, 1, 0, 4, 5, true));
    for (std::uint64_t i = 0; i < later; ++i) instances.on_wait(wait_at(0, 2 + i, 0, 1, 5, true));
    instances.on_wait(wait_at(6, 1, 0, 3, 5, true));
    const WaitResults results = instances.finish();
    ASSERT_EQ(results.worst.size(), 2u);
    if (later < Instances::kLeastOpen) {
      EXPECT_EQ(results.worst[0].waiting.seconds(), 4 + 3);
      EXPECT_EQ(results.worst[0].waiters.size(), 2u);
      EXPECT_EQ(results.worst[1].waiting.seconds(), 1);
    } else {
      EXPECT_EQ(results.worst[0].waiting.seconds(), 4);
      EXPECT_EQ(results.worst[1].waiting.seconds(), 3);
    }
  }
}

TEST(Operations, ListAtMostSoManyWaiters) {
  Instances instances(1, 16);
  const auto many = static_cast<LocationIndex>(Instances::kListed + 3);
  for (LocationIndex l = 0; l < many; ++l) instances.on_wait(wait_at(l, 1, 0, 1 + l));
  const WaitResults results = instances.finish();
  ASSERT_EQ(results.worst.size(), 1u);
  EXPECT_EQ(results.worst[0].waiters.size(), Instances::kListed);
  EXPECT_EQ(results.worst[0].further, 3u);
  EXPECT_EQ(results.worst[0].waiters[0].location, many - 1);
  EXPECT_EQ(results.worst[0].waiting.seconds(), many * (many + 1) / 2.0);  // 1 + 2 + ... + many
}

TEST(Operations, PartnersAreSummedForEachPlace) {
  Instances instances(1, 16);
  instances.on_wait(wait_at(0, 1, 0, 1, 4));
  instances.on_wait(wait_at(0, 2, 2, 3, 5));
  instances.on_wait(wait_at(1, 3, 5, 3, 4));
  const WaitResults results = instances.finish();
  const auto found = results.partners.find(WaitResults::place(metric_index<FenceWait>(), 0));
  ASSERT_NE(found, results.partners.end());
  ASSERT_EQ(found->second.size(), 2u);
  EXPECT_EQ(found->second[0].location, 4u);
  EXPECT_EQ(found->second[0].waited.seconds(), 4);  // 1 + 3
  EXPECT_EQ(found->second[1].waited.seconds(), 3);
}

Report analysed(const std::string& text, std::vector<std::byte>& bytes,
                std::optional<earl::Trace>& trace, const AnalysisOptions& options = {}) {
  auto made = text_to_trace(text, "text");
  if (!made) throw std::runtime_error(made.error().message());
  bytes = std::move(*made);
  auto opened = earl::Trace::from(memory_source(bytes.data(), bytes.size()), "text");
  trace.emplace(std::move(*opened));
  return analyse(*trace, options);
}

// Pair p: process 2p receives from 2p + 1 what it sends 1 + p / 1000 s later. All overlap in time.
TEST(Operations, PairsThatOverlapAreInstancesOfTheirOwn) {
  constexpr int kPairs = 512;
  std::string text;
  const auto line = [&](const char* what, int location, double time, const std::string& rest) {
    text += std::string(what) + " lid=" + std::to_string(location) +
            " time=" + std::to_string(time) + ' ' + rest + '\n';
  };
  for (int l = 0; l < 2 * kPairs; ++l) line("ENTER", l, 0, "region=main");
  for (int p = 0; p < kPairs; ++p) line("ENTER", 2 * p, 1, "region=MPI_Recv");
  for (int p = 0; p < kPairs; ++p) {
    const double sent = 2 + p / 1000.0;
    line("ENTER", 2 * p + 1, sent, "region=MPI_Send");
    line("MPI_SEND", 2 * p + 1, sent, "dlid=" + std::to_string(2 * p) + " tag=0 sent=8");
    line("EXIT", 2 * p + 1, sent, "");
    line("MPI_RECV", 2 * p, sent, "slid=" + std::to_string(2 * p + 1) + " tag=0 recvd=8");
    line("EXIT", 2 * p, sent, "");
  }
  for (int l = 0; l < 2 * kPairs; ++l) line("EXIT", l, 4, "");
  std::vector<std::byte> bytes;
  std::optional<earl::Trace> trace;
  const Report report = analysed(text, bytes, trace, {.instances = 1000});
  std::vector<const Instance*> found;
  for (const Instance& i : report.waits().worst) {
    if (i.metric == metric_index<LateSender>()) found.push_back(&i);
  }
  ASSERT_EQ(found.size(), std::size_t{kPairs});
  for (int n = 0; n < kPairs; ++n) {
    const int p = kPairs - 1 - n;  // the longest first
    const Instance& i = *found[static_cast<std::size_t>(n)];
    ASSERT_EQ(i.waiters.size(), 1u);
    EXPECT_EQ(i.waiters[0].location, static_cast<LocationIndex>(2 * p));
    EXPECT_NEAR(i.waiting.seconds(), 1 + p / 1000.0, 1e-6);
    EXPECT_EQ(i.waiters[0].ended_by.location, static_cast<LocationIndex>(2 * p + 1));
  }
}

// Processes 0, 1 fence on window 0, processes 2, 3 on window 1, at the same times.
TEST(Operations, WindowsAreNotMixed) {
  const char* const text =
      "MPI_GROUP gid=0 ranks=[0,1]\nMPI_COMM_REF cid=0 gid=0\nMPI_GROUP gid=1 ranks=[2,3]\n"
      "MPI_COMM_REF cid=1 gid=1\nCOMM_IDENTITY cid=0 hi=1 lo=1 flags=0\n"
      "COMM_IDENTITY cid=1 hi=1 lo=2 flags=0\nMPI_WIN wid=0 cid=0\nMPI_WIN wid=1 cid=1\n"
      "WIN_IDENTITY wid=0 hi=1 lo=1 flags=0 flavour=1 model=2\n"
      "WIN_IDENTITY wid=1 hi=1 lo=2 flags=0 flavour=1 model=2\n"
      "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
      "ENTER lid=2 time=0 region=main\nENTER lid=3 time=0 region=main\n"
      "ENTER lid=0 time=1 region=MPI_Win_fence\nENTER lid=2 time=1 region=MPI_Win_fence\n"
      "ENTER lid=1 time=3 region=MPI_Win_fence\nENTER lid=3 time=5 region=MPI_Win_fence\n"
      "MPI_WINCOLLEXIT lid=0 time=6 wid=0\nMPI_WINCOLLEXIT lid=1 time=6 wid=0\n"
      "MPI_WINCOLLEXIT lid=2 time=6 wid=1\nMPI_WINCOLLEXIT lid=3 time=6 wid=1\n"
      "EXIT lid=0 time=7\nEXIT lid=1 time=7\nEXIT lid=2 time=7\nEXIT lid=3 time=7\n";
  std::vector<std::byte> bytes;
  std::optional<earl::Trace> trace;
  const Report report = analysed(text, bytes, trace);
  const WaitResults& waits = report.waits();
  ASSERT_EQ(waits.worst.size(), 2u);
  EXPECT_EQ(object_name(waits.worst[0].operation), "window 1");
  EXPECT_EQ(waits.worst[0].waiting.seconds(), 4);  // 5 - 1
  EXPECT_EQ(waits.worst[0].waiters[0].ended_by.location, 3u);
  EXPECT_EQ(object_name(waits.worst[1].operation), "window 0");
  EXPECT_EQ(waits.worst[1].waiting.seconds(), 2);  // 3 - 1
  EXPECT_EQ(waits.worst[1].waiters[0].ended_by.location, 1u);
  const Partner by = partners_of(waits.worst[0])[0];
  EXPECT_EQ(ending(report, by.location, by.call_path, by.at_exit), "rank 3 enters MPI_Win_fence");
}

// Who listens to the waits gets them all, and changes nothing.
TEST(Operations, AListenerChangesNothing) {
  WaitList listener;
  const std::string text =
      "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
      "ENTER lid=0 time=1 region=MPI_Barrier\nENTER lid=1 time=3 region=MPI_Barrier\n"
      "MPI_COLLEXIT lid=0 time=4\nMPI_COLLEXIT lid=1 time=4\n"
      "EXIT lid=0 time=10\nEXIT lid=1 time=10\n";
  std::vector<std::byte> bytes, again;
  std::optional<earl::Trace> trace, same;
  const Report watched = analysed(text, bytes, trace, {.waits = &listener});
  const Report plain = analysed(text, again, same);
  ASSERT_EQ(listener.waits.size(), 1u);
  EXPECT_EQ(listener.waits[0].waiting, Seconds{2});  // 3 - 1
  for (std::size_t m = 0; m < plain.metrics().size(); ++m) {
    EXPECT_EQ(watched.total(m), plain.total(m)) << plain.metrics()[m].metric.name;
  }
  EXPECT_EQ(watched.waits().worst.size(), 1u);
}

TEST(Words, SayHowMuchItIs) {
  EXPECT_EQ(largest_part(16, 100), "the largest part, 16 %,");
  EXPECT_EQ(largest_part(50, 100), "the largest part, 50 %,");
  EXPECT_EQ(largest_part(72, 100), "most of it, 72 %,");
  EXPECT_EQ(largest_part(100, 100), "all of it");
  EXPECT_EQ(counted(1, "process has", "processes have"), "1 process has");
  EXPECT_EQ(counted(2, "process has", "processes have"), "2 processes have");
}

// "1 processes have" must not be said of anything that is counted.
TEST(Words, AgreeWithTheCount) {
  const char* const text = "{process has|processes have} no {trace|traces}";
  EXPECT_EQ(in_number(text, 1), "process has no trace");
  EXPECT_EQ(in_number(text, 2), "processes have no traces");
  EXPECT_EQ(in_number(text, 0), "processes have no traces");
  EXPECT_EQ(in_number("regions of f()::{lambda()#1}", 2), "regions of f()::{lambda()#1}");
  EXPECT_EQ(in_number("", 1), "");
  for (int i = 0; i < static_cast<int>(earl::Finding::kCount_); ++i) {
    const earl::FindingInfo& info = earl::info(static_cast<earl::Finding>(i));
    const std::string one = in_number(info.name, 1), several = in_number(info.name, 2);
    EXPECT_NE(one, several) << "what is counted has a form for one and for several";
    EXPECT_EQ((one + several).find_first_of("{|}"), std::string::npos) << info.name;
  }
}

}  // namespace
}  // namespace kojak::expert
