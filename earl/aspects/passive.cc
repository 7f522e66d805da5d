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
  e.segment = segments_[raw(process)];
  std::vector<std::uint32_t>& list = open_[raw(process)];
  e.place = static_cast<std::uint32_t>(list.size());
  e.number = ++opened_;
  list.push_back(i);
  join_group(i);
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

void PassiveTarget::join_group(std::uint32_t epoch) {
  Epoch& e = epochs_[epoch];
  const detail::Key64 key = group_key(e.origin, e.window);
  e.group = group_of_.find(key);
  if (e.group == kNone) {
    e.group = groups_.take();
    group_of_.insert(key, e.group);
  }
  std::vector<std::uint32_t>& open = groups_[e.group].open;
  e.in_group = static_cast<std::uint32_t>(open.size());
  open.push_back(epoch);
}

void PassiveTarget::leave_group(const Epoch& e) {
  std::vector<std::uint32_t>& open = groups_[e.group].open;
  open[e.in_group] = open.back();
  epochs_[open.back()].in_group = e.in_group;
  open.pop_back();
  if (!open.empty()) return;
  group_of_.erase(group_key(e.origin, e.window));
  groups_.give_back(e.group);
}

void PassiveTarget::enter(std::vector<Target> Group::*list, std::uint32_t Outstanding::*at,
                          Target target) {
  Epoch& e = epochs_[target.epoch];
  std::uint32_t& place = e.outstanding[target.place].*at;
  if (place != kNone) return;
  std::vector<Target>& targets = groups_[e.group].*list;
  place = static_cast<std::uint32_t>(targets.size());
  targets.push_back(target);
}

void PassiveTarget::take_out(std::vector<Target> Group::*list, std::uint32_t Outstanding::*at,
                             Target target) {
  Epoch& e = epochs_[target.epoch];
  std::uint32_t& place = e.outstanding[target.place].*at;
  if (place == kNone) return;
  std::vector<Target>& targets = groups_[e.group].*list;
  const Target last = targets.back();
  targets[place] = last;
  epochs_[last.epoch].outstanding[last.place].*at = place;
  targets.pop_back();
  place = kNone;
}

void PassiveTarget::list_outstanding(Target target) {
  const model::LockOperations& o = epochs_[target.epoch].outstanding[target.place].operations;
  const auto list = [&](std::vector<Target> Group::*targets, std::uint32_t Outstanding::*at,
                        bool outstanding) {
    outstanding ? enter(targets, at, target) : take_out(targets, at, target);
  };
  list(&Group::with_gets, &Outstanding::with_gets, o.gets != 0);
  list(&Group::with_puts, &Outstanding::with_puts, o.puts != 0);
}

void PassiveTarget::take_from_list(ProcessId process, std::uint32_t epoch) {
  std::vector<std::uint32_t>& list = open_[raw(process)];
  // The last one takes its place: a process has one of a window and target at most.
  Epoch& e = epochs_[epoch];
  list[e.place] = list.back();
  epochs_[list[e.place]].place = e.place;
  list.pop_back();
  for (std::uint32_t t = 0; t < e.outstanding.size(); ++t) {
    take_out(&Group::with_gets, &Outstanding::with_gets, {epoch, t});
    take_out(&Group::with_puts, &Outstanding::with_puts, {epoch, t});
  }
  leave_group(e);
  e.number = 0;
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

void PassiveTarget::flush_target(std::uint32_t epoch, const Call& call, std::uint32_t target,
                                 bool local) {
  Epoch& e = epochs_[epoch];
  Outstanding& o = e.outstanding[target];
  ++o.flushes;
  if (o.operations.flush(local)) prove(e, call);
  list_outstanding({epoch, target});
}

void PassiveTarget::flush(const Call& call, WindowId window, ProcessId target, bool local) {
  if (!is_absent(target)) {
    for (const bool all : {false, true}) {
      const std::uint32_t i = find(call.process, window, target, all);
      if (i == kNone) continue;
      const std::uint32_t t = epochs_[i].set.find(target);
      if (t < epochs_[i].outstanding.size()) flush_target(i, call, t, local);
    }
    return;
  }
  const std::uint32_t group = group_of_.find(group_key(call.process, window));
  if (group == kNone) return;
  Group& g = groups_[group];
  const auto flush_all = [&](std::vector<Target>& targets) {
    while (!targets.empty()) flush_target(targets.back().epoch, call, targets.back().place, local);
  };
  flush_all(g.with_gets);
  if (!local) flush_all(g.with_puts);
}

bool PassiveTarget::is_outstanding(const Get& get) const {
  const Epoch& e = epochs_[get.epoch];
  return !get.complete && e.number == get.number &&
         e.outstanding[get.target].flushes == get.flushes;
}

void PassiveTarget::tidy(Gets& gets) {
  std::deque<Get>& list = gets.list;
  while (!list.empty() && !is_outstanding(list.front())) list.pop_front();
  while (!list.empty() && !is_outstanding(list.back())) list.pop_back();
  if (list.size() < gets.most) return;
  std::erase_if(list, [this](const Get& get) { return !is_outstanding(get); });
  gets.most = std::max<std::size_t>(64, 2 * list.size());
}

void PassiveTarget::add_get(ProcessId process, const Get& get) {
  Gets& gets = gets_[raw(process)];
  tidy(gets);
  // Numbers of operations may begin anew.
  if (!gets.list.empty() && raw(gets.list.back().rmaid) >= raw(get.rmaid)) return;
  gets.list.push_back(get);
}

void PassiveTarget::complete_request(const Call& call, WindowId window, RmaId rmaid) {
  Gets& gets = gets_[raw(call.process)];
  const auto get = std::lower_bound(gets.list.begin(), gets.list.end(), rmaid,
                                    [](const Get& g, RmaId id) { return raw(g.rmaid) < raw(id); });
  if (get == gets.list.end() || get->rmaid != rmaid || !is_outstanding(*get)) return;
  Epoch& e = epochs_[get->epoch];
  if (e.window != window) return;
  if (e.outstanding[get->target].operations.complete_get()) prove(e, call);
  list_outstanding({get->epoch, get->target});
  get->complete = true;
  tidy(gets);
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
  for (std::uint32_t group; (group = group_of_.find(group_key(process, window))) != kNone;) {
    findings_.add(Finding::kUnclosedEpoch, pos);
    forget(process, groups_[group].open.back());
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
  Outstanding& o = e.outstanding[result.index];
  o.operations.issue(get);
  list_outstanding({lock, result.index});
  if (get && request) add_get(e.origin, {rmaid, lock, e.number, result.index, o.flushes, false});
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
