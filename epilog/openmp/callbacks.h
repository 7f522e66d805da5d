// What is recorded when OpenMP calls us (OMPT): regions on the thread's stack of open regions
// (epilog/runtime/open_regions.h), and the records of teams and locks.
//
// A callback takes no lock and allocates nothing, but when a thread or a place in the program is
// first seen. It works the same before recording begins and after it has ended; then nothing is
// written. Where libomp differs from what one expects:
// - omp_test_lock that fails is a request without an end: a lock's region is written when the lock
//   is there.
// - A worker's wait at the end of a region ends when the next region begins: see team.h.
// - A task that is suspended may go on at another thread (untied): which tasks are open at a
//   thread follows from which one goes on.
#pragma once

#include <omp-tools.h>

namespace kojak::measure::openmp {

// Asks for the callbacks that there are. False if OpenMP does not tell of parallel regions.
bool set_callbacks(ompt_set_callback_t set);

}  // namespace kojak::measure::openmp
