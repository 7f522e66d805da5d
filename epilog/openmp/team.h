// Teams of OpenMP threads, as the measurement follows them.
//
// A team is what its master hands to the workers: which construct made it, and when it was over. A
// worker learns of that end late, when OpenMP wakes it for the next region: until then it seems to
// wait in the barrier at the end. So the master leaves the time here, and a worker's regions end at
// that time. Each thread has the teams that it has made, and uses one again when the team is over
// and no worker needs it any more; memory is bounded by the number of threads. Any thread may hold
// a team; only its master takes it.
#pragma once

#include <atomic>
#include <cstdint>

#include "epilog/runtime/clock.h"

namespace kojak::measure::openmp {

struct OmpThread;

struct alignas(64) Team {
  std::atomic<Ticks> end{0};              // when the master left the region; 0: it is in it
  std::atomic<std::uint32_t> holders{0};  // workers that are in it, or seem to be
  bool open = false;                      // the master is in it
  bool forked = false;                    // OMP_FORK is written, or would be
  std::uint64_t number = 0;               // in the process
  const void* place = nullptr;            // of the construct in the program
  const OmpThread* master = nullptr;
  Team* next = nullptr;  // of the same master
};

// What a thread needs between callbacks.
struct OmpThread {
  Team* teams = nullptr;
  std::uint64_t number = 0;  // 1 ...: of threads that have made teams or taken locks
  std::uint64_t made = 0;    // teams
  Ticks acquire = 0;         // when it asked for a lock
  std::uint64_t seen = 0;    // of that lock (locks.h)
  std::uint64_t taken = 0;   // locks
};
extern thread_local constinit OmpThread the_thread __attribute__((tls_model("initial-exec")));

// Gives the thread its number.
[[gnu::cold, gnu::noinline]] void number(OmpThread& thread);

// A new team of the calling thread; null without memory.
Team* take_team(OmpThread& thread, const void* place);

}  // namespace kojak::measure::openmp
