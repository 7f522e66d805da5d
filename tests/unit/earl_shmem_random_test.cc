// Random SHMEM programs: the state after each event against what the program itself kept account of
// while it was made: from which event to which each operation was not complete, each call waited.
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "tests/unit/earl_sequences.h"

namespace kojak::earl {
namespace {

constexpr unsigned kPes = 3, kLocks = 2;
constexpr std::uint32_t kContexts[] = {0, 3, 7};

struct Operation {
  std::uint64_t issued, done;
  unsigned pe;
  std::uint32_t context;
  bool until_quiet;
};
struct Waiting {
  std::uint64_t enter, end;
  unsigned pe;
  bool for_lock;
  unsigned lock;
  std::vector<std::uint64_t> offsets;
};
struct Holding {
  std::uint64_t from, to;
  unsigned pe, lock;
};

class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {
    for (unsigned pe = 0; pe < kPes; ++pe) event(pe, "ENTER", "region=main");
    for (int i = 0; i < 300; ++i) {
      const unsigned pe = pick(kPes);
      if (pes_[pe].call.empty()) {
        begin(pe);
      } else if (pick(2) == 0) {
        go_on(pe);
      }
    }
    // Some that wait for a lock are known to, though they never got it.
    for (unsigned pe = 0; pe < kPes; ++pe) {
      Pe& p = pes_[pe];
      if (p.call != "shmem_set_lock") continue;
      if (pick(2) == 0) {
        waits[p.record].lock = kAbsent;
        continue;
      }
      event(pe, "MPI_OPEN_CALL",
            "cid=absent wid=absent dlid=absent slid=absent tag=absent awaited=0 ordinal=" +
                std::to_string(p.lock));
    }
  }
  std::string text() const { return out_.str(); }

  std::vector<Operation> operations;
  std::vector<Waiting> waits;
  std::vector<Holding> holds;

 private:
  struct InCall {
    std::size_t operation;
    unsigned rmaid;
    bool get;
  };
  struct Pe {
    std::string call;        // that it is in
    std::size_t record = 0;  // of its wait
    unsigned lock = 0, rmaid = 0, target = 0;
    std::uint32_t context = 0;  // of a quiet
    std::vector<InCall> in_call;
  };
  unsigned pick(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::uint64_t event(unsigned pe, const char* record, const std::string& rest) {
    out_ << record << " lid=" << pe << " time=" << count_ << ' ' << rest << '\n';
    return count_++;
  }
  std::uint64_t enter(unsigned pe, const std::string& call) {
    pes_[pe].call = call;
    return event(pe, "ENTER", "region=" + call);
  }
  void exit(unsigned pe) {
    pes_[pe].call.clear();
    event(pe, "EXIT", "");
  }
  void issued(std::uint64_t pos, unsigned pe, std::uint32_t context, bool until_quiet,
              unsigned rmaid, bool get) {
    if (!until_quiet) pes_[pe].in_call.push_back({operations.size(), rmaid, get});
    operations.push_back({pos, kNoEvent, pe, context, until_quiet});
  }
  // A transfer; `kind`: 1 put, 2 get, 3 get and put.
  void transfer(unsigned pe, unsigned kind, bool non_blocking, bool placed) {
    Pe& p = pes_[pe];
    p.target = pick(kPes);
    const std::uint32_t context = placed ? kContexts[pick(3)] : 0;
    enter(pe, kind == 1 ? "shmem_putmem" : kind == 2 ? "shmem_getmem" : "shmem_int_atomic_swap");
    unsigned id = p.rmaid;
    p.rmaid += kind == 3 ? 2 : 1;
    const std::string to = std::to_string(p.target);
    const auto rma = [&] { return " rmaid=" + std::to_string(id); };
    if (placed) {
      event(pe, "SHMEM_PLACE",
            "dlid=" + to + rma() + " offset=8 ctx=" + std::to_string(context) +
                " flags=" + (non_blocking ? "1" : "0"));
    }
    if (kind != 1) {
      issued(event(pe, "MPI_GET_1TO", "wid=absent" + rma()), pe, context, non_blocking, id, true);
      event(p.target, "GET_1TS", "dlid=" + std::to_string(pe) + rma() + " sent=4");
      if (kind == 3) ++id;
    }
    if (kind != 2) {
      const std::uint64_t pos = event(pe, "PUT_1TS", "dlid=" + to + rma() + " sent=4");
      issued(pos, pe, context, non_blocking || kind == 1, id, false);
      // The basic model has the end of a put here, where it completes nothing.
      if (kind == 1 && pick(2) == 0) put_ends(pe, id);
    }
  }
  std::uint64_t put_ends(unsigned pe, unsigned id) {
    return event(pes_[pe].target, "PUT_1TE",
                 "slid=" + std::to_string(pe) + " rmaid=" + std::to_string(id) + " recvd=4");
  }
  void begin(unsigned pe) {
    Pe& p = pes_[pe];
    p.lock = pick(kLocks);
    bool held = false;  // who holds a lock asks for no other one: nobody waits for ever
    for (unsigned lock = 0; lock < kLocks; ++lock) {
      if (holder_[lock] != static_cast<int>(pe)) continue;
      p.lock = lock;
      held = true;
    }
    switch (pick(12)) {
      case 0:
      case 1:
        return transfer(pe, 1, pick(2) == 0, pick(4) != 0);
      case 2:
        return transfer(pe, 2, pick(2) == 0, true);
      case 3:
        return transfer(pe, 3, pick(2) == 0, true);
      case 4:
        p.context = pick(3) == 0 ? kAbsent : kContexts[pick(3)];
        enter(pe, "shmem_quiet");
        return;
      case 5:
      case 6:
      case 7:
        if (held) {
          enter(pe, "shmem_clear_lock");
        } else {
          p.record = waits.size();
          waits.push_back({enter(pe, "shmem_set_lock"), kNoEvent, pe, true, p.lock, {}});
        }
        return;
      case 8:
        enter(pe, "shmem_test_lock");
        return;
      case 9:
        enter(pe, "shmem_fence");
        return;
      case 10:
        enter(pe, "shmem_int_test");
        return;
      default:
        p.record = waits.size();
        waits.push_back({enter(pe, "shmem_int_wait_until_all"), kNoEvent, pe, false, kAbsent, {}});
    }
  }
  std::string lkid(unsigned lock) { return "glid=absent lkid=" + std::to_string(lock); }
  void go_on(unsigned pe) {
    Pe& p = pes_[pe];
    if (p.call == "shmem_quiet") {
      const bool all = p.context == kAbsent;
      const std::uint64_t pos =
          event(pe, "SHMEM_QUIET", "ctx=" + (all ? "absent" : std::to_string(p.context)));
      for (Operation& o : operations) {
        const bool its = o.pe == pe && (all || o.context == p.context);
        if (its && o.until_quiet && o.done == kNoEvent) o.done = pos;
      }
    } else if (p.call == "shmem_set_lock" || p.call == "shmem_test_lock") {
      const bool waits_for_it = p.call == "shmem_set_lock";
      if (holder_[p.lock] >= 0 && waits_for_it) return;
      if (holder_[p.lock] < 0) {
        const std::uint64_t pos = event(pe, "ALOCK", lkid(p.lock));
        if (waits_for_it) waits[p.record].end = pos;
        holder_[p.lock] = static_cast<int>(pe);
        holds.push_back({pos, kNoEvent, pe, p.lock});
      }
    } else if (p.call == "shmem_clear_lock") {
      const std::uint64_t pos = event(pe, "RLOCK", lkid(p.lock));
      holder_[p.lock] = -1;
      for (Holding& h : holds) {
        if (h.lock == p.lock && h.to == kNoEvent) h.to = pos;
      }
    } else if (p.call == "shmem_int_wait_until_all" || p.call == "shmem_int_test") {
      const bool wait = p.call == "shmem_int_wait_until_all";
      for (unsigned n = pick(4); n > 0; --n) {
        event(pe, "SHMEM_WAIT", "offset=" + std::to_string(8 * n) + " bytes=4 cmp=1 value=5");
        if (wait) waits[p.record].offsets.push_back(8 * n);
      }
      if (wait) waits[p.record].end = count_;  // its exit
    } else {
      for (const InCall& o : p.in_call) {
        const std::string rest =
            "slid=" + std::to_string(p.target) + " rmaid=" + std::to_string(o.rmaid) + " recvd=4";
        operations[o.operation].done = o.get ? event(pe, "GET_1TE", rest) : put_ends(pe, o.rmaid);
      }
      p.in_call.clear();
    }
    exit(pe);
  }

  std::mt19937 random_;
  std::ostringstream out_;
  std::uint64_t count_ = 0;
  Pe pes_[kPes];
  int holder_[kLocks] = {-1, -1};
};

bool covers(std::uint64_t from, std::uint64_t to, std::uint64_t pos) {
  return from <= pos && pos < to;
}

void compare(const Program& program, const sequence::State& state, std::uint64_t pos) {
  for (unsigned pe = 0; pe < kPes; ++pe) {
    for (const std::uint32_t context : {kContexts[0], kContexts[1], kContexts[2], kAbsent}) {
      std::vector<std::uint64_t> expected;
      for (const Operation& o : program.operations) {
        const bool its = o.pe == pe && (context == kAbsent || o.context == context);
        if (its && covers(o.issued, o.done, pos)) expected.push_back(o.issued);
      }
      EXPECT_EQ(state.symmetric.queue(rank(pe), context), expected) << context;
    }
  }
  std::vector<std::uint64_t> waiting, expected;
  for (const Waiting& w : program.waits) {
    if (covers(w.enter, w.end, pos)) expected.push_back(w.enter);
  }
  for (const sequence::ShmemWait& wait : state.shmem_waits.waits()) {
    waiting.push_back(wait.enter);
    for (const Waiting& w : program.waits) {
      if (w.enter != wait.enter) continue;
      EXPECT_EQ(raw(wait.location), w.pe);
      EXPECT_EQ(wait.for_lock, w.for_lock);
      EXPECT_EQ(raw(wait.lock), w.lock);
      std::vector<std::uint64_t> offsets;
      for (const AwaitedVariable& v : wait.variables) offsets.push_back(v.offset);
      EXPECT_EQ(offsets, w.offsets);
    }
  }
  EXPECT_EQ(waiting, expected);
  for (unsigned lock = 0; lock < kLocks; ++lock) {
    std::vector<std::uint64_t> waiters;
    expected.clear();
    for (const auto& w : state.shmem_waits.lock_waiters(LockId{lock})) waiters.push_back(w.enter);
    for (const Waiting& w : program.waits) {
      if (w.for_lock && w.lock == lock && covers(w.enter, w.end, pos)) expected.push_back(w.enter);
    }
    EXPECT_EQ(waiters, expected) << "lock " << lock;
    const auto* held = state.thread_locks.find(absent<ProcessId>(), LockId{lock});
    const Holding* holding = nullptr;
    for (const Holding& h : program.holds) {
      if (h.lock == lock && covers(h.from, h.to, pos)) holding = &h;
    }
    ASSERT_EQ(held != nullptr && held->held, holding != nullptr);
    if (holding != nullptr) {
      EXPECT_EQ(raw(held->holder), holding->pe);
    }
  }
}

TEST(EarlShmem, RandomProgramsHaveTheStatesThatTheyWereMadeWith) {
  std::size_t operations = 0, waits = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Program program(seed);
    const auto bytes = text_to_trace(program.text());
    ASSERT_TRUE(bytes) << bytes.error().message();
    expect_same_access(*bytes, seed, 20);
    const auto archive = Archive::from(std::vector<std::byte>(*bytes), "random");
    ASSERT_TRUE(archive);
    for (std::uint64_t pos = 0; pos < archive->size(); ++pos) {
      compare(program, *archive->state(pos), pos);
      if (testing::Test::HasFailure()) FAIL() << "seed " << seed << ", after event " << pos;
    }
    operations += program.operations.size();
    waits += program.waits.size();
  }
  EXPECT_GT(operations, 500u);
  EXPECT_GT(waits, 200u);
}

}  // namespace
}  // namespace kojak::earl
