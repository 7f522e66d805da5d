// What EARL keeps: bytes an event of the index, the table of open transfers.
#include <map>
#include <random>
#include <sstream>

#include "earl/detail/transfer_table.h"
#include "tests/unit/earl_sequences.h"

namespace kojak::earl {
namespace {

// ---- the index

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

Archive archive_of(const std::string& text) {
  auto bytes = text_to_trace(text);
  EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message());
  auto archive = Archive::from(std::move(*bytes), "rounds");
  EXPECT_TRUE(archive);
  return std::move(*archive);
}

double bytes_an_event(const Archive& archive) {
  return static_cast<double>(archive.index().memory()) / static_cast<double>(archive.size());
}

// States in the midst of many that have passed, and visits behind many marks of them.
TEST(EarlMemory, StatesFarInsideAreThoseOfStreaming) {
  auto bytes = text_to_trace(rounds(70, 5));
  ASSERT_TRUE(bytes);
  expect_same_access(*bytes, 1, 400);
  bytes = text_to_trace(rounds(1200, 3));
  ASSERT_TRUE(bytes);
  auto trace = Trace::from(memory_source(bytes->data(), bytes->size()), "streamed");
  auto archive = Archive::from(*bytes, "rounds");
  ASSERT_TRUE(trace && archive);
  sequence::StateStream stream(*trace);
  std::mt19937 random(1);
  int compared = 0;
  for (Event e; stream.next(e);) {
    if (random() % 500 != 0 && e.pos + 1 != archive->size()) continue;
    ASSERT_EQ(describe(stream.state(), *trace), describe(*archive->state(e.pos), *trace)) << e.pos;
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

TEST(EarlMemory, BytesAnEventAreTheSameForFourTimesTheEvents) {
  const double one = bytes_an_event(archive_of(rounds(400, 100)));
  const double four = bytes_an_event(archive_of(rounds(1600, 100)));
  EXPECT_LE(four, 1.05 * one);  // five per cent: numbers have more digits
  EXPECT_LE(four, 16);
}

TEST(EarlMemory, SixteenBytesAnEventAtMostWhereMuchIsOpen) {
  for (const unsigned open : {0u, 300u, 3000u}) {
    EXPECT_LE(bytes_an_event(archive_of(rounds(600, open))), 16) << open;
  }
}

// Programs that do nothing but synchronise: no other event pays for what is kept of an epoch.
TEST(EarlMemory, SixteenBytesAnEventAtMostWhereOnlyEpochsAre) {
  const auto trace = [](unsigned ranks, auto&& round) {
    std::ostringstream out;
    out << "MPI_WIN wid=0 cid=0\n";
    for (unsigned r = 0; r < ranks; ++r) out << "ENTER lid=" << r << " time=0 region=main\n";
    for (unsigned i = 1; i <= 2000; ++i) {
      const auto each = [&](const char* region, const char* exit, const std::string& rest) {
        const std::string time = " time=" + std::to_string(i) + ' ';
        for (unsigned r = 0; r < ranks; ++r) {
          out << "ENTER lid=" << r << time << "region=" << region << '\n';
        }
        for (unsigned r = 0; r < ranks; ++r) out << exit << " lid=" << r << time << rest << '\n';
      };
      round(each);
    }
    return archive_of(out.str());
  };
  for (const unsigned ranks : {2u, 4u, 16u}) {
    std::string all = "[";
    for (unsigned r = 0; r < ranks; ++r) all += (r == 0 ? "" : ",") + std::to_string(r);
    const std::string group = "wid=0 group=" + all + "] synex=";
    const Archive fences =
        trace(ranks, [](auto& each) { each("MPI_Win_fence", "MPI_WINCOLLEXIT", "wid=0"); });
    EXPECT_LE(bytes_an_event(fences), 16) << ranks;
    const Archive gats = trace(ranks, [&](auto& each) {
      each("MPI_Win_post", "MPI_WINEXIT", group + "0");
      each("MPI_Win_start", "MPI_WINEXIT", group + "0");
      each("MPI_Win_complete", "MPI_WINEXIT", group + "1");
      each("MPI_Win_wait", "MPI_WINEXIT", group + "1");
    });
    EXPECT_LE(bytes_an_event(gats), 16) << ranks;
    EXPECT_EQ(gats.state(gats.size() - 1)->epochs.exposure_transactions().size(), 1u);
    const Archive barriers =
        trace(ranks, [](auto& each) { each("MPI_Barrier", "MPI_COLLEXIT", "cid=0"); });
    EXPECT_LE(bytes_an_event(barriers), 16) << ranks;
  }
}

// What takes most: receives with a request, whose messages are known only when the first one, from
// anybody, completes. 8.5 bytes an event, 16 for each such receive and 4 for the time that its
// message was under way (of three events) are 15.2.
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
  const Archive archive = archive_of(out.str());
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
