// Call sites with the functions that led to them (ELG_CALLSITES=path:N).
//
// A path is the function that calls MPI and the outermost of those that led to it, from main or
// from where the thread, or the construct of OpenMP that it is in, begins inwards, N in all: so the
// tree that many paths make is one tree. A mark stands for those left out in between. What the
// system calls main from does not count.
//
// The callers are found by the unwinder of the compiler's runtime library, which is loaded only
// when this is asked for. It takes a microsecond or so; therefore the places on the stack where the
// return addresses stood are remembered for each pair of call site and stack frame. The next call
// from there looks whether they hold the same, which takes some nanoseconds. (That what is left out
// is not looked at does not matter: main's frame lies where it lay, and so does what it calls from
// there, outside inwards.) Per thread; memory is bounded by kPathSlots and kMostPlaces. Where the
// unwinder is missing, the site alone is recorded.
//
// Calls out of communication libraries are named in the same way (ELG_CALLSITES=site).
#pragma once

#include <span>

#include "epilog/runtime/code.h"

namespace kojak::measure {

inline constexpr std::size_t kPathSlots = 256;

struct PathSlot {
  std::uint64_t key;
  const void* frame;
  RegionId region;
  std::uint32_t count;
  const std::uintptr_t* place[kMostCallers];  // on the stack
  std::uintptr_t address[kMostCallers];       // what must stand there
  const void* entry;  // the library's function, where a line of Python called it
};

inline std::size_t path_slot(std::uint64_t key, const void* frame) {
  return mix(key ^ reinterpret_cast<std::uintptr_t>(frame)) % kPathSlots;
}
// Whether the slot's stack places hold its addresses. That they may be read follows from the frame:
// it is the same, and they lie above it.
inline bool holds(const PathSlot& slot) {
  for (std::uint32_t i = 0; i < slot.count; ++i) {
    if (*slot.place[i] != slot.address[i]) return false;
  }
  return true;
}
// What is known of a call from there, where the stack is as it was then; null if nothing is.
KOJAK_INLINED inline const PathSlot* known_path(const PathSlot* paths, std::uint64_t key,
                                                const void* frame) {
  if (paths == nullptr) return nullptr;
  const PathSlot& slot = paths[path_slot(key, frame)];
  return slot.key == key && slot.frame == frame && holds(slot) ? &slot : nullptr;
}

// The return addresses on a thread's stack from the call of MPI outwards, and where they stand.
inline constexpr unsigned kMostFrames = 64;
struct CallStack {
  unsigned count;
  std::uintptr_t address[kMostFrames];
  const std::uintptr_t* place[kMostFrames];
};

// From now on a path begins, at the latest, with what this library calls: OpenMP's, by an address
// in it. Its constructs are recorded as regions, which lie around what they call.
void begin_paths_behind(const void* openmp);

// Loads the unwinder. False if there is none.
bool prepare_call_paths();

// The site of a call that comes out of a communication library (libraries.h): the library's entry
// point, called by the program's line. Absent if the call does not come out of one.
RegionId define_library_site(Recorder& r, unsigned function, std::uint64_t key, const void* caller,
                             const void* frame);
// The site if it is known already, which takes little of the stack; else absent.
RegionId known_library_site(Recorder& r, unsigned function, std::uint64_t key, const void* frame);

// Whether all that this thread calls of MPI is the inside of a library whose own calls a front
// records: a thread that such a library has started. And: it is no more.
bool is_within_library(const Recorder& r);
void leave_library_thread(Recorder& r);

// The site of a call with its callers.
RegionId define_path(Recorder& r, unsigned function, std::uint64_t key, const void* caller,
                     const void* frame);
// Where a thread stands that a signal has interrupted at `place`, and the return addresses of what
// led there, innermost first, up to kMostCallers in all: how many. Safe in a signal handler.
unsigned interrupted_path(std::uintptr_t place, std::uintptr_t* addresses, bool& more);
// Loads the unwinder for this and find_on_stack(). False if it has the place alone, and the other
// knows nothing: where code cannot be looked up without a lock (before glibc 2.35), since a handler
// may have interrupted anything.
bool prepare_interrupted_paths();

// Whether the callers of this function's have a frame that ends at `end`.
enum class OnStack : std::uint8_t { kYes, kNo, kUnknown };
[[gnu::cold, gnu::noinline]] OnStack find_on_stack(const void* end);

// The site of such a place, as if `region` were called there; absent if it cannot be kept.
RegionId define_sampled(Recorder& r, RegionId region, std::span<const std::uintptr_t> path,
                        bool more);

// Writes the definition of a site that is not known yet.
RegionId add_site(Recorder& r, RegionId entered, std::uint64_t key, const void* caller,
                  Count called_by);

}  // namespace kojak::measure
