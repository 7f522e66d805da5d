// What the front of ARMCI calls: its calls become records of SHMEM's kinds (docs/format.md).
//
// ARMCI numbers its processes without those that serve the others, so its numbers are made ranks of
// MPI_COMM_WORLD here, by the communicator that the library has for them; that asks nobody else. A
// number without a rank is recorded as absent. Groups are known by their members: collective calls
// of the same processes are numbered together, which is right as long as they come in one order.
#include "epilog/mpi/armci_calls.h"

#include <new>

#include "epilog/armci/front.h"
#include "epilog/format/field_values.h"
#include "epilog/format/library_thread.h"
#include "epilog/format/shmem_functions.h"
#include "epilog/mpi/group.h"
#include "epilog/runtime/allocations.h"
#include "epilog/runtime/call.h"
#include "epilog/runtime/call_path.h"
#include "epilog/runtime/comm_object.h"
#include "epilog/runtime/handle_numbers.h"
#include "epilog/runtime/remote_operation.h"
#include "epilog/runtime/run_properties.h"

namespace kojak::measure {

thread_local constinit const CallFrame* open_armci_call = nullptr;
// It is the one by which the program begins with the library.
thread_local constinit bool starts_library = false;

namespace {

constexpr std::uint64_t kArmciGroup = 0x41524D4349u;  // keeps its identities from those of others
// Where a notification of a process stands in the memory of the one that waits for it: above all
// that is allocated.
constexpr std::uint64_t kNotification = std::uint64_t{1} << 60;
constexpr std::uint32_t kNotificationBytes = 4, kFlagBytes = 4;

struct Set : CommObject {
  Set* next = nullptr;
  std::uint32_t allocations = 0;  // that it has made
};
HashMap<Set*> sets;  // by the number of their group
Set* first_set = nullptr;
Set* all_processes = nullptr;
HandleNumbers contexts;       // by the address of a handle
Vector<std::uint32_t> ranks;  // by ARMCI's number
Vector<std::uint32_t> members;
Vector<std::uintptr_t> bases_in_hand;
Allocations allocations;
int own_number = 0;

bool define_object(Recorder& r, CommObject& set) {
  return define_members(r, set);
}

PlainCall& call_of(elg_front_call* room) {
  static_assert(sizeof(PlainCall) <= sizeof(elg_front_call));
  return *std::launder(reinterpret_cast<PlainCall*>(room));
}

PeerId peer_of(int process) {
  const auto at = static_cast<std::size_t>(process);
  return process >= 0 && at < ranks.size() ? PeerId{ranks[at]} : absent<PeerId>();
}

LockId lock_of(int mutex, int process) {
  return static_cast<LockId>(kFirstMutex |
                             (static_cast<std::uint32_t>(process) & kMutexProcesses) << kMutexBits |
                             (static_cast<std::uint32_t>(mutex) & ((1u << kMutexBits) - 1)));
}

Set* find_set(Group* group) {
  if (group == nullptr) return nullptr;
  if (Set** const known = sets.find(group->id)) return *known;
  Set* const set = create<Set>();
  if (set == nullptr) return nullptr;
  IdentityHash hash;
  hash.add(kArmciGroup).add(group->count);
  for (std::uint32_t i = 0; i < group->count; ++i) hash.add(group->ranks[i]);
  set->id = next_comm_id();
  set->group = group;
  set->identity = hash.get();
  set->next = first_set;
  first_set = set;
  sets.set(group->id, set);
  return set;
}

// Whom the library names as the members of a group. It may call MPI for that, so the bookkeeping
// lock is not held. (Like all our containers it stays when a thread ends.)
thread_local constinit Vector<int> asked_members;
void ask_members(const elg_front_group* group) {
  int size = 0;
  if (group != nullptr) group->size(group->handle, &size);
  if (size < 0 || !asked_members.resize(static_cast<std::size_t>(size))) size = 0;
  for (int i = 0; i < size; ++i) {
    asked_members[static_cast<std::size_t>(i)] = group->process(group->handle, i);
  }
}

// The set of the members that were asked for, under the lock. Null: they are not known.
Set* set_of(const elg_front_group* group) {
  if (group == nullptr) return all_processes;
  const std::size_t size = asked_members.size();
  if (size == 0 || !members.resize(size)) return nullptr;
  for (std::size_t i = 0; i < size; ++i) {
    const PeerId member = peer_of(asked_members[i]);
    if (is_absent(member)) return nullptr;
    members[i] = raw(member);
  }
  return find_set(group_of_ranks(members.data(), static_cast<std::uint32_t>(size)));
}

int begin(elg_front_call* room, unsigned function, const void* frame, const void* caller,
          int process) {
  if (!is_live()) return 0;
  the_session.armci_functions = armci_functions().data();
  PlainCall& call = *new (room) PlainCall;
  call.frame.entry = frame;
#if defined(__x86_64__)
  call.frame.mark = caller;  // as begin_frame() does
#else
  call.frame.mark = &call.frame;
#endif
  const ShmemFunction& f = armci_functions()[function];
  const auto family = static_cast<unsigned>(f.family);
  const bool waits = f.may_block || f.can_progress;
  begin_call(call, kFirstArmciFunction + function,
             waits ? carries_time(family) : carries_none(family), f.may_block, caller);
  if (!call.measured) return 0;
  open_armci_call = &call.frame;
  starts_library = f.role == ShmemRole::kInit;
  if (call.recorded && f.may_block && process >= 0)
    note_call(call, nullptr, peer_of(process), kUnknown64);
  return 1;
}

template <class F>
void record(elg_front_call* room, const F& records) {
  PlainCall& call = call_of(room);
  if (open_armci_call != &call.frame || !is_live()) return;  // it ended before
  open_armci_call = nullptr;
  if (call.recorded) {
    Recording recording = records_of(call);
    records(recording);
    end_call(call, recording);
  }
  leave_call(call);
}

void end(elg_front_call* room) {
  record(room, [](Recording& call) { call.leave(); });
}

// The bookkeeping lock is held.
Count64 place_of(int process, const void* at) {
  return process >= 0 ? allocations.place(static_cast<std::uint32_t>(process), at) : kUnknown64;
}
RemoteOperation operation_of(const void* handle, int process, const void* at, unsigned flags,
                             std::uint32_t ids) {
  const BookkeepingLock lock;
  const Count context{contexts.of(handle)};
  return {peer_of(process), static_cast<RmaId>(take_rma_ids(ids)), place_of(process, at), context,
          static_cast<Flags>(flags)};
}

void transfer(elg_front_call* room, int kind, const void* handle, const void* at,
              unsigned long long bytes, int process) {
  record(room, [&](Recording& call) {
    const Moving moving{(kind & ELG_FRONT_PUT) != 0, (kind & ELG_FRONT_GET) != 0};
    const unsigned flags = ((kind & ELG_FRONT_NONBLOCKING) != 0 ? kPlaceNonBlocking : 0u) |
                           ((kind & ELG_FRONT_ATOMIC) != 0 ? kPlaceAtomic : 0u);
    const std::uint32_t ids = moving.put && moving.get ? 2 : 1;
    write_call(call, operation_of(handle, process, at, flags, ids), bytes, moving);
  });
}

void put_flag(elg_front_call* room, const void* at, unsigned long long bytes, const void* flag,
              int process) {
  record(room, [&](Recording& call) {
    const RemoteOperation data = operation_of(nullptr, process, at, 0, 2);
    Count64 place_of_flag = kUnknown64;
    {
      const BookkeepingLock lock;
      place_of_flag = place_of(process, flag);
    }
    write_put_with_signal(call, data, bytes, place_of_flag, kFlagBytes);
  });
}

void write_quiet(Recording& call, Count context, unsigned kind, PeerId one) {
  if (!is_absent(one)) kind |= kQuietOne;
  call.event(ShmemQuiet{call.r.lid, call.exit, context, static_cast<Flags>(kind),
                        is_absent(one) ? PeerId{0} : one});
}
void write_quiet_of(Recording& call, Count context, unsigned kind, const Set& set) {
  if (&set == all_processes) return write_quiet(call, context, kind, absent<PeerId>());
  for (std::uint32_t i = 0; i < set.group->count; ++i) {
    if (!call.room(kMaxRecord)) return;
    write_quiet(call, context, kind, PeerId{set.group->ranks[i]});
  }
}

void completed(elg_front_call* room, int kind, const void* handle, int process,
               const elg_front_group* group) {
  ask_members(group);
  record(room, [&](Recording& call) {
    Count context = absent<Count>();
    const Set* set = nullptr;
    {
      const BookkeepingLock lock;
      if ((kind & ELG_FRONT_ANY_HANDLE) == 0) context = Count{contexts.of(handle)};
      if (group != nullptr) set = set_of(group);
    }
    const unsigned what = (kind & ELG_FRONT_LOCAL) != 0 ? kQuietLocal : kQuietPuts;
    const PeerId peer = process == ELG_FRONT_NOBODY ? absent<PeerId>() : peer_of(process);
    if (set != nullptr)
      write_quiet_of(call, context, what, *set);
    else if (group == nullptr && (process == ELG_FRONT_NOBODY || !is_absent(peer)))
      write_quiet(call, context, what, peer);
    call.leave();
  });
}

void locked(elg_front_call* room, int mutex, int process) {
  record(room, [&](Recording& call) {
    call.event(ALock{call.r.lid, call.exit, lock_of(mutex, process), peer_of(process)});
    call.leave();
  });
}
void unlocked(elg_front_call* room, int mutex, int process) {
  record(room, [&](Recording& call) {
    call.event(RLock{call.r.lid, call.exit, lock_of(mutex, process), peer_of(process)});
    call.leave();
  });
}

// `note`: what else the members of the set do there, which gives the number of the allocation that
// they have made, or 0; under the lock, and where the call is not recorded as well.
template <class F>
void meet(elg_front_call* room, const elg_front_group* group, bool completes, const F& note) {
  Set* set = nullptr;
  std::uint32_t allocation = 0;
  if (call_of(room).measured) {
    ask_members(group);
    const BookkeepingLock lock;
    set = set_of(group);
    if (set != nullptr) {
      ++set->collectives;
      set->collectives_changed = true;
      allocation = note(*set);
    }
  }
  record(room, [&](Recording& call) {
    if (completes && set != nullptr) write_quiet_of(call, absent<Count>(), kQuietPuts, *set);
    {
      const BookkeepingLock lock;
      if (set == nullptr || !call.use(*set)) return call.leave();
    }
    if (allocation != 0) call.event(AttrUi4{kAttrAllocation, Count{allocation}});
    call.leave(
        CollExit{call.r.lid, call.exit, {}, absent<PeerId>(), CommId{set->id}, Bytes{0}, Bytes{0}});
  });
}

void met(elg_front_call* room, const elg_front_group* group, int completes) {
  meet(room, group, completes != 0, [](Set&) { return 0u; });
}

std::uint32_t number_of_next(Set& set) {
  const std::uint32_t ordinal = ++set.allocations;
  if (&set == all_processes) return ordinal < kMostAllocations ? ordinal : 0;
  constexpr std::uint32_t kOrdinals = 1u << kAllocationBits;
  const auto members_bits =
      static_cast<std::uint32_t>(set.identity.lo) % (kAllocationOfGroup / kOrdinals);
  return kAllocationOfGroup | members_bits * kOrdinals | ordinal % kOrdinals;
}

void allocated(elg_front_call* room, const elg_front_group* group, void* const* bases) {
  meet(room, group, false, [&](Set& set) {
    const std::uint32_t number = number_of_next(set);
    if (bases == nullptr || number == 0 || !bases_in_hand.resize(ranks.size())) return 0u;
    std::fill(bases_in_hand.begin(), bases_in_hand.end(), std::uintptr_t{0});
    for (std::uint32_t i = 0; i < set.group->count; ++i) {
      const int process = group == nullptr ? static_cast<int>(i) : asked_members[i];
      const auto at = static_cast<std::size_t>(process);
      if (process >= 0 && at < bases_in_hand.size())
        bases_in_hand[at] = reinterpret_cast<std::uintptr_t>(bases[i]);
    }
    return allocations.add(&set, number, bases_in_hand) ? number : 0u;
  });
}

void freed(elg_front_call* room, const elg_front_group* group, const void* own) {
  meet(room, group, true, [&](Set& set) {
    allocations.remove(&set, static_cast<std::uint32_t>(own_number), own);
    return 0u;
  });
}

Count64 notification_of(int process) {
  return Count64{kNotification | static_cast<std::uint64_t>(process) * 8};
}
void notified(elg_front_call* room, int process) {
  record(room, [&](Recording& call) {
    RemoteOperation put = operation_of(nullptr, process, nullptr, 0, 1);
    put.place = notification_of(own_number);
    write_call(call, put, kNotificationBytes, {true, false});
  });
}
void notification_found(elg_front_call* room, int process, int value) {
  constexpr Byte kAtLeast{4};
  record(room, [&](Recording& call) {
    call.event(ShmemWait{call.r.lid, call.exit, notification_of(process), Count{kNotificationBytes},
                         kAtLeast, Count64{static_cast<std::uint32_t>(value)}});
    call.leave();
  });
}

// Whether ARMCI's numbers are ranks.
bool are_ranks(int me, int count) {
  return static_cast<std::uint32_t>(me) == the_session.run.rank &&
         static_cast<std::uint32_t>(count) <= the_session.run.size;
}

void arrived(int me, int count, const void* world) {
  if (!is_live() || count <= 0 || me < 0) return;
  const OwnFrame own(the_recorder);
  const BookkeepingLock lock;
  own_number = me;
  Group* group = nullptr;
  if (world != nullptr) {
    MPI_Comm comm;
    std::memcpy(&comm, world, sizeof comm);
    if (comm != MPI_COMM_NULL) group = local_group_of(comm);
  }
  const bool known = group != nullptr && group->count == static_cast<std::uint32_t>(count);
  if ((!known && !are_ranks(me, count)) || !ranks.resize(static_cast<std::size_t>(count))) return;
  for (int i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    ranks[number] = known ? group->ranks[number] : number;
  }
  all_processes =
      find_set(known ? group : group_of_ranks(ranks.data(), static_cast<std::uint32_t>(count)));
  if (all_processes != nullptr) all_processes->name.set_constant("ARMCI_GROUP_WORLD");
  the_session.write_front_state = [](Recorder& r, bool all) {
    const BookkeepingLock inner;
    const Seconds time = record_time(ticks());
    for (Set* set = first_set; set != nullptr; set = set->next) {
      if (all ? set->collectives == 0 : !set->collectives_changed) continue;
      if (define_members(r, *set)) write_collectives(r, *set, time);
    }
  };
}

constexpr elg_front_table kTable{
    .version = ELG_FRONT_VERSION,
    .begin = begin,
    .end = end,
    .transfer = transfer,
    .put_flag = put_flag,
    .completed = completed,
    .locked = locked,
    .unlocked = unlocked,
    .met = met,
    .allocated = allocated,
    .freed = freed,
    .notified = notified,
    .notification_found = notification_found,
    .arrived = arrived,
};

}  // namespace

void leave_open_armci_call(Recorder& r) {
  leave_library_thread(r);
  if (open_armci_call == nullptr) return;
  const bool serves = starts_library && open_armci_call->trace == CallFrame::Trace::kEntered;
  const Ticks since = open_armci_call->enter;
  while (r.frame != nullptr && r.frame != open_armci_call) drop_innermost(r, ticks());
  if (r.frame != nullptr) drop_innermost(r, ticks());
  open_armci_call = nullptr;
  constexpr std::size_t kRoom = 2 * string_room(kMostText) + kMaxRecord;
  if (!serves || r.trace == nullptr || !make_room_for(r, kRoom)) return;
  define_time_property(r, run_property::kLibraryProcess, since);
}

}  // namespace kojak::measure

extern "C" __attribute__((visibility("default"), used)) const elg_front_table* elg_front() {
  return &kojak::measure::kTable;
}
