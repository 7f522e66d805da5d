// What a page shows of waiting: where in its call each wait lies, who ended it, the shares of all
// processes at once, times without a processor; and that detail stays where the waits are.
#include <gtest/gtest.h>

#include "cube_reports.h"
#include "epilog/format/text/text_reader.h"
#include "expert/page/density.h"
#include "expert/page/kept/box_rows.h"
#include "expert/page/kept/cells.h"
#include "expert/page/thin.h"
#include "expert/page/trace_reader.h"
#include "expert/page/trace_view.h"
#include "expert/patterns/catalogue.h"
#include "html_traces.h"

namespace kojak::html {
namespace {

std::string metric_of(const WaitBox& wait) {
  return std::string(expert::all_metrics()[wait.metric].name);
}

TEST(HtmlWaits, OfACallTheWaitingPartIsShown) {
  const TraceContent content = read(kLateSender);
  ASSERT_EQ(content.waits.size(), 2u);
  EXPECT_TRUE(content.waits[0].empty());
  ASSERT_EQ(content.waits[1].size(), 1u);
  const WaitBox& wait = content.waits[1][0];
  EXPECT_EQ(metric_of(wait), "mpi_latesender");
  EXPECT_EQ(wait.begin, 1 * kSecond);  // not to the end of the receive at 5
  EXPECT_EQ(wait.waited, 2 * kSecond);
  EXPECT_EQ(wait.awaited, 0u);
  EXPECT_EQ(wait.ended, 3 * kSecond);
}

TEST(HtmlWaits, SharesOfEachStepOfTheRun) {
  const TraceContent content = read(kLateSender);
  const Density& density = content.density;
  ASSERT_GT(density.columns, 0u);
  ASSERT_EQ(density.waiting.size(), 2 * density.columns);
  const auto at = [&](const std::vector<std::uint8_t>& shares, std::size_t row, double second) {
    return shares[row * density.columns + static_cast<std::size_t>(second / 8 * density.columns)];
  };
  EXPECT_EQ(at(density.waiting, 1, 2), 255);
  EXPECT_EQ(at(density.waiting, 1, 4), 0);
  EXPECT_EQ(at(density.mpi, 1, 4), 255);
  EXPECT_EQ(at(density.mpi, 1, 6), 0);
  EXPECT_EQ(at(density.mpi, 0, 3.5), 255);
  EXPECT_EQ(at(density.waiting, 0, 3.5), 0);
}

TEST(HtmlDensity, CountsWhatLiesInAStep) {
  // 16 columns of 16 ns.
  DensityBins bins(2, 32);
  bins.add_wait(1, 8, 40, 32);  // half of column 0, all of 1, half of 2
  bins.add_wait(1, 48, 64, 8);  // half of column 3
  bins.add_mpi(0, 248, 256);    // half of the last
  const Density density = bins.finish(256);
  ASSERT_EQ(density.columns, 16u);
  EXPECT_EQ(density.waiting[16], 128);
  EXPECT_EQ(density.waiting[17], 255);
  EXPECT_EQ(density.waiting[18], 128);
  EXPECT_EQ(density.waiting[19], 128);
  EXPECT_EQ(density.waiting[20], 0);
  EXPECT_EQ(density.mpi[15], 128);
  EXPECT_EQ(density.mpi[14], 0);
  Density half = density;
  halve(half);
  EXPECT_EQ(half.columns, 8u);
  EXPECT_EQ(half.waiting[8], 192);  // (128 + 255 + 1) / 2
  EXPECT_EQ(half.mpi[7], 64);
}

// Bins are a power of two long, columns are not: what lies in a bin is divided among its columns,
// and none of it goes.
TEST(HtmlDensity, SumsStayWhateverTheLengthOfTheRun) {
  for (const Nanoseconds span : {Nanoseconds{3}, Nanoseconds{1000}, Nanoseconds{987'654'321}}) {
    DensityBins bins(1, 16);
    bins.add_mpi(0, 0, span);
    bins.add_wait(0, span / 2, span, span - span / 2);
    const Density density = bins.finish(span);
    double waited = 0;
    for (std::size_t i = 0; i < density.columns; ++i) {
      EXPECT_EQ(density.mpi[i], 255);
      waited += density.waiting[i] / 255.0 / density.columns;
    }
    // Each share is rounded to 1 / 255.
    EXPECT_NEAR(waited, static_cast<double>(span - span / 2) / static_cast<double>(span),
                0.5 / 255);
    EXPECT_EQ(density.waiting[density.columns - 1], 255);
  }
}

TEST(HtmlDensity, ManyProcessesHaveFewerSteps) {
  const DensityBins bins(10'000, 4'000'000);
  const Density density = bins.finish(1'000'000);
  EXPECT_EQ(density.columns, 256u);  // 512 would be 5.1 million cells
}

TEST(HtmlWaits, TimesWithoutAProcessor) {
  // Without a processor for 0.5 s of the second between the first two readings, then for none.
  const TraceContent content = read(R"(
ENTER lid=0 time=0 region=main
PROCESSOR lid=0 time=1 ran=1000000000 wanted=0 preempted=0
PROCESSOR lid=0 time=2 ran=1500000000 wanted=500000000 preempted=1
PROCESSOR lid=0 time=3 ran=2500000000 wanted=500000000 preempted=1
EXIT lid=0 time=4
)");
  ASSERT_EQ(content.stripes.size(), 1u);
  ASSERT_EQ(content.stripes[0].size(), 1u);
  EXPECT_EQ(content.stripes[0][0].begin, kSecond);
  EXPECT_EQ(content.stripes[0][0].end, 2 * kSecond);
  EXPECT_EQ(content.stripes[0][0].without, kSecond / 2);
}

TEST(HtmlCondense, ReadingsOfACellBecomeOne) {
  std::vector<Stripe> stripes{{0, 10, 1}, {10, 20, 4}, {40, 50, 2}};
  condense(stripes, Scale(5));
  ASSERT_EQ(stripes.size(), 2u);
  EXPECT_EQ(stripes[0].end, 20u);
  EXPECT_EQ(stripes[0].without, 5u);
  EXPECT_EQ(stripes[1].begin, 40u);
}

// A series of 100 polls that wait is one call, and one wait; between these the program sleeps for
// 2.5 of 3.5 s. One that only once finds something serves nobody.
TEST(HtmlWaits, ASeriesOfPollsIsOneWait) {
  const TraceContent content = read(R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=1 time=1 region=MPI_Iprobe
ENTER lid=0 time=4 region=MPI_Send
MPI_SEND lid=0 time=4 dlid=1 cid=0 tag=1 sent=8
EXIT lid=0 time=4.25
MPI_POLLED lid=1 time=4.5 count=100 begin=1 called=0.5 paused=3 asleep=2.5 judged=1 end=1 members=1
MPI_POLL lid=1 time=4.5 kind=2 region=MPI_Iprobe count=100 first_enter=1 last_enter=4.25 cid=0
MPI_PROBED lid=1 time=5 slid=0 cid=0 tag=1
EXIT lid=1 time=5
ENTER lid=1 time=5 region=MPI_Recv
MPI_RECV lid=1 time=5.5 slid=0 cid=0 tag=1 recvd=8
EXIT lid=1 time=5.5
EXIT lid=0 time=7
EXIT lid=1 time=7
)");
  ASSERT_EQ(content.boxes.size(), 2u);
  ASSERT_EQ(content.boxes[1].size(), 3u);
  const Box& polled = content.boxes[1][1];
  EXPECT_EQ(polled.begin, kSecond);
  EXPECT_EQ(polled.end, 5 * kSecond);
  EXPECT_TRUE(polled.joined);
  EXPECT_TRUE(polled.sleeping);
  EXPECT_EQ(polled.calls, 101u);
  EXPECT_EQ(polled.instances(), 1u);
  EXPECT_FALSE(content.boxes[1][2].joined);
  ASSERT_FALSE(content.waits[1].empty());
  EXPECT_EQ(content.waits[1][0].metric, expert::metric_index<expert::LateSender>());
  EXPECT_EQ(content.waits[1][0].waited, 3 * kSecond);
}

// Who serves whoever asks waits for nobody: ten requests of two processes, each answered.
TEST(HtmlWaits, WhoServesWaitsForNobody) {
  std::ostringstream text;
  text << "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\nENTER lid=2 time=0 "
          "region=main\n";
  const auto call = [&](int rank, int time, const char* region, const std::string& record) {
    text << "ENTER lid=" << rank << " time=" << time << " region=" << region << "\n";
    if (!record.empty()) text << record << "\n";
    text << "EXIT lid=" << rank << " time=" << time << "\n";
  };
  for (int i = 0; i < 10; ++i) {
    const int t = 10 * i, client = 1 + i % 2;
    const std::string from = std::to_string(client);
    text << "ENTER lid=0 time=" << t + 1 << " region=serve\nENTER lid=0 time=" << t + 1
         << " region=MPI_Recv\n";
    call(client, t + 4, "MPI_Send",
         "MPI_SEND lid=" + from + " time=" + std::to_string(t + 4) + " dlid=0 cid=0 tag=1 sent=8");
    text << "ATTR_UI1 kind=1 value=1\nMPI_RECV lid=0 time=" << t + 6 << " slid=" << from
         << " cid=0 tag=1 recvd=8\nEXIT lid=0 time=" << t + 6 << "\nEXIT lid=0 time=" << t + 6
         << "\n";
    call(0, t + 7, "MPI_Send",
         "MPI_SEND lid=0 time=" + std::to_string(t + 7) + " dlid=" + from + " cid=0 tag=2 sent=8");
    call(client, t + 8, "MPI_Recv",
         "MPI_RECV lid=" + from + " time=" + std::to_string(t + 8) + " slid=0 cid=0 tag=2 recvd=8");
  }
  text << "EXIT lid=0 time=100\nEXIT lid=1 time=100\nEXIT lid=2 time=100\n";
  const TraceContent content = read(text.str());
  Nanoseconds idle = 0;
  for (const WaitBox& wait : content.waits[0]) {
    EXPECT_EQ(wait.metric, expert::metric_index<expert::IdleDispatcher>());
    EXPECT_EQ(wait.awaited, WaitBox::kNobody);
    idle += wait.waited;
  }
  EXPECT_EQ(idle, 30 * kSecond);
  for (const Traffic& cell : content.traffic)
    EXPECT_FALSE(cell.kind == TrafficKind::kWait && cell.from == 0);
}

TEST(HtmlCondense, APartOfASeriesCountsAsOneCall) {
  std::vector<Box> boxes{
      {.begin = 0, .end = 100},
      {.begin = 10, .end = 12, .path = 1, .calls = 500, .joined = 1, .sleeping = 1, .depth = 1},
      {.begin = 12, .end = 14, .path = 1, .depth = 1},
      {.begin = 14, .end = 90, .path = 2, .calls = 600, .joined = 1, .sleeping = 1, .depth = 1}};
  condense(boxes, Scale(4));
  ASSERT_EQ(boxes.size(), 3u);
  EXPECT_EQ(boxes[1].calls, 2u);
  EXPECT_FALSE(boxes[1].joined);
  EXPECT_EQ(boxes[2].calls, 600u);
  EXPECT_TRUE(boxes[2].joined);
}

TEST(HtmlCondense, CallsThatWaitedLongAreDrawnWithinTheirBox) {
  // Four short calls in a row; in the third 2 ns of waiting.
  TraceContent content;
  content.boxes = {{{.begin = 0, .end = 100},
                    {.begin = 10, .end = 12, .path = 1, .depth = 1},
                    {.begin = 12, .end = 14, .path = 1, .depth = 1},
                    {.begin = 14, .end = 17, .path = 2, .depth = 1},
                    {.begin = 17, .end = 19, .path = 1, .depth = 1}}};
  content.waited = {{{.begin = 14, .end = 17, .waited = 2, .path = 2}}};
  EXPECT_EQ(drawn_boxes(content)[0].size(), 5u);
  // In cells of 4 ns two are one, and one is drawn again: five. In cells of 8 ns:
  condense_to(content, 4);
  EXPECT_EQ(content.calls_within, 8u);
  std::vector<Box> boxes = drawn_boxes(content)[0];
  ASSERT_EQ(boxes.size(), 4u);
  EXPECT_EQ(drawn(content), 4u);
  EXPECT_EQ(boxes[1].begin, 10u);
  EXPECT_EQ(boxes[1].end, 17u);
  EXPECT_EQ(boxes[1].calls, 3u);
  EXPECT_EQ(boxes[1].path, 2u);
  EXPECT_EQ(boxes[2].begin, 14u);
  EXPECT_EQ(boxes[2].end, 17u);
  EXPECT_EQ(boxes[2].calls, 1u);
  EXPECT_EQ(boxes[3].begin, 17u);
  // In those of 16 ns it is an eighth, and four again; in those of 32 ns less.
  condense_to(content, 3);
  EXPECT_EQ(content.calls_within, 32u);
  boxes = drawn_boxes(content)[0];
  ASSERT_EQ(boxes.size(), 2u);
  EXPECT_EQ(boxes[1].calls, 4u);
}

TEST(HtmlCondense, MergedWaitsKeepTheirSumAndTheLongestOnesReason) {
  std::vector<WaitBox> waits{
      {.begin = 0, .end = 2, .waited = 2, .metric = 1, .awaited = 5},
      {.begin = 4, .end = 8, .waited = 3, .metric = 2, .awaited = 6, .ended = 8},
      {.begin = 90, .end = 99, .waited = 9, .metric = 3}};
  condense(waits, Scale(4));
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].end, 8u);
  EXPECT_EQ(waits[0].waited, 5u);
  EXPECT_EQ(waits[0].waits, 2u);
  EXPECT_EQ(waits[0].metric, 2u);
  EXPECT_EQ(waits[0].awaited, 6u);
  EXPECT_EQ(waits[1].waits, 1u);
}

// A larger page holds more of the same run, and each says what it leaves out.
TEST(HtmlThin, ALargerBudgetShowsMore) {
  TraceContent content;
  content.rows = {{"rank 0", 0, 0}};
  content.regions = {"MPI_Recv"};
  content.region_kinds = {RegionKind::kPointToPoint};
  content.paths = {0};
  content.boxes.resize(1);
  content.waits.resize(1);
  content.bands.resize(1);
  content.stripes.resize(1);
  std::uint64_t noise = 1;
  for (Nanoseconds i = 0; i < 50'000; ++i) {
    noise = noise * 6364136223846793005u + 1442695040888963407u;
    const Nanoseconds begin = i * 10'000 + (noise >> 52);
    content.boxes[0].push_back({begin, begin + 5000 + (noise >> 52), 0, 1});
    content.waits[0].push_back({.begin = begin, .end = begin + 900, .waited = 900});
  }
  std::size_t before = 0;
  for (const std::size_t budget : {20'000u, 60'000u, 150'000u}) {
    const PackedTrace packed = pack_trace(content, {}, budget);
    EXPECT_LE(packed.data.size(), budget);
    EXPECT_GT(packed.data.size(), before);
    EXPECT_GT(packed.data.size(), budget / 2);  // the room is used
    EXPECT_FALSE(packed.omitted.empty());
    before = packed.data.size();
  }
  EXPECT_TRUE(pack_trace(content, {}, 10'000'000).omitted.empty());
}

}  // namespace
}  // namespace kojak::html
