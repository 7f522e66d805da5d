// What each record does to the epochs. Partners are found in epoch_sides.cc; queries are in
// epoch_queries.cc, columns of epochs in epoch_columns.cc.
#include "earl/index/epochs.h"

#include <algorithm>

#include "epilog/format/epoch_moves.h"

namespace kojak::earl::sequence {

Epochs::Epochs(const Trace& trace)
    : trace_(&trace),
      groups_(trace),
      open_(trace.process_count()),
      partners_(trace.process_count(), trace.native()),
      transfers_(trace.process_count()),
      origins_(trace),
      pauses_(trace.location_count()) {}

// Absent if the trace does not have it.
ProcessId Epochs::process(std::uint32_t location) const {
  const std::uint32_t i = trace_->index(static_cast<LocationId>(location));
  return i != kAbsent ? trace_->process(i) : absent<ProcessId>();
}

// The role of the function that the event leaves.
MpiRole Epochs::role_of(const Event& e) const {
  return trace_->definitions().role(e.reg);
}

std::uint32_t Epochs::make(EpochMode mode, ProcessId process, WindowId window,
                           std::uint64_t opened) {
  const std::uint32_t i = epochs_.take();
  Epoch& e = epochs_[i];
  std::vector<Epoch::Partner> partners = std::move(e.partners);  // they keep their memory
  std::vector<Operation> operations = std::move(e.operations);
  partners.clear();
  operations.clear();
  e = Epoch{};
  e.partners = std::move(partners);
  e.operations = std::move(operations);
  e.mode = mode;
  e.process = process;
  e.window = window;
  e.opened = opened;
  e.made = now_;
  e.live = true;
  return i;
}

std::uint32_t Epochs::find_open(ProcessId process, EpochMode mode, WindowId window) const {
  for (const std::uint32_t i : open_[raw(process)]) {
    if (epochs_[i].mode == mode && epochs_[i].window == window) return i;
  }
  return kNone;
}

std::uint32_t Epochs::find_lock(ProcessId process, WindowId window, ProcessId target) const {
  for (const std::uint32_t i : open_[raw(process)]) {
    const Epoch& e = epochs_[i];
    if (e.mode == EpochMode::kLock && e.window == window && e.target == target) return i;
  }
  return kNone;
}

std::uint32_t Epochs::take_open(ProcessId process, EpochMode mode, WindowId window) {
  const std::uint32_t i = find_open(process, mode, window);
  if (i != kNone) std::erase(open_[raw(process)], i);
  return i;
}

void Epochs::change(const Event& e) {
  const std::uint32_t i = trace_->index(e.loc);
  if (i == kAbsent) [[unlikely]]
    return;
  const ProcessId here = trace_->process(i);
  switch (e.type) {
    case EventType::kMpiWinExit:
      return win_exit(e, here);
    case EventType::kMpiWinCollExit: {
      const EpochMove move = collective_exit_move(role_of(e));
      if (move == EpochMove::kFence) fence(e, here);
      if (move == EpochMove::kFree) free(e, here);
      return;
    }
    case EventType::kMpiPut1ts:
      return issue(e, here, process(raw(e.peer)), false);
    case EventType::kMpiGet1to:
    case EventType::kMpiPut1to:
      return origins_.apply(e);
    case EventType::kMpiGet1ts:
      return issue(e, process(raw(e.peer)), here, true);
    case EventType::kMpiPut1te:
      return end(e, process(raw(e.peer)));
    case EventType::kMpiGet1te:
      return end(e, here);
    case EventType::kRmaMark:
      marked_ = true;
      return;
    case EventType::kMpiWinLock:
      return lock(e, here, false);
    case EventType::kMpiWinLockAll:
      return lock(e, here, true);
    case EventType::kMpiWinUnlock:
      return unlock(e, here, false);
    case EventType::kMpiWinUnlockAll:
      return unlock(e, here, true);
    case EventType::kEpochState:
      return resume(e, here);
    case EventType::kMpiAssert:
      if ((raw(e.assertion) & kAssertNoSucceed) != 0) {
        no_succeed_.insert({e.win, here});
      } else {
        no_succeed_.erase({e.win, here});
      }
      return;
    case EventType::kWinState:
      return resume_window(e, here);
    default:
      if (is_enter(e.type) && e.reg == trace_->pausing_region()) pause(i, here);
  }
}

void Epochs::win_exit(const Event& e, ProcessId here) {
  if (trace_->definitions().windows.find(e.win) == nullptr) return;
  switch (group_exit_move(role_of(e), e.code != 0)) {
    case EpochMove::kStart:
      return open_sided(EpochMode::kAccess, e, here);
    case EpochMove::kPost:
      return open_sided(EpochMode::kExposure, e, here);
    case EpochMove::kComplete:
      return close_sided(EpochMode::kAccess, e, here);
    case EpochMove::kWait:
      return close_sided(EpochMode::kExposure, e, here);
    default:
      return;
  }
}

void Epochs::open_sided(EpochMode mode, const Event& e, ProcessId here) {
  if (const std::uint32_t old = take_open(here, mode, e.win); old != kNone) close(old);
  const std::uint32_t epoch = make(mode, here, e.win, e.pos);
  open_[raw(here)].push_back(epoch);
  name_partners(epoch, e.com);
}

void Epochs::close_sided(EpochMode mode, const Event& e, ProcessId here) {
  std::uint32_t epoch = take_open(here, mode, e.win);
  if (epoch == kNone) {
    epoch = make(mode, here, e.win, kNoEvent);
    name_partners(epoch, e.com);
  }
  epochs_[epoch].closed = e.pos;
  closed_ = epoch;
  close(epoch);
}

void Epochs::fence(const Event& e, ProcessId here) {
  if (groups_.find(e.win) == nullptr) return;
  std::uint64_t& fences = fences_[{e.win, here}];
  partners_.segments().begin(fences, here);
  const std::uint32_t old = take_open(here, EpochMode::kFence, e.win);
  if (old != kNone) {
    epochs_[old].closed = e.pos;
    epochs_[old].ordinal = fences;
    close(old);
  }
  ++fences;
  const auto none_follows = no_succeed_.find({e.win, here});
  if (none_follows == no_succeed_.end()) {
    open_[raw(here)].push_back(make(EpochMode::kFence, here, e.win, e.pos));
  } else {
    no_succeed_.erase(none_follows);
  }
}

void Epochs::free(const Event& e, ProcessId here) {
  std::vector<std::uint32_t> over;
  std::erase_if(open_[raw(here)], [&](std::uint32_t i) {
    if (epochs_[i].window != e.win) return false;
    over.push_back(i);
    return true;
  });
  for (const std::uint32_t i : over) close(i);
  fences_.erase({e.win, here});
  const detail::GroupInfo* group = groups_.find(e.win);
  if (group == nullptr || ++freed_[e.win] < group->present) return;
  freed_.erase(e.win);
  partners_.forget(*this, e.win);
}

void Epochs::lock(const Event& e, ProcessId here, bool all) {
  const ProcessId target = all ? absent<ProcessId>() : process(raw(e.peer));
  const std::uint32_t old =
      all ? find_open(here, EpochMode::kLockAll, e.win) : find_lock(here, e.win, target);
  if (old != kNone) {
    std::erase(open_[raw(here)], old);
    close(old);
  }
  const std::uint32_t epoch =
      make(all ? EpochMode::kLockAll : EpochMode::kLock, here, e.win, e.pos);
  epochs_[epoch].target = target;
  epochs_[epoch].exclusive = !all && e.code != 0;
  open_[raw(here)].push_back(epoch);
}

void Epochs::unlock(const Event& e, ProcessId here, bool all) {
  const std::uint32_t epoch = all ? find_open(here, EpochMode::kLockAll, e.win)
                                  : find_lock(here, e.win, process(raw(e.peer)));
  if (epoch == kNone) return;
  std::erase(open_[raw(here)], epoch);
  epochs_[epoch].closed = e.pos;
  close(epoch);
}

// The epoch that a transfer issued now belongs to.
std::uint32_t Epochs::find_covering(ProcessId origin, WindowId window, ProcessId target) const {
  std::uint32_t lock = kNone, all = kNone, access = kNone, fence = kNone;
  for (const std::uint32_t i : open_[raw(origin)]) {
    const Epoch& e = epochs_[i];
    if (e.window != window) continue;
    if (e.mode == EpochMode::kLock && e.target == target) lock = i;
    if (e.mode == EpochMode::kLockAll) all = i;
    if (e.mode == EpochMode::kFence) fence = i;
    if (e.mode != EpochMode::kAccess) continue;
    const auto named = [&](const Epoch::Partner& p) { return p.process == target; };
    if (std::any_of(e.partners.begin(), e.partners.end(), named)) access = i;
  }
  const EpochKind kind = claiming_epoch([&] { return lock != kNone; }, [&] { return all != kNone; },
                                        [&] { return access != kNone; });
  return kind == EpochKind::kLock      ? lock
         : kind == EpochKind::kLockAll ? all
         : kind == EpochKind::kAccess  ? access
                                       : fence;
}

void Epochs::issue(const Event& e, ProcessId origin, ProcessId target, bool get) {
  if (is_absent(origin) || is_absent(target)) return;
  if (trace_->definitions().windows.find(e.win) == nullptr) return;
  std::uint32_t epoch = find_covering(origin, e.win, target);
  if (epoch == kNone) {
    epoch = make(EpochMode::kFence, origin, e.win, kNoEvent);
    open_[raw(origin)].push_back(epoch);
  }
  Epoch& in = epochs_[epoch];
  Operation operation;
  operation.start = e.pos;
  operation.target = target;
  operation.get = get ? 1 : 0;
  origins_.apply(e);
  if (const std::uint64_t issued = origins_.originptr();
      issued != kNoEvent && e.pos - issued < (1u << 30)) [[unlikely]] {
    operation.issued_before = static_cast<std::uint32_t>(e.pos - issued) & 0x3FFFFFFFu;
  }
  if (Transfer& transfer = transfers_.get(origin, e.rmaid); transfer.empty()) [[likely]] {
    transfer.epoch = epoch;
    transfer.operation = static_cast<std::uint32_t>(in.operations.size());
    ++in.unended;
    ++in.refs;
  }
  in.operations.push_back(operation);
}

void Epochs::end(const Event& e, ProcessId origin) {
  const bool marked = marked_;
  marked_ = false;
  if (is_absent(origin)) return;
  const Transfer transfer = transfers_.take(origin, e.rmaid);
  if (transfer.empty()) return;
  Epoch& in = epochs_[transfer.epoch];
  Operation& operation = in.operations[transfer.operation];
  operation.end = e.pos;
  operation.marked = marked ? 1 : 0;
  --in.unended;
  check(transfer.epoch);
  unref(transfer.epoch);
}

// Each thread of a process writes its own LOG_OFF; the process pauses once.
void Epochs::pause(std::uint32_t index, ProcessId process) {
  if (++pauses_[index] > partners_.segment(process)) partners_.pause(process);
}

}  // namespace kojak::earl::sequence
