// How one MPI call is measured: the guard, the two times, the records around them.
//
// measured(args, caller) is the body of every wrapper (generate.py makes them); `caller` is the
// return address in the user's code, which tells the call site. What is special about a
// function is in its hook, a specialisation of Hook for its argument struct:
//   before(a)            bookkeeping before the call; may replace arguments (a status that the user
//   ignores) after(a, result, c)  bookkeeping after it, and its records: c is a Recording, or
//   Silent when nothing
//                        is recorded; the hook ends by one of c's exits
// Both are optional. A form with large counts has its int form's hook, which therefore takes the
// arguments of both. Hooks run under the bookkeeping lock and never call communicating functions.
// They are called for every call while the session is live; events are only for the outermost call
// of a thread. The guard is the address of the outermost call's frame: a longjmp or an exception
// out of a call leaves it behind, and the next call from the same depth or above finds that it is
// stale.
#pragma once

#include "epilog/mpi/args.h"
#include "epilog/mpi/define.h"
#include "epilog/mpi/open_call.h"
#include "epilog/mpi/request.h"
#include "epilog/runtime/local_trace.h"
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

// Records of the call in hand. kCallRoom bytes are free at its beginning and after each successful
// room().
struct Recording {
  static constexpr bool kOn = true;

  Recorder& r;
  std::byte* p;
  RegionId region;  // that stands in its records
  Seconds enter, exit;
  bool entered;       // ENTER is written
  bool good = true;   // false: recording stopped in the middle of the call
  bool slow = false;  // more room was asked for, so there may have been a flush

  // Runs f on a copy, whose address may escape: so this object stays in registers on the common
  // path.
  template <class F>
  [[gnu::always_inline]] void apart(F&& f) {
    Recording copy = *this;
    f(copy);
    p = copy.p;
    entered = copy.entered;
    good = copy.good;
    slow = copy.slow;
  }
  // For records that may not fit into what is left of kCallRoom.
  [[gnu::always_inline]] bool room(std::size_t bytes) {
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
  [[gnu::always_inline]] bool with_recorder(F&& define) {
    if (!good) return false;
    slow = true;
    publish(r, p);
    good = define();
    p = r.cursor;
    return good && room(0);
  }
  [[gnu::always_inline]] bool use(Comm& comm) {
    return defined_here(r, comm.defined) || with_recorder([&] { return define_comm(r, comm); });
  }
  [[gnu::always_inline]] bool use(Window& window) {
    return defined_here(r, window.defined) ||
           with_recorder([&] { return define_window(r, window); });
  }
  [[gnu::always_inline]] bool use_group(Group& group) {
    return defined_here(r, group.defined_as_comm) ||
           with_recorder([&] { return define_group_comm(r, group); });
  }

  [[gnu::always_inline]] void begin() {
    if (entered) return;
    entered = true;
    p = put(p, Enter{r.lid, enter, region});
  }
  template <class R>
  [[gnu::always_inline]] void event(const R& record) {
    begin();
    p = put(p, record);
  }
  template <class R>
  [[gnu::always_inline]] void leave(const R& record) {
    if (!good) return;
    begin();
    p = put(p, record);
  }
  // The exit of a call without special events: compact if ENTER is not written yet.
  [[gnu::always_inline]] void leave() {
    if (!good) return;
    if (entered) {
      p = put(p, Exit{r.lid, exit});
    } else {
      p = put(p, MpiCall{r.lid, enter, exit, region});
    }
  }
};

// Bookkeeping and records of a call: none of its own.
template <class A>
struct Hook {};
template <class A>
concept HasIntForm = requires {
  typename A::IntForm;
};
template <HasIntForm A>
struct Hook<A> : Hook<typename A::IntForm> {};

template <class A>
concept HasBefore = requires(Hook<A> hook, A& a) {
  hook.before(a);
};
template <class A>
concept HasAfter = requires(Hook<A> hook, A& a, typename A::Result result, Silent& call) {
  hook.after(a, result, call);
};
template <class A>
inline constexpr bool kHooked = HasBefore<A> || HasAfter<A>;

inline bool is_live() {
  return the_session.live.load(std::memory_order_relaxed);
}

[[gnu::cold, gnu::noinline]] void count_lost(Recorder& r);

// The C side of a call that Fortran's side has in hand: all is done there.
inline bool passes_through(Recorder& r, unsigned function, const void* caller) {
  if (r.forwarded != function + 1 || !r.forwarder->holds(caller)) return false;
  r.forwarded = 0;
  return true;
}

// Room for a call, and the name that its region has here: that of its call site.
[[gnu::always_inline]] inline bool ready(Recorder& r, unsigned function, const void* caller,
                                         const void* frame, RegionId& region) {
  if (const CodeSlot* sites = r.sites) [[likely]] {
    const std::uint64_t key = site_key(function, caller);
    const CodeSlot& slot = sites[code_slot(key)];
    if (slot.key == key) [[likely]] {
      region = slot.id;
    } else {
      region = define_site(r, function, caller, frame);
      if (region == absent<RegionId>()) return false;
    }
  } else {
    region = region_of(function);
    const auto defined = [&] { return (r.regions[function / 64] >> (function % 64) & 1) != 0; };
    if (!defined()) [[unlikely]] {
      define_region(r, function);
      if (!defined()) return false;
    }
  }
  return r.cursor <= r.limit.load(std::memory_order_relaxed) || make_room(r);
}

template <class A, class H>
[[gnu::always_inline]] inline void run_before(H& hook, A& a) {
  if constexpr (requires { hook.before(a); }) {
    const BookkeepingLock lock;
    hook.before(a);
  }
}

// The user's call. The frame of the outermost one says who has control; what runs within is either
// called by the MPI library, or a signal handler that came while we were at work.
template <class A>
[[gnu::always_inline]] inline typename A::Result called(A& a, CallFrame* frame) {
  if (frame == nullptr) return a.call();
  frame->in_call = true;
  const typename A::Result result = a.call();
  frame->in_call = false;
  return result;
}

template <class A>
[[gnu::always_inline]] inline typename A::Result unrecorded(A& a, CallFrame* frame) {
  Hook<A> hook;
  run_before(hook, a);
  const typename A::Result result = called(a, frame);
  Silent silent;
  if constexpr (requires { hook.after(a, result, silent); }) {
    const BookkeepingLock lock;
    hook.after(a, result, silent);
  }
  return result;
}

template <class A>
[[gnu::always_inline]] inline typename A::Result recorded(A& a, Recorder& r, RegionId region,
                                                          CallFrame& frame) {
  Hook<A> hook;
  run_before(hook, a);
  constexpr bool kNoted = (A::kBlocks || A::kBegins) && Notable<A, Hook<A>>;
  constexpr bool kEnters = A::kBlocks || A::kBegins;
  constexpr bool kInNote = kNoted || A::kBegins;
  bool entered = A::kBlocks;
  // Of a call that is not meant to wait ENTER is in the note, so that it is one compact record when
  // it has returned.
  LocalBufferNote& note = *r.note;
  std::byte* noted = note.records;
  if constexpr (A::kBegins) noted = put(noted, Enter{r.lid, Seconds{0}, region});
  std::conditional_t<kNoted, OpenCall<A, Hook<A>>, NoOpenCall> open(a, hook, r, noted);
  const Ticks entered_at = ticks();
  const Seconds enter = to_seconds(entered_at);
  if constexpr (A::kBlocks) {
    publish(r, put(r.cursor, Enter{r.lid, enter, region}));
    if (entered_at >= r.processor_due) [[unlikely]]
      note_processor(r, entered_at);
  }
  if constexpr (A::kBegins) set_time(note.records, enter);
  noted = open.entered(enter);
  if constexpr (kInNote) keep_note(note, static_cast<std::size_t>(noted - note.records));
  if constexpr (kEnters) r.open_region = A::kFunction + 1;
  const typename A::Result result = called(a, &frame);
  const Ticks exit = ticks();
  if constexpr (kInNote) entered = !drop_note(*r.note) || A::kBlocks;
  Recording call{r, r.cursor, region, enter, to_seconds(exit), entered};
  if constexpr (requires { hook.after(a, result, call); }) {
    const BookkeepingLock lock;
    hook.after(a, result, call);
  } else {
    call.leave();
  }
  if constexpr (kEnters) r.open_region = 0;
  r.last = exit;
  if (call.good) [[likely]] {
    publish(r, call.p);
    if (call.slow && r.trace->spilled) [[unlikely]]
      close_spill(r);
    if constexpr (A::kBlocks) {
      if (exit >= r.processor_due) [[unlikely]]
        note_processor(r, exit);
    }
  }
  return result;
}

// A call of a function without a hook: what stands around it is the same for all of them, and not
// inlined.
struct PlainCall {
  CallFrame frame;
  bool outermost = false, recorded = false, blocks = false;
  RegionId region{};
  Ticks enter = 0;
};
[[gnu::noinline]] void begin_plain(PlainCall& call, unsigned function, std::uint32_t group,
                                   bool blocks, const void* caller);
[[gnu::noinline]] void end_plain(PlainCall& call);

template <class A>
[[gnu::always_inline]] inline typename A::Result measured_plainly(A& a, const void* caller) {
  Recorder& r = the_recorder;
  PlainCall call;
  call.frame.self = &call.frame;
  typename A::Result result;
  if (r.frame == nullptr && r.lost == nullptr &&
      (the_session.functions.load(std::memory_order_relaxed) & A::kGroup) == 0) {
    call.frame.in_call = true;
    r.frame = &call.frame;
    result = a.call();
    r.frame = nullptr;
    call.frame.self = nullptr;
    return result;
  }
  begin_plain(call, A::kFunction, A::kGroup, A::kBlocks, caller);
  result = a.call();
  end_plain(call);
  return result;
}

template <class A>
[[gnu::always_inline]] inline typename A::Result measured_with_hook(A& a, const void* caller) {
  Recorder& r = the_recorder;
  CallFrame frame;
  frame.self = &frame;
  frame.in_call = false;
  if (r.frame != nullptr) [[unlikely]] {
    if (!left_behind(r, &frame)) {
      if (passes_through(r, A::kFunction, caller)) return a.call();
      // In the middle of ours nothing may be counted: that call is left out as a whole.
      if (!r.frame->in_call) return a.call();
      return unrecorded(a, nullptr);
    }
  }
  r.frame = &frame;
  typename A::Result result;
  RegionId region{};
  if ((the_session.functions.load(std::memory_order_relaxed) & A::kGroup) != 0 &&
      ready(r, A::kFunction, caller, &frame, region)) {
    result = recorded(a, r, region, frame);
  } else {
    if (r.lost != nullptr) [[unlikely]]
      count_lost(r);
    result = unrecorded(a, &frame);
  }
  r.frame = nullptr;
  frame.self = nullptr;
  return result;
}

template <class A>
[[gnu::always_inline]] inline typename A::Result measured(A a, const void* caller) {
  if constexpr (kHooked<A>) {
    return measured_with_hook(a, caller);
  } else {
    return measured_plainly(a, caller);
  }
}

}  // namespace kojak::measure
