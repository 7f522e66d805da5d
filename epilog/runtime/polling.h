// Polls of a thread, joined while they are made (epilog/format/polls.h has the rule).
//
// A thread that polls has a Polling with its trace, and Recorder::polling while a series stands
// open. Nothing is written then, and the thread's limit is kPollingLimit, below every cursor: so
// whatever else writes a record comes into make_room(), which ends the series first, and a poll
// sees by another limit that somebody wants something (a sample, a change of recording). At each
// slice's end the series so far is the buffer's note, which outlives the process. Nothing is
// allocated for a poll; the first one of a thread, and the fifth member, take memory once. Without
// it polls are recorded one by one. For the outermost calls of a thread; signal handlers that come
// between two polls are like the program, and one that comes in a pause may leave it by a longjmp.
#pragma once

#include "epilog/format/polls.h"
#include "epilog/runtime/call.h"

namespace kojak::measure {

// In ticks; set before recording begins.
extern PollScale poll_scale;
void prepare_polls();
// Functions that pause are ours (pauses.cc).
extern bool pauses_are_seen;

// A poll that found nothing. False: it is not joined, and no series is open.
[[gnu::noinline]] bool join_poll(Recorder& r, const PollMember& what, Ticks enter, Ticks exit);
// Something came of a call that polls while a series is open: it ends with it if that was asked for
// before (true), else it is interrupted. `found`: not an error. `region`: of the call.
[[gnu::cold, gnu::noinline]] bool settle_polls(Recorder& r, const PollMember& what, bool found,
                                               RegionId region, Ticks enter, Ticks exit);
// A poll at this place found something.
[[gnu::noinline]] void count_find(Recorder& r, RegionId region);

// The memory for a thread's series, taken once. False: there is none.
[[gnu::cold, gnu::noinline]] bool prepare_polling(Recorder& r);
// For reads (runtime/reads.h), of which it is told later whether they are polls: what else is
// written comes into make_room() from now on, as while a series is open. False: it does not.
// (Behind prepare_polling().)
[[gnu::cold, gnu::noinline]] bool hold_polling(Recorder& r);
// Behind that: a poll made of several calls. `inside`: what lies between these.
[[gnu::noinline]] void join_read(Recorder& r, const PollMember& what, Ticks enter, Ticks exit,
                                 Ticks inside);
// Something else that it asked for, before or behind that.
[[gnu::noinline]] void join_read_too(Recorder& r, const PollMember& what, Ticks enter);
bool series_is_open(const Recorder& r);
// A call of a poll of one-sided operations, which waits for its target's progress if that is
// outside MPI: one so long is told by itself, too. Behind the poll with which a series begins;
// before any other one is joined.
KOJAK_INLINED inline bool is_long_call(Ticks enter, Ticks exit) {
  return exit - enter >= poll_scale.long_call;
}
[[gnu::cold, gnu::noinline]] void note_long_call(Recorder& r, const PollMember& of, Ticks enter,
                                                 Ticks exit);

// The series that is open is over, and written. Not between the records of a call.
[[gnu::cold, gnu::noinline]] void end_polls(Recorder& r, PollEnd why);
// It is interrupted: by a region, a sample. `in_call`: what comes behind it has begun already, so a
// flush has no record of its own.
[[gnu::cold, gnu::noinline]] void interrupt_polls(Recorder& r, bool in_call = false);
// It is over in a call, which is recorded behind it.
[[gnu::cold, gnu::noinline]] void end_polls_in_call(Recorder& r, PollEnd why);
// The next one goes on what was written.
void let_polls_go_on(Recorder& r);
// MPI_POLL_SITE of those that have changed.
void write_poll_sites(Recorder& r);
// The trace is closed.
void drop_polls(LocalTrace& trace);

inline std::byte* polling_limit() {
  return reinterpret_cast<std::byte*>(std::uintptr_t{1});
}

// As ready(), for a call that polls: a series that is open stays so.
KOJAK_INLINED inline bool ready_to_poll(Recorder& r, unsigned function, const void* caller,
                                        const void* frame, RegionId& region) {
  if (r.polling != nullptr) {
    const bool called = r.limit.load(std::memory_order_relaxed) != polling_limit();
    if (called || r.outer_calls != 0 || r.reads_wait) [[unlikely]]
      interrupt_polls(r);
  }
  if (!find_region(r, function, caller, frame, region)) return false;
  return r.polling != nullptr || r.cursor <= r.limit.load(std::memory_order_relaxed) ||
         make_room(r);
}

// A pause of the program's, from its begin to its end. It leaves nothing behind that must be
// undone.
class PauseMark {
 public:
  static bool is_wanted() {
    return the_recorder.polling != nullptr && the_recorder.frame == nullptr;
  }
  PauseMark();
  void end(std::uint64_t asked_ns, bool sleeps) const;

 private:
  std::uint32_t serial_;
  Ticks last_, begin_;
};

}  // namespace kojak::measure
