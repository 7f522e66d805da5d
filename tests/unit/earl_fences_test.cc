// Fence epochs: which one is open after an event, and when one is over.
#include <map>
#include <random>

#include "earl/target_table.h"
#include "tests/unit/earl_sequences.h"

namespace kojak::earl {
namespace {

using Events = std::vector<std::uint64_t>;

struct Counted {
  ProcessId target{};
  unsigned count = 0;
};

TEST(TargetTable, KnowsTheTargetsOfItsEpochOnly) {
  std::mt19937 random(5);
  TargetTable<Counted> table;
  for (int epoch = 0; epoch < 300; ++epoch) {
    std::map<std::uint32_t, unsigned> counts;
    std::vector<std::uint32_t> order;
    // Mostly the same order as before, of few or of many; at times with others in between.
    const std::uint32_t targets = epoch % 7 == 0 ? 4 : 30;
    for (std::uint32_t i = 0; i < targets * 2; ++i) {
      std::uint32_t target = i % targets;
      if (epoch % 5 == 4 && random() % 8 == 0) target = random() % 60;
      if (epoch % 11 == 10 && i > 20) break;  // ends early
      if (counts[target]++ == 0) order.push_back(target);
      ++table[table.get(ProcessId{target})].count;
    }
    ASSERT_EQ(table.size(), order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(raw(table.items()[i].target), order[i]);
      ASSERT_EQ(table.items()[i].count, counts[order[i]]);
      ASSERT_EQ(table.find(ProcessId{order[i]}), i);
    }
    for (std::uint32_t target = 0; target < 70; ++target) {
      if (counts.find(target) == counts.end()) {
        ASSERT_EQ(table.find(ProcessId{target}), kNone);
      }
    }
    table.clear();
    ASSERT_EQ(table.find(ProcessId{0}), kNone);
  }
}

TEST(EarlFences, AFenceEpochIsOverWithItsLastTransfer) {
  const auto fence = [](int lid, int time) {
    const std::string at = " lid=" + std::to_string(lid) + " time=" + std::to_string(time) + " ";
    return "ENTER" + at + "region=MPI_Win_fence\nMPI_WINCOLLEXIT" + at + "wid=0\n";
  };
  // 1 and 3: the first fence; 4: a put; 6: the origin's second; 8: the end at the target's second.
  const OpenedText t(fence(0, 1) + fence(1, 1) +
                     "MPI_PUT_1TS lid=0 time=2 dlid=1 wid=0 rmaid=0 sent=8\n" + fence(0, 3) +
                     "ENTER lid=1 time=4 region=MPI_Win_fence\n"
                     "MPI_PUT_1TE lid=1 time=5 slid=0 wid=0 rmaid=0 recvd=8\n"
                     "MPI_WINCOLLEXIT lid=1 time=5 wid=0\n");
  ASSERT_NE(t.after(4)->epochs.fence(rank(0), WindowId{0}), nullptr);
  EXPECT_EQ(t.after(4)->epochs.fence(rank(0), WindowId{0})->operations.size(), 1u);
  EXPECT_EQ(t.after(4)->transfers.of(LocationId{0}), Events{4});
  EXPECT_TRUE(t.after(6)->epochs.finished().empty());
  const auto state = t.after(8);
  ASSERT_EQ(state->epochs.finished().size(), 1u);
  EXPECT_EQ(state->epochs.finished()[0]->opened, 1u);
  EXPECT_EQ(state->epochs.finished()[0]->closed, 6u);
  EXPECT_EQ(state->epochs.finished()[0]->operations[0].end, 8u);
  EXPECT_EQ(t.archive->startptr(8), 4u);
  // The second fence as a collective instance.
  ASSERT_NE(t.after(9)->window_collectives.complete(), nullptr);
  EXPECT_EQ(t.after(9)->window_collectives.complete()->exits, (Events{6, 9}));
  EXPECT_EQ(t.after(9)->window_collectives.complete()->ordinal, 1u);
  EXPECT_EQ(t.after(8)->window_collectives.open(), 1u);
}

TEST(EarlFences, AFenceWithNoSucceedBeginsNoEpoch) {
  const std::string enter = "ENTER lid=0 time=1 region=MPI_Win_fence\n",
                    exit = "MPI_WINCOLLEXIT lid=0 time=2 wid=0\n";
  const OpenedText t(enter + exit +  // 0, 1
                     enter +
                     "MPI_ASSERT lid=0 time=2 wid=0 assertion=16\n"  // 2, 3: MPI_MODE_NOSUCCEED
                     + exit +                                        // 4
                     enter + exit);                                  // 5, 6
  const auto open = [&](std::uint64_t pos) {
    const auto state = t.after(pos);
    const sequence::Epoch* const epoch = state->epochs.fence(rank(0), WindowId{0});
    return epoch == nullptr ? kNoEvent : epoch->opened;
  };
  EXPECT_EQ(open(3), 1u);
  EXPECT_EQ(open(4), kNoEvent);
  EXPECT_EQ(open(5), kNoEvent);
  EXPECT_EQ(open(6), 6u);
  ASSERT_EQ(t.after(4)->epochs.finished().size(), 1u);
  EXPECT_EQ(t.after(4)->epochs.finished()[0]->closed, 4u);
  EXPECT_TRUE(t.after(6)->epochs.finished().empty());
}

TEST(EarlFences, AfterAGapTheFenceEpochIsTheOneThatIsTold) {
  const std::string fence =
      "ENTER lid=0 time=1 region=MPI_Win_fence\nMPI_WINCOLLEXIT lid=0 time=2 wid=0\n";
  const auto after = [&](const char* state) {
    const OpenedText t(fence + "LOG_OFF lid=0 time=3\nLOG_ON lid=0 time=4\n" +
                       "WIN_STATE lid=0 time=4 wid=0 " + state + "\n" + fence);  // 4; 5, 6
    std::vector<std::uint64_t> opened;
    for (const std::uint64_t pos : {3u, 4u, 6u}) {
      const auto at = t.after(pos);
      const sequence::Epoch* const epoch = at->epochs.fence(rank(0), WindowId{0});
      opened.push_back(epoch == nullptr ? 1000 : epoch->opened);
    }
    return opened;
  };
  EXPECT_EQ(after("fences=1 open=1"), (Events{1, 1, 6}));         // the same one
  EXPECT_EQ(after("fences=1 open=0"), (Events{1, 1000, 6}));      // ended unseen
  EXPECT_EQ(after("fences=3 open=1"), (Events{1, kNoEvent, 6}));  // another, begun unseen
}

}  // namespace
}  // namespace kojak::earl
