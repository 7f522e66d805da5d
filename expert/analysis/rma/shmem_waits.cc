// What RmaWaits follows of SHMEM: locks like those of windows, each with its conflicting holders;
// gets, atomic operations and quiet, which may need a target that computes.
#include <utility>

#include "epilog/model/shmem_completion.h"
#include "expert/analysis/rma/waits.h"

namespace kojak::expert {
namespace {

// Of transfers that may need their target before they return.
ProgressKind kind_of(ShmemRole role) {
  switch (role) {
    case ShmemRole::kGet:
    case ShmemRole::kGetStrided:
      return ProgressKind::kShmemGet;
    case ShmemRole::kAtomicGet:
    case ShmemRole::kAtomicGetPut:
      return ProgressKind::kShmemFetch;
    case ShmemRole::kAtomicPut:
      return ProgressKind::kShmemAtomic;
    default:
      return ProgressKind::kNobody;
  }
}

}  // namespace

void RmaWaits::enter_shmem(const earl::OpenCall& call, ShmemRole role) {
  switch (role) {
    case ShmemRole::kSetLock:
    case ShmemRole::kTestLock:
      enter_lock_call(call);
      break;
    case ShmemRole::kClearLock:
      locks_.enter_unlock(call.process, call.enter);
      break;
    default:
      if (role != ShmemRole::kQuiet && kind_of(role) == ProgressKind::kNobody) return;
  }
  remember(locations_[call.index], call.enter);
}

void RmaWaits::leave_shmem(const Call& call, ShmemRole role) {
  Location& location = locations_[call.index];
  ticket_ = std::exchange(location.ticket, kNoTicket);
  turns_ticket_ = std::exchange(location.turns, kNoTicket);
  switch (role) {
    case ShmemRole::kSetLock:
    case ShmemRole::kTestLock:
      return leave_lock_call(call);
    case ShmemRole::kClearLock:
      return locks_.leave_unlock(call.process);
    default:
      break;
  }
  const ProgressKind kind = kind_of(role);
  if (kind == ProgressKind::kNobody) return;
  if (location.call != call.enter_pos || !(call.enter < call.exit)) return;
  for (const Issued& issued : location.issued) {
    need(call, kSymmetricMemory, issued.target, kind, call.enter);
  }
}

void RmaWaits::shmem_transfer(const earl::Transfer& transfer) {
  const earl::OpenCall& call = *transfer.call;
  const ShmemRole role = shmem_role(call);
  const bool non_blocking = transfer.place != nullptr && transfer.place->non_blocking();
  if (model::complete_when_quiet(!transfer.get, non_blocking, role == ShmemRole::kAtomicGetPut)) {
    const std::uint32_t context = transfer.place != nullptr ? transfer.place->context : 0;
    processes_[raw(transfer.origin)].outstanding[context][transfer.target] = call.enter;
  }
  if (non_blocking) return;
  Location& location = locations_[call.index];
  if (location.call != call.enter_pos) {
    location.call = call.enter_pos;
    location.issued.clear();
  }
  location.issued.push_back(
      {kSymmetricMemory, transfer.target, earl::EpochKind::kNone, earl::kNone});
}

void RmaWaits::on_quiet(const Call& call, std::uint32_t context) {
  auto& outstanding = processes_[raw(call.process)].outstanding;
  const bool waits = shmem_role(call) == ShmemRole::kQuiet && call.enter < call.exit;
  const auto complete = [&](const std::map<ProcessId, Seconds>& targets) {
    if (!waits) return;
    for (const auto& [target, issued] : targets) {
      need(call, kSymmetricMemory, target, ProgressKind::kShmemQuiet, issued);
    }
  };
  if (context == kAbsent) {
    for (const auto& [id, targets] : outstanding) complete(targets);
    outstanding.clear();
  } else if (const auto found = outstanding.find(context); found != outstanding.end()) {
    complete(found->second);
    outstanding.erase(found);
  }
}

// A process that is not in the run stands for one that is not known.
RmaWaits::ShmemLock& RmaWaits::shmem_lock(const earl::SymmetricLock& lock) {
  if (const auto known = shmem_locks_.find(lock.lock); known != shmem_locks_.end()) {
    return known->second;
  }
  const auto next = static_cast<WindowId>(first_lock_ + lock_ids_.size());
  lock_ids_.push_back(lock.lock);
  const ProcessId by = is_absent(lock.granted_by)
                           ? static_cast<ProcessId>(static_cast<std::uint32_t>(processes_.size()))
                           : lock.granted_by;
  return shmem_locks_.emplace(lock.lock, ShmemLock{next, by}).first->second;
}

void RmaWaits::on_symmetric_lock(const earl::SymmetricLock& lock) {
  const Call& call = *lock.call;
  const auto [window, by] = shmem_lock(lock);
  if (!lock.acquired) {
    if (shmem_role(call) != ShmemRole::kClearLock) {  // released in a gap: nobody knows when
      return locks_.give_up(call.process, window);
    }
    const LockQueue::Id held = locks_.find(call.process, window, by);
    if (held != earl::kNone) locks_.end(held, call);
    return;
  }
  if (call.paused) return;
  const LockQueue::Id epoch = locks_.begin(call, window, by, true);
  locks_[epoch].asked = std::exchange(asked_ticket_, kNoTicket);
  if (shmem_role(call) == ShmemRole::kSetLock) {
    look(call, epoch, ProgressKind::kShmemLock, locks_.contended(epoch, call.enter));
    if (raw(by) < processes_.size()) {
      need(call, kSymmetricMemory, by, ProgressKind::kShmemLock, call.enter);
    }
  }
  // Who returns from shmem_set_lock holds it.
  auto& targets = locks_[epoch].targets;
  locks_.prove(epoch, targets[targets.get(by)], call);
}

}  // namespace kojak::expert
