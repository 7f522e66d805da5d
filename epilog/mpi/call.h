// Long because all ways in which one call may be recorded stand here, each inlined into its
// wrapper.
//
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
// They are called for every call while the session is live; events are only for those that the
// program makes (runtime/call.h, which also tells what the guard is).
#pragma once

#include "epilog/mpi/args.h"
#include "epilog/mpi/below.h"
#include "epilog/mpi/define.h"
#include "epilog/mpi/failed_call.h"
#include "epilog/mpi/open_call.h"
#include "epilog/mpi/request.h"
#include "epilog/runtime/call.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/polling.h"
#include "epilog/runtime/reads.h"

namespace kojak::measure {

KOJAK_INLINED inline bool use_group(Recording& call, Group& group) {
  return defined_here(call.r, group.defined_as_comm) ||
         call.with_recorder([&] { return define_group_comm(call.r, group); });
}

// Bookkeeping and records of a call: none of its own.
template <class A>
struct Hook {};
template <class A>
concept HasIntForm = requires {
  typename A::IntForm;
};
template <HasIntForm A>
struct Hook<A> : Hook<typename A::IntForm> {};

// What hooks look at of a call: its arguments, and not how it is made.
template <class A>
KOJAK_INLINED inline A& arguments_of(A& a) {
  return a;
}

template <class A>
concept HasBefore = requires(Hook<A> hook, A& a) {
  hook.before(arguments_of(a));
};
template <class A>
concept HasAfter = requires(Hook<A> hook, A& a, typename A::Result result, Silent& call) {
  hook.after(arguments_of(a), result, call);
};
// It asks whether something has come. Its hook also has
//   asked(a, c)        for what, before its own after(): as it is told apart from others
//   found_nothing(a, result)   also where there was nothing left to ask for
// and joins in after() what has found nothing, by poll_joins().
template <class A>
concept Polls = requires {
  requires Hook<A>::kPolls;
};
// It may read a small value, and be held back until that is complete; or it may be the call that
// completes it (runtime/reads.h).
template <class A>
concept ReadsSmall = requires {
  requires Hook<A>::kReadsSmall;
};
template <class A>
concept CompletesReads = requires {
  requires Hook<A>::kCompletesReads;
};
// It may be held back until the reads under it are complete: a lock.
template <class A>
concept BeginsReads = requires {
  requires Hook<A>::kBeginsReads;
};
// It gives such a lock back.
template <class A>
concept EndsLock = requires {
  requires Hook<A>::kEndsLock;
};
// It synchronises memory; with nothing to complete it may be a poll.
template <class A>
concept Syncs = requires {
  requires Hook<A>::kSyncs;
};
// Its hook records itself how such a call failed: each class of errors that its statuses tell of.
template <class A>
concept TellsErrors = requires {
  requires Hook<A>::kTellsErrors;
};
template <class A>
inline constexpr bool kHooked = HasBefore<A> || HasAfter<A>;

template <class A, class H>
KOJAK_INLINED inline void run_before(H& hook, A& a) {
  if constexpr (requires { hook.before(arguments_of(a)); }) {
    const BookkeepingLock lock;
    hook.before(arguments_of(a));
  }
}

// A call that a library between may pass on with other arguments: what reached the MPI is what the
// hook gets.
template <class A>
concept TakesComm = requires(A& a, const BelowArguments& b) {
  arguments_of(a).take(b);
};
// The user's call. The frame of the innermost one says who has control; what runs within is either
// called by the MPI library, or a signal handler that came while we were at work.
template <class A, class H>
KOJAK_INLINED inline typename A::Result called(A& a, CallFrame* frame, H& hook) {
  if (frame != nullptr) frame->in_call = true;
  typename A::Result result;
  if constexpr (TakesComm<A>) {
    auto& arguments = arguments_of(a);
    using Arguments = std::remove_reference_t<decltype(arguments)>;
    if (the_mpi.between_count != 0) [[unlikely]]
      begin_below(Arguments::kBase, Arguments::kFamily, arguments.asked());
    result = a.call();
    if (the_mpi.between_count != 0) [[unlikely]] {
      if (BelowNote* const note = end_below(result == MPI_SUCCESS)) {
        arguments.take(note->arguments);
        if constexpr (requires { hook.again(arguments); }) {
          const BookkeepingLock lock;
          hook.again(arguments);
        }
        give_back(note);
      }
    }
  } else {
    result = a.call();
  }
  if (frame != nullptr) frame->in_call = false;
  return result;
}

// A call of which bookkeeping alone takes note; `call` makes it.
template <class A, class F>
KOJAK_INLINED inline typename A::Result bookkept(A& a, const F& call) {
  Hook<A> hook;
  run_before(hook, a);
  const typename A::Result result = call(hook);
  Silent silent;
  if constexpr (requires { hook.after(arguments_of(a), result, silent); }) {
    const BookkeepingLock lock;
    hook.after(arguments_of(a), result, silent);
  }
  return result;
}

template <class A>
KOJAK_INLINED inline typename A::Result unrecorded(A& a, CallFrame* frame) {
  return bookkept(a, [&](Hook<A>& hook) { return called(a, frame, hook); });
}

// A call that polls has found something, or failed: with that the series may be over.
template <class H, class A>
[[gnu::noinline]] void came_of_polls(Recorder& r, H& hook, const A& a, bool found, RegionId region,
                                     Ticks enter, Ticks exit) {
  if (found) count_find(r, region);
  if (r.polling == nullptr) return;
  const auto asked = [&] {
    const BookkeepingLock lock;
    return hook.asked(a, region);
  };
  const bool over = settle_polls(r, asked(), found, region, enter, exit);
  if constexpr (requires { hook.polled; }) hook.polled = over;
}

// Not while a series of polls is open.
template <class A>
KOJAK_INLINED inline bool is_processor_due(const Recorder& r, Ticks at) {
  return at >= r.processor_due && (!Polls<A> || r.polling == nullptr);
}

template <class A>
KOJAK_INLINED inline typename A::Result recorded(A& a, Recorder& r, RegionId region,
                                                 CallFrame& frame) {
  using Arguments = std::remove_reference_t<decltype(arguments_of(a))>;
  Hook<A> hook;
  run_before(hook, a);
  constexpr bool kNoted = (A::kBlocks || A::kBegins) && Notable<Arguments, Hook<A>>;
  constexpr bool kEnters = A::kBlocks || A::kBegins;
  constexpr bool kInNote = kNoted || A::kBegins;
  bool entered = A::kBlocks;
  // The ENTER of a call that is not meant to wait is in the note, so that the call is one compact
  // record when it has returned.
  LocalBufferNote& note = *r.note;
  std::byte* noted = note.records;
  bool again = false;
  if constexpr (A::kBegins) {
    again = notes_enter(note, region);
    if (!again) [[unlikely]]
      put_noted(noted, Enter{r.lid, Seconds{0}, region});
    noted += kNotedEnter;
  }
  std::conditional_t<kNoted, OpenCall<Arguments, Hook<A>>, NoOpenCall> open(arguments_of(a), hook,
                                                                            r, noted, again);
  read_at_enter(r);
  const Ticks entered_at = ticks();
  if (is_processor_due<A>(r, entered_at)) [[unlikely]]
    note_processor(r, entered_at);
  if constexpr (A::kBlocks) {
    publish(r, put(r, put_at_enter(r, r.cursor), Enter{r.lid, record_time(entered_at), region}));
    r.last = entered_at;
  }
  if constexpr (!A::kBlocks) {  // else the ENTER stands in the trace, and nobody asks
    frame.region = region;
    frame.enter = entered_at;
  }
  frame.trace = A::kBlocks ? CallFrame::Trace::kEntered : CallFrame::Trace::kInHand;
  if constexpr (kInNote) {
    if constexpr (A::kBegins) set_time(note.records, entered_at);
    noted = open.entered(entered_at);
    keep_note(note, static_cast<std::size_t>(noted - note.records));
  }
  if constexpr (kEnters) r.open_region = true;
  const typename A::Result result = called(a, &frame, hook);
  const Ticks exit = ticks();
  read_at_exit(r);
  if constexpr (kInNote) entered = !drop_note(*r.note) || A::kBlocks;
  Recording call{r, r.cursor, region, record_time(entered_at), record_time(exit), entered};
  if (frame.trace == CallFrame::Trace::kHoldsCalls) [[unlikely]] {
    call.apart([&](Recording& c) { come_back(c, frame, exit); });
  }
  if constexpr (Polls<A>) {
    if (r.trace->polling != nullptr && !hook.found_nothing(arguments_of(a), result)) [[unlikely]] {
      came_of_polls(r, hook, arguments_of(a), result == MPI_SUCCESS, region, entered_at, exit);
      call.p = r.cursor;
      call.slow = true;  // there may have been a flush
    }
  }
  if constexpr (A::kReturnsCode && !TellsErrors<A>) {
    if (result != MPI_SUCCESS) [[unlikely]]
      call.apart([result](Recording& c) { record_failure(c, result); });
  }
  if constexpr (requires { hook.after(arguments_of(a), result, call); }) {
    const BookkeepingLock lock;
    hook.after(arguments_of(a), result, call);
  } else {
    call.leave();
  }
  if constexpr (kEnters) r.open_region = false;
  r.last = exit;
  if constexpr (ReadsSmall<A>) {
    if (!r.reads_wait) r.polls_go_on = false;
  } else if constexpr (!Polls<A>) {
    r.polls_go_on = false;
  }
  if (call.good) [[likely]] {
    publish(r, call.p);
    if (call.slow && r.trace->spilled) [[unlikely]]
      close_spill(r);
    if (is_processor_due<A>(r, exit)) [[unlikely]]
      note_processor(r, r.last);  // a flush may have come behind the exit
  }
  return result;
}

template <class A>
bool ends_poll(Recorder& r, const A& a);
template <class A>
bool still_ends_poll(Recorder& r, const A& a);
template <class A>
void completed_poll(const A& a);
// The bookkeeping of the call that has completed reads which were a poll.
template <class A, class H>
KOJAK_INLINED inline void end_of_poll(A& a, H& hook, typename A::Result result) {
  constexpr bool kFlushes = Syncs<A>;
  if constexpr (!kFlushes) {
    Silent silent;
    const BookkeepingLock lock;
    hook.after(arguments_of(a), result, silent);
  } else {
    if (!the_session.one_caller) completed_poll(arguments_of(a));
  }
}

template <class A>
bool begins_read(Recorder& r, const A& a);
template <class A>
bool lock_is_held(Recorder& r, const A& a, RegionId region, Ticks enter, Ticks exit);

template <class A>
bool is_sync_poll(Recorder& r, const A& a, RegionId region, bool first);
template <class A>
bool join_sync(Recorder& r, const A& a, RegionId region, Ticks enter, Ticks exit);

// A call that may be part of a series of polls: whether nothing else has come in between.
template <class A>
KOJAK_INLINED inline bool may_be_poll(A& a, Recorder& r, const void* caller, const void* frame,
                                      RegionId& region) {
  if (r.polling == nullptr) [[likely]]
    return false;
  if (r.limit.load(std::memory_order_relaxed) != polling_limit() || r.outer_calls != 0)
    return false;
  if constexpr (CompletesReads<A> || Syncs<A>) {
    if (!r.reads_wait) {
      if constexpr (Syncs<A>) {
        return find_region(r, A::kFunction, caller, frame, region) &&
               is_sync_poll(r, arguments_of(a), region, false);
      }
      return false;
    }
  }
  if constexpr (CompletesReads<A>) {
    if (!ends_poll(r, arguments_of(a))) return false;
  } else if constexpr (Syncs<A>) {
    return false;
  } else if constexpr (BeginsReads<A>) {
    if (!begins_read(r, arguments_of(a))) return false;
  }
  return find_region(r, A::kFunction, caller, frame, region);
}
// The same of one with which a series may begin; it is ready to be recorded.
template <class A>
KOJAK_INLINED inline bool may_begin_polls(A& a, Recorder& r, RegionId region) {
  if (r.trace == nullptr || r.trace->reads == nullptr || r.outer_calls != 0) return false;
  if constexpr (BeginsReads<A>) {
    return begins_read(r, arguments_of(a));
  } else {
    return is_sync_poll(r, arguments_of(a), region, true);
  }
}
// A call of that kind that has returned and is no poll after all, behind the series that is open.
template <class A, class H>
KOJAK_INLINED inline void record_apart(A& a, H& hook, Recorder& r, RegionId region,
                                       CallFrame& frame, Ticks exit, typename A::Result result) {
  Recording call{r, r.cursor, region, record_time(frame.enter), record_time(exit), false};
  call.slow = true;
  if (frame.trace == CallFrame::Trace::kHoldsCalls) [[unlikely]] {
    call.apart([&](Recording& c) { come_back(c, frame, exit); });
  }
  if (result != MPI_SUCCESS) [[unlikely]]
    call.apart([result](Recording& c) { record_failure(c, result); });
  {
    const BookkeepingLock lock;
    hook.after(arguments_of(a), result, call);
  }
  r.last = exit;
  if (call.good) {
    publish(r, call.p);
    if (r.trace->spilled) [[unlikely]]
      close_spill(r);
  }
}
// The same of a call that has found something. Any wait for a request may be one, so it takes
// nothing of the program's stack.
template <class A, class H>
[[gnu::cold, gnu::noinline]] void end_apart(A& a, H& hook, Recorder& r, RegionId region,
                                            CallFrame& frame, Ticks exit, typename A::Result result,
                                            PollEnd end) {
  on_own_stack([&, exit, result, region, end] {
    if (r.polling != nullptr) end_polls_in_call(r, end);
    record_apart(a, hook, r, region, frame, exit, result);
  });
}

// Tells of such a call while it lasts, behind what the note says already.
template <class A, class H>
[[gnu::noinline]] void note_apart(A& a, H& hook, Recorder& r, RegionId region, Ticks enter) {
  using Arguments = std::remove_reference_t<decltype(arguments_of(a))>;
  constexpr bool kNoted = Notable<Arguments, Hook<A>>;
  LocalBufferNote& note = *r.note;
  std::byte* const to =
      put_noted(note.records + note.size, Enter{r.lid, record_time(enter), region});
  std::conditional_t<kNoted, OpenCall<Arguments, Hook<A>>, NoOpenCall> open(arguments_of(a), hook,
                                                                            r, to, false);
  keep_note(note, static_cast<std::size_t>(open.entered(enter) - note.records));
}

// It is recorded, if at all, when it has returned. Meanwhile the series stands for it, or a note; a
// lock is always noted, since who waits for it may wait for ever, here or in its unlock.
template <class A>
[[gnu::noinline]] typename A::Result recorded_apart(A& a, Recorder& r, RegionId region,
                                                    CallFrame& frame) {
  Hook<A> hook;
  run_before(hook, a);
  [[maybe_unused]] const bool reads = r.reads_wait;
  const Ticks entered_at = ticks();
  frame.region = region;
  frame.enter = entered_at;
  frame.trace = CallFrame::Trace::kInHand;
  const bool noted = A::kBlocks && (BeginsReads<A> || EndsLock<A> || !series_is_open(r));
  const std::uint64_t before = r.note->size;
  if (noted) note_apart(a, hook, r, region, entered_at);
  const std::uint64_t during = r.note->size;
  const typename A::Result result = called(a, &frame, hook);
  const Ticks exit = ticks();
  if (noted && r.note->size == during) keep_note(*r.note, before);
  // A call within it has written its ENTER otherwise.
  [[maybe_unused]] const bool unwritten = frame.trace != CallFrame::Trace::kHoldsCalls;
  if constexpr (BeginsReads<A>) {
    if (result == MPI_SUCCESS && unwritten &&
        lock_is_held(r, arguments_of(a), region, entered_at, exit)) [[likely]] {
      r.last = exit;
      end_of_poll(a, hook, result);
      return result;
    }
    if (r.polling != nullptr) end_polls_in_call(r, PollEnd::kOtherCall);
    r.polls_go_on = false;
    record_apart(a, hook, r, region, frame, exit, result);
  } else if constexpr (CompletesReads<A> || Syncs<A>) {
    HeldEnd ended;
    bool joined = false;
    if constexpr (CompletesReads<A>) {
      if (result == MPI_SUCCESS && unwritten && reads && r.reads_wait &&
          (the_session.one_caller || still_ends_poll(r, arguments_of(a)))) [[likely]]
        joined = join_held(r, entered_at, exit, ended);
    }
    if constexpr (Syncs<A>) {
      if (result == MPI_SUCCESS && unwritten && !reads)
        joined = join_sync(r, arguments_of(a), region, entered_at, exit);
    }
    if (!joined) {
      end_apart(a, hook, r, region, frame, exit, result, ended.why);
      if (ended.goes_on) let_polls_go_on(r);
      return result;
    }
    r.last = exit;
    if constexpr (CompletesReads<A>) end_of_poll(a, hook, result);
  } else {
    if (result != MPI_SUCCESS && r.polling != nullptr) end_polls_in_call(r, PollEnd::kOtherCall);
    record_apart(a, hook, r, region, frame, exit, result);
  }
  return result;
}

template <class A>
KOJAK_INLINED inline typename A::Result measured_plainly(A& a, const void* caller) {
  Recorder& r = the_recorder;
  PlainCall call;
  begin_frame(call.frame);
  typename A::Result result;
  if (r.frame == nullptr && r.lost == nullptr &&
      (the_session.functions.load(std::memory_order_relaxed) & A::kGroup) == 0) {
    call.frame.in_call = true;
    call.frame.sealed = false;
    call.frame.trace = CallFrame::Trace::kNothing;
    r.frame = &call.frame;
    result = a.call();
    leave_frame(r, call.frame);
    return result;
  }
  begin_call(call, A::kFunction, A::kGroup, A::kBlocks, caller);
  result = a.call();
  if constexpr (A::kReturnsCode) {
    if (result != MPI_SUCCESS) [[unlikely]] {
      end_failed_call(call, result);
      return result;
    }
  }
  end_call(call);
  return result;
}

template <class A>
KOJAK_INLINED inline typename A::Result measured_with_hook(A& a, const void* caller) {
  Recorder& r = the_recorder;
  CallFrame frame;
  begin_frame(frame);
  frame.in_call = false;
  frame.sealed = false;
  frame.trace = CallFrame::Trace::kNothing;
  if (r.frame != nullptr) [[unlikely]] {
    if (!left_behind(r, frame.entry, caller)) {
      if (passes_through(r, A::kFunction, caller)) return a.call();
      // In the middle of ours nothing may be counted: that call is left out as a whole.
      if (!r.frame->in_call) return a.call();
      if (!begin_within(r, A::kGroup, caller)) return unrecorded(a, nullptr);
    }
  }
  r.frame = &frame;
  typename A::Result result;
  RegionId region{};
  const bool records = (the_session.functions.load(std::memory_order_relaxed) & A::kGroup) != 0;
  if constexpr (ReadsSmall<A> || CompletesReads<A> || Syncs<A> || BeginsReads<A>) {
    if (records && may_be_poll(a, r, caller, &frame, region)) [[unlikely]] {
      result = recorded_apart(a, r, region, frame);
      leave_frame(r, frame);
      return result;
    }
  }
  if (records && (Polls<A> ? ready_to_poll(r, A::kFunction, caller, &frame, region)
                           : ready(r, A::kFunction, caller, &frame, region))) {
    if constexpr (Syncs<A> || BeginsReads<A>) {
      if (may_begin_polls(a, r, region)) [[unlikely]] {
        result = recorded_apart(a, r, region, frame);
        leave_frame(r, frame);
        return result;
      }
    }
    result = recorded(a, r, region, frame);
  } else {
    if (r.lost != nullptr) [[unlikely]]
      count_lost(r);
    result = unrecorded(a, &frame);
  }
  leave_frame(r, frame);
  return result;
}

template <class A>
KOJAK_INLINED inline typename A::Result measured(A a, const void* caller) {
  if constexpr (kHooked<A>) {
    return measured_with_hook(a, caller);
  } else {
    return measured_plainly(a, caller);
  }
}

}  // namespace kojak::measure
