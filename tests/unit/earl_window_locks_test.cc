// Who holds the locks of a window, target by target, of random programs, against plain lists; and
// when each epoch proved its lock, against the analysis.
#include <algorithm>
#include <map>
#include <random>

#include "tests/unit/earl_sequences.h"

namespace kojak::earl {
namespace {

// Locks of targets and of all, operations, flushes of all kinds and requests, one event after the
// other. Who holds what is computed from the list of all operations.
class LockAllProgram {
 public:
  static constexpr int kProcesses = 4;
  struct Lock {
    int origin, target;  // -1: all
    bool exclusive;
    std::uint64_t pos;
    double lock_time, proof = 0;      // the first, at whatever target; 0: none yet
    std::map<int, bool> proved = {};  // by target
  };
  std::string text;
  // After each event, by target.
  std::map<std::uint64_t, std::vector<std::vector<std::uint64_t>>> holders, waiters;
  std::vector<std::pair<double, double>> proofs;  // exit of the lock call, proof; of ended epochs
  int apart = 0;  // lock_alls that had proved their lock at some targets and not at others

  explicit LockAllProgram(unsigned seed) : random_(seed) {
    for (int i = 0; i < 120; ++i) step();
    std::sort(proofs.begin(), proofs.end());
  }

 private:
  struct Operation {
    int origin, target, id;
    bool get, request, flushed;
    std::uint64_t lock;  // its WIN_LOCK
  };
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  static std::string number(const char* key, int value) {
    return std::string(" ") + key + "=" + std::to_string(value);
  }
  void event(const char* name, int lid, const std::string& fields) {
    text += std::string(name) + number("lid", lid) + number("time", time_) + fields + "\n";
    ++pos_;
  }
  // A call that takes a second and writes its record as it ends.
  void call(const char* region, int lid, const char* name, const std::string& fields) {
    event("ENTER", lid, std::string(" region=") + region);
    ++time_;
    event(name, lid, fields);
    note();
    event("EXIT", lid, "");
    ++time_;
  }
  Lock* find(int origin, int target) {
    const auto it = std::find_if(open_.begin(), open_.end(), [&](const Lock& l) {
      return l.origin == origin && l.target == target;
    });
    return it == open_.end() ? nullptr : &*it;
  }
  Lock* covering(int origin, int target) {
    Lock* const one = find(origin, target);
    return one != nullptr ? one : find(origin, -1);
  }
  void prove(const Operation& o) {
    for (Lock& l : open_) {
      if (l.pos != o.lock) continue;
      l.proved[o.target] = true;
      if (l.proof == 0) l.proof = time_ + 1;
    }
  }

  void step() {
    const int origin = pick(kProcesses), target = pick(kProcesses);
    const bool all = pick(2) == 0;
    const int of = all ? -1 : target;
    switch (pick(8)) {
      case 0:
      case 1: {
        // A process locks either all or some.
        const bool mine = std::any_of(open_.begin(), open_.end(), [&](const Lock& l) {
          return l.origin == origin && (all || l.target < 0 || l.target == target);
        });
        if (mine) return;
        const int exclusive = all ? 0 : pick(2);
        open_.push_back({origin, of, exclusive != 0, pos_ + 1, time_ + 1.0});
        if (all) return call("MPI_Win_lock_all", origin, "MPI_WIN_LOCK_ALL", " wid=0");
        return call("MPI_Win_lock", origin, "MPI_WIN_LOCK",
                    number("llid", target) + " wid=0" + number("ltype", exclusive));
      }
      case 2: {
        Lock* const l = find(origin, of);
        if (l == nullptr) return;
        apart += all && !l->proved.empty() && l->proved.size() < operated(l->pos);
        proofs.emplace_back(l->lock_time, l->proof != 0 ? l->proof : time_ + 1.0);
        std::erase_if(operations_, [&](const Operation& o) { return o.lock == l->pos; });
        std::erase_if(open_, [&](const Lock& o) { return &o == l; });
        if (all) return call("MPI_Win_unlock_all", origin, "MPI_WIN_UNLOCK_ALL", " wid=0");
        return call("MPI_Win_unlock", origin, "MPI_WIN_UNLOCK", number("llid", target) + " wid=0");
      }
      case 3: {
        const bool local = pick(2) == 0;
        for (Operation& o : operations_) {
          if (o.origin != origin || (!all && o.target != target) || o.flushed) continue;
          if (!local || o.get) {
            prove(o);
            o.flushed = true;
          }
        }
        return call(local ? "MPI_Win_flush_local" : "MPI_Win_flush", origin, "MPI_WIN_FLUSH",
                    (all ? " tlid=absent" : number("tlid", target)) + " wid=0" +
                        number("local", local ? 1 : 0));
      }
      case 4: {
        const auto o = std::find_if(operations_.begin(), operations_.end(), [&](const auto& any) {
          return any.origin == origin && any.request;
        });
        if (o == operations_.end()) return;
        o->request = false;
        if (o->get && !o->flushed) {
          prove(*o);
          o->flushed = true;
        }
        return call("MPI_Wait", origin, "MPI_RMA_COMPLETE", " wid=0" + number("rmaid", o->id));
      }
      default: {
        const Lock* const l = covering(origin, target);
        if (l == nullptr) return;
        const bool get = pick(2) == 0, request = pick(2) == 0;
        const int id = ids_[origin]++;
        operations_.push_back({origin, target, id, get, request, false, l->pos});
        const std::string named = " wid=0" + number("rmaid", id);
        event("ENTER", origin,
              std::string(" region=MPI_") + (request ? "R" : "") +
                  (get ? (request ? "get" : "Get") : (request ? "put" : "Put")));
        if (get) {
          event("MPI_GET_1TO", origin, named);
          event("MPI_GET_1TS", target, number("dlid", origin) + named + " sent=8");
        } else {
          event("MPI_PUT_1TS", origin, number("dlid", target) + named + " sent=8");
        }
        event("EXIT", origin, "");
        ++time_;
      }
    }
  }
  std::size_t operated(std::uint64_t lock) const {
    std::map<int, int> targets;
    for (const Operation& o : operations_) {
      if (o.lock == lock) ++targets[o.target];
    }
    return targets.size();
  }
  // Who holds which lock now: those that have proved it there, then in order.
  void note() {
    auto& held = holders[pos_ - 1];
    auto& wait = waiters[pos_ - 1];
    for (int t = 0; t < kProcesses; ++t) {
      std::vector<const Lock*> here, have;
      for (const Lock& l : open_) {
        if (l.target == t || l.target < 0) here.push_back(&l);
      }
      for (const Lock* l : here) {
        if (l->proved.count(t) != 0) have.push_back(l);
      }
      bool behind = false;  // an exclusive one that waits
      for (const Lock* l : here) {
        if (l->proved.count(t) != 0 || behind) continue;
        const bool fits = std::all_of(have.begin(), have.end(), [&](const Lock* h) {
          return h->origin == l->origin || (!h->exclusive && !l->exclusive);
        });
        if (fits) have.push_back(l);
        behind = !fits && l->exclusive;
      }
      held.emplace_back();
      wait.emplace_back();
      for (const Lock* l : here) {
        const bool holds = std::find(have.begin(), have.end(), l) != have.end();
        (holds ? held : wait).back().push_back(l->pos);
      }
    }
  }

  std::mt19937 random_;
  int time_ = 1;
  std::uint64_t pos_ = 0;
  std::map<int, int> ids_;
  std::vector<Lock> open_;
  std::vector<Operation> operations_;
};

std::vector<std::uint64_t> events_of(const std::vector<sequence::WindowLock>& locks) {
  std::vector<std::uint64_t> result;
  for (const sequence::WindowLock& l : locks) result.push_back(l.lock);
  return result;
}

TEST(EarlWindowLocks, HoldersOfRandomProgramsAreThoseOfEachTarget) {
  int apart = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const LockAllProgram program(seed);
    apart += program.apart;
    auto bytes = text_to_trace(program.text);
    ASSERT_TRUE(bytes) << bytes.error().message();
    auto archive = Archive::from(*bytes, "random");
    ASSERT_TRUE(archive);
    for (const auto& [pos, expected] : program.holders) {
      const auto state = archive->state(pos);
      for (std::uint32_t t = 0; t < LockAllProgram::kProcesses; ++t) {
        ASSERT_EQ(events_of(state->window_locks.holders(WindowId{0}, rank(t))), expected[t])
            << "seed " << seed << ", target " << t << ", after event " << pos << " of\n"
            << program.text;
        ASSERT_EQ(events_of(state->window_locks.waiters(WindowId{0}, rank(t))),
                  program.waiters.at(pos)[t]);
      }
    }
    expect_same_access(*bytes, seed, 20);
    // The analysis: when the epochs that ended had proved their lock anywhere.
    auto trace = Trace::from(memory_source(bytes->data(), bytes->size()), "analysis");
    ASSERT_TRUE(trace);
    Recorder out;
    replay(*trace, out);
    std::vector<std::pair<double, double>> proofs;
    for (const PassiveEpoch& e : out.passive) {
      if (e.has_lock && e.has_unlock) proofs.emplace_back(e.lock.exit.value, e.proof.value);
    }
    std::sort(proofs.begin(), proofs.end());
    EXPECT_EQ(proofs, program.proofs) << "seed " << seed;
  }
  EXPECT_GT(apart, 20);  // else it looked at nothing
}

TEST(EarlWindowLocks, AFlushOfOneTargetProvesNothingOfAnother) {
  auto bytes = text_to_trace(
      "MPI_WIN_LOCK lid=1 time=1 llid=2 wid=0 ltype=1\n"        // 0
      "MPI_WIN_LOCK_ALL lid=0 time=2 wid=0\n"                   // 1
      "MPI_PUT_1TS lid=0 time=3 dlid=3 wid=0 rmaid=0 sent=8\n"  // 2
      "MPI_WIN_FLUSH lid=0 time=4 tlid=2 wid=0 local=0\n"       // 3: nothing to do
      "MPI_WIN_FLUSH lid=0 time=5 tlid=absent wid=0 local=0\n"  // 4: of 3 only
      "MPI_WIN_UNLOCK lid=1 time=6 llid=2 wid=0\n"              // 5
      "MPI_WIN_UNLOCK_ALL lid=0 time=7 wid=0\n");               // 6
  ASSERT_TRUE(bytes);
  auto archive = Archive::from(std::move(*bytes), "flush");
  ASSERT_TRUE(archive);
  using Places = std::vector<std::uint64_t>;
  const auto holders = [&](std::uint64_t pos, std::uint32_t target) {
    return events_of(archive->state(pos)->window_locks.holders(WindowId{0}, rank(target)));
  };
  for (const std::uint64_t pos : {2u, 3u, 4u}) {
    EXPECT_EQ(holders(pos, 2), Places{0}) << pos;
    EXPECT_EQ(holders(pos, 3), Places{1}) << pos;
  }
  EXPECT_EQ(holders(5, 2), Places{1});
  EXPECT_TRUE(holders(6, 2).empty());
}

}  // namespace
}  // namespace kojak::earl
