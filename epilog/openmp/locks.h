// Whether a lock of OpenMP was free when a thread asked for it, and nobody else had it until the
// thread got it. Then it did not wait, and no clock needs to be read to know how long.
//
// OpenMP tells when a thread asks for a lock, when it has it, and when it has given it away (after
// that). Each lock has a place in a table, which holds two tokens: of who took it last, and of who
// gave it away last. A token names the lock, the thread, and how many locks that one had taken. The
// lock was free if both were the same when the thread asked, and nobody else had it since if the
// first is still there when the thread has the lock: whoever has it writes the first before giving
// it away. Locks that share a place, and threads beyond the 255th, only make it look as if somebody
// else had it; then the clock is read. No lock, no read-modify-write: a token that is overwritten
// looks like that, too.
#pragma once

#include <atomic>

#include "epilog/openmp/team.h"

namespace kojak::measure::openmp {

class LockTable {
 public:
  // The calling thread asks for a lock.
  void ask(OmpThread& thread, std::uint64_t lock) {
    const Place& place = place_of(lock);
    const std::uint64_t freed = place.freed.load(std::memory_order_acquire);
    const std::uint64_t taken = place.taken.load(std::memory_order_relaxed);
    thread.seen = freed == taken && taken >> kLockShift == tag(lock) ? taken : 0;
  }
  // It has it: whether it has it at once.
  bool take(OmpThread& thread, std::uint64_t lock) {
    if (thread.number == 0) [[unlikely]]
      number(thread);
    Place& place = place_of(lock);
    const bool at_once =
        thread.seen != 0 && place.taken.load(std::memory_order_relaxed) == thread.seen;
    const std::uint64_t who = thread.number < kThreads ? thread.number : 0;
    place.taken.store(tag(lock) << kLockShift | who << kCountBits | (++thread.taken & kCountMask),
                      std::memory_order_relaxed);
    return at_once;
  }
  // It has given it away.
  void give(const OmpThread& thread, std::uint64_t lock) {
    Place& place = place_of(lock);
    const std::uint64_t taken = place.taken.load(std::memory_order_relaxed);
    const bool mine =
        taken >> kLockShift == tag(lock) && (taken >> kCountBits & (kThreads - 1)) == thread.number;
    if (mine) place.freed.store(taken, std::memory_order_release);
  }

 private:
  struct alignas(64) Place {
    std::atomic<std::uint64_t> taken{0}, freed{0};
  };
  // A lock is named by its address, which has 47 bits; the lowest two tell nothing.
  static constexpr unsigned kPlaceBits = 8, kCountBits = 19, kThreadBits = 8;
  static constexpr unsigned kLockShift = kCountBits + kThreadBits;
  static constexpr std::uint64_t kThreads = std::uint64_t{1} << kThreadBits;
  static constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kCountBits) - 1;
  static_assert(kLockShift + 47 - 2 - kPlaceBits <= 64);
  static std::uint64_t tag(std::uint64_t lock) { return lock >> 2 >> kPlaceBits; }
  Place& place_of(std::uint64_t lock) { return places_[lock >> 2 & ((1u << kPlaceBits) - 1)]; }

  Place places_[std::size_t{1} << kPlaceBits];
};

}  // namespace kojak::measure::openmp
