// Which function a thread began with, as the C library keeps it for debuggers.
//
// A stack does not tell that: where the function ended by jumping to another, its frame is gone.
// glibc says where it keeps the function in what pthread_self() points to, for libthread_db
// (nptl_db/structs.def); that name is looked up once. Thread-safe; nothing fails: of another C
// library nothing is known.
#pragma once

#include <cstdint>

#include "epilog/runtime/recorder.h"

namespace kojak::measure {

struct ThreadStart {
  std::uintptr_t function = 0;  // 0: not known, or the process's first thread
  CodeRange caller;             // the file that calls it
};
ThreadStart start_of_this_thread();

}  // namespace kojak::measure
