// What a thread's trace remembers of the kernel's counts (processor.h).
#pragma once

#include <sys/types.h>

#include "epilog/runtime/clock.h"

namespace kojak::measure {

struct ThreadReading {
  Ticks at = 0;
  Ticks slept = 0;                    // in functions that pause
  std::uint64_t ran = 0, wanted = 0;  // nanoseconds; wanted: kUnknown64 if it cannot be read
  std::uint64_t preempted = 0, switches = 0;
  std::uint64_t faults = 0, blocks = 0;
};

struct ThreadReadings {
  ThreadReading last;
  Ticks all_at = 0;           // when all of it was read, not the clock alone,
  std::uint64_t all_ran = 0;  // and what the clock said
  bool there = false;         // the last one
  bool written = false;       // it stands in the trace, or what is said of its time does
  bool begun = false;         // more is to come (samples lie between)
  Ticks note_due = 0;         // from then on one is written anyway
  // The kernel's file, if it is kept.
  int file = -1;
  dev_t device = 0;
  ino_t inode = 0;
  bool unreadable = false;
};

}  // namespace kojak::measure
