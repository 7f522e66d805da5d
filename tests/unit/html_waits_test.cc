// What a page shows of waiting: where in its call each wait lies, who ended it, the shares of all
// processes at once, times without a processor; and that detail stays where the waits are.
#include <gtest/gtest.h>

#include "cube_reports.h"
#include "epilog/format/text/text_reader.h"
#include "expert/page/condense.h"
#include "expert/page/density.h"
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

TEST(HtmlThin, TwoReadingsBecomeOne) {
  std::vector<Stripe> stripes{{0, 10, 1}, {10, 20, 4}, {30, 40, 2}};
  pair_up(stripes);
  ASSERT_EQ(stripes.size(), 2u);
  EXPECT_EQ(stripes[0].end, 20u);
  EXPECT_EQ(stripes[0].without, 5u);
  EXPECT_EQ(stripes[1].begin, 30u);
}

TEST(HtmlCondense, CallsThatWaitedLongStayApart) {
  // Four short calls in a row; in the third 2 ns of waiting, an eighth of the threshold.
  std::vector<Box> boxes{
      {0, 100, 0, 1}, {10, 12, 1, 1}, {12, 14, 1, 1}, {14, 17, 2, 1}, {17, 19, 1, 1}};
  const std::vector<WaitBox> waits{{.begin = 14, .end = 16, .waited = 2}};
  condense(boxes, 16, waits);
  ASSERT_EQ(boxes.size(), 4u);
  EXPECT_EQ(boxes[1].calls, 2u);
  EXPECT_EQ(boxes[2].begin, 14u);
  EXPECT_EQ(boxes[2].calls, 1u);
  EXPECT_EQ(boxes[3].calls, 1u);
  condense(boxes, 17, waits);  // now it is less than an eighth
  EXPECT_EQ(boxes.size(), 2u);
}

TEST(HtmlCondense, MergedWaitsKeepTheirSumAndTheLongestOnesReason) {
  std::vector<WaitBox> waits{
      {.begin = 0, .end = 2, .waited = 2, .metric = 1, .awaited = 5},
      {.begin = 4, .end = 8, .waited = 3, .metric = 2, .awaited = 6, .ended = 8},
      {.begin = 90, .end = 99, .waited = 9, .metric = 3}};
  condense(waits, 10);
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
