// Which epoch each transfer of random programs belongs to: by EARL's aspects, which keep epochs as
// calls, and by the rule of epilog/model/window_standing.h, moved record by record. As in EARL an
// epoch goes on where recording is off, until a state record says otherwise.
#include <gtest/gtest.h>

#include <map>

#include "earl/replay.h"
#include "epilog/format/epoch_moves.h"
#include "epilog/model/window_standing.h"
#include "tests/support/merge_program.h"
#include "tests/support/merge_runs.h"

namespace kojak::test {
namespace {

using Transfers = std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, EpochKind>;

struct ByEarl : earl::Sink {
  Transfers kinds;  // by origin, operation, whether it is a get
  void on_transfer(const earl::Transfer& t) {
    kinds[{raw(t.origin), raw(t.rmaid), t.get}] = t.epoch;
  }
};

class ByRule {
 public:
  Transfers kinds;

  void read(const std::vector<std::byte>& trace) {
    auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), "random");
    ASSERT_TRUE(reader);
    RawRecord record;
    while (reader->next(record) == TraceReader::Next::kRecord) {
      if (is_definition(record.type)) {
        ASSERT_TRUE(definitions_.add(record, reader->dialect()));
        continue;
      }
      dispatch_record(record.type, [&]<class R>() {
        if constexpr (R::kKind == RecordKind::kEvent) {
          R r;
          ASSERT_EQ(decode(record, reader->dialect(), r), nullptr);
          event(r);
        }
      });
    }
  }

 private:
  struct Window {
    WindowStanding standing;
    std::map<std::uint32_t, PeerStanding> peers;
    std::vector<std::uint32_t> accessed, exposed;
  };
  struct Thread {
    std::vector<MpiRole> open;
    std::uint32_t assertion = 0;
  };
  std::uint32_t process(std::uint32_t location) const {
    return raw(definitions_.locations.find(static_cast<LocationId>(location))->process);
  }

  template <class R>
  void event(const R& r) {
    Thread& thread = threads_[r.lid];
    const MpiRole role = thread.open.empty() ? MpiRole::kOther : thread.open.back();
    if constexpr (requires { r.wid; }) move(r, epoch_move(r, role), thread.assertion);
    if constexpr (std::is_same_v<R, MpiAssert>) thread.assertion = raw(r.assertion);
    if constexpr (kEnters<R>) {
      const MpiFunction* function = nullptr;
      if constexpr (std::is_same_v<R, Enter>) {
        if (const RegionDef* region = definitions_.regions.find(r.rid)) function = region->function;
      }
      thread.open.push_back(function != nullptr ? function->role : MpiRole::kOther);
      thread.assertion = 0;
    } else if constexpr (kLeaves<R>) {
      ASSERT_FALSE(thread.open.empty());
      thread.open.pop_back();
    }
  }
  template <class R>
  void move(const R& r, EpochMove what, std::uint32_t assertion) {
    Window& w = windows_[{process(raw(r.lid)), raw(r.wid)}];
    const auto at = [&](std::uint32_t rank) -> PeerStanding& { return w.peers[rank]; };
    if constexpr (std::is_same_v<R, MpiPut1ts>) {
      const std::uint32_t origin = process(raw(r.lid));
      kinds[{origin, raw(r.rmaid), false}] = w.standing.epoch_of(at(process(raw(r.dlid))));
    } else if constexpr (std::is_same_v<R, MpiGet1ts>) {  // at the target
      const std::uint32_t origin = process(raw(r.dlid));
      Window& origins = windows_[{origin, raw(r.wid)}];
      kinds[{origin, raw(r.rmaid), true}] =
          origins.standing.epoch_of(origins.peers[process(raw(r.lid))]);
    } else if constexpr (std::is_same_v<R, MpiWinLock>) {
      w.standing.lock(at(raw(r.llid)), raw(r.ltype) != 0 ? kOpenExclusive : kOpenShared);
    } else if constexpr (std::is_same_v<R, MpiWinUnlock>) {
      w.standing.unlock(at(raw(r.llid)));
    } else if constexpr (std::is_same_v<R, WinState>) {
      w.standing.told(raw(r.fences), raw(r.open));
    } else if constexpr (std::is_same_v<R, EpochState>) {
      w.standing.told(at(raw(r.plid)), raw(r.plid), raw(r.access), raw(r.exposure), raw(r.open),
                      w.accessed, w.exposed);
    } else if constexpr (std::is_same_v<R, MpiWinExit>) {
      const bool access = what == EpochMove::kStart || what == EpochMove::kComplete;
      const EpochSide side = access ? EpochSide::kAccess : EpochSide::kExposure;
      std::vector<std::uint32_t>& members = access ? w.accessed : w.exposed;
      if (what == EpochMove::kStart || what == EpochMove::kPost) {
        w.standing.begin_epoch(side, members, definitions_.comms.find(r.cid)->ranks, at);
      } else if (what != EpochMove::kNone) {
        w.standing.end_epoch(side, members, at);
      }
    } else if (what == EpochMove::kFence) {
      w.standing.fence((assertion & kAssertNoSucceed) != 0);
    } else if (what == EpochMove::kLockAll) {
      w.standing.lock_all(kOpenShared);
    } else if (what == EpochMove::kUnlockAll) {
      w.standing.unlock_all();
    }
  }

  Definitions definitions_;
  std::map<LocationId, Thread> threads_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Window> windows_;  // by process and window
};

TEST(EpochsOfTransfers, AreThoseOfTheRule) {
  std::map<EpochKind, int> seen;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("program " + std::to_string(seed));
    const support::RandomProgram program = support::random_program(seed);
    if (program.traces.empty()) continue;
    LocalRun run(program.processes);
    for (const support::ProgramTrace& trace : program.traces) {
      run.add_bytes(std::to_string(trace.rank) + "." + std::to_string(trace.thread) + ".elg",
                    trace.bytes);
    }
    run.merge();
    ByRule rule;
    ASSERT_NO_FATAL_FAILURE(rule.read(run.merged));
    auto trace = earl::Trace::from(memory_source(run.merged.data(), run.merged.size()), "random");
    ASSERT_TRUE(trace);
    ByEarl earl;
    earl::Replay<ByEarl>(*trace, earl).run();
    ASSERT_EQ(earl.kinds.size(), rule.kinds.size());
    for (const auto& [operation, kind] : rule.kinds) {
      const auto& [origin, rmaid, get] = operation;
      ASSERT_EQ(earl.kinds[operation], kind)
          << (get ? "get " : "put ") << rmaid << " of process " << origin;
    }
    for (const auto& [operation, kind] : rule.kinds) ++seen[kind];
  }
  for (const EpochKind kind :
       {EpochKind::kFence, EpochKind::kAccess, EpochKind::kLock, EpochKind::kLockAll}) {
    EXPECT_GT(seen[kind], 100) << "the programs have hardly any of epoch kind "
                               << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace kojak::test
