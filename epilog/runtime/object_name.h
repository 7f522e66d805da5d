// The name of a communicator, team or window: a constant, or what the program gave.
//
// Every thread's file that defines the object has the name that it had then; one that is given
// later is written where the object is used next, and at once in the file of the thread that gives
// it. `given` numbers a process's names, so that the merge knows the last one. Text of the program
// is copied, up to kMostName characters. Callers hold the bookkeeping lock. Without memory the
// object keeps the name that it has.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "epilog/runtime/recorder.h"

namespace kojak::measure {

struct ObjectName {
  static constexpr std::size_t kMostName = 255;  // more than any MPI takes

  const char* text = nullptr;
  std::uint32_t length = 0;
  std::uint32_t owned = 0;                // bytes of `text` that are ours
  std::uint32_t given = 0;                // 0: never
  std::atomic<std::uint64_t> renamed{0};  // threads in whose files it stands with an older name

  // For ever there.
  void set_constant(const char* name);
  // Without the blanks at its end. False if nothing was changed.
  bool set(const char* name);
  void clear();  // gives the memory back
};

// The object has another name now: each thread that has defined it comes to its definition again.
inline void define_again(ObjectName& name, std::atomic<std::uint64_t>& defined) {
  name.renamed.fetch_or(defined.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
}
// Asked where known_here() has said that it is not defined: whether it is, but for its name.
inline bool only_renamed(const Recorder& r, ObjectName& name) {
  if (name.renamed.load(std::memory_order_relaxed) == 0) return false;
  return (name.renamed.fetch_and(~r.thread_bit, std::memory_order_relaxed) & r.thread_bit) != 0;
}

// Makes their own room; nothing if the object was never named. False: recording stopped.
bool write_name(Recorder& r, CommId comm, const ObjectName& name);
bool write_name(Recorder& r, WindowId window, const ObjectName& name);

}  // namespace kojak::measure
