// Where small one-sided operations work, and those that read: runtime/reads.h.
#pragma once

#include "epilog/mpi/polls.h"
#include "epilog/mpi/window.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/reads.h"

namespace kojak::measure {

// As MPI_RMA_PLACE has it. (Apart, so that the list lies on no other call's stack.)
template <class Op>
[[gnu::noinline]] std::uint8_t op_code(Op op) {
  const MPI_Op known[] = {MPI_MAX,    MPI_MIN,    MPI_SUM,     MPI_PROD, MPI_LAND,
                          MPI_BAND,   MPI_LOR,    MPI_BOR,     MPI_LXOR, MPI_BXOR,
                          MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
  std::uint8_t code = 1;
  for (const MPI_Op each : known) {
    if (each == op) return code;
    ++code;
  }
  return kPlaceOther;
}
template <class A>
std::uint8_t op_of(const A& a) {
  if constexpr (requires { a.compare_addr; }) {
    return kPlaceSwap;
  } else if constexpr (requires { a.op; }) {
    return op_code(a.op);
  } else {
    return kPlacePlain;
  }
}

// A predefined type all of whose bytes are its value. Such handles never get another meaning.
inline bool is_plain_type(MPI_Datatype type) {
  static std::atomic<Word> known{0};
  if (known.load(std::memory_order_relaxed) == word(type)) return true;
  int integers = 0, addresses = 0, types = 0, combiner = 0, size = 0;
  MPI_Aint begin = 0, extent = 0;
  if (mpi::Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS ||
      combiner != MPI_COMBINER_NAMED || mpi::Type_size(type, &size) != MPI_SUCCESS ||
      mpi::Type_get_extent(type, &begin, &extent) != MPI_SUCCESS || begin != 0 || extent != size) {
    return false;
  }
  known.store(word(type), std::memory_order_relaxed);
  return true;
}

// Where the result goes, if it is one value as it is at the target; else null.
template <class A>
const void* plain_result(const A& a) {
  if constexpr (requires { a.datatype; }) {
    return is_plain_type(a.datatype) ? a.result_addr : nullptr;
  } else if constexpr (requires { a.result_datatype; }) {
    const bool same = a.result_datatype == a.target_datatype && a.result_count == a.target_count;
    return same && is_plain_type(a.target_datatype) ? a.result_addr : nullptr;
  } else {
    const bool same = a.origin_datatype == a.target_datatype && a.origin_count == a.target_count;
    return same && is_plain_type(a.target_datatype) ? a.origin_addr : nullptr;
  }
}

// The call in hand is no poll, and is recorded behind a series that is open.
template <class C>
KOJAK_INLINED inline void ends_series(C& call) {
  if (call.r.polling == nullptr) [[likely]]
    return;
  end_polls_in_call(call.r, PollEnd::kOtherCall);
  call.p = call.r.cursor;
}

// An atomic operation leaves what is there as it is, whatever that is: it adds 0, sets no bit, or
// writes what it compares with.
template <class A>
[[gnu::noinline]] bool keeps_memory(Recorder& r, const A& a, std::uint64_t bytes) {
  const auto size = static_cast<unsigned>(bytes);
  std::uint64_t value = 0, other = 0;
  if constexpr (requires { a.compare_addr; }) {
    std::uint64_t compared = 0, compared_other = 0;
    return load_small(r, a.compare_addr, size, compared, compared_other) &&
           load_small(r, a.origin_addr, size, value, other) && value == compared &&
           other == compared_other;
  } else {
    if (!(a.op == MPI_SUM || a.op == MPI_BOR || a.op == MPI_BXOR || a.op == MPI_BAND)) return false;
    if constexpr (requires { a.origin_datatype; }) {
      if (a.origin_datatype != a.target_datatype || !is_plain_type(a.target_datatype)) return false;
    } else if (!is_plain_type(a.datatype)) {
      return false;
    }
    if (!load_small(r, a.origin_addr, size, value, other)) return false;
    if (a.op != MPI_BAND) return value == 0 && other == 0;
    const auto ones = [](unsigned count) {
      return count >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * count) - 1;
    };
    return value == ones(size) && other == (size > 8 ? ones(size - 8) : 0);
  }
}

// Whether a call of this kind may swap: one that gives back what was there, and writes another
// value.
template <class A>
inline constexpr bool kSwaps = std::is_same_v<A, args::FetchAndOp> || requires(const A& a) {
  a.compare_addr;
};
// What is known of a swap, so that its result tells whether it has changed memory; false: it is not
// to be watched.
template <class A>
bool judges_swap(Recorder& r, const A& a, SmallRead& read) {
  const void* known = nullptr;
  if constexpr (requires { a.compare_addr; }) {
    known = a.compare_addr;
  } else {
    known = a.origin_addr;
    read.keeps = true;
  }
  return known != nullptr && load_small(r, known, read.what.bytes, read.value, read.other);
}

// A read or a swap was issued. True: it is held back.
template <class C, class A>
[[gnu::noinline]] bool read_is_held(const C& call, const A& a, PollKind kind, const Window& window,
                                    std::uint32_t target, std::uint64_t bytes, std::uint32_t id) {
  const void* const result = plain_result(a);
  if (result == nullptr) return false;
  SmallRead read;
  read.what = asks(kind, call.region);
  read.what.bytes = static_cast<std::uint8_t>(bytes);
  read.what.window = window.id;
  read.what.target = target;
  read.what.place = static_cast<std::uint64_t>(a.target_disp);
  read.result = result;
  if constexpr (requires { a.request; }) read.by_request = true;
  read.rmaid = static_cast<RmaId>(id);
  read.op = op_of(a);
  read.completions = window.completions;
  read.enter = ticks_of(call.enter);
  read.exit = ticks_of(call.exit);
  if constexpr (kSwaps<A>) {
    if (kind == PollKind::kSwap && !judges_swap(call.r, a, read)) return false;
  }
  return hold_read(call.r, read, !call.entered && call.good);
}

template <class C>
[[gnu::noinline]] bool take_completed(C& call, const Completing& what) {
  FoundValues found;
  take_values(call.r, what, found);
  for (unsigned i = 0; i < found.count; ++i) {
    const FoundValues::Value& v = found.values[i];
    if (!call.room(kMaxRecord)) break;
    call.event(MpiValue{call.r.lid, call.exit, v.rmaid, Count64{v.value}, Count64{v.other}});
  }
  return found.swapped;
}
// Windows are told of what was held back, and is written now, before they are asked. Under the
// bookkeeping's lock.
inline void tell_windows(const WrittenReads& written) {
  const bool all = written.count == WrittenReads::kMost;  // there may be more
  for (Window* window = first_window(); window != nullptr; window = window->next) {
    if (all) window->others.issue(OpenTargets::kSeveral);
    for (unsigned i = 0; i < written.count; ++i) {
      const WrittenReads::One& one = written.of[i];
      if (one.window == window->id) (one.swap ? window->others : window->reads).issue(one.target);
    }
  }
}
inline void tell_windows(Recorder& r) {
  if (!watches_reads(r)) [[likely]]
    return;
  WrittenReads* const written = written_reads(r);
  if (written == nullptr) return;
  tell_windows(*written);
  written->count = 0;
}

// A call has completed what this process had issued to that target, or to all.
template <class C>
KOJAK_INLINED inline void completed_reads(C& call, Window& window, std::uint32_t target,
                                          bool local = false) {
  bool swapped = false;
  if constexpr (C::kOn) {
    if (watches_reads(call.r) && call.good) [[unlikely]]
      call.apart([&](C& c) {
        swapped = take_completed(c, {window.id, target, window.completions});
      });
  }
  if constexpr (C::kOn) tell_windows(call.r);
  ++window.completions;
  window.reads.complete(target);
  if (!local) {
    window.others.complete(target);
  } else if (swapped) {
    window.others.issue(target == kAbsent ? OpenTargets::kSeveral : target);
  }
}
inline const Window* window_numbered(std::uint32_t id) {
  const Window* window = first_window();
  while (window != nullptr && window->id != id) window = window->next;
  return window;
}
// The request of an operation is complete.
template <class C>
void completed_read(C& call, const Request& request) {
  const auto rmaid = static_cast<RmaId>(request.id);
  if (!watches_reads(call.r) || !awaits_value(call.r, rmaid)) [[likely]]
    return;
  on_own_stack([&call, &request, rmaid] {
    if (const Window* const window = window_numbered(request.window)) {
      take_completed(call, {window->id, request.peer, window->completions, rmaid});
    }
  });
}
// It has done so in another way.
template <class C>
KOJAK_INLINED inline void ended_reads(C& call, Window& window) {
  if constexpr (C::kOn) {
    if (watches_reads(call.r)) forget_reads(call.r, window.id);
    tell_windows(call.r);
  }
  ++window.completions;
  window.reads.complete(kAbsent);
  window.others.complete(kAbsent);
}

// A call synchronises memory, and has nothing to complete: what it asks then.
template <class A>
bool syncs_idly(const A& a, const Window& window, RegionId region, PollMember& what) {
  what = asks(PollKind::kSync, region);
  what.window = window.id;
  if constexpr (requires { a.rank; }) {
    if (a.rank == MPI_PROC_NULL || (what.target = window.peer(a.rank)) == kAbsent) return false;
  }
  if constexpr (CompletesReads<A>) {
    return !window.reads.are_at(what.target) && !window.others.are_at(what.target);
  }
  return true;
}
// The same before the call; `first`: no series is open, so it must repeat the one before.
template <class A>
[[gnu::noinline]] bool is_sync_poll(Recorder& r, const A& a, RegionId region, bool first) {
  const BookkeepingLock lock;
  tell_windows(r);
  Window* const window = remembered_window<find_window>(r, a.win);
  PollMember what;
  return window != nullptr && defined_here(r, window->defined) &&
         syncs_idly(a, *window, region, what) && (!first || repeats_sync(r, what));
}
template <class A>
[[gnu::noinline]] bool join_sync(Recorder& r, const A& a, RegionId region, Ticks enter,
                                 Ticks exit) {
  const BookkeepingLock lock;
  tell_windows(r);
  Window* const window = remembered_window<find_window>(r, a.win);
  PollMember what;
  if (window == nullptr || !syncs_idly(a, *window, region, what)) return false;
  const bool open = series_is_open(r), told = CompletesReads<A> && is_long_call(enter, exit);
  if (open && told) note_long_call(r, what, enter, exit);
  if (!join_poll(r, what, enter, exit)) return false;
  if (!open && told) note_long_call(r, what, enter, exit);
  if (watches_reads(r)) note_sync(r, what, exit);  // the series may be interrupted
  return true;
}
// It was recorded.
template <class A>
[[gnu::noinline]] void recorded_sync(Recorder& r, const A& a, const Window& window, RegionId region,
                                     Seconds exit) {
  PollMember what;
  if (joins_polls() && syncs_idly(a, window, region, what) && may_watch_reads(r))
    note_sync(r, what, ticks_of(exit));
}

// Other threads may have read there, too.
template <class A>
[[gnu::noinline]] void completed_poll(const A& a) {
  const BookkeepingLock lock;
  if (Window* const window = find_window(a.win)) ++window->completions;
}

template <class A>
bool flush_ends_poll(Recorder& r, const A& a) {
  tell_windows(r);
  const Window* const window = remembered_window<find_window>(r, a.win);
  if (window == nullptr || !window->reads.none() || !window->others.none()) return false;
  std::uint32_t target = kAbsent;
  if constexpr (requires { a.rank; }) {
    if (a.rank == MPI_PROC_NULL || (target = window->peer(a.rank)) == kAbsent) return false;
  }
  return completes_held(r, {window->id, target, window->completions, absent<RmaId>(), EndsLock<A>});
}

// An unlock is recorded.
template <class C>
KOJAK_INLINED inline void unlocked(C& call, Window& window, int rank) {
  if constexpr (C::kOn) {
    if (!watches_reads(call.r) || !call.good) [[likely]]
      return;
    const PeerState* const state = peer_state(window, static_cast<std::uint32_t>(rank));
    const std::uint32_t target = window.peer(rank);
    if (state != nullptr && target != kAbsent) {
      note_unlock(call.r, window.id, target,
                  state->serial == window.serial ? state->operations : 0);
    }
  }
}

// A lock of one target: which window and target these are, if it may be part of a poll.
inline bool names_lock(Recorder& r, const args::WinLock& a, SmallLock& lock) {
  if (a.lock_type != MPI_LOCK_SHARED || a.assertion != 0 || a.rank == MPI_PROC_NULL ||
      !the_session.one_caller)
    return false;
  tell_windows(r);
  const Window* const window = remembered_window<find_window>(r, a.win);
  if (window == nullptr || !defined_here(r, window->defined) || !window->reads.none() ||
      !window->others.none())
    return false;
  lock.window = window->id;
  lock.target = window->peer(a.rank);
  return lock.target != kAbsent;
}
template <class A>
[[gnu::noinline]] bool begins_read(Recorder& r, const A& a) {
  const BookkeepingLock bookkeeping;
  SmallLock lock;
  return names_lock(r, a, lock) && may_hold_lock(r, lock.window, lock.target);
}
template <class A>
[[gnu::noinline]] bool lock_is_held(Recorder& r, const A& a, RegionId region, Ticks enter,
                                    Ticks exit) {
  if (is_long_call(enter, exit)) return false;  // who waits for a lock waits for whom had it
  const BookkeepingLock bookkeeping;
  SmallLock lock;
  if (!names_lock(r, a, lock)) return false;
  lock.region = region;
  lock.enter = enter;
  lock.exit = exit;
  return hold_lock(r, lock);
}

// A call that completes, while reads are held back: whether it is their poll.
template <class A>
[[gnu::noinline]] bool ends_poll(Recorder& r, const A& a) {
  const BookkeepingLock lock;
  if constexpr (requires { a.request; }) {
    const Request* const request = look_up_request(word(*a.request));
    if (request == nullptr || request->kind != RequestKind::kTransfer) return false;
    const Window* const asked = window_numbered(request->window);
    return asked != nullptr && completes_held(r, {asked->id, request->peer, asked->completions,
                                                  static_cast<RmaId>(request->id)});
  } else {
    return flush_ends_poll(r, a);
  }
}
// The same when it has returned: another thread may have completed them meanwhile, and the program
// may have done with what they brought. A request is no one's but this call's.
template <class A>
[[gnu::noinline]] bool still_ends_poll(Recorder& r, const A& a) {
  if constexpr (requires { a.request; }) {
    return true;
  } else {
    return ends_poll(r, a);
  }
}

}  // namespace kojak::measure
