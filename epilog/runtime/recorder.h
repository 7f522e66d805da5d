// What one thread records into: its part of the session, in thread-local storage.
//
// The recording path is here, inline: a check of the buffer before a call, records encoded at
// `cursor`, one store that publishes them (local_buffer.h). Everything that allocates, opens or
// writes files is in local_trace.cc and reached through make_room() and need_room(), which are
// cold. A Recorder belongs to its thread; others touch only `limit`, which they lower to call the
// owner into make_room(). Nothing fails: when recording has stopped, make_room() says so and the
// call goes unrecorded.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "epilog/format/compact/encode_quickly.h"
#include "epilog/format/io/local_buffer_header.h"
#include "epilog/runtime/clock.h"

namespace kojak::measure {

struct LocalTrace;
struct Metrics;
struct PathSlot;
struct Polling;

// Lies on the stack of the outermost MPI call of a thread, or of what else of ours writes records:
// a signal handler may come meanwhile.
struct CallFrame {
  // What the trace has of the call while it lasts.
  enum class Trace : std::uint8_t {
    kNothing,     // and will not have anything
    kInHand,      // its ENTER follows when it has returned, or when a call within it is recorded
    kEntered,     // its ENTER
    kHoldsCalls,  // its ENTER, and records of calls made by functions of the program within it
  };
  const void* volatile mark;  // the frame is alive as long as this holds
  const void* entry;          // where the frame of the caller of our function ends
  volatile bool in_call;      // the MPI library has control, not we
  bool sealed;                // what is called within it is its own work (SHMEM on MPI)
  Trace trace;
  RegionId region;  // of its ENTER, if it is in hand
  Ticks enter;
};
// The entry of a call that begins in one function and ends in another: it is open until it ends.
inline const void* const kNoStack = reinterpret_cast<const void*>(~std::uintptr_t{0});
// It is a frame of the function that this is inlined into, which returns to `mark` where the return
// address lies on the stack: a call from the same place as one that was left by a longjmp, or from
// above, has written over it.
[[gnu::always_inline]] inline void begin_frame(CallFrame& frame) {
  frame.entry = __builtin_dwarf_cfa();
#if defined(__x86_64__)
  frame.mark = __builtin_return_address(0);
#else
  frame.mark = &frame;
#endif
}
// One that lies anywhere in the frames of ours.
inline void begin_inner_frame(CallFrame& frame) {
  frame.mark = frame.entry = &frame;
}
// Calls that are open around the innermost one are remembered up to this depth: in functions that
// the program gives to MPI it may call MPI. Deeper ones are not recorded.
inline constexpr std::uint32_t kMostOuterCalls = 16;

// Where the code of a shared library lies.
struct CodeRange {
  std::uintptr_t begin = 0, end = 0;
  bool holds(const void* address) const {
    const auto a = reinterpret_cast<std::uintptr_t>(address);
    return a >= begin && a < end;
  }
};

// A place in the code, or a region of the user, and what it is called in this thread's file.
struct CodeSlot {
  std::uint64_t key;
  RegionId id;
};
inline constexpr unsigned kCodeBits = 10;
inline constexpr std::size_t kCodeSlots = std::size_t{1} << kCodeBits;
constexpr std::size_t code_slot(std::uint64_t key) {
  return static_cast<std::size_t>(key * 0x9E3779B97F4A7C15u >> (64 - kCodeBits));
}
// User addresses have 47 bits. One place may call several functions, by a pointer.
inline std::uint64_t site_key(unsigned function, const void* caller) {
  return reinterpret_cast<std::uintptr_t>(caller) ^ std::uint64_t{function} << 48;
}

// Every call may write this much without asking again.
inline constexpr std::size_t kCallRoom = 1536;
// Functions are numbered as the table of MPI's has them, behind these as that of SHMEM's, and then
// OpenMP's constructs, and those of ARMCI's.
inline constexpr unsigned kFirstShmemFunction = 704, kFirstOmpConstruct = 2560,
                          kFirstArmciFunction = 2624;
inline constexpr std::size_t kMaxFunctions = 2752;
inline constexpr std::size_t kFunctionWords = kMaxFunctions / 64;

inline constexpr Ticks kNever = ~Ticks{0};

struct BelowNote;

struct alignas(64) Recorder {
  std::byte* cursor;              // where the next record goes
  std::atomic<std::byte*> limit;  // a call may start while cursor <= limit
  CallFrame* frame;               // of the innermost call, if one is open
  std::uint64_t bias;             // cursor + bias = length of the trace so far
  LocalBufferHeader* header;
  Ticks last;           // time of the newest record
  Ticks processor_due;  // from then on an event has the kernel's counts read
  LocationId lid;
  std::uint32_t outer_calls;  // how many calls are open around the innermost one
  bool open_region;           // of the innermost call; its ENTER is written, its exit is not
  bool polls_go_on;           // no call but polls was recorded since a series was interrupted
  bool reads_wait;            // are held back until they are complete (reads.h)
  std::uintptr_t window_key;  // the window used last, and what tells that it is still the same
  void* window;
  std::uint64_t window_serial;
  std::uintptr_t comm_key;
  void* comm;
  std::uint64_t comm_serial;
  std::uint64_t
      thread_bit;          // in the sets of threads whose files define an object; 0: see LocalTrace
  std::uint64_t* regions;  // functions whose regions are defined in this thread's file
  CodeSlot* sites;  // of calls: kCodeSlots, none of which matches before the trace is open; or null
  CodeSlot* codes;  // the same, also where call sites are not recorded
  const PathSlot* paths;  // of calls, where their callers are followed, or null
  LocalBufferNote* note;  // of the open call
  Metrics* metrics;       // counters that are read, or null (metrics.h)
  Polling* polling;       // the series of polls that is open, or null (polling.h)
  std::byte* lost;        // once the disk was full: where the number of lost calls stands
  LocalTrace* trace;
  compact::State* state;  // what the next records are compared with
  // Set while a Fortran call is on its way through the MPI's Fortran library, which may reach our C
  // wrapper of the same function.
  std::uint32_t forwarded;      // 1 + that function, or 0
  const CodeRange* forwarder;   // that library
  BelowNote* below;             // epilog/mpi/below.h
  bool making_below;            // the creation call in hand is not the program's
  Ticks slept;                  // outside of calls and series of polls, in functions that pause
  bool on_own_stack;            // own_stack.h
  std::uint32_t outer_regions;  // bit i: ENTER of outer[i] is written
  CallFrame* outer[kMostOuterCalls];  // the outermost first
  std::uint32_t process_apart;        // 1 + the rank that this thread is in the run by itself; or 0
};

// The cursor starts above the limit, so that the first call of a thread asks for room.
extern thread_local constinit Recorder the_recorder __attribute__((tls_model("initial-exec")));

inline constexpr Dialect kLocalDialect{compact::kMajor};

// The time of an event's record, which holds ticks: readers make seconds of them.
inline Seconds record_time(Ticks at) {
  return compact::stamp(at);
}

// Writes a record, which must become part of the trace if others follow it: they are compared with
// it. Only those of whole calls, where each nanosecond counts, are encoded in place.
template <class R>
KOJAK_INLINED inline std::byte* put(const Recorder& r, std::byte* to, const R& record) {
  if constexpr (compact::Joint<R>) {
    return compact::encode(*r.state, record, to);
  } else if constexpr (compact::kHasCode<R> && kEffect<R> == RegionEffect::kEntersAndLeaves) {
    return compact::encode_quickly(*r.state, record, to);
  } else if constexpr (compact::kHasCode<R>) {
    return compact::encode_apart(*r.state, record, to);
  } else {
    return compact::encode_verbatim(record, to);
  }
}
// One of the note, which may never become part of it: it stands for itself, not as a difference.
template <class R>
KOJAK_INLINED inline std::byte* put_noted(std::byte* to, const R& record) {
  return compact::encode_verbatim(record, to);
}
inline std::size_t noted_size(const std::byte* record) {
  return 3 + std::to_integer<std::size_t>(record[1]);
}
// Whether what was noted last began with the ENTER of this region.
inline constexpr std::size_t kNotedEnter =
    3 + sizeof(LocationId) + sizeof(Seconds) + sizeof(RegionId);
KOJAK_INLINED inline bool notes_enter(const LocalBufferNote& note, RegionId region) {
  RegionId last;
  std::memcpy(&last, note.records + kNotedEnter - sizeof last, sizeof last);
  return last == region && note.records[2] == static_cast<std::byte>(RecordType::kEnter);
}

// Makes what was written up to `to` part of the trace.
KOJAK_INLINED inline void publish(Recorder& r, std::byte* to) {
  r.cursor = to;
  std::atomic_ref<std::uint64_t>(r.header->end)
      .store(reinterpret_cast<std::uintptr_t>(to) + r.bias, std::memory_order_release);
}

// From now on, up to drop_note(), the first `size` bytes of the note end the trace.
KOJAK_INLINED inline void keep_note(LocalBufferNote& note, std::size_t size) {
  std::atomic_ref<std::uint64_t>(note.size).store(size, std::memory_order_release);
}
// The note has served its purpose. False if settle_note() has made it part of the trace.
KOJAK_INLINED inline bool drop_note(LocalBufferNote& note) {
  const bool there = note.size != 0;
  std::atomic_ref<std::uint64_t>(note.size).store(0, std::memory_order_relaxed);
  return there;
}
// Before something is written in the middle of a call, where kCallRoom is free: what is noted of it
// comes first.
void settle_note(Recorder& r);
// Calls are open, and the program, which one of them has called, does something that is recorded:
// they have begun before it.
[[gnu::cold, gnu::noinline]] void enter_open_calls(Recorder& r);

// Before a call: opens the thread's file if need be, flushes, takes note of recording switched off
// and on. False if nothing can be recorded.
[[gnu::cold, gnu::noinline]] bool make_room(Recorder& r);

// Makes room for `bytes`, for definitions; not in the middle of a call.
[[gnu::cold, gnu::noinline]] bool make_room_for(Recorder& r, std::size_t bytes);

// What a call of an MPI function from `caller` is named by, where no slot knows it: its site, or
// the plain region; absent where nothing can be recorded. `frame` is an address in the wrapper's
// stack frame.
[[gnu::cold, gnu::noinline]] RegionId define_site(Recorder& r, unsigned function,
                                                  const void* caller, const void* frame);

// In the middle of a call, after its exit time is taken: room for `bytes` more, with kCallRoom
// behind them. The flush that this may need is recorded by close_spill() after the call's exit
// record.
[[gnu::cold, gnu::noinline]] bool need_room(Recorder& r, std::size_t bytes);
[[gnu::cold, gnu::noinline]] void close_spill(Recorder& r);

// Whether a frame is one of our caller's, or of what the signal handler that runs interrupted.
// `here` is an address in the caller's frame, or where that of its caller ends.
bool is_open(const CallFrame* frame, const void* here);

// Calls whose ENTER is written and whose exit is not.
inline unsigned open_call_count(const Recorder& r) {
  return static_cast<unsigned>(std::popcount(r.outer_regions)) + (r.open_region ? 1 : 0);
}
// The innermost call is over: the one around it is the innermost again.
inline void leave_innermost(Recorder& r) {
  if (r.outer_calls == 0) {
    r.open_region = false;
    r.frame = nullptr;
    return;
  }
  const std::uint32_t bit = 1u << --r.outer_calls;
  r.open_region = (r.outer_regions & bit) != 0;
  r.outer_regions &= ~bit;
  r.frame = r.outer[r.outer_calls];
}
// The innermost call was left behind: what it left open is closed.
[[gnu::cold, gnu::noinline]] void drop_innermost(Recorder& r, Ticks at);

// What we do outside of wrappers, on the stack: a signal handler that comes meanwhile records
// nothing.
class OwnFrame {
 public:
  explicit OwnFrame(Recorder& r) : r_(r), taken_(r.frame == nullptr) {
    begin_inner_frame(frame_);
    frame_.in_call = false;
    if (taken_) r.frame = &frame_;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~OwnFrame() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (taken_) r_.frame = nullptr;
    frame_.mark = nullptr;
  }
  OwnFrame(const OwnFrame&) = delete;
  OwnFrame& operator=(const OwnFrame&) = delete;
  const CallFrame* frame() const { return &frame_; }

 private:
  Recorder& r_;
  CallFrame frame_;
  bool taken_;
};

// A call's frame is on record. True if it, and those around it, were left behind by a longjmp or an
// exception: then what they left open is closed. Also where a call around them is still open, which
// is the innermost one then. `caller`: where the call in hand returns to; null if it is the
// program.
[[gnu::cold, gnu::noinline]] bool left_behind(Recorder& r, const void* here,
                                              const void* caller = nullptr);

}  // namespace kojak::measure
