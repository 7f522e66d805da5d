// What is left out where a page would become too large: every part can give way, nothing silently.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "expert/page/names.h"
#include "expert/page/thin.h"
#include "expert/page/trace_view.h"

namespace kojak::html {
namespace {

// Messages at times without a pattern, so that they do not compress.
TraceContent many_messages(std::size_t count) {
  TraceContent content;
  content.boxes.resize(2);
  content.bands.resize(2);
  content.rows = {{"rank 0", 0, 0}, {"rank 1", 1, 0}};
  content.processes = 2;
  std::uint64_t noise = 1;
  for (std::size_t i = 0; i < count; ++i) {
    noise = noise * 6364136223846793005u + 1442695040888963407u;
    content.messages.push_back(
        {0, 1, i * 100'000 + (noise >> 50), i * 100'000 + (noise >> 48), noise >> 40});
  }
  content.messages_seen = count;
  return content;
}

TEST(HtmlThin, ArrowsGiveWayWhereThereAreTooMany) {
  const TraceContent content = many_messages(10'000);
  const PackedTrace whole = pack_trace(content, {}, 10'000'000);
  EXPECT_GT(whole.data.size(), 30'000u);
  EXPECT_EQ(whole.json.find("are drawn"), std::string::npos);
  const PackedTrace small = pack_trace(content, {}, 20'000);
  EXPECT_LE(small.data.size(), 20'000u);
  EXPECT_GT(small.data.size(), 5'000u);  // what fits is there
  EXPECT_NE(small.json.find("Of 10,000 messages"), std::string::npos);
}

TEST(HtmlThin, WhatCannotFitEndsAllTheSame) {
  const PackedTrace packed = pack_trace(many_messages(1000), {}, 10);
  EXPECT_GT(packed.data.size(), 10u);
  EXPECT_NE(packed.json.find("Of 1,000 messages"), std::string::npos);
}

TEST(HtmlThin, ShortEpochsOfACellBecomeOne) {
  TraceContent content;
  content.bands.resize(1);
  for (Nanoseconds i = 0; i < 300; ++i) {
    content.bands[0].push_back({1000 * i, 1000 * i + (i % 3 == 0 ? 900 : 10), 0, BandKind::kFence});
  }
  Thinner thinner(content);
  // In cells of 1,024 ns they are 292 (299,000 / 1,024 and one), in those of 2,048 ns 146.
  ASSERT_TRUE(thinner.thin(Thinner::kBands, 2.0 / 3));
  ASSERT_EQ(content.bands[0].size(), 146u);
  std::size_t epochs = 0;
  for (const Band& band : content.bands[0]) epochs += band.epochs;
  EXPECT_EQ(epochs, 300u);
  EXPECT_EQ(content.bands[0][0].begin, 0u);
  EXPECT_EQ(content.bands[0][0].end, 2010u);  // of three, the last 10 ns long
  ASSERT_EQ(omissions(content).size(), 2u);
  EXPECT_EQ(omissions(content)[0],
            "Epochs of one kind that follow one another within 2,048 ns are drawn as one box.");
  EXPECT_EQ(omissions(content)[1], "kojak html --trace with a larger --max-size shows more.");
}

TEST(HtmlThin, BytesAreNeverLost) {
  TraceContent content;
  for (std::uint32_t from = 0; from < 5; ++from) {
    for (std::uint32_t to = 0; to < 5; ++to) {
      for (std::uint32_t window = 0; window < 2; ++window) {
        content.traffic.push_back({from, to, TrafficKind::kPut, window, 7, 10, 2});
      }
      content.traffic.push_back({from, to, TrafficKind::kMessage, Traffic::kNone, 8, 100, 1});
    }
    content.traffic.push_back({from, Traffic::kNone, TrafficKind::kWait, Traffic::kNone, 9, 5, 1});
  }
  const auto sums = [&] {
    std::uint64_t amount = 0, count = 0;
    for (const Traffic& cell : content.traffic) {
      amount += cell.amount;
      count += cell.count;
    }
    return std::pair{amount, count};
  };
  const auto before = sums();
  EXPECT_EQ(before, (std::pair<std::uint64_t, std::uint64_t>{25 * 120 + 5 * 5, 25 * 5 + 5}));
  coarsen_traffic(content);  // windows and functions
  EXPECT_FALSE(content.traffic_by_function);
  EXPECT_EQ(content.ranks_per_block, 1u);
  EXPECT_EQ(content.traffic.size(), 25u * 2 + 5);
  EXPECT_EQ(sums(), before);
  coarsen_traffic(content);
  EXPECT_EQ(content.ranks_per_block, 2u);
  EXPECT_EQ(content.traffic.size(), 9u * 2 + 3);  // ranks 0-1, 2-3 and 4
  EXPECT_EQ(sums(), before);
  for (const Traffic& cell : content.traffic) {
    EXPECT_EQ(cell.to == Traffic::kNone, cell.kind == TrafficKind::kWait);
  }
}

TEST(HtmlNames, KeepBeginAndEndAndWholeCharacters) {
  EXPECT_EQ(fitting_name("MPI_Barrier", kAnyLength), "MPI_Barrier");
  EXPECT_EQ(fitting_name("MPI_Barrier", 11), "MPI_Barrier");
  const std::string umlauts = [] {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "\u00e4";
    return text;
  }();
  for (std::size_t length = 6; length < 60; ++length) {
    const std::string name = fitting_name(umlauts, length);
    EXPECT_LE(name.size(), length);
    EXPECT_EQ(name.size() % 2, 1u) << length;  // two bytes a character, three for the ellipsis
    EXPECT_NE(name.find("\u2026"), std::string::npos);
  }
}

TEST(HtmlNames, AreWholeUnlessTheyWouldFillThePage) {
  cube::Report report;
  report.regions.resize(100);
  for (cube::Region& region : report.regions) region.name.assign(10'000, 'x');
  EXPECT_EQ(longest_name(report), kAnyLength);
  report.regions.resize(900, report.regions[0]);
  EXPECT_EQ(longest_name(report), 2000u);
  report.regions.resize(3000, report.regions[0]);
  EXPECT_EQ(longest_name(report), 500u);
}

}  // namespace
}  // namespace kojak::html
