#include "epilog/runtime/open_regions.h"

#include <sys/mman.h>

#include "epilog/format/openmp_constructs.h"
#include "epilog/runtime/code.h"
#include "epilog/runtime/metrics.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/polling.h"
#include "epilog/runtime/processor.h"
#include "epilog/runtime/user_regions.h"

namespace kojak::measure {

thread_local constinit OpenRegions the_open_regions __attribute__((tls_model("initial-exec"))) = {};

namespace {

[[gnu::cold, gnu::noinline]] bool grow(OpenRegions& stack) {
  constexpr std::uint64_t kFirst = 4096 / sizeof(OpenRegions::Entry);
  const std::uint64_t capacity = stack.capacity == 0 ? kFirst : stack.capacity * 2;
  const std::size_t before = stack.capacity * sizeof(OpenRegions::Entry);
  const std::size_t after = capacity * sizeof(OpenRegions::Entry);
  void* const memory =
      before == 0 ? mmap(nullptr, after, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                  : mremap(stack.entries, before, after, MREMAP_MAYMOVE);
  if (memory == MAP_FAILED) return false;
  watch_thread_end();
  stack.entries = static_cast<OpenRegions::Entry*>(memory);
  stack.capacity = capacity;
  return true;
}

// No slot knows the region: what it is called in this file.
[[gnu::noinline]] RegionId define_here(Recorder& r, std::uint64_t key, const void* what) {
  return (key & (kUserKey | kFunctionKey)) != 0 ? define_user(r, key, what)
                                                : define_construct(r, key);
}

[[gnu::cold, gnu::noinline]] RegionId define(Recorder& r, std::uint64_t key, const void* what) {
  if (r.trace == nullptr && !make_room(r)) return kRejected;
  LocalTrace& trace = *r.trace;
  if (trace.code == nullptr) return kRejected;
  if (const std::uint32_t* known = trace.code->places.find(key)) {
    const auto id = static_cast<RegionId>(*known);
    r.codes[code_slot(key)] = {key, id};
    return id;
  }
  return on_own_stack([&] { return define_here(r, key, what); });
}

RegionId region_of_key(Recorder& r, std::uint64_t key, const void* what) {
  const CodeSlot& slot = r.codes[code_slot(key)];
  return slot.key == key ? slot.id : define(r, key, what);
}

// Inside of a call of MPI's, or of a signal handler that interrupted one. What a longjmp left
// behind is closed before what comes now.
bool inside_mpi(Recorder& r) {
  return r.frame != nullptr && !left_behind(r, __builtin_frame_address(0));
}

// Room for some records. May write what was entered and left before, if recording has just gone on.
bool has_room_in(Recorder& r) {
  if (r.cursor <= r.limit.load(std::memory_order_relaxed)) [[likely]]
    return true;
  if (r.polling != nullptr) interrupt_polls(r);
  return r.cursor <= r.limit.load(std::memory_order_relaxed) || make_room(r);
}

// The time of a record: not before the newest one, which making room may have written.
Ticks not_before_last(const Recorder& r, Ticks at) {
  return static_cast<std::int64_t>(at - r.last) < 0 ? r.last : at;
}

// Whether counters are read where the region begins and ends. Locks are taken so often, and for so
// short a time, that reading would be most of it.
bool counts(std::uint64_t key) {
  if ((key & (kUserKey | kFunctionKey)) != 0) return true;
  const auto construct = static_cast<OmpConstruct>((key >> 48) - kFirstOmpConstruct);
  return construct < OmpConstruct::kCritical || construct > OmpConstruct::kSetNestLock;
}

// `p`: behind what stands before the record.
void write_enter(Recorder& r, RegionId id, Ticks at, std::byte* p) {
  r.last = not_before_last(r, at);
  publish(r, put(r, p, Enter{r.lid, record_time(r.last), id}));
}

void write_exit(Recorder& r, Ticks at, std::byte* p, bool collective = false) {
  r.last = not_before_last(r, at);
  const Seconds time = record_time(r.last);
  publish(r, collective ? put(r, p, OmpCollExit{r.lid, time}) : put(r, p, Exit{r.lid, time}));
}

bool recording() {
  return the_session.functions.load(std::memory_order_relaxed) != 0;
}

// Somebody else has said when the region was over; kNow if nobody has.
Ticks end_of(const OpenRegions::Entry& entry) {
  return entry.ended == nullptr ? RegionEvent::kNow : entry.ended->load(std::memory_order_acquire);
}

// Whether the first exit that is due is a collective one; the second is the first then.
bool take_collective(OpenRegions& stack) {
  const bool collective = (stack.collective_exits & 1) != 0;
  stack.collective_exits >>= 1;
  return collective;
}

// What was entered while nothing was recorded. Defining and making room may come here again, after
// one more pause, and leave less to do.
void enter_unwritten(Recorder& r) {
  OpenRegions& stack = the_open_regions;
  for (std::uint64_t i = 0; i < stack.depth; ++i) {
    OpenRegions::Entry& entry = stack.entries[i];
    if (entry.written || end_of(entry) != RegionEvent::kNow) continue;
    const RegionId id = region_of_key(r, entry.key, entry.what);
    if (id == kRejected) continue;
    if (!has_room_in(r)) return;
    if (entry.written) continue;
    entry.written = true;
    write_enter(r, id, r.last, r.cursor);
  }
}

}  // namespace

bool RegionEvent::is_busy() {
  const CallFrame* const ours = the_open_regions.ours;
  return ours != nullptr && is_open(ours, __builtin_frame_address(0));
}

RegionEvent::RegionEvent()
    : stack_(the_open_regions),
      r_(the_recorder),
      on_(recording() && !inside_mpi(r_)),
      own_(r_),
      before_(is_busy() ? stack_.ours : nullptr) {
  stack_.ours = own_.frame();
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

RegionEvent::~RegionEvent() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  stack_.ours = before_;
}

bool RegionEvent::has_room() {
  return has_room_in(r_);
}

Ticks RegionEvent::stamp(Ticks at) {
  r_.last = not_before_last(r_, at == kNow ? ticks() : at);
  return r_.last;
}

bool RegionEvent::enter(std::uint64_t key, const void* what, Ticks at,
                        const std::atomic<Ticks>* ended, bool collective,
                        std::uint32_t created_by) {
  bool written = false;
  if (on_) {
    const RegionId id = region_of_key(r_, key, what);
    // The filter's decision; otherwise recording has just been switched off.
    if (id == kRejected && r_.codes[code_slot(key)].key == key) return false;
    written = id != kRejected && has_room_in(r_);
    if (stack_.depth >= stack_.capacity && !grow(stack_)) return false;
    if (written) {
      if (created_by != kNobody) [[unlikely]] {
        write(AttrUi4{kAttrCreatedBy, Count{created_by}});
      }
      Ticks time = at;
      if (at == kNow) {
        time = ticks();
        if (time >= r_.processor_due) [[unlikely]]
          note_processor(r_, time);
      }
      std::byte* const p = at == kNow && counts(key) ? put_now(r_, r_.cursor) : r_.cursor;
      write_enter(r_, id, time, p);
    }
  } else if (stack_.depth >= stack_.capacity && !grow(stack_)) {
    return false;
  }
  stack_.entries[stack_.depth++] = {key, what, ended, written, collective};
  if (written && r_.last >= r_.processor_due) [[unlikely]]
    note_processor(r_, r_.last);
  return true;
}

void RegionEvent::leave(std::uint64_t count, Ticks at) {
  const Ticks now = !on_ ? 0 : at == kNow ? ticks() : at;
  while (count-- != 0) {
    const OpenRegions::Entry& entry = stack_.entries[--stack_.depth];
    if (!entry.written) continue;
    if (on_ && r_.trace != nullptr && has_room_in(r_)) {
      const Ticks end = end_of(entry);
      if (at == kNow && end == kNow && now >= r_.processor_due) [[unlikely]]
        note_processor(r_, not_before_last(r_, now));
      std::byte* const p = end == kNow && counts(entry.key) ? put_now(r_, r_.cursor) : r_.cursor;
      write_exit(r_, end == kNow ? now : end, p, entry.collective);
    } else {
      if (entry.collective && stack_.exits_due < 64) {
        stack_.collective_exits |= std::uint64_t{1} << stack_.exits_due;
      }
      ++stack_.exits_due;
    }
  }
  if (on_ && r_.trace != nullptr && r_.last >= r_.processor_due) [[unlikely]]
    note_processor(r_, r_.last);
}

void enter_open_regions(Recorder& r) {
  const RegionEvent event;
  OpenRegions& stack = the_open_regions;
  stack.exits_due = stack.collective_exits = 0;
  for (std::uint64_t i = 0; i < stack.depth; ++i) stack.entries[i].written = false;
  enter_unwritten(r);
}

void catch_up_regions(Recorder& r) {
  const RegionEvent event;
  OpenRegions& stack = the_open_regions;
  while (stack.exits_due != 0) {
    if (!has_room_in(r)) return;  // paused again: the next time
    if (stack.exits_due == 0) break;
    --stack.exits_due;
    write_exit(r, r.last, r.cursor, take_collective(stack));
  }
  enter_unwritten(r);
}

bool leave_all(LocalTrace& trace, Ticks t) {
  Recorder& r = *trace.recorder;
  OpenRegions& stack = *trace.open;
  const auto leave = [&](Ticks at, bool collective) {
    if (r.cursor > trace.hard_limit && !write_or_grow(trace)) return false;
    write_exit(r, at, r.cursor, collective);
    return true;
  };
  for (std::uint64_t i = 0; i < stack.exits_due; ++i) {
    if (!leave(t, take_collective(stack))) return false;
  }
  for (std::uint64_t i = stack.depth; i-- != 0;) {
    const OpenRegions::Entry& entry = stack.entries[i];
    const Ticks end = end_of(entry);
    if (entry.written && !leave(end == RegionEvent::kNow ? t : end, entry.collective)) return false;
  }
  return r.cursor <= trace.hard_limit || write_or_grow(trace);
}

void drop_open_regions() {
  OpenRegions& stack = the_open_regions;
  if (stack.capacity != 0) munmap(stack.entries, stack.capacity * sizeof(OpenRegions::Entry));
  stack = {};
}

}  // namespace kojak::measure
