// One thread's local trace: its file, its buffer and what it has defined there.
//
// Opened at the thread's first recorded call, closed when the thread or the session ends. A thread
// but the first has a small buffer at first, and files of its own only when that, and larger ones,
// are full (small_buffers.h). The file is opened for each flush and closed again, so that a program
// that closes or reuses all descriptors cannot be harmed. Where the process cannot open it any
// more, its keeper writes in its place. The buffer is memory that is saved when the process dies
// (local_buffer_header.h, keeper.h). Owned by the session; used by its thread, and by the thread
// that ends the session. Failures stop the recording of the whole process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "epilog/format/openmp_constructs.h"
#include "epilog/format/shmem_functions.h"
#include "epilog/runtime/recorder.h"
#include "epilog/runtime/session.h"
#include "epilog/runtime/thread_reading.h"

namespace kojak::measure {

struct CodeTable;
struct OpenRegions;
struct Polling;
struct Sampler;
struct SmallReads;

struct LocalTrace {
  Recorder* recorder = nullptr;
  LocalTrace* next = nullptr;
  std::byte* memory = nullptr;
  std::size_t size = 0;
  bool small = false;       // the buffer, which holds all of the trace; there are no files
  std::size_t part_at = 0;  // where LOCAL_PART's length stands in it
  dev_t device = 0;         // of the trace file, where this process made it
  ino_t inode = 0;
  bool out_of_reach = false;           // the keeper makes and writes the files
  compact::State state;                // of the block in the buffer
  std::byte* begin = nullptr;          // of the block
  std::byte* hard_limit = nullptr;     // records of a call end before it; kReserve bytes follow
  std::uint32_t rank = 0, thread = 0;  // in the run
  std::uint32_t next_string = 0;
  std::uint32_t log_serial = 0;
  CodeTable* code = nullptr;    // places in the program (code.h)
  OpenRegions* open = nullptr;  // the thread's (open_regions.h)
  Sampler* sampler = nullptr;   // of what the thread computes, if that was asked for
  Polling* polling = nullptr;   // if it has polled
  ThreadReadings readings;      // of the kernel's counts
  SmallReads* reads = nullptr;  // if it has read small values of others
  HashMap<bool> defined;        // objects, for the 65th thread and later ones; locks of SHMEM
  std::uint32_t locks = 0;      // of these
  std::uint64_t regions[kFunctionWords] = {};
  bool log_off_open = false;  // a LOG_OFF has no LOG_ON yet
  bool paused_apart = false;  // by its thread alone, while others record
  bool in_flush = false;      // what is written now needs no record of its own
  bool spilled = false;       // a flush inside a call is still to be recorded
  Ticks spill_begin = 0, spill_end = 0;
};

// What is written after the buffer is full: LOG_OFF, ENTER_TRACING and a LOST record, with
// counters.
inline constexpr std::size_t kReserve = 512;

bool open_trace(Recorder& r);
// Takes a trace (null: any) out of the session's list: whoever gets it closes it. Null if it is
// gone.
LocalTrace* take_trace(const LocalTrace* wanted);
// Writes the last records and removes the buffer of a trace that was taken. `t` is the time of the
// root region's exit.
void close_trace(LocalTrace& trace, Ticks t);
// Appends what the buffer holds to the file and empties it; no records about it. False: recording
// stopped; or it is the last time, and the keeper, which cannot be reached, will do it.
bool write_out(LocalTrace& trace, bool last = false);
// Makes room at the end of a trace: by a larger buffer, or as write_out() does.
bool write_or_grow(LocalTrace& trace);
// The session ends: what threads that recorded little have left is written. All of them have ended.
void close_shared_trace();

// Flushes inside TRACING, with a note of where the process stands. False: recording stopped.
bool flush_with_record(Recorder& r, Ticks begin);
// Has the calling thread's trace closed, and its stack of regions given back, when it ends.
void watch_thread_end();

// Definitions. A string needs room of string_room(); the region makes sure of its own.
constexpr std::size_t string_room(std::size_t length) {
  return length + (length / 255 + 2) * 8;
}
StringId define_string(Recorder& r, const char* text, std::size_t length);
// What a function is called, and the type of its region: in MPI's table, SHMEM's, OpenMP's or
// ARMCI's.
struct NamedFunction {
  std::string_view name;
  std::uint8_t region_type;
};
inline NamedFunction named(unsigned function) {
  if (function < kFirstShmemFunction) {
    const MpiFunction& f = mpi_functions()[function];
    return {f.name, f.region_type};
  }
  if (function >= kFirstArmciFunction) {
    const ShmemFunction& f = the_session.armci_functions[function - kFirstArmciFunction];
    return {f.name, f.region_type};
  }
  if (function >= kFirstOmpConstruct) {
    const OmpRegion& region = kOmpRegions[function - kFirstOmpConstruct];
    return {region.name, region.type};
  }
  const ShmemFunction& f = the_session.shmem_functions[function - kFirstShmemFunction];
  return {f.name, f.region_type};
}
[[gnu::cold, gnu::noinline]] void define_region(Recorder& r, unsigned function);

inline constexpr RegionId kRootRegion{0};
inline constexpr std::uint32_t kFirstMpiRegion = 1;
constexpr RegionId region_of(unsigned function) {
  return static_cast<RegionId>(kFirstMpiRegion + function);
}

}  // namespace kojak::measure
