// What a page shows of a trace: calls, epochs, transfers with the times of all views, bytes, and
// what happens where there is too much of it.
#include <gtest/gtest.h>

#include "cube_reports.h"
#include "epilog/format/text/text_reader.h"
#include "expert/page/kept/box_rows.h"
#include "expert/page/kept/sample.h"
#include "expert/page/thin.h"
#include "expert/page/trace_reader.h"
#include "expert/page/trace_view.h"
#include "expert/page_of_trace.h"
#include "html_traces.h"

namespace kojak::html {
namespace {

// Two ranks; rank 0 puts 100 bytes to rank 1, which gets 50 from rank 0, in one fence epoch.
const char* const kFence = R"(
ENTER lid=0 time=10 region=main
ENTER lid=1 time=10 region=main
ENTER lid=0 time=11 region=MPI_Win_fence
ENTER lid=1 time=11 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=0 time=12 wid=0
MPI_WINCOLLEXIT lid=1 time=12 wid=0
ENTER lid=0 time=13 region=MPI_Put
MPI_PUT_1TS lid=0 time=13 dlid=1 wid=0 rmaid=0 sent=100
EXIT lid=0 time=13.5
ENTER lid=1 time=14 region=MPI_Get
MPI_GET_1TO lid=1 time=14 rmaid=0 wid=0
MPI_GET_1TS lid=0 time=14 dlid=1 wid=0 rmaid=0 sent=50
EXIT lid=1 time=14.5
ENTER lid=0 time=15 region=MPI_Win_fence
ENTER lid=1 time=16 region=MPI_Win_fence
MPI_PUT_1TE lid=1 time=17 slid=0 wid=0 rmaid=0 recvd=100
MPI_GET_1TE lid=1 time=17 slid=0 wid=0 rmaid=0 recvd=50
MPI_WINCOLLEXIT lid=1 time=17 wid=0
MPI_WINCOLLEXIT lid=0 time=18 wid=0
EXIT lid=0 time=20
EXIT lid=1 time=20
)";

TEST(HtmlTrace, HasCallsOfEachRowParentsFirst) {
  const TraceContent content = read(kFence);
  EXPECT_EQ(content.begin, 10);
  EXPECT_EQ(content.end, 20);
  ASSERT_EQ(content.boxes.size(), 2u);
  // main, fence, put, fence.
  ASSERT_EQ(content.boxes[0].size(), 4u);
  EXPECT_EQ(content.regions[content.paths[content.boxes[0][0].path]], "main");
  EXPECT_EQ(content.boxes[0][0].end, 10 * kSecond);
  EXPECT_EQ(content.regions[content.paths[content.boxes[0][2].path]], "MPI_Put");
  EXPECT_EQ(content.boxes[0][2].begin, 3 * kSecond);
  EXPECT_EQ(content.boxes[0][2].end, 7 * kSecond / 2);
  EXPECT_EQ(content.region_kinds[content.paths[content.boxes[0][2].path]], RegionKind::kTransfer);
  EXPECT_EQ(content.region_kinds[content.paths[content.boxes[0][3].path]], RegionKind::kFence);
  EXPECT_TRUE(content.omitted.empty());
}

TEST(HtmlTrace, HasTheTimesOfTransfersInAFenceEpoch) {
  const TraceContent content = read(kFence);
  ASSERT_EQ(content.transfers.size(), 2u);
  const TransferArrow& put = content.transfers[0];
  EXPECT_FALSE(put.get);
  EXPECT_EQ(put.origin, 0u);
  EXPECT_EQ(put.target, 1u);
  EXPECT_EQ(put.bytes, 100u);
  EXPECT_EQ(put.start, 3 * kSecond);
  EXPECT_EQ(put.end, 7 * kSecond);
  // Rank 0 is in the closing fence from 15 to 18, rank 1 leaves it at 17.
  EXPECT_EQ(put.origin_sync, 8 * kSecond);
  EXPECT_EQ(put.origin_sync_length, 3 * kSecond);
  EXPECT_EQ(put.target_sync, 7 * kSecond);
  const TransferArrow& get = content.transfers[1];
  EXPECT_TRUE(get.get);
  EXPECT_EQ(get.origin, 1u);
  EXPECT_EQ(get.target, 0u);
  EXPECT_EQ(get.request, 4 * kSecond);
  EXPECT_EQ(get.start, 4 * kSecond);
  EXPECT_EQ(get.origin_sync, 7 * kSecond);
  EXPECT_EQ(get.target_sync, 8 * kSecond);
  EXPECT_FALSE(get.passive);
  // The epoch lies between the two fences' exits.
  ASSERT_EQ(content.bands[0].size(), 1u);
  EXPECT_EQ(content.bands[0][0].kind, BandKind::kFence);
  EXPECT_EQ(content.bands[0][0].begin, 2 * kSecond);
  EXPECT_EQ(content.bands[0][0].end, 8 * kSecond);
  ASSERT_EQ(content.fences.size(), 2u);
  EXPECT_EQ(content.fences[1].rows.size(), 2u);
}

TEST(HtmlTrace, CountsBytesFromWhoHasThemToWhoGetsThem) {
  const TraceContent content = read(kFence);
  // The put and the get both move bytes from rank 0 to rank 1. Rank 1 comes to the last fence at
  // 16, rank 0 waits for it since 15: one wait for rank 1, in a call to MPI_Win_fence. Rank 1
  // leaves it at 17, rank 0 at 18: one that nobody is awaited in.
  ASSERT_EQ(content.traffic.size(), 4u);
  for (const Traffic& cell : content.traffic) {
    const bool completion = &cell == &content.traffic.back();
    EXPECT_EQ(cell.from, 0u);
    EXPECT_EQ(cell.to, completion ? Traffic::kNone : 1u);
    EXPECT_EQ(cell.window, 0u);
    EXPECT_EQ(cell.count, 1u);
  }
  const auto function = [&](std::size_t i) { return content.regions[content.traffic[i].region]; };
  EXPECT_EQ(content.traffic[0].kind, TrafficKind::kPut);
  EXPECT_EQ(content.traffic[0].amount, 100u);
  EXPECT_EQ(function(0), "MPI_Put");
  EXPECT_EQ(content.traffic[1].kind, TrafficKind::kGet);
  EXPECT_EQ(content.traffic[1].amount, 50u);
  EXPECT_EQ(function(1), "MPI_Get");
  EXPECT_EQ(content.traffic[2].kind, TrafficKind::kWait);
  EXPECT_EQ(content.traffic[2].amount, 1 * kSecond);
  EXPECT_EQ(function(2), "MPI_Win_fence");
  EXPECT_EQ(content.traffic[3].kind, TrafficKind::kWait);
  EXPECT_EQ(content.traffic[3].amount, 1 * kSecond);
}

TEST(HtmlTrace, KnowsTheCommunicatorsOfSomeProcesses) {
  const std::string events =
      "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"
      "ENTER lid=2 time=0 region=main\nEXIT lid=0 time=1\nEXIT lid=1 time=1\nEXIT lid=2 time=1\n";
  const TraceContent content = read(
      "MPI_GROUP gid=0 ranks=[0,1,2]\nMPI_COMM_REF cid=0 gid=0\n"
      "MPI_GROUP gid=1 ranks=[2,0]\nMPI_COMM_REF cid=1 gid=1\n"
      "MPI_GROUP gid=2 ranks=[0,2]\nMPI_COMM_REF cid=2 gid=2\n"
      "MPI_GROUP gid=3 ranks=[1]\nMPI_COMM_REF cid=3 gid=3\n" +
      events);
  // Of two with the same members the first; those of one and of all are no choice.
  ASSERT_EQ(content.communicators.size(), 1u);
  EXPECT_EQ(content.communicators[0].id, 1u);
  EXPECT_EQ(content.communicators[0].ranks, (std::vector<std::uint32_t>{0, 2}));
}

TEST(HtmlTrace, HasTheTimesOfTransfersInAnAccessEpoch) {
  const TraceContent content = read(R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=1 time=1 region=MPI_Win_post
MPI_WINEXIT lid=1 time=1.5 wid=0 group=[0] synex=0
ENTER lid=0 time=2 region=MPI_Win_start
MPI_WINEXIT lid=0 time=2.5 wid=0 group=[1] synex=0
ENTER lid=0 time=3 region=MPI_Get
MPI_GET_1TO lid=0 time=3 rmaid=0 wid=0
MPI_GET_1TS lid=1 time=3 dlid=0 wid=0 rmaid=0 sent=8
EXIT lid=0 time=3.5
ENTER lid=0 time=4 region=MPI_Win_complete
MPI_GET_1TE lid=0 time=5 slid=1 wid=0 rmaid=0 recvd=8
MPI_WINEXIT lid=0 time=5 wid=0 group=[1] synex=1
ENTER lid=1 time=6 region=MPI_Win_wait
MPI_WINEXIT lid=1 time=7 wid=0 group=[0] synex=1
EXIT lid=0 time=8
EXIT lid=1 time=8
)");
  ASSERT_EQ(content.transfers.size(), 1u);
  EXPECT_EQ(content.transfers[0].origin_sync, 5 * kSecond);
  EXPECT_EQ(content.transfers[0].origin_sync_length, kSecond);
  EXPECT_EQ(content.transfers[0].target_sync, 7 * kSecond);
  ASSERT_EQ(content.bands[0].size(), 1u);
  EXPECT_EQ(content.bands[0][0].kind, BandKind::kAccess);
  EXPECT_EQ(content.bands[0][0].begin, 2 * kSecond);
  ASSERT_EQ(content.bands[1].size(), 1u);
  EXPECT_EQ(content.bands[1][0].kind, BandKind::kExposure);
  EXPECT_EQ(content.bands[1][0].end, 7 * kSecond);
}

TEST(HtmlTrace, APassiveTargetHasNoSynchronisationOfItsOwn) {
  const TraceContent content = read(R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=0 time=1 region=MPI_Win_lock
MPI_WIN_LOCK lid=0 time=2 llid=1 wid=0 ltype=1
EXIT lid=0 time=2
ENTER lid=0 time=3 region=MPI_Put
MPI_PUT_1TS lid=0 time=3 dlid=1 wid=0 rmaid=5 sent=8
EXIT lid=0 time=3.5
ENTER lid=0 time=4 region=MPI_Win_unlock
MPI_PUT_1TE lid=1 time=6 slid=0 wid=0 rmaid=5 recvd=8
MPI_WIN_UNLOCK lid=0 time=6 llid=1 wid=0
EXIT lid=0 time=6
EXIT lid=0 time=8
EXIT lid=1 time=8
)");
  ASSERT_EQ(content.transfers.size(), 1u);
  EXPECT_TRUE(content.transfers[0].passive);
  EXPECT_EQ(content.transfers[0].origin_sync, 6 * kSecond);
  EXPECT_EQ(content.transfers[0].target_sync, 0u);
  ASSERT_EQ(content.bands[0].size(), 1u);
  EXPECT_EQ(content.bands[0][0].kind, BandKind::kExclusive);
}

TEST(HtmlTrace, HasMessagesFromTheSendToTheReceive) {
  const TraceContent content = read(R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=1 time=1 region=MPI_Recv
ENTER lid=0 time=2 region=MPI_Send
MPI_SEND lid=0 time=2 dlid=1 cid=0 tag=7 sent=1000
EXIT lid=0 time=3
MPI_RECV lid=1 time=4 slid=0 cid=0 tag=7 recvd=1000
EXIT lid=1 time=4
EXIT lid=0 time=5
EXIT lid=1 time=5
)");
  ASSERT_EQ(content.messages.size(), 1u);
  EXPECT_EQ(content.messages[0].from, 0u);
  EXPECT_EQ(content.messages[0].to, 1u);
  EXPECT_EQ(content.messages[0].sent, 2 * kSecond);
  EXPECT_EQ(content.messages[0].received, 4 * kSecond);
  EXPECT_EQ(content.messages[0].bytes, 1000u);
}

// One rank: main with `count` calls of MPI_Comm_rank, one every millisecond, 0.1 ms long.
std::string many_calls(int count) {
  std::string text = "ENTER lid=0 time=0 region=main\n";
  for (int i = 0; i < count; ++i) {
    const std::string begin =
        std::to_string(i / 1000) + "." + std::to_string(1000 + i % 1000).substr(1);
    text += "ENTER lid=0 time=" + begin + " region=MPI_Comm_rank\nEXIT lid=0 time=" + begin + "1\n";
  }
  return text + "EXIT lid=0 time=100\n";
}

TEST(HtmlTrace, ShortCallsMergeWhereThereAreTooMany) {
  TraceLimits limits;
  limits.boxes = 20;
  const TraceContent content = read(many_calls(1000), limits);
  ASSERT_EQ(content.boxes.size(), 1u);
  EXPECT_LE(content.boxes[0].size(), 20u);
  EXPECT_GT(content.boxes[0].size(), 5u);
  std::uint64_t calls = 0;
  for (const Box& box : content.boxes[0]) calls += box.calls;
  EXPECT_EQ(calls, 1001u);  // none is lost: main and 1000
  EXPECT_EQ(content.boxes[0][0].calls, 1u);
  const std::vector<std::string> said = omissions(content);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].rfind("Calls that follow one another within ", 0), 0u);
}

TEST(HtmlTrace, ADamagedTraceIsShownUpToItsDamage) {
  const std::string path = test::write_file("damaged.elg", "");
  ASSERT_TRUE(text_to_trace_file(many_calls(50), path));
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  test::write_file("damaged.elg", bytes.substr(0, bytes.size() - 100));
  const Result<TraceContent> content = read_trace(path, {});
  ASSERT_TRUE(content) << content.error().message();
  ASSERT_EQ(content->omitted.size(), 1u);
  EXPECT_NE(content->omitted[0].find("damaged"), std::string::npos);
  EXPECT_GT(content->boxes[0].size(), 30u);
  EXPECT_FALSE(read_trace("/nonexistent.elg", {}));
}

TEST(HtmlTrace, ATraceOfAnotherRunIsRefused) {
  const std::string path = test::write_file("other.elg", "");
  ASSERT_TRUE(text_to_trace_file(many_calls(3), path));
  cube::Report report;
  report.threads = {0, 0};  // two locations, and the trace has one
  const Result<PageOfTrace> part = read_page_of_trace(path, report, 1'000'000);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().code, ExitCode::kBadInput);
}

TEST(HtmlTrace, KeepsItsBudgetByMergingFurther) {
  TraceContent content = read(many_calls(3000));
  const std::size_t boxes = content.boxes[0].size();
  EXPECT_EQ(boxes, 3001u);
  // Lengths that do not repeat, so that they do not compress.
  std::uint64_t noise = 1;
  for (Box& box : content.boxes[0]) {
    noise = noise * 6364136223846793005u + 1442695040888963407u;
    if (box.end != 100 * kSecond) box.end += noise >> 48;
  }
  const PackedTrace whole = pack_trace(content, {}, 1'000'000);
  EXPECT_GT(whole.data.size(), 6000u);
  const PackedTrace small = pack_trace(content, {}, 6000);
  EXPECT_LE(small.data.size(), 6000u);
  EXPECT_NE(small.json.find("are drawn as one box"), std::string::npos);
  EXPECT_EQ(small.omitted.size(), 2u);
  EXPECT_EQ(whole.json.find("are drawn as one box"), std::string::npos);
}

TEST(HtmlCondense, MergesShortNeighboursUnderOneParent) {
  // Parent 0..100 with children 10..12 (a), 13..14 (b), 50..90; inside the last one 51..52. Cells
  // of 8 ns: both first ones begin in the second.
  std::vector<Box> boxes{{.begin = 0, .end = 100},
                         {.begin = 10, .end = 12, .path = 1, .depth = 1},
                         {.begin = 13, .end = 14, .path = 2, .depth = 1},
                         {.begin = 50, .end = 90, .path = 3, .depth = 1},
                         {.begin = 51, .end = 52, .path = 1, .depth = 2}};
  condense(boxes, Scale(3));
  ASSERT_EQ(boxes.size(), 4u);
  EXPECT_EQ(boxes[1].begin, 10u);
  EXPECT_EQ(boxes[1].end, 14u);
  EXPECT_EQ(boxes[1].calls, 2u);
  EXPECT_EQ(boxes[1].path, 1u);  // of the longest
  EXPECT_EQ(boxes[3].calls, 1u);
}

TEST(HtmlCondense, NothingReachesAcrossALongParent) {
  // Two parents, the last child of one and the first of the other in one cell.
  std::vector<Box> boxes{{.begin = 0, .end = 50},
                         {.begin = 48, .end = 49, .depth = 1},
                         {.begin = 50, .end = 100},
                         {.begin = 51, .end = 52, .depth = 1}};
  condense(boxes, Scale(3));
  EXPECT_EQ(boxes.size(), 4u);
}

TEST(HtmlTrace, OfCallsWithTheSameTimesTheOneEnteredFirstIsTheParent) {
  const TraceContent content = read(R"(
ENTER lid=0 time=0 region=main
ENTER lid=0 time=5 region=step
ENTER lid=0 time=5 region=MPI_Comm_rank
EXIT lid=0 time=9
EXIT lid=0 time=9
EXIT lid=0 time=9
)");
  ASSERT_EQ(content.boxes.size(), 1u);
  ASSERT_EQ(content.boxes[0].size(), 3u);
  const auto name = [&](std::size_t i) {
    return content.regions[content.paths[content.boxes[0][i].path]];
  };
  EXPECT_EQ(name(0), "main");
  EXPECT_EQ(name(1), "step");
  EXPECT_EQ(name(2), "MPI_Comm_rank");
}

// Calls merge while the calls around them are still open; those keep their places and get their
// ends.
TEST(HtmlTrace, OpenCallsStayParentsWhereShortOnesMerge) {
  std::string text = "ENTER lid=0 time=0 region=main\n";
  // Ten steps of 10 s, each with 100 calls of 0.1 ms, one every ms.
  for (int step = 0; step < 10; ++step) {
    text += "ENTER lid=0 time=" + std::to_string(10 * step + 1) + " region=step\n";
    for (int i = 0; i < 100; ++i) {
      const std::string begin =
          std::to_string(10 * step + 1) + "." + std::to_string(1100 + i).substr(1);
      text +=
          "ENTER lid=0 time=" + begin + " region=MPI_Comm_rank\nEXIT lid=0 time=" + begin + "1\n";
    }
    text += "EXIT lid=0 time=" + std::to_string(10 * step + 10) + "\n";
  }
  TraceLimits limits;
  limits.boxes = 40;
  const TraceContent content = read(text + "EXIT lid=0 time=200\n", limits);
  const std::vector<Box>& boxes = content.boxes.at(0);
  EXPECT_LE(boxes.size(), 40u);
  EXPECT_EQ(boxes[0].end, 200 * kSecond);
  std::uint64_t calls = 0, steps = 0;
  for (const Box& box : boxes) {
    calls += box.calls;
    if (content.regions[content.paths[box.path]] != "step") continue;
    EXPECT_EQ(box.end - box.begin, 9 * kSecond);
    ++steps;
  }
  EXPECT_EQ(steps, 10u);
  EXPECT_EQ(calls, 1011u);  // main, 10 steps, 1000 calls
}

// 4096 puts in one epoch where 100 arrows have room: evenly spread ones stay, each with its end and
// its synchronisation, and of the gets among them, each eighth, an eighth.
TEST(HtmlTrace, TransfersThatAreTooManyBecomeAnEvenSample) {
  std::string text = R"(
ENTER lid=0 time=0 region=main
ENTER lid=1 time=0 region=main
ENTER lid=0 time=0 region=MPI_Win_fence
ENTER lid=1 time=0 region=MPI_Win_fence
MPI_WINCOLLEXIT lid=0 time=0.5 wid=0
MPI_WINCOLLEXIT lid=1 time=0.5 wid=0
)";
  std::string ends;
  for (int i = 0; i < 4096; ++i) {
    const std::string time =
        std::to_string(1 + i / 1000) + "." + std::to_string(1000 + i % 1000).substr(1);
    const std::string id = " rmaid=" + std::to_string(i);
    const bool get = i % 8 == 7;
    text += "ENTER lid=0 time=" + time + (get ? " region=MPI_Get\n" : " region=MPI_Put\n");
    text += get ? "MPI_GET_1TO lid=0 time=" + time + id + " wid=0\nMPI_GET_1TS lid=1 time=" + time +
                      " dlid=0 wid=0" + id + " sent=8\n"
                : "MPI_PUT_1TS lid=0 time=" + time + " dlid=1 wid=0" + id + " sent=8\n";
    text += "EXIT lid=0 time=" + time + "\n";
    ends += get ? "MPI_GET_1TE lid=0 time=7 slid=1 wid=0" + id + " recvd=8\n"
                : "MPI_PUT_1TE lid=1 time=7 slid=0 wid=0" + id + " recvd=8\n";
  }
  text += "ENTER lid=0 time=6 region=MPI_Win_fence\nENTER lid=1 time=6 region=MPI_Win_fence\n" +
          ends +
          "MPI_WINCOLLEXIT lid=0 time=7 wid=0\nMPI_WINCOLLEXIT lid=1 time=7 wid=0\n"
          "EXIT lid=0 time=8\nEXIT lid=1 time=8\n";
  TraceLimits limits;
  limits.arrows = 100;
  const TraceContent content = read(text, limits);
  EXPECT_EQ(content.transfers_seen, 4096u);
  EXPECT_LE(content.transfers.size(), 100u);
  EXPECT_GE(content.transfers.size(), 45u);  // about 64, one in 64
  std::size_t gets = 0;
  Nanoseconds last = 0;
  for (const TransferArrow& arrow : content.transfers) {
    EXPECT_EQ(arrow.end, 7 * kSecond);
    EXPECT_EQ(arrow.origin_sync, 7 * kSecond);
    EXPECT_EQ(arrow.target_sync, 7 * kSecond);
    EXPECT_LE(last, arrow.request);
    if (last != 0) {
      EXPECT_LE(arrow.request - last, kSecond / 5);  // 3 times the mean distance
    }
    last = arrow.request;
    gets += arrow.get ? 1 : 0;
  }
  EXPECT_GE(gets, 4u);
  EXPECT_LE(gets, 16u);
}

TEST(HtmlSample, KeepsThoseWhoseIdentityBeginsWithZeros) {
  // The first four bits of each are its number: of 16 things four stay where these begin with 00.
  Sample<std::uint64_t> sample(4);
  for (std::uint64_t i = 0; i < 16; ++i) {
    if (sample.begin(i << 60)) sample.add(i << 60, i);
  }
  EXPECT_EQ(sample.seen(), 16u);
  EXPECT_EQ(sample.finish([](std::uint64_t i) { return i; }),
            (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace kojak::html
