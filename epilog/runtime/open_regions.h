// The open regions of a thread that are no calls of MPI or SHMEM: those of the user
// (user_regions.h) and OpenMP's constructs (epilog/openmp).
//
// Each thread has a stack of them, kept also while nothing is recorded: before MPI_Init, during a
// pause, inside of callbacks from MPI. When recording goes on, what was left meanwhile is left, and
// what was entered is entered; so regions balance across pauses at any depth. A region may be over
// before its thread says so, if another thread has said when (Entry::ended). A thread that enters a
// region records, whether it calls MPI or not. A signal handler may enter and leave regions: they
// are recorded as any others, unless it interrupts our own work or an MPI call; then they are left
// out, as a whole. Owns the stack; it is given back when the thread ends. Nothing fails: without
// memory for deeper nesting, deeper regions are not recorded.
#pragma once

#include <atomic>
#include <cstdint>

#include "epilog/runtime/code.h"
#include "epilog/runtime/session.h"

namespace kojak::measure {

// Kinds of keys. That of a construct of OpenMP is its site_key().
inline constexpr std::uint64_t kUserKey = std::uint64_t{1} << 63,
                               kFunctionKey = std::uint64_t{1} << 62;
// What a region is called that the filter leaves out.
inline constexpr RegionId kRejected = absent<RegionId>();

struct OpenRegions {
  struct Entry {
    std::uint64_t key;
    const void* what;                 // of the kind that the key tells
    const std::atomic<Ticks>* ended;  // where another thread says when it was over; or null
    bool written;                     // its ENTER is in the file, its exit is not
    bool collective;                  // a construct that the whole team takes part in
  };
  Entry* entries;
  std::uint64_t capacity;
  std::uint64_t depth;
  std::uint64_t exits_due;         // of regions left while nothing was recorded
  std::uint64_t collective_exits;  // bit i: the i-th of these is a collective one (of the first 64)
  // Inside of ourselves: what our calls instrument is not recorded, nor what a signal handler does
  // that comes meanwhile.
  const CallFrame* ours;
};
extern thread_local constinit OpenRegions the_open_regions
    __attribute__((tls_model("initial-exec")));

// What a region records stands between the beginning and the end of one of these.
class RegionEvent {
 public:
  RegionEvent();
  ~RegionEvent();
  RegionEvent(const RegionEvent&) = delete;
  RegionEvent& operator=(const RegionEvent&) = delete;

  // Our own work is in hand on this thread: no region is recorded then.
  static bool is_busy();

  static constexpr Ticks kNow = 0;
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  // Enters a region, at a time that is not before the newest record, or now. False if the stack
  // does not have it. `created_by`: the thread that made a task.
  bool enter(std::uint64_t key, const void* what, Ticks at = kNow,
             const std::atomic<Ticks>* ended = nullptr, bool collective = false,
             std::uint32_t created_by = kNobody);
  // Takes the innermost `count` regions off.
  void leave(std::uint64_t count, Ticks at = kNow);
  // Whether a record can be written; there is room for some then.
  bool records() { return on_ && has_room(); }
  // Whether the innermost region's ENTER is in the file.
  bool entered() const {
    return on_ && stack_.depth != 0 && stack_.entries[stack_.depth - 1].written;
  }
  template <class R>
  void write(const R& record) {
    publish(r_, put(r_, r_.cursor, record));
  }
  // A time for records, and the newest record's from then on.
  Ticks stamp(Ticks at = kNow);
  Recorder& recorder() { return r_; }
  OpenRegions& stack() { return stack_; }

 private:
  bool has_room();
  OpenRegions& stack_;
  Recorder& r_;
  const bool on_;
  OwnFrame own_;
  const CallFrame* before_;
};

// A construct's event where all is as it mostly is: recording is on, nothing else of ours is in
// hand on this thread, no counters are read, and there is room. Else ready() is false, or now() is
// 0, and a RegionEvent does the same in more steps. Inline, since constructs may take less time
// than a few calls.
class QuickEvent {
 public:
  KOJAK_INLINED QuickEvent()
      : ready_(the_recorder.frame == nullptr && the_open_regions.ours == nullptr &&
               the_recorder.metrics == nullptr &&
               the_recorder.cursor <= the_recorder.limit.load(std::memory_order_relaxed) &&
               the_session.functions.load(std::memory_order_relaxed) != 0) {
    if (!ready_) return;
    begin_inner_frame(frame_);
    frame_.in_call = false;
    the_recorder.frame = &frame_;
    the_open_regions.ours = &frame_;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  KOJAK_INLINED ~QuickEvent() {
    if (!ready_) return;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    the_open_regions.ours = nullptr;
    the_recorder.frame = nullptr;
    frame_.mark = nullptr;
  }
  QuickEvent(const QuickEvent&) = delete;
  QuickEvent& operator=(const QuickEvent&) = delete;

  // Whether an event can be written, and so many more regions can be entered.
  KOJAK_INLINED bool ready(std::uint64_t more) const {
    return ready_ && the_open_regions.depth + more <= the_open_regions.capacity;
  }
  // What a region is called in this file; kRejected if that must be looked up.
  KOJAK_INLINED RegionId known(std::uint64_t key) const {
    const CodeSlot& slot = the_recorder.codes[code_slot(key)];
    return slot.key == key ? slot.id : kRejected;
  }
  // A time for records; 0 where more is to be written than the event.
  KOJAK_INLINED Ticks now() const {
    const Ticks at = ticks();
    if (static_cast<std::int64_t>(at - the_recorder.last) < 0) [[unlikely]]
      return the_recorder.last;
    return at < the_recorder.processor_due ? at : 0;
  }
  KOJAK_INLINED Ticks last() const { return the_recorder.last; }
  // The open regions, the innermost first.
  KOJAK_INLINED const OpenRegions::Entry* open(std::uint64_t i) const {
    const OpenRegions& stack = the_open_regions;
    return i < stack.depth ? &stack.entries[stack.depth - 1 - i] : nullptr;
  }
  KOJAK_INLINED void push(std::uint64_t key, const void* what) {
    the_open_regions.entries[the_open_regions.depth++] = {key, what, nullptr, true, false};
  }
  KOJAK_INLINED void pop(std::uint64_t count) { the_open_regions.depth -= count; }
  template <class R>
  KOJAK_INLINED void write(const R& record, Ticks at) {
    Recorder& r = the_recorder;
    r.last = at;
    publish(r, compact::encode_quickly(*r.state, record, r.cursor));
  }
  KOJAK_INLINED LocationId lid() const { return the_recorder.lid; }

 private:
  const bool ready_;
  CallFrame frame_;
};

// The trace has just been opened: what is open already is entered.
void enter_open_regions(Recorder& r);
// Recording goes on after a pause.
void catch_up_regions(Recorder& r);
// The trace ends at `t`: all regions are left. False if they could not be written.
bool leave_all(LocalTrace& trace, Ticks t);
// The thread ends.
void drop_open_regions();

}  // namespace kojak::measure
