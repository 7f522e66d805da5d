// Lock records where the locks were granted and released: by hand, and on random programs whose
// lock manager is simulated. Holders must then exclude each other as locks do.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/how_many.h"
#include "tests/support/lock_program.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

using support::LockProgram;
using support::PlainEvent;

merge::MergeOptions granted(merge::MergeOptions options) {
  options.lock_grants = true;
  return options;
}

// The value of "key=" in an event's fields.
std::string field(const PlainEvent& event, const std::string& key) {
  std::string fields = " ";
  fields += event.fields;
  const std::size_t at = fields.find(" " + key + "=");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + key.size() + 2;
  return fields.substr(begin, fields.find(' ', begin) - begin);
}

struct Held {
  double grant = 0, release = 0;
};

class LockGrants : public ::testing::Test {
 protected:
  std::vector<PlainEvent> merge(const LockProgram& program, std::size_t pool = 0) {
    run = std::make_unique<LocalRun>(static_cast<std::uint32_t>(program.traces.size()));
    for (std::uint32_t p = 0; p < program.traces.size(); ++p) run->add(p, program.traces[p]);
    merge::MergeOptions options = granted(run->options());
    options.pool = pool;
    if (controlled) options.clock = merge::ClockCorrection::kControlled;
    summary = run->merge(options);
    return support::merged_events(run->merged);
  }
  // Conflicting holders in the file at the same time; fills `held` by origin.
  std::size_t overlaps(const std::vector<PlainEvent>& events) {
    std::size_t wrong = 0;
    std::map<std::string, std::map<std::uint32_t, bool>> holders;  // target: origin: exclusive
    std::set<std::uint32_t> nocheck;
    for (const PlainEvent& e : events) {
      if (e.name == "MPI_ASSERT") nocheck.insert(e.lid);
      if (e.name == "MPI_WIN_LOCK") {
        held[e.lid].push_back({e.time, -1});
        if (nocheck.contains(e.lid)) continue;
        const bool exclusive = field(e, "ltype") == "1";
        for (const auto& [origin, other] : holders[field(e, "llid")]) {
          if (exclusive || other) ++wrong;
        }
        holders[field(e, "llid")][e.lid] = exclusive;
      }
      if (e.name == "MPI_WIN_UNLOCK") {
        held[e.lid].back().release = e.time;
        if (nocheck.erase(e.lid) == 0) holders[field(e, "llid")].erase(e.lid);
      }
    }
    return wrong;
  }
  bool controlled = false;
  std::unique_ptr<LocalRun> run;
  merge::Summary summary;
  std::map<std::uint32_t, std::vector<Held>> held;
};

TEST_F(LockGrants, TwoExclusiveHoldersByHand) {
  LocalRun two(3);
  const auto origin = [](int rank, const std::string& lock, double exit, const std::string& put,
                         double flush, double unlock, double end) {
    const std::string lid = " lid=" + std::to_string(rank) + " time=";
    const auto t = [](double v) { return std::to_string(v); };
    return "ENTER" + lid + "0 region=main\nENTER" + lid + lock + " region=MPI_Win_lock\n" +
           "MPI_WIN_LOCK" + lid + t(exit) + " llid=2 wid=0 ltype=1\nEXIT" + lid + t(exit) + "\n" +
           put + "ENTER" + lid + t(flush - 0.5) + " region=MPI_Win_flush\nMPI_WIN_FLUSH" + lid +
           t(flush) + " tlid=2 wid=0 local=0\nEXIT" + lid + t(flush) + "\nENTER" + lid + t(unlock) +
           " region=MPI_Win_unlock\nMPI_WIN_UNLOCK" + lid + t(end) + " llid=2 wid=0\nEXIT" + lid +
           t(end) + "\nEXIT" + lid + "20\n";
  };
  const auto put = [](int rank, double at) {
    return "MPI_RMA_CALL lid=" + std::to_string(rank) + " time=" + std::to_string(at) +
           " exit=" + std::to_string(at + 0.125) +
           " region=MPI_Put dlid=2 wid=0 rmaid=0 bytes=8 got=0 kind=1\n";
  };
  // Rank 0 proves at 4 that it holds, and begins to unlock at 6; the call ends at 9 only. Rank 1
  // asked at 2, left that call at 2.5, and proves at 8: so rank 0 has released by 8, and rank 1's
  // lock is granted then. Its put of 3 starts at 8.
  two.add(0, origin(0, "1", 1.5, put(0, 2), 4, 6, 9));
  two.add(1, origin(1, "2", 2.5, put(1, 3), 8, 10, 11));
  two.add(2, "ENTER lid=2 time=0 region=main\nEXIT lid=2 time=20\n");
  const merge::Summary found = two.merge(granted(two.options()));
  std::vector<std::string> lines;
  for (const PlainEvent& e : support::merged_events(two.merged)) {
    if (e.name != "ENTER" && e.name != "EXIT" && e.name != "MPI_WIN_FLUSH") {
      lines.push_back(e.name + " " + std::to_string(e.lid) + " " + std::to_string(e.time));
    }
  }
  const std::vector<std::string> expected = {
      "MPI_WIN_LOCK 0 1.000000", "MPI_PUT_1TS 0 2.000000",    "MPI_PUT_1TO 1 3.000000",
      "MPI_PUT_1TE 2 4.000000",  "MPI_WIN_UNLOCK 0 8.000000", "MPI_WIN_LOCK 1 8.000000",
      "MPI_PUT_1TS 1 8.000000",  "MPI_PUT_1TE 2 8.000000",    "MPI_WIN_UNLOCK 1 11.000000"};
  EXPECT_EQ(lines, expected);
  EXPECT_EQ(found.lock_epochs, 2u);
  EXPECT_FALSE(found.suspect());
}

TEST_F(LockGrants, HoldersExcludeEachOther) {
  std::size_t epochs = 0, waiting = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const LockProgram program = support::lock_program(seed, 0);
    held.clear();
    const std::vector<PlainEvent> events = merge(program);
    ASSERT_EQ(overlaps(events), 0u) << "seed " << seed;
    EXPECT_EQ(summary[merge::Finding::kCircularLocks].count, 0u) << seed;
    std::map<std::uint32_t, std::size_t> next;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> started, ended;
    std::size_t issued = 0;
    for (const PlainEvent& e : events) {
      if (e.name == "MPI_PUT_1TO" || e.name == "MPI_GET_1TO") ++issued;
      const auto number = [&](const char* key) {
        return static_cast<std::uint32_t>(std::stoul(field(e, key)));
      };
      if (e.name == "MPI_PUT_1TS") started[{e.lid, number("rmaid")}] = e.time;
      if (e.name == "MPI_GET_1TS") started[{number("dlid"), number("rmaid")}] = e.time;
      if (e.is_end) ended[{e.origin, e.rmaid}] = e.time;
    }
    for (const LockProgram::Epoch& e : program.epochs) {
      ++epochs;
      const Held h = held.at(e.origin).at(next[e.origin]++);
      for (const auto* numbers : {&e.puts, &e.gets}) {
        for (const std::uint32_t rmaid : *numbers) {
          const std::pair key{e.origin, rmaid};
          ASSERT_TRUE(started.contains(key) && ended.contains(key)) << seed;
          EXPECT_LE(started[key], ended[key]) << seed;
          if (e.nocheck) continue;
          EXPECT_GE(started[key], h.grant) << seed;
          EXPECT_LE(started[key], h.release) << seed;
        }
      }
      EXPECT_LE(h.grant, h.release) << seed;
      waiting += e.held > e.enter + 0.1 ? 1 : 0;
    }
    std::size_t operations = 0;
    for (const LockProgram::Epoch& e : program.epochs) operations += e.gets.size();
    for (const PlainEvent& e : events) operations += e.name == "MPI_PUT_1TO" ? 1 : 0;
    EXPECT_EQ(issued, operations) << seed;
  }
  EXPECT_GT(epochs, 3000u);
  EXPECT_GT(waiting, 500u) << "too little contention";
}

TEST_F(LockGrants, EpochsThatWereSureToHoldKeepTheirTrueOrder) {
  for (std::uint64_t seed = 1; seed <= how_many(100); ++seed) {
    const LockProgram program = support::lock_program(seed, 0);
    held.clear();
    overlaps(merge(program));
    std::map<std::uint32_t, std::size_t> next;
    std::vector<Held> found;
    for (const LockProgram::Epoch& e : program.epochs) {
      found.push_back(held.at(e.origin).at(next[e.origin]++));
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (std::size_t j = 0; j < found.size(); ++j) {
        const LockProgram::Epoch& a = program.epochs[i];
        const LockProgram::Epoch& b = program.epochs[j];
        if (a.origin == b.origin || a.target != b.target || a.nocheck || b.nocheck) continue;
        if ((!a.exclusive && !b.exclusive) || a.held >= b.held) continue;
        if (a.proof > a.unlock_enter || b.proof > b.unlock_enter) continue;
        EXPECT_LE(found[i].release, found[j].grant) << "seed " << seed << ": " << i << ", " << j;
      }
    }
  }
}

TEST_F(LockGrants, HeldByReferenceGivesTheSame) {
  for (std::uint64_t seed = 1; seed <= how_many(40); ++seed) {
    const LockProgram program = support::lock_program(seed, 0);
    merge(program);
    const std::vector<std::byte> bytes = run->merged;
    merge(program, 1);
    EXPECT_TRUE(run->merged == bytes) << seed;
  }
}

TEST_F(LockGrants, WrongClocksAreSurvivedAndCorrected) {
  std::size_t before = 0, after = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const LockProgram program = support::lock_program(seed, 0.3);
    controlled = false;
    before += overlaps(merge(program));
    controlled = true;
    after += overlaps(merge(program));
    EXPECT_EQ(summary.clocks->violations_after, 0u) << seed;
  }
  EXPECT_GT(before, 100u) << "the clocks are too good";
  EXPECT_LT(after * 4, before);
}

TEST_F(LockGrants, WithoutTheOptionNothingMoves) {
  const LockProgram program = support::lock_program(5, 0);
  merge(program);
  run->merge();
  EXPECT_EQ(support::check_merge(run->locals, run->merged), std::vector<std::string>());
}

}  // namespace
}  // namespace kojak::test
