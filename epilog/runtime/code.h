// Places in the program's code as a thread's local trace names them: call sites, callers,
// functions.
//
// An event names a place by a number; the number's definition (LOCAL_SITE, LOCAL_FUNCTION ...)
// holds module and offset, so it stays true when the program is killed, loads elsewhere next time
// or unloads the module. Names, files and lines are found by the merge. A number is looked up in a
// direct-mapped cache in front of a hash table, both the thread's own; after kMostPlaces a call is
// recorded without its site, so memory is bounded. What is unloaded and replaced by other code at
// the same address keeps the first name. Used by the owning thread only; nothing fails: what cannot
// be defined is recorded without a place.
#pragma once

#include <span>

#include "epilog/runtime/local_trace.h"

struct dl_phdr_info;

namespace kojak::measure {

inline constexpr std::size_t kMostPlaces = 1u << 16;
// Identifiers of sites and user regions begin behind those of all MPI functions.
inline constexpr std::uint32_t kFirstPlace = 4096;
static_assert(kFirstMpiRegion + kMaxFunctions <= kFirstPlace);

struct PathSlot;
struct PythonPlaces;

struct CodeTable {
  CodeSlot* slots = nullptr;          // kCodeSlots
  HashMap<std::uint32_t> places;      // keys to identifiers
  HashMap<std::uint32_t> frames;      // keys of caller and address to frames
  HashMap<std::uint32_t> modules;     // hashes of path and base to modules
  PathSlot* paths = nullptr;          // of callers, where they are followed
  PathSlot* library_paths = nullptr;  // of calls out of communication libraries
  PythonPlaces* python = nullptr;     // lines of a Python program
  bool library_thread = false;        // it was told that a library has started the thread
  std::uint32_t next_place = kFirstPlace;
  std::uint32_t next_frame = 0;
  std::uint32_t next_module = 0;
};

// Makes and drops the table of a trace. Without memory the thread records without places.
void open_code_table(Recorder& r);
void close_code_table(LocalTrace& trace);

// Writes the definition of the code that holds `address`, if it is not there yet. The address
// becomes an offset. Absent if nobody knows the code.
enum class Moment : std::uint8_t { kBetweenCalls, kWithinCall };
Count define_module(Recorder& r, std::uint64_t& address, Moment moment = Moment::kBetweenCalls);

// The program's module at an address; false if there is none.
struct Module {
  std::uintptr_t base = 0;
  char path[4096];
  unsigned char build_id[64];
  std::uint32_t build_id_size = 0;
};
bool find_module(std::uintptr_t address, Module& module);
// What is loaded has this build id; empty if it has none. Safe in a signal handler.
std::span<const unsigned char> build_id_of(const dl_phdr_info& info);

// The file of the program, whoever started it; empty if nobody knows. Thread-safe.
const char* program_file();

// The part of a module that holds an address; empty if there is none.
CodeRange code_around(const void* address);

// The site of a construct of OpenMP: the key is its site_key(). Its callers are not followed.
// Absent if it cannot be written.
RegionId define_construct(Recorder& r, std::uint64_t key);

// Remembers an identifier for a key, in the table and in the cache.
void remember(Recorder& r, std::uint64_t key, RegionId id);
RegionId new_place(LocalTrace& trace);
bool more_places(const LocalTrace& trace);

}  // namespace kojak::measure
