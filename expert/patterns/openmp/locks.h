// OpenMP's locks and critical sections: which threads held a lock while another waited for it.
//
// A thread waits from its entering the call or construct to its getting the lock (OMP_ALOCK); who
// held the lock then is known from the OMP_ALOCK and OMP_RLOCK of the others. Of each lock the last
// kMostHolds turns are kept: a thread that waits for more is said to wait less.
// Source: docs/patterns.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "earl/trace.h"
#include "expert/waits/interval.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

class OmpLocks {
 public:
  explicit OmpLocks(std::size_t locations) : waiting_(locations) {}

  // In `call` the lock is got or given back. `waits`: the call is one that waits for locks.
  void on_lock(const earl::OpenCall& call, std::uint32_t lock, Seconds time, bool acquired,
               bool waits);
  // How long a call that waits for locks, and has been left, waited for other threads; which turns
  // of others these were. Empty if it did not.
  std::vector<WaitPart> take_waits(const Call& call);

 private:
  static constexpr std::size_t kMostHolds = 4096;
  struct Hold {
    Seconds begin, end;
    EndedBy by;
    std::uint64_t number;
  };
  struct Lock {
    bool held = false;
    std::uint32_t holder = 0;
    Seconds since;
    std::deque<Hold> holds;  // that are over
  };
  struct Waiting {
    std::uint64_t enter_pos;  // of the call
    std::vector<WaitPart> parts;
  };
  std::unordered_map<std::uint64_t, Lock> locks_;  // by process and lock
  std::vector<std::vector<Waiting>> waiting_;      // by location: calls that are still open
  std::uint64_t turns_ = std::uint64_t{1} << 62;   // numbers that no other operation has
};

}  // namespace kojak::expert
