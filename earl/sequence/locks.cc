#include "earl/sequence/locks.h"

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
  WindowLock made = this->made(e, here, target);
  if (const auto it = asserted_.find({e.win, here}); it != asserted_.end()) {
    made.nocheck = (it->second & kAssertNoCheck) != 0;
    asserted_.erase(it);
  }
  std::vector<WindowLock>& locks = locks_[e.win];
  std::erase_if(locks, [&](const WindowLock& l) {  // its end was not recorded
    const bool replaced = l.process == here && l.target == target;
    if (replaced) log(l, e.pos);
    return replaced;
  });
  locks.push_back(made);
}

WindowLock WindowLocks::made(const Event& e, ProcessId here, ProcessId target) const {
  WindowLock lock;
  lock.process = here;
  lock.lock = e.pos;
  lock.target = target;
  lock.exclusive = e.type == EventType::kMpiWinLock && e.code != 0;
  return lock;
}

void WindowLocks::unlock(const Event& e, ProcessId here, ProcessId target) {
  last_.insert_or_assign({e.win, target}, e.pos);
  const auto found = locks_.find(e.win);
  if (found == locks_.end()) return;
  std::vector<WindowLock>& locks = found->second;
  const auto it = std::find_if(locks.begin(), locks.end(), [&](const WindowLock& l) {
    return l.process == here && l.target == target;
  });
  if (it == locks.end()) return;
  lockptr_ = it->lock;
  log(*it, e.pos);
  locks.erase(it);
  if (locks.empty()) locks_.erase(found);
}

void WindowLocks::issue(const Event& e, ProcessId origin, ProcessId target, bool get) {
  const auto found = locks_.find(e.win);
  if (found == locks_.end()) return;
  WindowLock* covering = nullptr;  // a lock of the target goes before one of all
  for (WindowLock& l : found->second) {
    if (l.process != origin || (l.target != target && !is_absent(l.target))) continue;
    if (covering == nullptr || is_absent(covering->target)) covering = &l;
  }
  if (covering == nullptr) return;
  const std::uint32_t id = raw(e.rmaid);
  if (!get) {
    ++covering->puts;
  } else if (!covering->gets.empty() && covering->gets.back().last + 1 == id) {
    covering->gets.back().last = id;
  } else {
    covering->gets.push_back({id, id});
  }
}

void WindowLocks::flush(const Event& e, ProcessId origin, ProcessId target) {
  const auto found = locks_.find(e.win);
  if (found == locks_.end()) return;
  const bool local = e.code != 0;
  for (WindowLock& l : found->second) {
    if (l.process != origin) continue;
    if (!is_absent(target) && l.target != target && !is_absent(l.target)) continue;
    if (!l.gets.empty() || (!local && l.puts != 0)) l.proved = std::min(l.proved, e.pos);
    if (!is_absent(target) && l.target != target) continue;
    l.gets.clear();
    if (!local) l.puts = 0;
  }
}

void WindowLocks::complete(const Event& e, ProcessId origin) {
  const auto found = locks_.find(e.win);
  if (found == locks_.end()) return;
  const std::uint32_t id = raw(e.rmaid);
  for (WindowLock& l : found->second) {
    if (l.process != origin) continue;
    const auto has = [&](const auto& run) { return run.first <= id && id <= run.last; };
    if (std::any_of(l.gets.begin(), l.gets.end(), has)) l.proved = std::min(l.proved, e.pos);
  }
}

std::vector<WindowLock> WindowLocks::select(WindowId window, ProcessId target, bool holding) const {
  std::vector<WindowLock> result;
  const auto found = locks_.find(window);
  if (found == locks_.end()) return result;
  std::vector<const WindowLock*> holders;
  const auto holds = [&](const WindowLock& l) {
    return std::find(holders.begin(), holders.end(), &l) != holders.end();
  };
  const auto here = [&](const WindowLock& l) { return is_absent(l.target) || l.target == target; };
  for (const WindowLock& l : found->second) {
    if (here(l) && (l.proved != kNoEvent || l.nocheck)) holders.push_back(&l);
  }
  for (const WindowLock& l : found->second) {
    if (!here(l) || holds(l)) continue;
    const auto conflicts = [&](const WindowLock* h) {
      return !h->nocheck && h->process != l.process && (h->exclusive || l.exclusive);
    };
    if (std::none_of(holders.begin(), holders.end(), conflicts)) {
      holders.push_back(&l);
    } else if (l.exclusive) {
      break;  // nobody overtakes one that waits alone
    }
  }
  for (const WindowLock& l : found->second) {
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

void WindowLocks::log(const WindowLock& l, std::uint64_t end) {
  if (log_ == nullptr) return;
  contents_.clear();
  {
    NumberWriter out(contents_);
    const std::uint64_t proved = l.proved == kNoEvent ? 0 : l.proved - l.lock;  // never the lock
    out.number(proved << 1 | (l.nocheck ? 1 : 0));
  }
  log_->add(l.lock, end, contents_);
}

void WindowLocks::end_record(std::uint64_t end) {
  for (const auto& [window, locks] : locks_) {
    for (const WindowLock& l : locks) log(l, end);
  }
}

void WindowLocks::restore(const Event& e, const IntervalColumn::Row& row, std::uint64_t pos) {
  const bool all = e.type == EventType::kMpiWinLockAll;
  WindowLock lock = made(e, process(raw(e.loc)), all ? absent<ProcessId>() : process(raw(e.peer)));
  const std::uint64_t bits = NumberReader(row.contents).number();
  lock.nocheck = (bits & 1) != 0;
  if (bits > 1 && e.pos + (bits >> 1) <= pos) lock.proved = e.pos + (bits >> 1);
  locks_[e.win].push_back(lock);
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
