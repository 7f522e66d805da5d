#include "earl/index/locks.h"

#include <algorithm>

namespace kojak::earl::sequence {

// Absent if the trace does not have it.
ProcessId WindowLocks::process(std::uint32_t location) const {
  const std::uint32_t i = trace_->index(static_cast<LocationId>(location));
  return i != kAbsent ? trace_->process(i) : absent<ProcessId>();
}

void WindowLocks::change(const Event& e) {
  const ProcessId here = process(raw(e.loc));
  if (is_absent(here)) return;
  const auto peer = [&] { return process(raw(e.peer)); };
  switch (e.type) {
    case EventType::kMpiAssert:
      asserted_[{e.win, here}] = raw(e.assertion);
      return;
    case EventType::kMpiWinLock:
      return lock(e, here, peer());
    case EventType::kMpiWinLockAll:
      return lock(e, here, absent<ProcessId>());
    case EventType::kMpiWinUnlock:
      return unlock(e, here, peer());
    case EventType::kMpiWinUnlockAll:
      return unlock(e, here, absent<ProcessId>());
    case EventType::kMpiPut1ts:
      return issue(e, here, peer(), false);
    case EventType::kMpiGet1ts:
      return issue(e, peer(), here, true);
    case EventType::kMpiWinFlush:
      return flush(e, here, is_absent(e.peer) ? absent<ProcessId>() : peer());
    case EventType::kMpiRmaComplete:
      return complete(e, here);
    default:
      return;
  }
}

void WindowLocks::lock(const Event& e, ProcessId here, ProcessId target) {
  std::uint64_t& last = last_.try_emplace({e.win, target}, kNoEvent).first->second;
  lockptr_ = last;
  last = e.pos;
  OpenLock made = this->made(e, here, target);
  if (const auto it = asserted_.find({e.win, here}); it != asserted_.end()) {
    made.nocheck = (it->second & kAssertNoCheck) != 0;
    asserted_.erase(it);
  }
  std::vector<OpenLock>& locks = locks_[e.win];
  std::erase_if(locks, [&](const OpenLock& l) {  // its end was not recorded
    const bool replaced = l.process == here && l.all == made.all && l.target == target;
    if (replaced) log(l, e.pos);
    return replaced;
  });
  locks.push_back(std::move(made));
}

WindowLocks::OpenLock WindowLocks::made(const Event& e, ProcessId here, ProcessId target) const {
  OpenLock lock;
  lock.process = here;
  lock.lock = e.pos;
  lock.target = target;
  lock.all = e.type == EventType::kMpiWinLockAll;
  lock.exclusive = !lock.all && e.code != 0;
  return lock;
}

void WindowLocks::unlock(const Event& e, ProcessId here, ProcessId target) {
  last_.insert_or_assign({e.win, target}, e.pos);
  const auto found = locks_.find(e.win);
  if (found == locks_.end()) return;
  const bool all = e.type == EventType::kMpiWinUnlockAll;
  std::vector<OpenLock>& locks = found->second;
  const auto it = std::find_if(locks.begin(), locks.end(), [&](const OpenLock& l) {
    return l.process == here && l.all == all && l.target == target;
  });
  if (it == locks.end()) return;
  lockptr_ = it->lock;
  log(*it, e.pos);
  locks.erase(it);
  if (locks.empty()) locks_.erase(found);
}

void WindowLocks::issue(const Event& e, ProcessId origin, ProcessId target, bool get) {
  const auto found = locks_.find(e.win);
  if (found == locks_.end() || is_absent(target)) return;
  OpenLock* covering = nullptr;  // a lock of the target goes before one of all
  for (OpenLock& l : found->second) {
    if (l.process != origin || (!l.all && l.target != target)) continue;
    if (covering == nullptr || covering->all) covering = &l;
  }
  if (covering == nullptr) return;
  AtTarget& at = covering->targets[covering->targets.get(target)];
  if (at.proved != kNoEvent) return;
  at.operations.issue(get);
  if (!get) return;
  const std::uint32_t id = raw(e.rmaid);
  if (!at.gets.empty() && at.gets.back().last + 1 == id) {
    at.gets.back().last = id;
  } else {
    at.gets.push_back({id, id});
  }
}

void WindowLocks::flush(const Event& e, ProcessId origin, ProcessId target) {
  const auto found = locks_.find(e.win);
  if (found == locks_.end()) return;
  const auto one = [&](AtTarget& at) {
    at.gets.clear();
    if (at.operations.flush(e.code != 0)) at.proved = std::min(at.proved, e.pos);
  };
  for (OpenLock& l : found->second) {
    if (l.process != origin) continue;
    if (is_absent(target)) {
      for (AtTarget& at : l.targets.items()) one(at);
    } else if (const std::uint32_t i = l.targets.find(target); i != kNone) {
      one(l.targets[i]);
    }
  }
}

void WindowLocks::complete(const Event& e, ProcessId origin) {
  const auto found = locks_.find(e.win);
  if (found == locks_.end()) return;
  const std::uint32_t id = raw(e.rmaid);
  const auto has = [&](const auto& run) { return run.first <= id && id <= run.last; };
  for (OpenLock& l : found->second) {
    if (l.process != origin) continue;
    for (AtTarget& at : l.targets.items()) {
      if (at.proved != kNoEvent || !std::any_of(at.gets.begin(), at.gets.end(), has)) continue;
      if (at.operations.complete_get()) at.proved = e.pos;
    }
  }
}

std::vector<WindowLock> WindowLocks::select(WindowId window, ProcessId target, bool holding) const {
  std::vector<WindowLock> result;
  const auto found = locks_.find(window);
  if (found == locks_.end()) return result;
  std::vector<const OpenLock*> holders;
  const auto holds = [&](const OpenLock& l) {
    return std::find(holders.begin(), holders.end(), &l) != holders.end();
  };
  const auto here = [&](const OpenLock& l) { return l.all || l.target == target; };
  for (const OpenLock& l : found->second) {
    if (here(l) && (l.nocheck || l.proved_at(target))) holders.push_back(&l);
  }
  for (const OpenLock& l : found->second) {
    if (!here(l) || holds(l)) continue;
    const auto conflicts = [&](const OpenLock* h) {
      return !h->nocheck && h->process != l.process && (h->exclusive || l.exclusive);
    };
    if (std::none_of(holders.begin(), holders.end(), conflicts)) {
      holders.push_back(&l);
    } else if (l.exclusive) {
      break;  // nobody overtakes one that waits alone
    }
  }
  for (const OpenLock& l : found->second) {
    if (here(l) && holds(l) == holding) result.push_back(l);
  }
  return result;
}

std::vector<WindowLock> WindowLocks::holders(WindowId window, ProcessId target) const {
  return select(window, target, true);
}
std::vector<WindowLock> WindowLocks::waiters(WindowId window, ProcessId target) const {
  return select(window, target, false);
}

// Whether with NOCHECK; then each target at which the lock was proved, and by which event since it.
void WindowLocks::log(const OpenLock& l, std::uint64_t end) {
  if (log_ == nullptr) return;
  contents_.clear();
  {
    NumberWriter out(contents_);
    out.number(l.nocheck ? 1 : 0);
    for (const AtTarget& at : l.targets.items()) {
      if (at.proved != kNoEvent) out.numbers(raw(at.target), at.proved - l.lock);
    }
  }
  log_->add(l.lock, end, contents_);
}

void WindowLocks::end_record(std::uint64_t end) {
  for (const auto& [window, locks] : locks_) {
    for (const OpenLock& l : locks) log(l, end);
  }
}

void WindowLocks::restore(const Event& e, const IntervalColumn::Row& row, std::uint64_t pos) {
  const bool all = e.type == EventType::kMpiWinLockAll;
  OpenLock lock = made(e, process(raw(e.loc)), all ? absent<ProcessId>() : process(raw(e.peer)));
  NumberReader in(row.contents);
  lock.nocheck = in.number() != 0;
  while (!in.at_end()) {
    const auto target = static_cast<ProcessId>(in.number());
    const std::uint64_t proved = e.pos + in.number();
    if (in.ok() && proved <= pos) lock.targets[lock.targets.get(target)].proved = proved;
  }
  locks_[e.win].push_back(std::move(lock));
}

void ThreadLocks::change(const Event& e) {
  const bool shmem = e.type == EventType::kALock || e.type == EventType::kRLock;
  const std::uint32_t i = trace_->index(e.loc);
  if (i == kAbsent) return;
  Held& lock = locks_[{shmem ? absent<ProcessId>() : trace_->process(i), e.lock}];
  lockptr_ = lock.latest;
  if (log_ != nullptr && lock.latest != kNoEvent) log_->add(lock.latest, e.pos);
  lock.latest = e.pos;
  lock.held = is_alock(e.type);
  lock.holder = e.loc;
}

}  // namespace kojak::earl::sequence
