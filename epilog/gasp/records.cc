#include "epilog/gasp/records.h"

#include <stdio.h>
#include <string.h>

#include <algorithm>

#include "epilog/format/collective_operations.h"
#include "epilog/format/field_values.h"
#include "epilog/format/upc_names.h"
#include "epilog/runtime/comm_object.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/remote_operation.h"

namespace kojak::measure {

// What a Recording defines a set by.
static bool define_object(Recorder& r, CommObject& set) {
  return define_members(r, set);
}

namespace {

// They keep identities from those of others.
constexpr std::uint64_t kThreads = 0x5550433031u, kPhases = 0x5550433032u;

const void* const kImplicit = reinterpret_cast<const void*>(~std::uintptr_t{0});

CommObject* make_set(std::uint64_t kind, const char* name) {
  Group* const group = make_world_group(the_session.run.size);
  CommObject* const set = group == nullptr ? nullptr : create<CommObject>();
  if (set == nullptr) return nullptr;
  set->id = next_comm_id();
  set->group = group;
  set->identity = IdentityHash().add(kind).add(group->count).get();
  set->name.set_constant(name);
  return set;
}

void count(CommObject& set) {
  const BookkeepingLock lock;
  ++set.collectives;
  set.collectives_changed = true;
}

std::uint32_t take_request() {
  const BookkeepingLock lock;
  std::uint32_t& next = the_session.next_request_id;
  if (next == kAbsent) next = 0;
  return next++;
}

// The next argument, a pointer-to-shared by its address.
SharedPlace place_of(va_list& arguments) {
  const void* const pts = va_arg(arguments, const void*);
  SharedPlace place;
  if (pts == nullptr) return place;
  ask_language([&](const elg_gasp_language& language) {
    language.place(pts, &place.thread, &place.address);
  });
  return place;
}

LockId lock_of(const SharedPlace& place) {
  const std::uint64_t hash = mix(mix(place.address) + static_cast<std::uint64_t>(place.thread));
  return static_cast<LockId>(static_cast<std::uint32_t>(hash) & 0x3FFFFFFFu);
}

PeerId peer_of(const SharedPlace& place) {
  const bool there =
      place.thread >= 0 && static_cast<std::uint32_t>(place.thread) < the_session.run.size;
  return there ? PeerId{static_cast<std::uint32_t>(place.thread)} : absent<PeerId>();
}

void write_quiet(Recording& call, Count context = absent<Count>()) {
  call.event(ShmemQuiet{call.r.lid, call.exit, context});
}

// How a transfer is complete.
struct Completion {
  bool strict = false, non_blocking = false;
  Count context{0};
};

// One side of what is moved, if it is another thread's memory.
struct Transfer {
  bool there = false;
  Moving moving{};
  RemoteOperation operation{};
};
Transfer transfer_of(const GaspThread& thread, const SharedPlace& place, bool put,
                     const Completion& how) {
  if (place.thread == thread.number || is_absent(peer_of(place))) return {};
  const BookkeepingLock lock;
  const Flags flags{how.non_blocking ? kPlaceNonBlocking : std::uint8_t{0}};
  const auto id = static_cast<RmaId>(take_rma_ids(1));
  return {true, {put, !put}, {peer_of(place), id, Count64{place.address}, how.context, flags}};
}

enum class Moves : std::uint8_t { kGet, kPut, kSet, kCopy };
// What is moved, in the order of its arguments.
void record_transfer(GaspThread& thread, PlainCall& call, va_list& arguments, Ticks at, Moves moves,
                     bool has_relaxed, bool has_handle) {
  const bool strict = has_relaxed && va_arg(arguments, int) == 0;
  SharedPlace to, from;
  if (moves == Moves::kGet)
    (void)va_arg(arguments, const void*);
  else
    to = place_of(arguments);
  if (moves == Moves::kGet || moves == Moves::kCopy)
    from = place_of(arguments);
  else if (moves == Moves::kPut)
    (void)va_arg(arguments, const void*);
  else
    (void)va_arg(arguments, int);
  const std::size_t bytes = va_arg(arguments, std::size_t);
  Completion how{strict, false, Count{0}};
  if (has_handle) {
    const void* const handle = va_arg(arguments, const void*);
    how.non_blocking = handle != nullptr;
    if (handle != kImplicit) how.context = Count{thread.contexts.of(handle)};
  }
  end_upc_call(call, at, [&](Recording& records) {
    Transfer sides[2];
    if (moves == Moves::kGet || moves == Moves::kCopy)
      sides[0] = transfer_of(thread, from, false, how);
    if (moves != Moves::kGet) sides[1] = transfer_of(thread, to, true, how);
    if (sides[1].there && !sides[0].there && !how.strict)
      return write_call(records, sides[1].operation, bytes, sides[1].moving);
    for (const Transfer& t : sides) {
      if (t.there) write_start(records, t.operation, bytes, t.moving);
    }
    for (const Transfer& t : sides) {
      if (t.there) write_end(records, t.operation, bytes, t.moving);
    }
    if (how.strict) write_quiet(records);
    records.leave();
  });
}

// What a collective operation moves at this thread, from the bytes of its argument.
struct Moved {
  std::uint64_t sent, received;
};
Moved moved_by(GaspEvent event, std::uint64_t bytes, bool root) {
  const std::uint64_t all = bytes * the_session.run.size;
  switch (event) {
    case GaspEvent::kAllBroadcast:
      return root ? Moved{bytes, 0} : Moved{0, bytes};
    case GaspEvent::kAllScatter:
      return {root ? all : 0, bytes};
    case GaspEvent::kAllGather:
      return {bytes, root ? all : 0};
    case GaspEvent::kAllGatherAll:
      return {bytes, all};
    case GaspEvent::kAllExchange:
      return {all, all};
    case GaspEvent::kAllReduce:
      return {bytes, root ? bytes : 0};
    default:
      return {bytes, bytes};
  }
}

// COLLEXIT of all threads, which have met in the call.
void leave_together(Recording& call, CommObject& set, PeerId root, const Moved& moved) {
  {
    const BookkeepingLock lock;
    if (!call.use(set)) return call.leave();
  }
  const Bytes sent = bytes_field(call, raw(kAttrBytesSent), moved.sent);
  const Bytes received = bytes_field(call, raw(kAttrBytesReceived), moved.received);
  call.leave(CollExit{call.r.lid, call.exit, {}, root, CommId{set.id}, sent, received});
}

std::size_t size_of_type(int type) {
  constexpr std::uint8_t kSizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 16};
  return type >= 0 && type < static_cast<int>(std::size(kSizes)) ? kSizes[type] : 0;
}

void record_collective(GaspThread& thread, GaspEvent event, PlainCall& call, va_list& arguments,
                       Ticks at) {
  const SharedPlace to = place_of(arguments), from = place_of(arguments);
  std::uint64_t bytes = 0;
  int flags = 0;
  const bool reduces = event == GaspEvent::kAllReduce || event == GaspEvent::kAllPrefixReduce;
  if (reduces) {
    (void)va_arg(arguments, int);
    const std::size_t elements = va_arg(arguments, std::size_t);
    (void)va_arg(arguments, std::size_t);
    (void)va_arg(arguments, const void*);
    flags = va_arg(arguments, int);
    bytes = elements * size_of_type(va_arg(arguments, int));
  } else {
    if (event == GaspEvent::kAllPermute) (void)va_arg(arguments, const void*);
    bytes = va_arg(arguments, std::size_t);
    flags = va_arg(arguments, int);
  }
  PeerId root = absent<PeerId>();
  if (event == GaspEvent::kAllBroadcast || event == GaspEvent::kAllScatter) root = peer_of(from);
  if (event == GaspEvent::kAllGather || reduces) root = peer_of(to);
  CommObject& everybody = *thread.everybody;
  count(everybody);
  end_upc_call(call, at, [&](Recording& records) {
    const bool own = raw(root) == static_cast<std::uint32_t>(thread.number);
    {
      const BookkeepingLock lock;  // its definition stands before the attribute of the exit
      if (!records.use(everybody)) return records.leave();
    }
    records.event(AttrUi1{kAttrCollectiveFlags, Byte{recorded_flags(flags)}});
    leave_together(records, everybody, root, moved_by(event, bytes, own));
  });
}

void record_allocation(GaspThread& thread, PlainCall& call, Ticks at) {
  count(*thread.everybody);
  end_upc_call(call, at, [&](Recording& records) {
    leave_together(records, *thread.everybody, absent<PeerId>(), {0, 0});
  });
}

void record_lock(PlainCall& call, va_list& arguments, Ticks at, bool attempt) {
  const SharedPlace place = place_of(arguments);
  const bool got = !attempt || va_arg(arguments, int) != 0;
  end_upc_call(call, at, [&](Recording& records) {
    if (got) {
      write_quiet(records);
      records.event(ALock{records.r.lid, records.exit, lock_of(place), peer_of(place)});
    }
    records.leave();
  });
}

void record_unlock(PlainCall& call, va_list& arguments, Ticks at) {
  const SharedPlace place = place_of(arguments);
  end_upc_call(call, at, [&](Recording& records) {
    write_quiet(records);
    records.event(RLock{records.r.lid, records.exit, lock_of(place), peer_of(place)});
    records.leave();
  });
}

void record_wait(GaspThread& thread, PlainCall& call, Ticks at) {
  const bool known = thread.in_phase;
  thread.in_phase = false;
  end_upc_call(call, at, [&](Recording& records) {
    if (known) {
      records.event(MpiRequestComplete{records.r.lid, records.exit,
                                       static_cast<RequestId>(thread.phase_request),
                                       kDoneCollective});
    }
    records.leave();
  });
}

void record_sync(GaspThread& thread, PlainCall& call, va_list& arguments, Ticks at, bool asks) {
  const void* const handle = va_arg(arguments, const void*);
  const bool done = !asks || va_arg(arguments, int) != 0;
  end_upc_call(call, at, [&](Recording& records) {
    if (done && handle != nullptr) {
      write_quiet(records, Count{handle == kImplicit ? 0 : thread.contexts.of(handle)});
    }
    records.leave();
  });
}

// About the next operation of a set, or that which stands so many before.
void note_meeting(PlainCall& call, CommObject& set, std::uint64_t before) {
  const BookkeepingLock lock;
  note_call(call, &set, absent<PeerId>(),
            Count64{set.collectives - std::min(before, set.collectives)});
}

}  // namespace

bool make_upc_sets(GaspThread& thread) {
  const BookkeepingLock lock;
  thread.everybody = make_set(kThreads, kUpcEverybody);
  thread.phases = make_set(kPhases, kUpcPhases);
  return thread.everybody != nullptr && thread.phases != nullptr;
}

void write_upc_state(Recorder& r, bool all) {
  if (the_gasp_thread == nullptr) return;
  const BookkeepingLock lock;
  const Seconds time = record_time(r.last);
  for (CommObject* const set : {the_gasp_thread->everybody, the_gasp_thread->phases}) {
    if (set == nullptr || (all ? set->collectives == 0 : !set->collectives_changed)) continue;
    if (define_members(r, *set)) write_collectives(r, *set, time);
  }
}

void note_event(const GaspThread& thread, GaspEvent event, PlainCall& call, va_list& arguments) {
  va_list own;
  va_copy(own, arguments);
  switch (event) {
    case GaspEvent::kBarrier:
      note_meeting(call, *thread.phases, 0);
      break;
    case GaspEvent::kWait:
      note_meeting(call, *thread.phases, 1);
      break;
    case GaspEvent::kLock: {
      const SharedPlace place = place_of(own);
      note_call(call, nullptr, peer_of(place), Count64{raw(lock_of(place))});
      break;
    }
    default:
      if (event == GaspEvent::kCollectiveExit || allocates_for_all(event) ||
          moves_data_of_all(event)) {
        note_meeting(call, *thread.everybody, 0);
      }
      break;
  }
  va_end(own);
}

void record_barrier(GaspThread& thread, PlainCall& call, Ticks at) {
  count(*thread.phases);
  end_upc_call(call, at, [&](Recording& records) {
    write_quiet(records);
    leave_together(records, *thread.phases, absent<PeerId>(), {0, 0});
  });
}

void record_exit(GaspThread& thread, PlainCall& call, Ticks at) {
  if (call.measured) count(*thread.everybody);
  end_upc_call(call, at, [&](Recording& records) {
    write_quiet(records);
    leave_together(records, *thread.everybody, absent<PeerId>(), {0, 0});
  });
}

bool record_exit_of(GaspThread& thread, Ticks at) {
  if (thread.depth == 0 || thread.trace == nullptr) return false;
  const OpenEvent& open = thread.open[thread.depth - 1];
  Recorder& r = *thread.trace->recorder;
  if (open.event != GaspEvent::kCollectiveExit || !open.call.recorded) return false;
  r.metrics = nullptr;  // its counters only that thread can read
  drop_note(*r.note);
  at = later(at, r.last);
  count(*thread.everybody);
  Recording records{r,   r.cursor, open.call.region, record_time(open.call.enter), record_time(at),
                    true};
  write_quiet(records);
  leave_together(records, *thread.everybody, absent<PeerId>(), {0, 0});
  r.last = at;
  r.open_region = false;
  if (records.good) publish(r, records.p);
  --thread.depth;
  return true;
}

// Phases are numbered with the barriers: a thread's notify and wait may be another one's barrier.
void record_notify(GaspThread& thread) {
  const HeldNotify held = thread.held;
  thread.held.any = false;
  PlainCall call;
  begin_upc_call(thread, call, upc_function("upc_notify"), held.place, held.enter);
  if (!call.measured) return;
  CommObject& phases = *thread.phases;
  const std::uint64_t ordinal = phases.collectives;
  count(phases);
  thread.phase_request = take_request();
  thread.in_phase = call.recorded;
  end_upc_call(call, held.exit, [&](Recording& records) {
    const LocationId lid = records.r.lid;
    {
      const BookkeepingLock lock;
      if (!records.use(phases)) return records.leave();
    }
    write_quiet(records);
    records.event(MpiCollBegin{lid, records.exit, static_cast<RequestId>(thread.phase_request),
                               absent<PeerId>(), CommId{phases.id}, Count64{0}, Count64{ordinal},
                               Byte{static_cast<std::uint8_t>(CollectiveOp::kBarrier)}, Bytes64{0},
                               Bytes64{0}});
    records.leave();
    records.p = put(records.r, records.p,
                    CollState{lid, records.exit, CommId{phases.id}, Count64{ordinal + 1}});
  });
}

void name_lock(GaspThread& thread, const GaspPlace& made, va_list& arguments) {
  constexpr std::uint32_t kMostNamed = 4096;
  Recorder& r = the_recorder;
  if (made.file == nullptr || made.line <= 0 || r.trace == nullptr || !is_live() ||
      thread.locks_named == kMostNamed) {
    return;
  }
  const OwnFrame own(r);
  const SharedPlace place = place_of(arguments);
  on_own_stack([&] {
    const char* const slash = strrchr(made.file, '/');
    char text[256];
    const int length = snprintf(text, sizeof text, "made at %.200s:%d",
                                slash != nullptr ? slash + 1 : made.file, made.line);
    const auto size = static_cast<std::size_t>(length);
    if (length < 0 || !make_room_for(r, string_room(size) + kMaxRecord)) return;
    ++thread.locks_named;
    const StringId name = define_string(r, text, size);
    publish(r, put(r, r.cursor, ShmemLockName{lock_of(place), name, absent<FileId>()}));
  });
}

void record_event(GaspThread& thread, GaspEvent event, PlainCall& call, va_list& arguments,
                  Ticks at) {
  if (!call.measured) return;  // within another one
  const auto transfer = [&](Moves moves, bool has_relaxed, bool has_handle) {
    record_transfer(thread, call, arguments, at, moves, has_relaxed, has_handle);
  };
  switch (event) {
    case GaspEvent::kBarrier:
      return record_barrier(thread, call, at);
    case GaspEvent::kWait:
      return record_wait(thread, call, at);
    case GaspEvent::kFence:
      return end_upc_call(call, at, [](Recording& records) {
        write_quiet(records);
        records.leave();
      });
    case GaspEvent::kGet:
      return transfer(Moves::kGet, true, false);
    case GaspEvent::kPut:
      return transfer(Moves::kPut, true, false);
    case GaspEvent::kMemget:
      return transfer(Moves::kGet, false, false);
    case GaspEvent::kMemput:
      return transfer(Moves::kPut, false, false);
    case GaspEvent::kMemset:
      return transfer(Moves::kSet, false, false);
    case GaspEvent::kMemcpy:
      return transfer(Moves::kCopy, false, false);
    case GaspEvent::kNbGetInit:
      return transfer(Moves::kGet, true, true);
    case GaspEvent::kNbPutInit:
      return transfer(Moves::kPut, true, true);
    case GaspEvent::kBNbMemgetInit:
      return transfer(Moves::kGet, false, true);
    case GaspEvent::kBNbMemputInit:
      return transfer(Moves::kPut, false, true);
    case GaspEvent::kBNbMemcpyInit:
      return transfer(Moves::kCopy, false, true);
    case GaspEvent::kNbSync:
      return record_sync(thread, call, arguments, at, false);
    case GaspEvent::kBNbTrysync:
      return record_sync(thread, call, arguments, at, true);
    case GaspEvent::kLock:
      return record_lock(call, arguments, at, false);
    case GaspEvent::kLockAttempt:
      return record_lock(call, arguments, at, true);
    case GaspEvent::kUnlock:
      return record_unlock(call, arguments, at);
    default:
      if (moves_data_of_all(event)) return record_collective(thread, event, call, arguments, at);
      if (allocates_for_all(event)) return record_allocation(thread, call, at);
      return end_upc_call(call, at, [](Recording& records) { records.leave(); });
  }
}

}  // namespace kojak::measure
