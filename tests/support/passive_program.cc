#include "tests/support/passive_program.h"

#include <algorithm>
#include <random>

namespace kojak::support {
namespace {

constexpr std::uint32_t kLocked = 0, kLockedByAll = 1, kGroups = 2;  // windows

class Program {
 public:
  explicit Program(std::uint64_t seed) : dice_(seed) {
    ranks_.resize(2 + pick(4));
    locks_ = pick(3) != 0;
    by_all_ = !locks_ || pick(4) == 0;
    groups_ = pick(3) == 0;
    sampled_ = pick(4) == 0;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) define(r);
    // Some are so long that instances of operations are closed on the way.
    const std::uint32_t phases = pick(50) == 0 ? 200 + pick(400) : 2 + pick(7);
    // In each program calls are long or short on the whole: else all would wait, or none.
    longest_ = 1 + pick(24);
    for (std::uint32_t p = 0; p < phases; ++p) {
      if (groups_ && pick(2) == 0) start_to_wait();
      for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
        const std::uint32_t steps = pick(5);
        for (std::uint32_t s = 0; s < steps; ++s) step(r);
        end_phase(r);
      }
      meet();
    }
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      unlock_all(r);
      record(r, "EXIT");
    }
  }
  std::vector<std::string> traces() {
    std::vector<std::string> all;
    for (Rank& rank : ranks_) all.push_back(std::move(rank.text));
    return all;
  }

 private:
  struct Rank {
    std::string text;
    std::uint32_t time = 1;  // in 1/16 s
    std::uint32_t operations = 0;
    bool by_all = false;
  };
  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(dice_() % n); }
  std::uint32_t some() { return 1 + pick(longest_); }
  static std::string number(std::uint32_t n) { return std::to_string(n); }

  void define(std::uint32_t r) {
    std::string& text = ranks_[r].text;
    const std::string node = number(r % 2);
    text += "NODE nid=" + node + " cpuc=1 nnid=\"n" + node + "\"\n";
    if (r % 2 == 1 && pick(2) == 0) text += "CLOCK_ERROR nid=1 bound=0.125\n";
    text += "OFFSET ltime=0 offset=0\n";
    const auto group = [&](std::uint32_t id, const std::string& members, std::uint32_t identity) {
      text += "MPI_GROUP gid=" + number(id) + members + "\nMPI_COMM_REF cid=" + number(id) +
              " gid=" + number(id) + "\nCOMM_IDENTITY cid=" + number(id) +
              " hi=" + number(identity) + " lo=7 flags=0\n";
    };
    group(0, " mode=1 count=" + number(static_cast<std::uint32_t>(ranks_.size())), 1);
    if (r < 2) group(1, " mode=0 ranks=[" + number(1 - r) + "]", 5 + r);  // the other one
    for (std::uint32_t w = 0; w < 3; ++w) {
      text += "MPI_WIN wid=" + number(w) + " cid=0\nWIN_IDENTITY wid=" + number(w) + " hi=9" +
              number(w) + " lo=4 flags=0 flavour=1 model=2\n";
    }
    record(r, "ENTER", "region=main");
  }
  void record(std::uint32_t r, const std::string& name, const std::string& fields = "") {
    ranks_[r].text += name + " lid=" + number(r) +
                      " time=" + std::to_string(ranks_[r].time / 16.0) +
                      (fields.empty() ? "" : " ") + fields + '\n';
  }
  void pass(std::uint32_t r) { ranks_[r].time += some(); }
  void enter(std::uint32_t r, const std::string& region) {
    record(r, "ENTER", "region=" + region);
    pass(r);
  }
  void call(std::uint32_t r, const std::string& region, const std::string& name,
            const std::string& fields) {
    record(r, "ENTER", "region=" + region);
    record(r, name, fields);
    pass(r);
    // (A call that fails in part may have done what it was called for.)
    if (pick(60) == 0) record(r, "MPI_ERROR", "error_class=" + number(50 + pick(2)) + " code=9");
    record(r, "EXIT");
  }
  void transfer(std::uint32_t r, std::uint32_t target, std::uint32_t window) {
    const bool get = pick(3) == 0;
    const std::uint32_t from = ranks_[r].time;
    const std::uint32_t until = from + (pick(2) == 0 ? some() : 1);
    record(r, "MPI_RMA_CALL",
           "exit=" + std::to_string(until / 16.0) + " region=" + (get ? "MPI_Get" : "MPI_Put") +
               " dlid=" + number(target) + " wid=" + number(window) + " rmaid=" +
               number(ranks_[r].operations++) + " bytes=8 got=0 kind=" + (get ? "2" : "1"));
    ranks_[r].time = until;
  }
  void flush(std::uint32_t r, const std::string& target, std::uint32_t window, bool local) {
    const std::string name =
        std::string("MPI_Win_flush") + (local ? "_local" : "") + (target == "absent" ? "_all" : "");
    call(r, name, "MPI_WIN_FLUSH",
         "tlid=" + target + " wid=" + number(window) + " local=" + (local ? "1" : "0"));
  }
  void sample(std::uint32_t r) {
    if (sampled_ && pick(2) == 0) record(r, "LOCAL_SAMPLE", "rid=absent count=" + number(some()));
  }
  void compute(std::uint32_t r) {
    enter(r, pick(2) == 0 ? "work" : "other");
    sample(r);
    pass(r);
    record(r, "EXIT");
  }
  void lock(std::uint32_t r) {
    const std::uint32_t target = pick(static_cast<std::uint32_t>(ranks_.size()));
    const std::string where = "llid=" + number(target) + " wid=" + number(kLocked);
    call(r, "MPI_Win_lock", "MPI_WIN_LOCK", where + " ltype=" + number(pick(3) == 0 ? 0 : 1));
    for (std::uint32_t n = pick(3); n != 0; --n) {
      transfer(r, target, kLocked);
      if (pick(3) == 0) flush(r, number(target), kLocked, pick(3) == 0);
      if (pick(3) == 0) compute(r);
    }
    call(r, "MPI_Win_unlock", "MPI_WIN_UNLOCK", where);
  }
  void under_lock_of_all(std::uint32_t r) {
    if (!ranks_[r].by_all) {
      call(r, "MPI_Win_lock_all", "MPI_WIN_LOCK_ALL", "wid=" + number(kLockedByAll));
      ranks_[r].by_all = true;
    }
    const std::uint32_t target = pick(static_cast<std::uint32_t>(ranks_.size()));
    transfer(r, target, kLockedByAll);
    if (pick(2) == 0) compute(r);
    if (pick(3) != 0) {
      flush(r, pick(2) == 0 ? number(target) : "absent", kLockedByAll, pick(4) == 0);
    }
    if (pick(8) == 0) unlock_all(r);
  }
  void unlock_all(std::uint32_t r) {
    if (!ranks_[r].by_all) return;
    call(r, "MPI_Win_unlock_all", "MPI_WIN_UNLOCK_ALL", "wid=" + number(kLockedByAll));
    ranks_[r].by_all = false;
  }
  void step(std::uint32_t r) {
    if (pick(2) == 0) return compute(r);
    const bool all = by_all_ && (!locks_ || pick(2) == 0);
    all ? under_lock_of_all(r) : lock(r);
  }
  // Mostly nothing is outstanding when the others are met.
  void end_phase(std::uint32_t r) {
    if (ranks_[r].by_all && pick(16) != 0) flush(r, "absent", kLockedByAll, false);
  }
  // Rank 1 puts into the memory of rank 0.
  void start_to_wait() {
    for (const std::uint32_t r : {0u, 1u}) {
      if (pick(2) == 0) compute(r);
      const auto group_call = [&](const char* region, const char* synex) {
        record(r, "ENTER", std::string("region=") + region);
        pass(r);
        record(r, "MPI_WINEXIT", "wid=" + number(kGroups) + " cid=1 synex=" + synex);
      };
      group_call(r == 0 ? "MPI_Win_post" : "MPI_Win_start", "0");
      if (pick(2) == 0) compute(r);
      if (r == 1) transfer(r, 0, kGroups);
      // (Who waits leaves behind who completes.)
      if (r == 1) ranks_[0].time = std::max(ranks_[0].time, waited_);
      if (r == 1) group_call("MPI_Win_complete", "1");
      waited_ = ranks_[r].time;
    }
    record(0, "ENTER", "region=MPI_Win_wait");
    ranks_[0].time = std::max(ranks_[0].time, ranks_[1].time) + some();
    record(0, "MPI_WINEXIT", "wid=" + number(kGroups) + " cid=1 synex=1");
  }
  void meet() {
    std::uint32_t last = 0;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      record(r, "ENTER", "region=MPI_Barrier");
      sample(r);  // (as of a thread that computes meanwhile)
      last = std::max(last, ranks_[r].time);
    }
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      ranks_[r].time = last + 1 + pick(3);
      record(r, "MPI_COLLEXIT", "rlid=absent cid=0 sent=0 recvd=0");
    }
  }

  std::mt19937_64 dice_;
  std::vector<Rank> ranks_;
  std::uint32_t longest_ = 1, waited_ = 0;
  bool locks_ = false, by_all_ = false, groups_ = false, sampled_ = false;
};

}  // namespace

std::vector<std::string> passive_program(std::uint64_t seed) {
  return Program(seed).traces();
}

}  // namespace kojak::support
