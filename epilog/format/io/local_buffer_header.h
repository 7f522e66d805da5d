// The layout of a local trace's buffer file, and of the memory that it is a copy of.
//
// While a location records, its newest records lie in memory that the measured process shares with
// a small process beside it (runtime/keeper.h). No file is mapped: a store into the mapping of a
// file ends the program where the file was cut meanwhile, or where a file system that copies on
// write is full. The file `<rank>.<thread>.buf` is there all the time: it holds the header alone,
// and room for the records where the file system can reserve it. When the measured process has
// died, or could not write its trace, the records are copied behind the header. Layout, in the byte
// order of the machine: LocalBufferHeader, anything up to `start`, then records exactly as in a
// trace file. The bytes [base, end) of the local trace stand at `start`; `<rank>.<thread>.elg` is
// valid up to `base`, and what it holds beyond is the same bytes again, or newer ones. A flush
// appends to that file and then sets base = end in one store, so at every moment
//   trace = file[0, base) + buffer[0, end - base)
// `end` is stored after the records it covers, and never goes back. A finished location has no
// buffer file. Run, rank and thread are those of the trace file's LOCAL_RUN.
//
// A thread that has recorded little has no files yet (runtime/small_buffers.h): all of its trace is
// in memory, base is 0, and its files are made when the process has died.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kojak {

struct LocalBufferHeader {
  static constexpr char kMagic[8] = {'E', 'L', 'G', 'B', 'U', 'F', '3', '\0'};
  enum State : std::uint32_t {
    kInMemory = 0,  // the file has no records: the process has them, or nobody any more
    kSaved = 1,     // the file has them
    kClosed = 2,    // in memory only: nothing is left to save
    kLeft = 3,      // in memory only: its owner has ended it, and could not reach the files
  };
  char magic[8];
  std::uint64_t start;     // offset of the records in the buffer file
  std::uint64_t capacity;  // bytes from there on
  std::uint64_t base;      // length of the trace file that is valid
  std::uint64_t end;       // length of the whole trace, the buffer's part included
  std::uint64_t run_hi, run_lo;
  std::uint32_t rank, thread;
  std::uint32_t state;
  std::int32_t error;             // why the records could not be saved: an errno, or 0; in memory
                                  // why the process could not write, if it could not tell
  std::uint64_t kernel;           // where the two processes can be asked about (running.h)
  std::uint32_t process, keeper;  // the measured one, and the one that saves; 0: there is none
  // How times come from the machine's clock, to tell when the process ended: seconds = (ticks -
  // clock_base) * clock_scale + clock_shift.
  std::uint64_t clock_base;
  double clock_scale, clock_shift;
  std::uint32_t location;  // in the records
  std::uint32_t clock;     // what a tick is
  enum ClockKind : std::uint32_t { kNoClock = 0, kCycles = 1, kNanoseconds = 2 };
};

// In memory the records stand here.
inline constexpr std::size_t kBufferRecordsAt = 2560;

// In memory only, between header and records: what is noted of the call that the thread is in. If
// the process dies in it, these records follow those up to `end`; when it returns, `size` becomes
// 0. They are as version 2.0 has them, each behind its code byte, but their times are ticks:
// whoever saves them makes seconds of these.
struct LocalBufferNote {
  static constexpr std::size_t kRoom = 2048;
  static constexpr std::size_t kTimeAt = 3 + 4;  // in a record
  std::uint64_t size;
  std::byte records[kRoom];
};
inline constexpr std::size_t kBufferNoteAt = 256;

static_assert(sizeof(LocalBufferHeader) <= kBufferNoteAt);
static_assert(kBufferNoteAt % alignof(LocalBufferNote) == 0);
static_assert(kBufferNoteAt + sizeof(LocalBufferNote) <= kBufferRecordsAt);

}  // namespace kojak
