// What RmaWaits follows of SHMEM, ARMCI and UPC: locks like those of windows, each with its
// conflicting holders; gets, atomic operations and quiet, which may need a target that computes.
#include <algorithm>
#include <utility>

#include "epilog/model/shmem_completion.h"
#include "expert/patterns/rma/passive/waits.h"
#include "expert/patterns/upc/notifications.h"

namespace kojak::expert {
namespace {

// Of transfers that may need their target before they return. Puts of ARMCI may, too, where it
// moves data by messages.
ProgressKind kind_of(ShmemRole role, PgasModel model) {
  switch (role) {
    case ShmemRole::kCopy:  // what is put may leave at once
      return ProgressKind::kShmemPut;
    case ShmemRole::kPut:
    case ShmemRole::kPutSignal:
      return model == PgasModel::kArmci ? ProgressKind::kShmemPut : ProgressKind::kNobody;
    case ShmemRole::kGet:
    case ShmemRole::kGetStrided:
      return ProgressKind::kShmemGet;
    case ShmemRole::kAtomicGet:
    case ShmemRole::kAtomicGetPut:
      return ProgressKind::kShmemFetch;
    case ShmemRole::kAtomicPut:
      return model == PgasModel::kArmci ? ProgressKind::kShmemPut : ProgressKind::kShmemAtomic;
    default:
      return ProgressKind::kNobody;
  }
}

// Of what completes all that was issued; under the metric that has the call's time.
ProgressKind kind_of_quiet(ShmemRole role) {
  switch (role) {
    case ShmemRole::kGet:
    case ShmemRole::kPut:
      return ProgressKind::kShmemGet;
    case ShmemRole::kClearLock:
      return ProgressKind::kShmemLock;
    default:
      return ProgressKind::kShmemQuiet;
  }
}

}  // namespace

void RmaWaits::enter_shmem(const earl::OpenCall& call, const ShmemFunction& function) {
  const ShmemRole role = function.role;
  if (role != ShmemRole::kGet) locations_[call.index].read = {};
  if (model::may_quiet(role)) {
    processes_[raw(call.process)].open_quiets.push_back(call.enter_pos);
  }
  switch (role) {
    case ShmemRole::kSetLock:
    case ShmemRole::kTestLock:
      enter_lock_call(call);
      break;
    case ShmemRole::kClearLock:
      locks_.enter_unlock(call.process, call.enter);
      break;
    default:
      if (!waits_for_issued(function) && kind_of(role, function.model) == ProgressKind::kNobody)
        return;
  }
  remember(locations_[call.index], call.enter);
}

void RmaWaits::leave_shmem(const Call& call, const ShmemFunction& function) {
  const ShmemRole role = function.role;
  if (model::may_quiet(role)) std::erase(processes_[raw(call.process)].open_quiets, call.enter_pos);
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
  const ProgressKind kind = kind_of(role, function.model);
  if (kind == ProgressKind::kNobody) return;
  if (std::exchange(location.polls, false) && call.exit - call.enter < kLongUpcPoll) return;
  if (location.call != call.enter_pos || !(call.enter < call.exit)) return;
  for (const Issued& issued : location.issued) {
    need(call, issued.window, issued.target, kind, call.enter, earl::kNone, issued.allocation);
  }
}

void RmaWaits::shmem_transfer(const earl::Transfer& transfer) {
  const earl::OpenCall& call = *transfer.call;
  const ShmemRole role = shmem_role(call);
  const bool non_blocking = transfer.place != nullptr && transfer.place->non_blocking();
  const bool allocated = transfer.place != nullptr && transfer.place->known() &&
                         memory_of(call) == symmetric_memory(PgasModel::kArmci);
  const auto allocation =
      allocated ? static_cast<std::uint32_t>(transfer.place->offset >> kAllocationShift) : 0u;
  if (model::complete_when_quiet(!transfer.get, non_blocking, role == ShmemRole::kAtomicGetPut)) {
    const std::uint32_t context = transfer.place != nullptr ? transfer.place->context : 0;
    Process& origin = processes_[raw(transfer.origin)];
    auto& issued = origin.outstanding[context][transfer.target];
    const auto later = std::find_if(issued.begin(), issued.end(),
                                    [&](const auto& o) { return o.enter_pos >= call.enter_pos; });
    // Of two calls with no open quiet between them the later one tells enough.
    const auto told_apart = [&](std::uint64_t from, std::uint64_t to) {
      return std::any_of(origin.open_quiets.begin(), origin.open_quiets.end(),
                         [&](std::uint64_t quiet) { return from < quiet && quiet < to; });
    };
    if (later == issued.end() || later->get != transfer.get ||
        told_apart(call.enter_pos, later->enter_pos)) {
      const auto added = issued.insert(
          later, {call.enter_pos, call.enter, transfer.get, !non_blocking, allocation});
      if (added != issued.begin() && std::prev(added)->is_like(*added) &&
          !told_apart(std::prev(added)->enter_pos, added->enter_pos)) {
        if (std::prev(added)->allocation != allocation) added->allocation = 0;
        issued.erase(std::prev(added));
      }
    }
  }
  if (non_blocking) return;
  Location& location = locations_[call.index];
  if (transfer.place != nullptr && role == ShmemRole::kGet) {
    location.polls = memory_of(call) == symmetric_memory(PgasModel::kUpc) &&
                     raw(transfer.bytes) <= kMostOfUpcPoll && transfer.place->known() &&
                     location.read.offset == transfer.place->offset &&
                     location.read_of == transfer.target && location.read_at == call.cnode;
    location.read = *transfer.place;
    location.read_of = transfer.target;
    location.read_at = call.cnode;
  }
  if (location.call != call.enter_pos) {
    location.call = call.enter_pos;
    location.issued.clear();
  }
  location.issued.push_back(
      {memory_of(call), transfer.target, earl::EpochKind::kNone, earl::kNone, allocation});
}

void RmaWaits::on_quiet(const Call& call, const earl::Quiet& quiet) {
  auto& outstanding = processes_[raw(call.process)].outstanding;
  const ShmemFunction* const function = shmem_function(call);
  const ShmemRole role = function == nullptr ? ShmemRole::kOther : function->role;
  const bool waits = function != nullptr && waits_for_issued(*function) && call.enter < call.exit;
  const bool local = role == ShmemRole::kLocalWait;
  // What other threads issued behind the quiet is not its own.
  const std::uint64_t begun = model::may_quiet(role) ? call.enter_pos : earl::kNoEvent;
  const auto complete = [&](ProcessId target, std::vector<Process::Outstanding>& issued) {
    const Process::Outstanding* last[2] = {};  // that it waits for: puts, gets
    bool several[2] = {};                      // of more than one allocation
    for (const Process::Outstanding& o : issued) {
      const bool done = o.get ? quiet.gets() : quiet.puts();
      if (o.enter_pos >= begun || (!done && (!local || o.left))) continue;
      several[o.get] =
          last[o.get] != nullptr && (several[o.get] || last[o.get]->allocation != o.allocation);
      last[o.get] = &o;
    }
    for (const bool get : {false, true}) {
      const ProgressKind kind = !local ? kind_of_quiet(role)
                                : get  ? ProgressKind::kShmemGet
                                       : ProgressKind::kShmemPut;
      if (waits && last[get] != nullptr)
        need(call, memory_of(call), target, kind, last[get]->enter, earl::kNone,
             several[get] ? 0u : last[get]->allocation);
    }
    std::erase_if(issued, [&](Process::Outstanding& o) {
      if (o.enter_pos >= begun) return false;
      o.left = true;
      return o.get ? quiet.gets() : quiet.puts();
    });
  };
  for (auto at = outstanding.begin(); at != outstanding.end();) {
    auto& [context, targets] = *at;
    if (quiet.context == kAbsent || quiet.context == context) {
      for (auto& [target, issued] : targets) {
        if (is_absent(quiet.target) || quiet.target == target) complete(target, issued);
      }
      std::erase_if(targets, [](const auto& of) { return of.second.empty(); });
    }
    at = targets.empty() ? outstanding.erase(at) : std::next(at);
  }
}

// A process that is not in the run stands for one that is not known.
RmaWaits::ShmemLock& RmaWaits::shmem_lock(const earl::SymmetricLock& lock) {
  if (const auto known = shmem_locks_.find(lock.lock); known != shmem_locks_.end()) {
    return known->second;
  }
  const auto next = static_cast<WindowId>(first_lock_ + lock_ids_.size());
  lock_ids_.push_back({lock.lock, memory_of(*lock.call)});
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
      need(call, memory_of(call), by, ProgressKind::kShmemLock, call.enter);
    }
  }
  // Who returns from shmem_set_lock holds it.
  auto& targets = locks_[epoch].targets;
  locks_.prove(epoch, targets[targets.get(by)], call);
}

}  // namespace kojak::expert
