#include "tests/support/lock_program.h"

#include <algorithm>
#include <cstdio>
#include <random>

namespace kojak::support {
namespace {

std::string text(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  return buffer;
}

class LockSimulation {
 public:
  LockSimulation(std::uint64_t seed, double error) : random_(seed), error_(error) {}

  LockProgram run() {
    const int size = number(2, 6);
    targets_.resize(static_cast<std::size_t>(number(1, 2)));
    for (int rank = 0; rank < size; ++rank) {
      Origin origin;
      origin.rank = static_cast<std::uint32_t>(rank);
      origin.shift = rank == 0 ? 0 : uniform(-error_, error_);
      origin.now = 1 + uniform(0, 1);
      origin.epochs = number(0, 12);
      origin.text = "MPI_GROUP gid=0 mode=1 count=" + std::to_string(size) +
                    " ranks=[]\nMPI_COMM_REF cid=0 gid=0\nCOMM_IDENTITY cid=0 hi=1 lo=1 flags=0\n"
                    "MPI_WIN wid=0 cid=0\nWIN_IDENTITY wid=0 hi=2 lo=2 flags=0 flavour=1 model=2\n";
      origins_.push_back(origin);
    }
    for (Origin& o : origins_) record(o, "ENTER", "region=main");
    for (;;) {
      // Requests are served in the order in which they are made.
      Origin* next = nullptr;
      for (Origin& o : origins_) {
        if (o.epochs > 0 && (next == nullptr || o.now < next->now)) next = &o;
      }
      if (next == nullptr) break;
      --next->epochs;
      epoch(*next);
      next->now += uniform(0, number(0, 3) == 0 ? 2 : 0.2);
    }
    for (Origin& o : origins_) {
      record(o, "EXIT", "");
      program_.traces.push_back(o.text);
    }
    return std::move(program_);
  }

 private:
  struct Origin {
    std::uint32_t rank = 0;
    double shift = 0, now = 0;
    int epochs = 0;
    std::uint32_t rmaid = 0;
    std::string text;
  };
  struct Target {
    double exclusive_until = 0, shared_until = 0, last_grant = 0;
  };
  int number(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  double uniform(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random_);
  }
  void pass(Origin& o) { o.now += uniform(0.0001, 0.05); }
  double recorded(const Origin& o) const { return o.now + o.shift; }
  void record(Origin& o, const std::string& name, const std::string& fields) {
    o.text += name + " lid=" + std::to_string(o.rank) + " time=" + text(recorded(o)) + " " +
              fields + "\n";
  }

  void epoch(Origin& o) {
    LockProgram::Epoch e;
    e.origin = o.rank;
    e.target = static_cast<std::uint32_t>(number(0, static_cast<int>(targets_.size()) - 1));
    e.exclusive = number(0, 2) != 0;
    e.nocheck = number(0, 19) == 0;
    Target& target = targets_[e.target];
    // Nobody overtakes.
    double grant = std::max(o.now + 0.0001, target.last_grant);
    grant = std::max(grant, target.exclusive_until);
    if (e.exclusive) grant = std::max(grant, target.shared_until);
    if (e.nocheck) grant = o.now;
    grant += uniform(0.0001, 0.01);
    const std::string at = "wid=0 ";
    const std::string peer = std::to_string(e.target);
    record(o, "ENTER", "region=MPI_Win_lock");
    e.enter = recorded(o);
    pass(o);
    const bool waits = number(0, 2) == 0;  // in the lock call itself
    if (waits) o.now = std::max(o.now, grant + uniform(0, 0.01));
    if (e.nocheck) record(o, "MPI_ASSERT", at + "assertion=1");
    record(o, "MPI_WIN_LOCK", "llid=" + peer + " " + at + "ltype=" + (e.exclusive ? "1" : "0"));
    record(o, "EXIT", "");
    bool proved = false;
    const auto operations = [&] {
      const int count = number(0, 3);
      for (int i = 0; i < count; ++i) {
        pass(o);
        const bool get = number(0, 2) == 0;
        (get ? e.gets : e.puts).push_back(o.rmaid);
        const double begin = recorded(o);
        pass(o);
        o.text += "MPI_RMA_CALL lid=" + std::to_string(o.rank) + " time=" + text(begin) +
                  " exit=" + text(recorded(o)) + " region=" + (get ? "MPI_Get" : "MPI_Put") +
                  " dlid=" + peer + " wid=0 rmaid=" + std::to_string(o.rmaid++) +
                  " bytes=8 got=0 kind=" + (get ? "2" : "1") + "\n";
      }
      return count;
    };
    const auto flush = [&](bool any) {
      pass(o);
      record(o, "ENTER", "region=MPI_Win_flush");
      pass(o);
      if (any) o.now = std::max(o.now, grant + uniform(0.0001, 0.01));
      record(o, "MPI_WIN_FLUSH", "tlid=" + peer + " " + at + "local=0");
      if (any && !proved) {
        proved = true;
        e.proof = recorded(o);
      }
      record(o, "EXIT", "");
    };
    int outstanding = operations();
    if (number(0, 1) == 0) {
      flush(outstanding != 0);
      outstanding = operations();
    }
    if (number(0, 3) == 0) flush(outstanding != 0);
    pass(o);
    record(o, "ENTER", "region=MPI_Win_unlock");
    e.unlock_enter = recorded(o);
    pass(o);
    o.now = std::max(o.now, grant + uniform(0.0001, 0.01));
    e.held = grant;
    e.released = o.now;
    // The next holder may have it before this call returns.
    o.now += number(0, 1) == 0 ? uniform(0, 0.2) : 0.0001;
    e.unlock_exit = recorded(o);
    if (!proved) e.proof = e.unlock_exit;
    record(o, "MPI_WIN_UNLOCK", "llid=" + peer + " " + at);
    record(o, "EXIT", "");
    if (!e.nocheck) {
      target.last_grant = std::max(target.last_grant, grant);
      double& until = e.exclusive ? target.exclusive_until : target.shared_until;
      until = std::max(until, e.released);
    }
    program_.epochs.push_back(e);
  }

  std::mt19937_64 random_;
  double error_;
  std::vector<Origin> origins_;
  std::vector<Target> targets_;
  LockProgram program_;
};

}  // namespace

LockProgram lock_program(std::uint64_t seed, double error) {
  return LockSimulation(seed, error).run();
}

}  // namespace kojak::support
