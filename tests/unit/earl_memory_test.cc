// What EARL keeps depends on what is open, not on what has passed: bookmarks of the state, the
// table of open transfers.
#include <map>
#include <random>
#include <sstream>

#include "earl/detail/transfer_table.h"
#include "tests/unit/earl_sequences.h"

namespace kojak::earl {
namespace {

// ---- bookmarks

// Two processes that do the same in every round, so that each kind of state opens and closes:
// requests, messages, transfers, fences, accesses and exposures, locks, barriers, teams. `open`
// messages and transfers, issued at the beginning, never end.
std::string rounds(unsigned n, unsigned open) {
  std::ostringstream out;
  out << "MPI_WIN wid=0 cid=0\nMPI_WIN wid=1 cid=0\nMPI_WIN wid=2 cid=0\n";
  out << "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n";
  for (unsigned i = 0; i < open; ++i) {
    out << "MPI_SEND lid=1 time=0 dlid=0 tag=9 sent=8\n";
    out << "MPI_PUT_1TS lid=1 time=0 dlid=0 wid=0 rmaid=" << i << " sent=8\n";
  }
  for (unsigned i = 0; i < n; ++i) {
    const auto line = [&, t = i + 1](const char* record, unsigned lid, const std::string& rest) {
      out << record << " lid=" << lid << " time=" << t << ' ' << rest << '\n';
    };
    const auto both = [&](const char* region, const char* exit, const std::string& rest) {
      for (const unsigned lid : {0u, 1u}) line("ENTER", lid, std::string("region=") + region);
      for (const unsigned lid : {0u, 1u}) line(exit, lid, rest);
    };
    const std::string request = std::to_string(i);
    const auto rma = [&](unsigned k) { return " rmaid=" + std::to_string(3 * i + k); };
    line("ENTER", 1, "region=MPI_Irecv");
    line("MPI_RECV_REQUEST", 1, "reqid=" + request + " slid=0 tag=1");
    line("EXIT", 1, "");
    line("ENTER", 0, "region=MPI_Isend");
    out << "ATTR_UI4 kind=2 value=" << request << '\n';
    line("MPI_SEND", 0, "dlid=1 tag=1 sent=8");
    line("EXIT", 0, "");
    for (const unsigned lid : {0u, 1u}) line("ENTER", lid, "region=MPI_Wait");
    line("MPI_SEND_COMPLETE", 0, "reqid=" + request);
    out << "ATTR_UI4 kind=2 value=" << request << '\n';
    line("MPI_RECV", 1, "slid=0 tag=1 recvd=8");
    for (const unsigned lid : {0u, 1u}) line("EXIT", lid, "");
    both("MPI_Win_fence", "MPI_WINCOLLEXIT", "wid=0");
    line("MPI_PUT_1TS", 0, "dlid=1 wid=0 sent=8" + rma(0));
    line("MPI_GET_1TO", 0, "wid=0" + rma(1));
    line("MPI_GET_1TS", 1, "dlid=0 wid=0 sent=8" + rma(1));
    line("MPI_PUT_1TE", 1, "slid=0 wid=0 recvd=8" + rma(0));
    line("MPI_GET_1TE", 0, "slid=1 wid=0 recvd=8" + rma(1));
    line("ENTER", 0, "region=MPI_Win_start");
    line("MPI_WINEXIT", 0, "wid=1 group=[1] synex=0");
    line("ENTER", 1, "region=MPI_Win_post");
    line("MPI_WINEXIT", 1, "wid=1 group=[0] synex=0");
    line("ENTER", 0, "region=MPI_Win_complete");
    line("MPI_WINEXIT", 0, "wid=1 group=[1] synex=1");
    line("ENTER", 1, "region=MPI_Win_wait");
    line("MPI_WINEXIT", 1, "wid=1 group=[0] synex=1");
    line("MPI_WIN_LOCK", 0, "llid=1 wid=2 ltype=1");
    line("MPI_PUT_1TS", 0, "dlid=1 wid=2 sent=8" + rma(2));
    line("MPI_PUT_1TE", 1, "slid=0 wid=2 recvd=8" + rma(2));
    line("MPI_WIN_UNLOCK", 0, "llid=1 wid=2");
    both("MPI_Barrier", "MPI_COLLEXIT", "cid=0");
    line("OMP_FORK", 0, "");
    line("OMP_ALOCK", 0, "lkid=1");
    line("OMP_RLOCK", 0, "lkid=1");
    line("OMP_JOIN", 0, "");
  }
  return out.str();
}

Archive archive_of(const std::string& text, std::uint64_t distance) {
  auto bytes = text_to_trace(text);
  EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message());
  auto archive = Archive::from(std::move(*bytes), "rounds", {false, distance});
  EXPECT_TRUE(archive);
  return std::move(*archive);
}

// By their positions.
std::map<std::uint64_t, std::size_t> bookmark_sizes(const EventIndex& index) {
  std::map<std::uint64_t, std::size_t> result;
  for (std::uint64_t pos = 0; pos < index.size(); ++pos) {
    const EventIndex::Bookmark mark = index.bookmark(pos);
    if (!mark.state.empty()) result[mark.pos] = mark.state.size();
  }
  return result;
}

// A number takes a byte for each seven bits. Between the 416th and the 1664th round all that are
// counted (visits, ordinals, requests, transfers: 1 to 3 a round) lie between 2^7 and 2^14, and the
// positions of events between 2^14 and 2^21, both also when doubled. So a bookmark at the same
// place of a round has the same size, unless something of earlier rounds is kept.
TEST(EarlMemory, BookmarksDoNotGrowWithWhatHasPassed) {
  const std::uint64_t round =
      archive_of(rounds(2, 0), 1).size() - archive_of(rounds(1, 0), 1).size();
  ASSERT_EQ(round, 41u);  // 12 of calls and messages, 4 + 5 + 8 + 4 of windows, 4 + 4 others
  for (const unsigned open : {0u, 100u}) {
    const Archive archive = archive_of(rounds(1665, open), 32 * round);
    const auto sizes = bookmark_sizes(archive.index());
    const std::uint64_t first = 416 * round, last = 1664 * round;
    ASSERT_EQ(sizes.count(first), 1u);
    ASSERT_EQ(sizes.count(last), 1u);
    EXPECT_EQ(sizes.at(last), sizes.at(first)) << open;
    EXPECT_GT(sizes.at(first), open == 0 ? 50u : 500u);  // it says something
    EXPECT_EQ(sizes.size(), archive.size() / (32 * round));
  }
}

TEST(EarlMemory, BytesAnEventAreTheSameForFourTimesTheEvents) {
  const Archive once = archive_of(rounds(400, 100), 512),
                fourfold = archive_of(rounds(1600, 100), 512);
  const double one = static_cast<double>(once.index().memory()) / static_cast<double>(once.size());
  const double four =
      static_cast<double>(fourfold.index().memory()) / static_cast<double>(fourfold.size());
  EXPECT_LE(four, 1.05 * one);  // five per cent: numbers have more digits
  EXPECT_LE(four, 16);
}

// Where much is open, bookmarks are far apart rather than many: two bytes for each event so far.
TEST(EarlMemory, BookmarksTakeTwoBytesAnEventAtMost) {
  for (const unsigned open : {0u, 300u, 3000u}) {
    const Archive archive = archive_of(rounds(600, open), 1);
    std::uint64_t total = 0;
    const auto sizes = bookmark_sizes(archive.index());
    for (const auto& [pos, size] : sizes) {
      total += size;
      ASSERT_LE(total, 2 * pos) << open;
    }
    EXPECT_GE(sizes.size(), open == 3000 ? 1u : 5u);
    EXPECT_LE(archive.index().memory(), 16 * archive.size());
  }
}

// What takes most: receives with a request, whose messages are known only when the first one, from
// anybody, completes. 8.5 bytes an event, 16 for each such receive (of three events), 2 for the
// bookmarks are 15.8.
TEST(EarlMemory, SixteenBytesAnEventAtMostWhereAllReceivesAreHeld) {
  constexpr unsigned kMessages = 3000;
  std::ostringstream out;
  auto line = [&, time = 0](const std::string& text, const std::string& rest) mutable {
    out << text << " time=" << time++ << ' ' << rest << '\n';
  };
  line("ENTER lid=0", "region=MPI_Isend");
  line("ENTER lid=1", "region=MPI_Waitall");
  line("MPI_RECV_REQUEST lid=1", "reqid=0");
  for (unsigned i = 1; i <= kMessages; ++i) {
    line("MPI_RECV_REQUEST lid=1", "reqid=" + std::to_string(i) + " slid=0 tag=1");
    line("MPI_SEND lid=0", "dlid=1 tag=1 sent=8");
    out << "ATTR_UI4 kind=2 value=" << i << '\n';
    line("MPI_RECV lid=1", "slid=0 tag=1 recvd=8");
  }
  line("MPI_SEND lid=0", "dlid=1 tag=2 sent=8");
  out << "ATTR_UI4 kind=2 value=0\n";
  line("MPI_RECV lid=1", "slid=0 tag=2 recvd=8");  // what the first one got
  const Archive archive = archive_of(out.str(), 64);
  const std::uint64_t last = archive.size() - 1;
  ASSERT_EQ(last, 3 + 3 * kMessages + 1);
  EXPECT_LE(archive.index().memory(), 16 * archive.size());
  // Nothing is known before the last event, and then everything.
  EXPECT_EQ(archive.state(last - 1)->messages.sends().size(), kMessages + 1u);
  EXPECT_TRUE(archive.state(last - 1)->messages.paired().empty());
  EXPECT_EQ(archive.state(last)->messages.paired().size(), kMessages + 1u);
  EXPECT_TRUE(archive.state(last)->messages.sends().empty());
  for (unsigned i = 0; i < kMessages; ++i) {
    ASSERT_EQ(archive.sendptr(3 + 3 * i + 2), 3 + 3 * i + 1);
    ASSERT_EQ(archive.requestptr(3 + 3 * i + 2), 3 + 3 * i);
  }
}

// ---- open transfers

struct Item {
  std::uint32_t id = 0, value = 0;
  bool empty() const { return value == 0; }
};

TEST(EarlTransferTable, HoldsWhatAMapHolds) {
  detail::TransferTable<Item> table(3);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> model;
  std::mt19937 rng(7);
  std::uint32_t next[4] = {};
  const auto random = [&](std::uint32_t n) { return static_cast<std::uint32_t>(rng() % n); };
  for (std::uint32_t i = 1; i < 55000; ++i) {
    const std::uint32_t p = random(4);  // the last one is no process of the trace
    // Phases in which more is opened, or closed; some numbers out of order, some used twice.
    if (random(10) < (i / 5000 % 2 == 0 ? 6u : 4u)) {
      const std::uint32_t id = random(50) == 0 ? rng() : next[p]++;
      Item& item = table.get(rank(p), RmaId{id});
      const auto [it, made] = model.try_emplace({p, id}, i);
      ASSERT_EQ(item.empty(), made);
      ASSERT_EQ(item.id, id);
      if (made) item.value = i;
      ASSERT_EQ(item.value, it->second);
    } else {
      auto it = model.lower_bound({p, random(next[p] + 1)});
      if (it == model.end()) continue;
      const Item item = table.take(rank(it->first.first), RmaId{it->first.second});
      ASSERT_EQ(item.id, it->first.second);
      ASSERT_EQ(item.value, it->second);
      ASSERT_TRUE(table.take(rank(it->first.first), RmaId{it->first.second}).empty());
      model.erase(it);
    }
    ASSERT_EQ(table.size(), model.size());
  }
  std::size_t seen = 0;
  table.for_each([&](ProcessId p, const Item& item) {
    const auto it = model.find({raw(p), item.id});
    ASSERT_NE(it, model.end());
    EXPECT_EQ(item.value, it->second);
    ++seen;
  });
  EXPECT_EQ(seen, model.size());
  EXPECT_GT(seen, 500u);
  table.clear();
  EXPECT_EQ(table.size(), 0u);
}

}  // namespace
}  // namespace kojak::earl
