#include "earl/aspects/passive.h"

#include <algorithm>

namespace kojak::earl {

std::uint32_t PassiveTarget::open(const Call* call, ProcessId process, WindowId window,
                                  ProcessId target, bool all) {
  const std::uint32_t i = epochs_.take();
  Epoch& e = epochs_[i];
  e.origin = process;
  e.window = window;
  e.target = target;
  e.all = all;
  e.exclusive = e.nocheck = e.has_unlock = e.paused = e.proved = false;
  e.has_lock = call != nullptr;
  if (call != nullptr) {
    e.lock = *call;
    e.nocheck = call->nocheck();
  }
  e.proof = {};
  e.targets.clear();
  e.set.clear();
  e.outstanding.clear();
  e.gets.clear();
  e.segment = segments_[raw(process)];
  std::vector<std::uint32_t>& list = open_[raw(process)];
  e.place = static_cast<std::uint32_t>(list.size());
  e.number = ++opened_;
  list.push_back(i);
  many_.added(list, keys());
  return i;
}

std::uint32_t PassiveTarget::find(ProcessId process, WindowId window, ProcessId target,
                                  bool all) const {
  if (ManyOpen::knows(open_[raw(process)].size())) [[unlikely]]
    return many_.find(key(process, window, target, all));
  for (const std::uint32_t i : open_[raw(process)]) {
    const Epoch& e = epochs_[i];
    if (e.window == window && e.all == all && (all || e.target == target)) return i;
  }
  return kNone;
}

void PassiveTarget::lock(const Call& call, WindowId window, ProcessId target, bool exclusive) {
  if (const std::uint32_t old = find(call.process, window, target, false); old != kNone) {
    findings_.add(Finding::kUnclosedEpoch, call.exit_pos, call.loc);
    forget(call.process, old);
  }
  epochs_[open(&call, call.process, window, target, false)].exclusive = exclusive;
}

void PassiveTarget::lock_all(const Call& call, WindowId window) {
  if (const std::uint32_t old = find(call.process, window, {}, true); old != kNone) {
    findings_.add(Finding::kUnclosedEpoch, call.exit_pos, call.loc);
    forget(call.process, old);
  }
  open(&call, call.process, window, absent<ProcessId>(), true);
}

const PassiveEpoch& PassiveTarget::close(std::uint32_t epoch) {
  Epoch& e = epochs_[epoch];
  e.paused = e.segment != segments_[raw(e.origin)];
  e.targets.assign(e.set.items().begin(), e.set.items().end());
  return e;
}

const PassiveEpoch* PassiveTarget::end(const Call& call, std::uint32_t epoch) {
  if (delivered_ != kNone) epochs_.give_back(delivered_);
  delivered_ = kNone;
  if (epoch == kNone) {
    findings_.add(Finding::kUnopenedEpoch, call.exit_pos, call.loc);
    return nullptr;
  }
  Epoch& e = epochs_[epoch];
  e.unlock = call;
  e.has_unlock = true;
  if (!e.proved) e.proof = call.exit;
  take_from_list(call.process, epoch);
  delivered_ = epoch;
  return &close(epoch);
}

const PassiveEpoch* PassiveTarget::unlock(const Call& call, WindowId window, ProcessId target) {
  return end(call, find(call.process, window, target, false));
}

const PassiveEpoch* PassiveTarget::unlock_all(const Call& call, WindowId window) {
  return end(call, find(call.process, window, {}, true));
}

void PassiveTarget::take_from_list(ProcessId process, std::uint32_t epoch) {
  std::vector<std::uint32_t>& list = open_[raw(process)];
  // The last one takes its place: a process has one of a window and target at most.
  const std::uint32_t hole = epochs_[epoch].place;
  list[hole] = list.back();
  epochs_[list[hole]].place = hole;
  list.pop_back();
  many_.removed(list, keys()(epoch).first, keys());
}

void PassiveTarget::forget(ProcessId process, std::uint32_t epoch) {
  take_from_list(process, epoch);
  epochs_.give_back(epoch);
}

void PassiveTarget::prove(Epoch& epoch, const Call& call) {
  if (epoch.proved) return;
  epoch.proved = true;
  epoch.proof = call.exit;
}

void PassiveTarget::flush_target(Epoch& e, const Call& call, ProcessId target, bool local) {
  const std::uint32_t t = e.set.find(target);
  if (t == kNone) return;
  if (t < e.outstanding.size() && e.outstanding[t].flush(local)) prove(e, call);
  std::erase_if(e.gets, [&](const Get& get) { return get.target == t; });
}

void PassiveTarget::flush(const Call& call, WindowId window, ProcessId target, bool local) {
  if (!is_absent(target)) {
    for (const bool all : {false, true}) {
      const std::uint32_t i = find(call.process, window, target, all);
      if (i != kNone) flush_target(epochs_[i], call, target, local);
    }
    return;
  }
  for (const std::uint32_t i : open_[raw(call.process)]) {
    Epoch& e = epochs_[i];
    if (e.window != window) continue;
    bool proves = false;
    for (model::LockOperations& o : e.outstanding) proves = o.flush(local) || proves;
    if (proves) prove(e, call);
    e.gets.clear();
  }
}

void PassiveTarget::complete_request(const Call& call, WindowId window, RmaId rmaid) {
  for (const std::uint32_t i : open_[raw(call.process)]) {
    Epoch& e = epochs_[i];
    if (e.window != window) continue;
    const auto get =
        std::lower_bound(e.gets.begin(), e.gets.end(), rmaid,
                         [](const Get& g, RmaId id) { return raw(g.rmaid) < raw(id); });
    if (get == e.gets.end() || get->rmaid != rmaid) continue;
    if (e.outstanding[get->target].complete_get()) prove(e, call);
    e.gets.erase(get);
    return;
  }
}

void PassiveTarget::resume_all(ProcessId process, WindowId window, std::uint8_t flags) {
  learn(process);
  const std::uint32_t known = find(process, window, {}, true);
  const Resumption held = resumption(known != kNone, true, (flags & kOpenLockAll) != 0);
  if (held.ended) forget(process, known);
  if (!held.begun) return;
  Epoch& e = epochs_[open(nullptr, process, window, absent<ProcessId>(), true)];
  e.nocheck = (flags & kOpenNoCheck) != 0;
}

void PassiveTarget::resume(ProcessId process, WindowId window, ProcessId peer, std::uint8_t flags,
                           std::uint64_t ops) {
  learn(process);
  const bool shared = (flags & kOpenShared) != 0, exclusive = (flags & kOpenExclusive) != 0;
  const bool all = (flags & kOpenLockAll) != 0;
  const std::uint32_t known = find(process, window, peer, all);
  if (!shared && !exclusive) {  // what was open has ended unseen
    if (const std::uint32_t old = find(process, window, peer, false); old != kNone) {
      forget(process, old);
    }
    return;
  }
  const ProcessId target = all ? absent<ProcessId>() : peer;
  Epoch& e = epochs_[known != kNone ? known : open(nullptr, process, window, target, all)];
  if (known == kNone) {
    e.exclusive = exclusive;
    e.nocheck = (flags & kOpenNoCheck) != 0;
  }
  TargetTransfers& t = e.set[e.set.get(peer)].transfers;
  if (ops > t.ops) {
    t.unrecorded += ops - t.ops;
    t.ops = ops;
  }
}

void PassiveTarget::free(ProcessId process, WindowId window, std::uint64_t pos) {
  std::vector<std::uint32_t>& list = open_[raw(process)];
  for (std::size_t i = list.size(); i-- > 0;) {
    if (epochs_[list[i]].window != window) continue;
    findings_.add(Finding::kUnclosedEpoch, pos);
    forget(process, list[i]);
  }
}

TransferSlot PassiveTarget::issue(std::uint32_t lock, ProcessId target, RmaId rmaid, bool get,
                                  bool request) {
  Epoch& e = epochs_[lock];
  TransferSlot result;
  result.epoch = lock;
  result.kind = e.all ? EpochKind::kLockAll : EpochKind::kLock;
  result.index = e.set.get(target);
  if (e.outstanding.size() <= result.index) e.outstanding.resize(result.index + 1);
  e.outstanding[result.index].issue(get);
  if (get && request && (e.gets.empty() || raw(e.gets.back().rmaid) < raw(rmaid))) {
    e.gets.push_back({rmaid, result.index});
  }
  ++e.set[result.index].transfers.ops;
  return result;
}

void PassiveTarget::leave_transfer(const TransferSlot& slot, Seconds exit) {
  Epoch& e = epochs_[slot.epoch];
  if (slot.index >= e.set.size()) return;
  Seconds& last = e.set[slot.index].transfers.last_exit;
  if (last < exit) last = exit;
}

bool PassiveTarget::mark(ProcessId origin, WindowId window, ProcessId target) {
  for (const bool all : {false, true}) {
    const std::uint32_t i = find(origin, window, target, all);
    if (i == kNone) continue;
    Epoch& e = epochs_[i];
    const std::uint32_t t = e.set.find(target);
    if (t == kNone || e.set[t].transfers.marked >= e.set[t].transfers.ops) continue;
    ++e.set[t].transfers.marked;
    return true;
  }
  return false;
}

}  // namespace kojak::earl
