// Long because each construct has its callbacks, which all work on the one stack of open regions.
#include "epilog/openmp/callbacks.h"

#include "epilog/format/openmp_constructs.h"
#include "epilog/openmp/locks.h"
#include "epilog/runtime/local_trace.h"
#include "epilog/runtime/memory.h"
#include "epilog/runtime/open_regions.h"
#include "epilog/runtime/processor.h"
#include "epilog/runtime/session.h"

namespace kojak::measure::openmp {
namespace {

using Construct = OmpConstruct;

constexpr unsigned number_of(Construct construct) {
  return kFirstOmpConstruct + static_cast<unsigned>(construct);
}
static_assert(number_of(Construct::kTaskgroup) < kMaxFunctions);

std::uint64_t key_of(Construct construct, const void* place) {
  return site_key(number_of(construct), place);
}
constexpr bool is_of(std::uint64_t key, Construct construct) {
  return key >> 48 == number_of(construct);
}

// Equal for one lock of the process. Addresses have 47 bits, of which the lowest two tell nothing.
LockId lock_of(ompt_wait_id_t id) {
  return static_cast<LockId>(static_cast<std::uint32_t>(mix(id >> 2) >> 16));
}

// Where the innermost parallel region of the thread stands on its stack, counted from 1; 0: there
// is none.
std::uint64_t parallel_at(const OpenRegions& stack) {
  std::uint64_t i = stack.depth;
  while (i != 0 && !is_of(stack.entries[i - 1].key, Construct::kParallel)) --i;
  return i;
}

// Whether the thread is a worker of the innermost team that it is in.
bool is_in_others_team() {
  const OpenRegions& stack = the_open_regions;
  const std::uint64_t at = parallel_at(stack);
  return at != 0 && stack.entries[at - 1].ended != nullptr;
}

// Leaves the innermost region that `fits`, of the innermost parallel region, and what is open above
// it.
template <class F>
bool leave_innermost(RegionEvent& event, F&& fits) {
  const OpenRegions& stack = event.stack();
  for (std::uint64_t i = stack.depth; i-- != 0;) {
    const std::uint64_t key = stack.entries[i].key;
    if (fits(key)) {
      event.leave(stack.depth - i);
      return true;
    }
    if (is_of(key, Construct::kParallel)) return false;
  }
  return false;
}
bool leave_innermost(RegionEvent& event, Construct construct) {
  return leave_innermost(event, [=](std::uint64_t key) { return is_of(key, construct); });
}

// At constructs that may wait.
void look_at_processor(RegionEvent& event) {
  Recorder& r = event.recorder();
  if (r.last >= r.processor_due && event.records()) note_processor(r, r.last);
}

// ---- teams

void write_fork(RegionEvent& event, Team& team) {
  team.forked = true;
  if (!event.records()) return;
  const Recorder& r = event.recorder();
  event.write(OmpFork{r.lid, record_time(event.stamp())});
}

void on_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* parallel, unsigned wanted,
                       int, const void* place) {
  parallel->ptr = nullptr;
  if (the_open_regions.ours != nullptr && RegionEvent::is_busy()) return;
  Team* const team = take_team(the_thread, place);
  parallel->ptr = team;
  if (team == nullptr || wanted == 1) return;  // the one thread begins it at once
  RegionEvent event;
  write_fork(event, *team);
}

KOJAK_INLINED inline bool begin_alone(Team& team) {
  QuickEvent event;
  if (!event.ready(1)) return false;
  const std::uint64_t key = key_of(Construct::kParallel, team.place);
  const RegionId region = event.known(key);
  const Ticks now = event.now();
  if (region == kRejected || now == 0) return false;
  event.write(compact::TeamOfOne{event.lid(), record_time(now), region, Count64{team.number}}, now);
  event.push(key, &team);
  team.forked = true;
  return true;
}

KOJAK_INLINED inline bool end_quickly(Team& team) {
  QuickEvent event;
  if (!event.ready(1)) return false;
  const OpenRegions::Entry* const region = event.open(0);
  if (region == nullptr || region->what != &team || !region->written) return false;
  const Ticks now = event.now();
  if (now == 0) return false;
  event.write(compact::TeamLeft{event.lid(), record_time(now)}, now);
  event.pop(1);
  team.open = false;
  team.end.store(now, std::memory_order_release);
  return true;
}

void on_parallel_end(ompt_data_t* parallel, ompt_data_t*, int, const void*) {
  auto* const team = static_cast<Team*>(parallel->ptr);
  if (team == nullptr || end_quickly(*team)) return;
  RegionEvent event;
  Ticks end = ticks();
  const OpenRegions& stack = event.stack();
  const std::uint64_t at = parallel_at(stack);
  if (at != 0 && stack.entries[at - 1].what == team) event.leave(stack.depth - at + 1, end);
  if (team->forked && event.records()) {
    const Recorder& r = event.recorder();
    end = event.stamp(end);
    event.write(OmpJoin{r.lid, record_time(end)});
  }
  team->open = false;
  team->end.store(end, std::memory_order_release);
}

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task,
                      unsigned size, unsigned index, int flags) {
  if ((flags & ompt_task_initial) != 0) return;
  if (endpoint == ompt_scope_begin) {
    task->value = 0;
    auto* const team = parallel == nullptr ? nullptr : static_cast<Team*>(parallel->ptr);
    if (team == nullptr) return;
    const bool worker = team->master != &the_thread;
    if (!worker && !team->forked && size == 1 && begin_alone(*team)) return;
    RegionEvent event;
    if (!worker && !team->forked) write_fork(event, *team);
    if (!event.enter(key_of(Construct::kParallel, team->place), team, RegionEvent::kNow,
                     worker ? &team->end : nullptr)) {
      return;
    }
    if (worker) team->holders.fetch_add(1, std::memory_order_relaxed);
    if (!event.entered() || !event.records()) return;
    const Recorder& r = event.recorder();
    event.write(
        OmpTeam{r.lid, record_time(r.last), Count64{team->number}, Count{index}, Count{size}});
    return;
  }
  // A master leaves its region when the team is over.
  if (!is_in_others_team()) return;
  RegionEvent event;
  const OpenRegions& stack = event.stack();
  const std::uint64_t at = parallel_at(stack);
  auto* const team = static_cast<Team*>(const_cast<void*>(stack.entries[at - 1].what));
  event.leave(stack.depth - at + 1);
  team->holders.fetch_sub(1, std::memory_order_release);
}

// ---- waiting

void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*,
                    ompt_data_t*, const void* place) {
  Construct construct = Construct::kImplicitBarrier;
  switch (static_cast<int>(kind)) {
    case 1:  // barrier, of which libomp does not know which
    case ompt_sync_region_barrier_explicit:
      construct = Construct::kBarrier;
      break;
    case ompt_sync_region_taskwait:
      construct = Construct::kTaskwait;
      break;
    case ompt_sync_region_taskgroup:
      construct = Construct::kTaskgroup;
      break;
    case ompt_sync_region_reduction:
      return;
    default:
      break;
  }
  RegionEvent event;
  if (endpoint == ompt_scope_end) {
    if (leave_innermost(event, construct)) look_at_processor(event);
    return;
  }
  const bool barrier = construct == Construct::kBarrier || construct == Construct::kImplicitBarrier;
  const OpenRegions& stack = event.stack();
  const std::uint64_t at = parallel_at(stack);
  const OpenRegions::Entry* const region = at != 0 ? &stack.entries[at - 1] : nullptr;
  if (barrier && region == nullptr) return;  // outside of teams nobody waits
  // At the end of the region a worker is not told the place: it is the region's.
  if (place == nullptr && region != nullptr) {
    place = static_cast<const Team*>(region->what)->place;
  }
  event.enter(key_of(construct, place), nullptr, RegionEvent::kNow,
              barrier ? region->ended : nullptr, barrier);
  look_at_processor(event);
}

// ---- work

bool is_work(std::uint64_t key) {
  const std::uint64_t number = key >> 48;
  return number == number_of(Construct::kLoop) || number == number_of(Construct::kSections) ||
         number == number_of(Construct::kWorkshare) || number == number_of(Construct::kSingle) ||
         number == number_of(Construct::kDistribute) || number == number_of(Construct::kTaskloop) ||
         number == number_of(Construct::kScope);
}

void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*,
             std::uint64_t, const void* place) {
  Construct construct = Construct::kLoop;
  switch (static_cast<int>(kind)) {
    case ompt_work_sections:
      construct = Construct::kSections;
      break;
    case ompt_work_single_executor:
      construct = Construct::kSingle;
      break;
    case ompt_work_single_other:  // takes no time
      return;
    case ompt_work_workshare:
      construct = Construct::kWorkshare;
      break;
    case ompt_work_distribute:
      construct = Construct::kDistribute;
      break;
    case ompt_work_taskloop:
      construct = Construct::kTaskloop;
      break;
    case ompt_work_scope:
      construct = Construct::kScope;
      break;
    default:  // loops, for which later versions have several kinds
      break;
  }
  RegionEvent event;
  if (endpoint == ompt_scope_begin) {
    event.enter(key_of(construct, place), nullptr);
  } else if (endpoint == ompt_scope_end) {
    leave_innermost(event, is_work);
  }
}

void on_master(ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, const void* place) {
  RegionEvent event;
  if (endpoint == ompt_scope_begin) {
    event.enter(key_of(Construct::kMaster, place), nullptr);
  } else if (endpoint == ompt_scope_end) {
    leave_innermost(event, Construct::kMaster);
  }
}

// ---- locks

LockTable lock_table;

// The construct that admits one thread at a time, and the region of what the one does in it.
struct Exclusive {
  Construct outer, inner;
};
bool find_exclusive(ompt_mutex_t kind, Exclusive& found) {
  switch (static_cast<int>(kind)) {
    case ompt_mutex_critical:
      found = {Construct::kCritical, Construct::kCriticalBlock};
      return true;
    case ompt_mutex_ordered:
      found = {Construct::kOrdered, Construct::kOrderedBlock};
      return true;
    case ompt_mutex_atomic:
      found = {Construct::kAtomic, Construct::kAtomicBlock};
      return true;
    default:
      return false;
  }
}

template <class R>
void write_lock(RegionEvent& event, ompt_wait_id_t id, Ticks at) {
  if (!event.records()) return;
  const Recorder& r = event.recorder();
  event.write(R{r.lid, record_time(event.stamp(at)), lock_of(id)});
}

// These are the rule; what stands behind them is what they leave.
//
// A construct whose lock is free is entered when the thread has it. (Where two threads find it
// free, the second one's waiting is written when it is over; else it is seen from its beginning
// on.)
KOJAK_INLINED inline bool take_quickly(std::uint64_t outer, std::uint64_t inner, ompt_wait_id_t id,
                                       bool at_once) {
  QuickEvent event;
  if (!event.ready(2)) return false;
  const RegionId region = event.known(outer), block = event.known(inner);
  const Ticks asked = the_thread.acquire;
  if (region == kRejected || block == kRejected ||
      static_cast<std::int64_t>(asked - event.last()) < 0) {
    return false;
  }
  if (at_once) {
    event.write(compact::LockEntered{event.lid(), record_time(asked), lock_of(id), region, block},
                asked);
  } else {
    const Ticks now = event.now();
    if (now == 0) return false;
    event.write(Enter{event.lid(), record_time(asked), region, {}}, asked);
    event.write(compact::LockTaken{event.lid(), record_time(now), lock_of(id), block}, now);
  }
  event.push(outer, nullptr);
  event.push(inner, nullptr);
  return true;
}
KOJAK_INLINED inline bool give_quickly(const Exclusive& exclusive, ompt_wait_id_t id) {
  QuickEvent event;
  if (!event.ready(1)) return false;
  const OpenRegions::Entry *const block = event.open(0), *const construct = event.open(1);
  if (construct == nullptr || !is_of(block->key, exclusive.inner) || !block->written ||
      !is_of(construct->key, exclusive.outer) || !construct->written) {
    return false;
  }
  const Ticks now = event.now();
  if (now == 0) return false;
  event.write(compact::LockLeft{event.lid(), record_time(now), lock_of(id)}, now);
  event.pop(2);
  return true;
}
KOJAK_INLINED inline bool set_quickly(std::uint64_t key, ompt_wait_id_t id, bool at_once) {
  QuickEvent event;
  if (!event.ready(1)) return false;
  const RegionId region = event.known(key);
  const Ticks asked = the_thread.acquire;
  if (region == kRejected || static_cast<std::int64_t>(asked - event.last()) < 0) return false;
  const Ticks now = at_once ? asked : event.now();
  if (now == 0) return false;
  event.write(
      compact::LockSet{event.lid(), record_time(asked), record_time(now), region, lock_of(id)},
      now);
  return true;
}

[[gnu::noinline]] void enter_waiting(std::uint64_t outer) {
  RegionEvent event;
  event.enter(outer, nullptr, the_thread.acquire);
}
[[gnu::noinline]] void take(std::uint64_t outer, std::uint64_t inner, ompt_wait_id_t id,
                            bool entered) {
  RegionEvent event;
  if (!entered) event.enter(outer, nullptr, the_thread.acquire);
  write_lock<OmpALock>(event, id, RegionEvent::kNow);
  event.enter(inner, nullptr, event.recorder().last);
}
[[gnu::noinline]] void give(const Exclusive& exclusive, ompt_wait_id_t id) {
  RegionEvent event;
  if (!leave_innermost(event, exclusive.inner)) return;
  write_lock<OmpRLock>(event, id, event.recorder().last);
  // (Its own construct, which was entered right before the block.)
  const OpenRegions& stack = event.stack();
  if (stack.depth != 0 && is_of(stack.entries[stack.depth - 1].key, exclusive.outer)) {
    event.leave(1, event.recorder().last);
  }
}
[[gnu::noinline]] void set(std::uint64_t key, ompt_wait_id_t id) {
  RegionEvent event;
  if (!event.enter(key, nullptr, the_thread.acquire)) return;
  write_lock<OmpALock>(event, id, RegionEvent::kNow);
  event.leave(1, event.recorder().last);
}
template <class R>
[[gnu::noinline]] void write_lock_alone(ompt_wait_id_t id) {
  RegionEvent event;
  write_lock<R>(event, id, RegionEvent::kNow);
}
KOJAK_INLINED inline bool unset_quickly(ompt_wait_id_t id) {
  QuickEvent event;
  if (!event.ready(1)) return false;
  const Ticks now = event.now();
  if (now == 0) return false;
  event.write(OmpRLock{event.lid(), record_time(now), lock_of(id)}, now);
  return true;
}

void on_mutex_acquire(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t id, const void* place) {
  OmpThread& thread = the_thread;
  lock_table.ask(thread, id);
  thread.acquire = ticks();
  // Who waits for its turn waits for no holder.
  if (kind == ompt_mutex_ordered) thread.seen = 0;
  Exclusive exclusive{};
  if (thread.seen == 0 && find_exclusive(kind, exclusive)) {
    enter_waiting(key_of(exclusive.outer, place));
  }
}

void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void* place) {
  const bool seen_free = the_thread.seen != 0;
  const bool at_once = lock_table.take(the_thread, id);
  Exclusive exclusive{};
  if (find_exclusive(kind, exclusive)) {
    const std::uint64_t outer = key_of(exclusive.outer, place);
    const std::uint64_t inner = key_of(exclusive.inner, place);
    if (!seen_free || !take_quickly(outer, inner, id, at_once)) take(outer, inner, id, !seen_free);
    return;
  }
  const bool nest = kind == ompt_mutex_nest_lock;
  // A test does not wait.
  if (!nest && kind != ompt_mutex_lock) return write_lock_alone<OmpALock>(id);
  const std::uint64_t key = key_of(nest ? Construct::kSetNestLock : Construct::kSetLock, place);
  if (!set_quickly(key, id, at_once)) set(key, id);
}

void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t id, const void*) {
  lock_table.give(the_thread, id);
  Exclusive exclusive{};
  if (!find_exclusive(kind, exclusive)) {
    if (!unset_quickly(id)) write_lock_alone<OmpRLock>(id);
  } else if (!give_quickly(exclusive, id)) {
    give(exclusive, id);
  }
}

// A lock that the thread holds already.
void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t, const void* place) {
  if (endpoint != ompt_scope_begin) return;
  RegionEvent event;
  if (event.enter(key_of(Construct::kSetNestLock, place), nullptr, the_thread.acquire)) {
    event.leave(1);
  }
}

// ---- tasks

// A task's value: where it was created, and above that 1 + the thread that did it. Implicit tasks
// have 0.
constexpr unsigned kPlaceBits = 48;
constexpr std::uint64_t kSomeThread = 0xFFFF;

void on_task_create(ompt_data_t*, const ompt_frame_t*, ompt_data_t* task, int flags, int,
                    const void* place) {
  if ((flags & (ompt_task_initial | ompt_task_implicit)) != 0) return;
  const LocalTrace* const trace = the_recorder.trace;
  const bool known = trace != nullptr && trace->thread + 1 < kSomeThread;
  const std::uint64_t thread = known ? std::uint64_t{trace->thread} + 1 : kSomeThread;
  task->value = reinterpret_cast<std::uintptr_t>(place) | thread << kPlaceBits;
}

constexpr std::uint64_t kNone = ~std::uint64_t{0};
// Where a task stands on the stack, above the innermost parallel region.
std::uint64_t find_task(const OpenRegions& stack, std::uint64_t base, const ompt_data_t* task) {
  for (std::uint64_t i = stack.depth; i-- > base;) {
    if (is_of(stack.entries[i].key, Construct::kTask) && stack.entries[i].what == task) return i;
  }
  return kNone;
}

void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  if (next == nullptr) return;
  RegionEvent event;
  const OpenRegions& stack = event.stack();
  const std::uint64_t base = parallel_at(stack);
  if (prior != nullptr && status != ompt_task_switch && status != ompt_task_yield) {
    const std::uint64_t at = find_task(stack, base, prior);
    if (at != kNone) event.leave(stack.depth - at);
  }
  if (next->value == 0) {
    for (std::uint64_t i = base; i < stack.depth; ++i) {
      if (!is_of(stack.entries[i].key, Construct::kTask)) continue;
      return event.leave(stack.depth - i);
    }
    return;
  }
  const std::uint64_t at = find_task(stack, base, next);
  if (at != kNone) {
    for (std::uint64_t i = at + 1; i < stack.depth; ++i) {
      if (!is_of(stack.entries[i].key, Construct::kTask)) continue;
      return event.leave(stack.depth - i);
    }
    return;
  }
  const std::uint64_t thread = next->value >> kPlaceBits;
  const auto* const place =
      reinterpret_cast<const void*>(next->value & ((std::uint64_t{1} << kPlaceBits) - 1));
  event.enter(
      key_of(Construct::kTask, place), next, RegionEvent::kNow, nullptr, false,
      thread == kSomeThread ? RegionEvent::kNobody : static_cast<std::uint32_t>(thread - 1));
}

}  // namespace

bool set_callbacks(ompt_set_callback_t set) {
  const auto ask = [set](ompt_callbacks_t which, auto* callback) {
    return set(which, reinterpret_cast<ompt_callback_t>(callback)) >= ompt_set_sometimes;
  };
  if (!ask(ompt_callback_parallel_begin, on_parallel_begin) ||
      !ask(ompt_callback_parallel_end, on_parallel_end) ||
      !ask(ompt_callback_implicit_task, on_implicit_task)) {
    return false;
  }
  ask(ompt_callback_sync_region, on_sync_region);
  ask(ompt_callback_work, on_work);
  ask(ompt_callback_masked, on_master);
  ask(ompt_callback_mutex_acquire, on_mutex_acquire);
  ask(ompt_callback_mutex_acquired, on_mutex_acquired);
  ask(ompt_callback_mutex_released, on_mutex_released);
  ask(ompt_callback_nest_lock, on_nest_lock);
  ask(ompt_callback_task_create, on_task_create);
  ask(ompt_callback_task_schedule, on_task_schedule);
  return true;
}

}  // namespace kojak::measure::openmp
