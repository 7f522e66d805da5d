#include "epilog/shmem/call.h"

#include "epilog/format/field_values.h"
#include "epilog/runtime/code.h"
#include "epilog/runtime/local_trace.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/remote_operation.h"
#include "epilog/shmem/constants.h"
#include "epilog/shmem/family.h"

namespace kojak::measure {
namespace {

Flags flags_of(TransferMode mode) {
  switch (mode) {
    case TransferMode::kNbi:
      return Flags{kPlaceNonBlocking};
    case TransferMode::kAtomic:
      return Flags{kPlaceAtomic};
    case TransferMode::kAtomicNbi:
      return Flags{kPlaceNonBlocking | kPlaceAtomic};
    default:
      return Flags{0};
  }
}

RemoteOperation operation_of(Context ctx, const void* at, int pe, Flags flags, std::uint32_t ids) {
  RemoteOperation operation{static_cast<PeerId>(static_cast<std::uint32_t>(pe)), RmaId{0},
                            Count64{place_of(at)}, Count{0}, flags};
  const BookkeepingLock lock;
  if (ctx != nullptr) {
    operation.context = Count{context_number(ctx)};
    operation.peer = static_cast<PeerId>(peer_of(ctx, pe));
  }
  operation.id = static_cast<RmaId>(take_rma_ids(ids));
  return operation;
}

// The bits of what is compared with.
std::uint64_t value_of(const WaitShape& shape, std::size_t index) {
  std::uint64_t value = 0;
  const auto* const at = static_cast<const std::byte*>(shape.value);
  std::memcpy(&value, at + (shape.each ? index * shape.bytes : 0),
              shape.bytes < sizeof value ? shape.bytes : sizeof value);
  return value;
}

// False: recording has stopped.
bool write_wait(Recording& call, const WaitShape& shape, const volatile void* variables,
                std::size_t index) {
  if (!call.room(kMaxRecord)) return false;
  const auto* const at = static_cast<const volatile std::byte*>(variables) + index * shape.bytes;
  const std::uint8_t cmp =
      shape.cmp == kNotEqual ? kRecordedNotEqual : recorded_comparison(shape.cmp);
  call.event(ShmemWait{call.r.lid, call.exit, Count64{place_of(at)},
                       Count{static_cast<std::uint32_t>(shape.bytes)}, Byte{cmp},
                       Count64{value_of(shape, index)}});
  return true;
}

}  // namespace

template <class F>
void ShmemCall::record(const F& records) {
  if (plain_.recorded) {
    Recording call = records_of(plain_);
    records(call);
    end_call(plain_, call);
  }
  leave_call(plain_);
}

template <class F>
void ShmemCall::record(const Asked& asked, bool found, const F& records) {
  if (!polls_) return record(records);
  if (plain_.recorded) {
    const Ticks exit = ticks();
    PollMember what;
    what.kind = PollKind::kShmem;
    what.site = static_cast<std::uint32_t>(plain_.region);
    what.request = what.peer = what.comm = what.tag = what.window = what.target = kAbsent;
    what.requests = static_cast<std::uint32_t>(asked.count);
    what.bytes = static_cast<std::uint8_t>(asked.bytes);
    what.place = asked.bytes != 0 ? place_of(asked.at) : raw(lock_of(asked.at));
    if (!poll_is_joined(plain_, what, found, exit)) {
      Recording call = records_of_poll(plain_, exit);
      records(call);
      end_call(plain_, call);
    }
  }
  leave_call(plain_);
}

void ShmemCall::put(Context ctx, const void* at, std::uint64_t bytes, int pe, TransferMode mode) {
  record([&](Recording& call) {
    write_call(call, operation_of(ctx, at, pe, flags_of(mode), 1), bytes, {true, false});
  });
}

void ShmemCall::get(Context ctx, const void* at, std::uint64_t bytes, int pe, TransferMode mode) {
  record([&](Recording& call) {
    write_call(call, operation_of(ctx, at, pe, flags_of(mode), 1), bytes, {false, true});
  });
}

void ShmemCall::get_and_put(Context ctx, const void* at, std::uint64_t bytes, int pe,
                            TransferMode mode) {
  record([&](Recording& call) {
    write_call(call, operation_of(ctx, at, pe, flags_of(mode), 2), bytes, {true, true});
  });
}

void ShmemCall::put_signal(Context ctx, const void* at, std::uint64_t bytes, int pe,
                           const void* signal, bool nbi) {
  record([&](Recording& call) {
    const Flags flags = flags_of(nbi ? TransferMode::kNbi : TransferMode::kPlain);
    write_put_with_signal(call, operation_of(ctx, at, pe, flags, 2), bytes,
                          Count64{place_of(signal)}, sizeof(std::uint64_t));
  });
}

void ShmemCall::completed(Context ctx) {
  std::uint32_t number = 0;
  if (ctx != nullptr) {
    const BookkeepingLock lock;
    number = context_number(ctx);
  }
  context_ended(number);
}

void ShmemCall::context_ended(std::uint32_t number) {
  record([&](Recording& call) {
    call.event(ShmemQuiet{call.r.lid, call.exit, Count{number}});
    call.leave();
  });
}

namespace {

// Which variable a lock is, for the first kMostLocks of a thread. False: recording stopped.
bool define_lock(Recorder& r, LockId lock, const volatile void* variable) {
  constexpr std::uint32_t kMostLocks = 4096;
  LocalTrace& trace = *r.trace;
  const std::uint64_t key = static_cast<std::uint64_t>(ObjectKind::kLock) << 32 | raw(lock);
  if (trace.code == nullptr || trace.locks == kMostLocks || trace.defined.find(key) != nullptr)
    return true;
  trace.defined.set(key, true);
  ++trace.locks;
  return on_own_stack([&] {
    auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(variable));
    const Count module = define_module(r, address, Moment::kWithinCall);
    return is_absent(module) || write_definition(r, LocalLock{lock, module, Count64{address}});
  });
}

}  // namespace

// False: recording has stopped.
bool ShmemCall::take_lock(Recording& call, const volatile void* lock) {
  const LockId id = lock_of(lock);
  if (is_variable(id) && !call.with_recorder([&] { return define_lock(call.r, id, lock); }))
    return false;
  call.event(ALock{call.r.lid, call.exit, id, absent<PeerId>()});
  return true;
}

void ShmemCall::locked(const volatile void* lock) {
  record([&](Recording& call) {
    if (take_lock(call, lock)) call.leave();
  });
}

void ShmemCall::tested_lock(const volatile void* lock, bool taken) {
  record({lock, 0, 0}, taken, [&](Recording& call) {
    if (!taken || take_lock(call, lock)) call.leave();
  });
}

void ShmemCall::unlocked(const volatile void* lock) {
  record([&](Recording& call) {
    call.event(ShmemQuiet{call.r.lid, call.exit, Count{0}});
    call.event(RLock{call.r.lid, call.exit, lock_of(lock), absent<PeerId>()});
    call.leave();
  });
}

void ShmemCall::end_collective(CommObject* set, int root, Shape shape, std::uint64_t bytes,
                               Completes completes) {
  record([&](Recording& call) {
    if (completes != Completes::kNothing) {
      const Count ctx = completes == Completes::kAll ? absent<Count>() : Count{0};
      call.event(ShmemQuiet{call.r.lid, call.exit, ctx});
    }
    {
      const BookkeepingLock lock;
      if (set == nullptr || !call.use(*set)) return call.leave();
    }
    const std::uint64_t all = bytes * set->group->count;
    PeerId from = absent<PeerId>();
    std::uint64_t sent = bytes, received = bytes;
    if (root >= 0) from = member_of(*set, root);
    if (shape == Shape::kBroadcast) {
      const bool gives = raw(from) == the_session.run.rank;
      (gives ? received : sent) = 0;
    }
    if (shape == Shape::kCollect || shape == Shape::kFcollect) received = all;
    if (shape == Shape::kAlltoall) sent = received = all;
    const auto cid = static_cast<CommId>(set->id);
    const Bytes out = bytes_field(call, raw(kAttrBytesSent), sent);
    const Bytes in = bytes_field(call, raw(kAttrBytesReceived), received);
    call.leave(CollExit{call.r.lid, call.exit, {}, from, cid, out, in});
  });
}

void ShmemCall::allocated(const void* block, std::size_t bytes) {
  note_allocation(block, bytes);
  end_collective(counted(all_members), -1, Shape::kNone, 0, Completes::kDefault);
}

void ShmemCall::freed() {
  end_collective(counted(all_members), -1, Shape::kNone, 0, Completes::kDefault);
}

void ShmemCall::finalized() {
  end_collective(counted(all_members), -1, Shape::kNone, 0, Completes::kAll);
}

void ShmemCall::waited(const WaitShape& shape, const volatile void* variable, bool found) {
  record({variable, shape.bytes, 0}, found, [&](Recording& call) {
    if (!found || write_wait(call, shape, variable, 0)) call.leave();
  });
}

void ShmemCall::waited_all(const WaitShape& shape, const void* variables, std::size_t count,
                           const int* status, bool found) {
  record({variables, shape.bytes, count}, found, [&](Recording& call) {
    for (std::size_t i = 0; found && i < count; ++i) {
      if (status != nullptr && status[i] != 0) continue;
      if (!write_wait(call, shape, variables, i)) return;
    }
    call.leave();
  });
}

void ShmemCall::waited_any(const WaitShape& shape, const void* variables, std::size_t count,
                           std::size_t which) {
  record({variables, shape.bytes, count}, which < count, [&](Recording& call) {
    if (which >= count || write_wait(call, shape, variables, which)) call.leave();
  });
}

void ShmemCall::waited_some(const WaitShape& shape, const void* variables, std::size_t count,
                            const std::size_t* which, std::size_t found) {
  record({variables, shape.bytes, count}, found != 0, [&](Recording& call) {
    for (std::size_t i = 0; i < found; ++i) {
      if (!write_wait(call, shape, variables, which[i])) return;
    }
    call.leave();
  });
}

}  // namespace kojak::measure
