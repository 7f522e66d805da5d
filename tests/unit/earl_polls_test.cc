// Series of polls in EARL: what replay tells of one, and what the state within one says.
#include <gtest/gtest.h>

#include "earl/access/archive.h"
#include "earl/replay.h"
#include "epilog/format/text/text_reader.h"

namespace kojak::earl::polls_test {
namespace {

std::vector<std::byte> trace_of(const std::string& text) {
  auto bytes = text_to_trace(text);
  EXPECT_TRUE(bytes.ok()) << bytes.error().message();
  return *bytes;
}

// Process 0 polls for request 4, from 2 s on also for a message, gives the processor to another
// function of MPI, goes on, and finds the message. Event numbers stand at the line's end.
const char* const kTwoParts = R"(
ENTER lid=0 time=0 region=main               # 0
ENTER lid=1 time=0 region=main               # 1
ENTER lid=0 time=1 region=MPI_Test           # 2
EXIT lid=1 time=2.5                          # 3
MPI_POLLED lid=0 time=3 begin=1 count=7 judged=1 end=3 flags=4 members=2  # 4
MPI_POLL lid=0 time=3 kind=1 region=MPI_Test count=5 first_enter=1 last_enter=2.75 reqid=4 requests=1  # 5
MPI_POLL lid=0 time=3 kind=2 region=MPI_Iprobe count=2 first_enter=2 last_enter=2.5 cid=0  # 6
EXIT lid=0 time=3                            # 7
ENTER lid=0 time=3 region=MPI_Iprobe         # 8
MPI_POLLED lid=0 time=4 begin=3 count=3 judged=1 end=1 flags=1 members=1  # 9
MPI_POLL lid=0 time=4 kind=2 region=MPI_Iprobe count=3 first_enter=3.25 last_enter=3.75 cid=0  # 10
MPI_PROBED lid=0 time=5 slid=1 cid=0 tag=3   # 11
EXIT lid=0 time=5                            # 12
EXIT lid=0 time=6                            # 13
)";

TEST(EarlPolls, AStateTellsWhatIsPolledForAndSinceWhen) {
  auto archive = Archive::from(trace_of(kTwoParts), "polls");
  ASSERT_TRUE(archive.ok());
  const auto polling = [&](std::uint64_t pos, std::uint32_t location = 0) {
    return archive->state(pos)->polls.polling(LocationId{location});
  };
  EXPECT_FALSE(polling(1));
  ASSERT_TRUE(polling(2));
  EXPECT_EQ(polling(2)->enter, 2u);
  EXPECT_EQ(polling(2)->since, 2u);
  EXPECT_EQ(polling(2)->polled, 4u);
  ASSERT_TRUE(polling(3)) << "also behind an event of another location";
  EXPECT_FALSE(polling(3, 1));
  EXPECT_FALSE(polling(7)) << "between the two";
  ASSERT_TRUE(polling(8));
  EXPECT_EQ(polling(8)->enter, 8u);
  EXPECT_EQ(polling(8)->since, 2u) << "it goes on";
  EXPECT_FALSE(polling(11));
  const auto series = archive->series(4);
  ASSERT_TRUE(series);
  EXPECT_EQ(raw(series->polled.count), 7u);
  ASSERT_EQ(series->members.size(), 2u);
  EXPECT_EQ(raw(series->members[0].reqid), 4u);
  EXPECT_EQ(series->members[1].first_enter.value, 2);
  EXPECT_FALSE(archive->series(5));
  EXPECT_EQ(archive->pollptr(11), 9u);
  EXPECT_EQ(archive->pollptr(12), 9u);
  EXPECT_EQ(archive->pollptr(13), kNoEvent) << "main's exit";
  EXPECT_EQ(archive->pollptr(9), kNoEvent);
  EXPECT_EQ((*archive)[4].count[0], 7u);
}

// Process 1 reads a value until 2 changes it, and then swaps until 2 gives a lock back.
const char* const kValues = R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=2 time=0 region=main
ENTER lid=1 time=1 region=MPI_Get
ENTER lid=2 time=2 region=MPI_Accumulate
MPI_RMA_PLACE lid=2 time=2 dlid=0 wid=0 rmaid=0 disp=8 bytes=4 kind=1 op=13
MPI_PUT_1TS lid=2 time=2 dlid=0 wid=0 rmaid=0 sent=4  # the one
EXIT lid=2 time=2.5
ENTER lid=2 time=3 region=MPI_Accumulate
MPI_RMA_PLACE lid=2 time=3 dlid=0 wid=0 rmaid=1 disp=12 bytes=4 kind=1 op=13
MPI_PUT_1TS lid=2 time=3 dlid=0 wid=0 rmaid=1 sent=4  # beside it
EXIT lid=2 time=3.5
MPI_POLLED lid=1 time=4 begin=1 count=9 judged=1 end=1 flags=4 members=1
MPI_POLL lid=1 time=4 kind=4 region=MPI_Get count=9 first_enter=1 last_enter=3.75 wid=0 tlid=0 disp=8 bytes=4
EXIT lid=1 time=4
ENTER lid=1 time=4.5 region=MPI_Get
MPI_RMA_PLACE lid=1 time=4.5 dlid=0 wid=0 rmaid=0 disp=8 bytes=4 kind=2
MPI_GET_1TO lid=1 time=4.5 rmaid=0 wid=0
MPI_GET_1TS lid=0 time=4.5 dlid=1 wid=0 rmaid=0 sent=4
EXIT lid=1 time=4.75
ENTER lid=1 time=4.75 region=MPI_Win_flush
MPI_GET_1TE lid=1 time=5 slid=0 wid=0 rmaid=0 recvd=4
MPI_VALUE lid=1 time=5 rmaid=0 value=1  # found
MPI_WIN_FLUSH lid=1 time=5 tlid=0 wid=0
EXIT lid=1 time=5
ENTER lid=2 time=6 region=MPI_Compare_and_swap
MPI_RMA_PLACE lid=2 time=6 dlid=0 wid=0 rmaid=2 disp=16 bytes=4 kind=3 op=15
MPI_GET_1TO lid=2 time=6 rmaid=2 wid=0
MPI_GET_1TS lid=0 time=6 dlid=2 wid=0 rmaid=2 sent=4
MPI_PUT_1TS lid=2 time=6 dlid=0 wid=0 rmaid=3 sent=4  # takes the lock
EXIT lid=2 time=6.25
ENTER lid=2 time=6.25 region=MPI_Win_flush
MPI_VALUE lid=2 time=6.5 rmaid=2 value=0  # nobody had it
MPI_WIN_FLUSH lid=2 time=6.5 tlid=0 wid=0
EXIT lid=2 time=6.5
ENTER lid=1 time=7 region=MPI_Compare_and_swap
ENTER lid=2 time=8 region=MPI_Accumulate
MPI_RMA_PLACE lid=2 time=8 dlid=0 wid=0 rmaid=4 disp=16 bytes=4 kind=1 op=13
MPI_PUT_1TS lid=2 time=8 dlid=0 wid=0 rmaid=4 sent=4
EXIT lid=2 time=8.5
MPI_POLLED lid=1 time=9 begin=7 count=9 judged=1 end=1 flags=4 members=1
MPI_POLL lid=1 time=9 kind=5 region=MPI_Compare_and_swap count=9 first_enter=7 last_enter=8.75 wid=0 tlid=0 disp=16 bytes=4 value=1
EXIT lid=1 time=9
ENTER lid=1 time=9.25 region=MPI_Compare_and_swap
MPI_RMA_PLACE lid=1 time=9.25 dlid=0 wid=0 rmaid=1 disp=16 bytes=4 kind=3 op=15
MPI_GET_1TO lid=1 time=9.25 rmaid=1 wid=0
MPI_GET_1TS lid=0 time=9.25 dlid=1 wid=0 rmaid=1 sent=4
MPI_PUT_1TS lid=1 time=9.25 dlid=0 wid=0 rmaid=2 sent=4
EXIT lid=1 time=9.5
ENTER lid=1 time=9.5 region=MPI_Win_flush
MPI_VALUE lid=1 time=10 rmaid=1 value=0  # gets it
MPI_WIN_FLUSH lid=1 time=10 tlid=0 wid=0
EXIT lid=1 time=10
EXIT lid=0 time=12
EXIT lid=1 time=12
EXIT lid=2 time=12
)";

TEST(EarlPolls, APointerLeadsToWhoChangedTheValueAndWhoHadTheLock) {
  auto archive = Archive::from(trace_of(kValues), "values");
  ASSERT_TRUE(archive.ok());
  constexpr std::uint64_t kWrites = 6, kFound = 22, kTakes = 29, kNobodys = 32, kGets = 50;
  EXPECT_EQ((*archive)[kFound].type, EventType::kMpiValue);
  EXPECT_EQ(archive->writeptr(kFound), kWrites);
  EXPECT_EQ(archive->holderptr(kFound), kNoEvent) << "a read";
  EXPECT_EQ(archive->holderptr(kNobodys), kNoEvent);
  EXPECT_EQ(archive->holderptr(kGets), kTakes);
  EXPECT_EQ(archive->writeptr(kGets), kNoEvent) << "a swap";
  EXPECT_EQ(archive->state(kFound)->values.writeptr(), kWrites);
  EXPECT_EQ(archive->state(kFound + 1)->values.writeptr(), kNoEvent);
  EXPECT_EQ(archive->state(kGets)->values.holderptr(), kTakes);
}

struct Told : Sink {
  std::vector<std::pair<double, double>> calls;  // enter, waits from; of those that poll and wait
  std::map<std::string, std::uint64_t> polls;    // by region
  std::vector<std::uint64_t> series;             // polls of each
  const Definitions* definitions = nullptr;
  void on_call(const Call& call, std::span<const std::uint64_t>) {
    if (call.polled) calls.emplace_back(call.enter.value, call.waits_from().value);
  }
  void on_polls(const OpenCall& at, std::uint64_t count) {
    polls[definitions->regions.find(at.region)->name] += count;
  }
  void on_polled(const OpenCall&, const PolledSeries& s) { series.push_back(raw(s.polled.count)); }
};

TEST(EarlPolls, ReplayTellsSeriesAndCountsPolls) {
  const auto bytes = trace_of(kTwoParts);
  auto trace = Trace::from(memory_source(bytes.data(), bytes.size()), "polls");
  ASSERT_TRUE(trace.ok());
  Told told;
  told.definitions = &trace->definitions();
  Replay replay(*trace, told);
  replay.run();
  EXPECT_EQ(told.series, (std::vector<std::uint64_t>{7, 3}));
  // The second one was found by a probe that asked from 3.25 s on.
  EXPECT_EQ(told.calls, (std::vector<std::pair<double, double>>{{1, 1}, {3, 3.25}}));
  // The first series is an instance of its own: one of its polls is its ENTER.
  EXPECT_EQ(told.polls, (std::map<std::string, std::uint64_t>{{"MPI_Test", 4}, {"MPI_Iprobe", 5}}));
}

}  // namespace
}  // namespace kojak::earl::polls_test
