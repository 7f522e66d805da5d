// Small one-sided reads of one place, again and again: polls, where the value stays the same. And
// swaps, where memory stays as it is.
//
// A read is complete when a later call says so (flush, unlock, the wait for its request). So a read
// at a place that the thread has read before is held back, unwritten, up to the call that completes
// it: if that finds the value of the time before, read and flush are one poll of a series
// (polling.h); else both are recorded as they were made. A thread remembers kPlaces places and
// watches kRing reads; whatever else it records comes into make_room() first, which writes what is
// held back.
//
// A shared lock of a target may be held back, too: one under which small reads alone were made
// before. If its unlock completes reads that found nothing new, and nothing else lay between, lock,
// reads and unlock are one poll. Exclusive ones are recorded, since others wait for who has them;
// so are all where other threads may do something under the lock.
//
// The result is looked at after the call that completes it has returned success, and before the
// program gets control: before that it may not be read, later it may be gone. A page of memory is
// read for the first time by process_vm_readv, since it may be a device's. The thread's own; memory
// is taken once, none for a read. Only for the outermost calls, where no counters are read.
#pragma once

#include "epilog/format/polls.h"
#include "epilog/runtime/local_trace.h"

namespace kojak::measure {

inline constexpr std::uint64_t kMostSmall = 16;  // bytes

struct SmallRead {
  PollMember what;
  const void* result = nullptr;
  RmaId rmaid{};
  std::uint8_t op = 0;      // as in MPI_RMA_PLACE
  bool by_request = false;  // whose completion completes it, too
  // Of a swap: the result that says that it has changed memory, or (`keeps`) that it has not.
  bool keeps = false;
  std::uint64_t value = 0, other = 0;
  std::uint32_t completions = 0;  // calls that completed operations of its window so far
  Ticks enter = 0, exit = 0;
};

// Before the functions below: takes a thread's memory, once. False: they are not to be called.
[[gnu::cold, gnu::noinline]] bool prepare_reads(Recorder& r);
KOJAK_INLINED inline bool may_watch_reads(Recorder& r) {
  if (r.trace == nullptr || r.outer_calls != 0 || r.metrics != nullptr) return false;
  return r.trace->reads != nullptr || prepare_reads(r);
}

// Reads up to 16 bytes of the program's, if they are memory.
[[gnu::noinline]] bool load_small(Recorder& r, const void* from, unsigned bytes,
                                  std::uint64_t& value, std::uint64_t& other);
// It is issued. True: it is held back; false: it is to be recorded. `can_be`: held back.
[[gnu::noinline]] bool hold_read(Recorder& r, const SmallRead& read, bool can_be);
// Which operations a call completes.
struct Completing {
  std::uint32_t window;
  std::uint32_t target;  // absent: all
  std::uint32_t completions;
  RmaId rmaid = absent<RmaId>();  // that of the request alone
  bool unlocks = false;           // it ends the lock that is held back
  bool by_request() const { return !is_absent(rmaid); }
};
// The shared lock of a target: it is open.
struct SmallLock {
  std::uint32_t window = 0, target = 0;
  RegionId region{};
  Ticks enter = 0, exit = 0;
};
// Whether the last one there had small reads alone under it, so that this one may be held back.
[[gnu::noinline]] bool may_hold_lock(const Recorder& r, std::uint32_t window, std::uint32_t target);
// It has returned. False: it is to be recorded. The note ends with it until it is recorded or
// joined.
[[gnu::noinline]] bool hold_lock(Recorder& r, const SmallLock& lock);
// An unlock was recorded, before take_values(): so many operations lay under its lock.
[[gnu::noinline]] void note_unlock(Recorder& r, std::uint32_t window, std::uint32_t target,
                                   std::uint64_t operations);
// Reads and swaps that were held back and have been written since: their windows are told of them
// as of all that was issued. kMost: and of others that are forgotten.
struct WrittenReads {
  static constexpr unsigned kMost = 8;
  struct One {
    std::uint32_t window, target;
    bool swap;
  };
  unsigned count = 0;
  One of[kMost];
};
// Those since the last time; null if there are none.
WrittenReads* written_reads(const Recorder& r);
// All reads that are held back are complete when this call has returned.
bool completes_held(const Recorder& r, const Completing& what);
// How the call in hand ends the series where what is held back was no poll that can be joined.
struct HeldEnd {
  PollEnd why = PollEnd::kOtherCall;
  bool goes_on = false;  // behind it: nothing was found, but the lock was open for long
};
// It has, within these times. False: what is held back and the call in hand are recorded.
[[gnu::noinline]] bool join_held(Recorder& r, Ticks enter, Ticks exit, HeldEnd& ended);
// What operations have read that were recorded, once they are complete: finds, and what swaps that
// changed memory have found.
struct FoundValues {
  unsigned count = 0;
  bool swapped = false;
  struct Value {
    RmaId rmaid;
    std::uint64_t value, other;
  } values[8];
};
[[gnu::noinline]] bool awaits_value(const Recorder& r, RmaId rmaid);
[[gnu::noinline]] void take_values(Recorder& r, const Completing& what, FoundValues& found);
// A call was recorded that synchronises memory and had nothing to complete: the next one like it,
// with no other call between, is a poll.
[[gnu::noinline]] void note_sync(Recorder& r, const PollMember& what, Ticks exit);
[[gnu::noinline]] bool repeats_sync(const Recorder& r, const PollMember& what);
// Whatever the thread watches on this window is not told of any more.
void forget_reads(Recorder& r, std::uint32_t window);

inline bool watches_reads(const Recorder& r) {
  return r.trace != nullptr && r.trace->reads != nullptr;
}

// What is held back becomes part of the trace.
[[gnu::cold, gnu::noinline]] void write_held_reads(Recorder& r);
void drop_reads(LocalTrace& trace);

}  // namespace kojak::measure
