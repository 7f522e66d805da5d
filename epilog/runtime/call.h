// How a call of the communication library is measured, whichever library that is: the guard, the
// two times, the records around them.
//
// Events are for calls that the program makes: the outermost call of a thread, and calls within it
// by functions that the program gave to MPI (of attributes, of errors, of requests, of reductions).
// What MPI calls for itself has none; the return address tells (library_code.h). The guard is the
// address of the innermost call's frame: a longjmp or an exception out of a call leaves it behind,
// and the next call from the same depth or above finds that it is stale. begin_call() and
// end_call() are what stands around a call whose wrapper needs nothing inlined; epilog/mpi/call.h
// has the templates of those that do.
#pragma once

#include "epilog/runtime/comm_object.h"
#include "epilog/runtime/local_trace.h"
#include "epilog/runtime/metrics.h"
#include "epilog/runtime/processor.h"
#include "epilog/runtime/session.h"

namespace kojak::measure {

struct Silent {
  static constexpr bool kOn = false;
  template <class F>
  void apart(F&& f) {
    f(*this);
  }
};

// The time of a record of the note, which is taken when all else is written.
KOJAK_INLINED inline void set_time(std::byte* record, Ticks at) {
  std::memcpy(record + LocalBufferNote::kTimeAt, &at, sizeof at);
}
// Whether the definition of something with these members fits into the buffer without a flush.
inline bool fits(const Recorder& r, const Group* members, const Group* remote = nullptr) {
  const std::size_t count = members->count + (remote != nullptr ? remote->count : 0u);
  return r.cursor + kCallRoom + 8 * count <= r.limit.load(std::memory_order_relaxed);
}

// Records of the call in hand. kCallRoom bytes are free at its beginning and after each successful
// room().
struct Recording {
  static constexpr bool kOn = true;

  Recorder& r;
  std::byte* p;
  RegionId region;      // that stands in its records
  Seconds enter, exit;  // as record_time() has them
  bool entered;         // ENTER is written
  bool good = true;     // false: recording stopped in the middle of the call
  bool slow = false;    // more room was asked for, so there may have been a flush

  // Runs f on a copy, whose address may escape: so this object stays in registers on the common
  // path.
  template <class F>
  KOJAK_INLINED void apart(F&& f) {
    Recording copy = *this;
    f(copy);
    p = copy.p;
    enter = copy.enter;
    entered = copy.entered;
    good = copy.good;
    slow = copy.slow;
  }
  // For records that may not fit into what is left of kCallRoom.
  KOJAK_INLINED bool room(std::size_t bytes) {
    if (p + bytes <= r.limit.load(std::memory_order_relaxed)) [[likely]]
      return good;
    if (!good) return false;
    slow = true;
    publish(r, p);
    good = need_room(r, bytes);
    p = r.cursor;
    return good;
  }
  // For the define_...() functions, which write through the recorder.
  template <class F>
  KOJAK_INLINED bool with_recorder(F&& define) {
    if (!good) return false;
    slow = true;
    publish(r, p);
    good = define();
    p = r.cursor;
    return good && room(0);
  }
  // Defines an object in the file if need be, by its define_object().
  template <class O>
  KOJAK_INLINED bool use(O& object) {
    return defined_here(r, object.defined) ||
           with_recorder([&] { return define_object(r, object); });
  }

  KOJAK_INLINED void begin() {
    if (entered) return;
    entered = true;
    p = put(r, put_at_enter(r, p), Enter{r.lid, enter, region});
  }
  template <class R>
  KOJAK_INLINED void event(const R& record) {
    begin();
    p = put(r, p, record);
  }
  // Behind begin(): the compiler need not look once more whether that wrote ENTER.
  template <class R>
  KOJAK_INLINED void event_begun(const R& record) {
    p = put(r, p, record);
  }
  template <class R>
  KOJAK_INLINED void leave(const R& record) {
    if (!good) return;
    begin();
    p = put(r, put_at_exit(r, p), record);
  }
  // The exit of a call without special events: compact if ENTER is not written yet.
  KOJAK_INLINED void leave() {
    if (!good) return;
    if (entered) {
      p = put(r, put_at_exit(r, p), Exit{r.lid, exit});
    } else {
      whole(MpiCall{r.lid, enter, exit, region});
    }
  }
  // The whole call in one record.
  template <class R>
  KOJAK_INLINED void whole(const R& record) {
    p = put(r, put_at_both(r, p), record);
  }
};

// The ticks of record_time().
constexpr Ticks ticks_of(Seconds time) {
  return std::bit_cast<Ticks>(time.value);
}

// A byte count that may not fit into its field: then the true one stands before the event.
template <bool kBegun = false>
KOJAK_INLINED inline Bytes bytes_field(Recording& call, std::uint8_t kind, std::uint64_t bytes) {
  if (bytes < kAbsent) [[likely]]
    return static_cast<Bytes>(bytes);
  const AttrUi8 attribute{Byte{kind}, Count64{bytes}};
  if constexpr (kBegun) {
    call.event_begun(attribute);
  } else {
    call.event(attribute);
  }
  return absent<Bytes>();
}

inline bool is_live() {
  return the_session.live.load(std::memory_order_relaxed);
}

[[gnu::cold, gnu::noinline]] void count_lost(Recorder& r);

// A call is open, and the MPI library has control. True if it is the program that makes the call in
// hand, whose frame is the innermost from then on.
[[gnu::cold, gnu::noinline]] bool begin_within(Recorder& r, std::uint32_t group,
                                               const void* caller);
[[gnu::cold, gnu::noinline]] void leave_within(Recorder& r, const CallFrame& frame);
// The call in hand returns at `exit`, and calls within it were recorded.
[[gnu::cold, gnu::noinline]] void come_back(Recording& call, const CallFrame& frame, Ticks exit);

// The call in hand is over.
KOJAK_INLINED inline void leave_frame(Recorder& r, CallFrame& frame) {
  if (r.outer_calls != 0) [[unlikely]]
    leave_within(r, frame);
  else
    r.frame = nullptr;
  frame.mark = nullptr;
}

// The C side of a call that Fortran's side has in hand: all is done there.
inline bool passes_through(Recorder& r, unsigned function, const void* caller) {
  if (r.forwarded != function + 1 || !r.forwarder->holds(caller)) return false;
  r.forwarded = 0;
  return true;
}

// The name that a call's region has here: that of its call site.
KOJAK_INLINED inline bool find_region(Recorder& r, unsigned function, const void* caller,
                                      const void* frame, RegionId& region) {
  if (const CodeSlot* sites = r.sites) [[likely]] {
    const std::uint64_t key = site_key(function, caller);
    const CodeSlot& slot = sites[code_slot(key)];
    if (slot.key == key) [[likely]] {
      region = slot.id;
      return true;
    }
    region = define_site(r, function, caller, frame);
    return region != absent<RegionId>();
  }
  region = region_of(function);
  const auto defined = [&] { return (r.regions[function / 64] >> (function % 64) & 1) != 0; };
  if (defined()) [[likely]]
    return true;
  define_region(r, function);
  return defined();
}
// Room for a call, too.
KOJAK_INLINED inline bool ready(Recorder& r, unsigned function, const void* caller,
                                const void* frame, RegionId& region) {
  return find_region(r, function, caller, frame, region) &&
         (r.cursor <= r.limit.load(std::memory_order_relaxed) || make_room(r));
}

// A call of a function without a hook: what stands around it is the same for all of them, and not
// inlined.
struct PlainCall {
  CallFrame frame;
  bool measured = false, recorded = false, blocks = false;
  RegionId region{};
  Ticks enter = 0;
};
[[gnu::noinline]] void begin_call(PlainCall& call, unsigned function, std::uint32_t group,
                                  bool blocks, const void* caller);
[[gnu::noinline]] void end_call(PlainCall& call);

// What it is about, while it lasts: the next record that ends the trace if the process ends in it
// (MPI_OPEN_CALL). `set`: what it is collective on, or null; its caller holds the bookkeeping lock
// then. Only where it is recorded.
void note_call(PlainCall& call, CommObject* set, PeerId peer, Count64 what);

// The records of such a call in hand, instead of end_call(): what is put between is written with
// its exit. Only where it is recorded.
Recording records_of(PlainCall& call);
Recording records_of(PlainCall& call, Ticks exit);
void end_call(PlainCall& call, Recording& records);
// What is left to do of a call that is not recorded, or that has its records.
void leave_call(PlainCall& call);

}  // namespace kojak::measure
