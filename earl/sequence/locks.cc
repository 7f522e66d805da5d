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
  WindowLock made;
  made.process = here;
  made.lock = e.pos;
  made.target = target;
  made.exclusive = e.type == EventType::kMpiWinLock && e.code != 0;
  if (const auto it = asserted_.find({e.win, here}); it != asserted_.end()) {
    made.nocheck = (it->second & kAssertNoCheck) != 0;
    asserted_.erase(it);
  }
  std::vector<WindowLock>& locks = locks_[e.win];
  std::erase_if(locks, [&](const WindowLock& l) {  // its end was not recorded
    return l.process == here && l.target == target;
  });
  locks.push_back(made);
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
    l.proved = l.proved || !l.gets.empty() || (!local && l.puts != 0);
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
    l.proved = l.proved || std::any_of(l.gets.begin(), l.gets.end(), [&](const auto& run) {
                 return run.first <= id && id <= run.last;
               });
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
    if (here(l) && (l.proved || l.nocheck)) holders.push_back(&l);
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

void WindowLocks::save(BlobWriter& out) const {
  out.number(locks_.size());
  for (const auto& [window, locks] : locks_) {
    out.numbers(raw(window), locks.size());
    for (const WindowLock& l : locks) {
      out.numbers(raw(l.process), l.lock, raw(l.target), l.exclusive, l.nocheck, l.proved, l.puts,
                  l.gets.size());
      for (const WindowLock::Run& run : l.gets) out.numbers(run.first, run.last);
    }
  }
  out.number(last_.size());
  for (const auto& [key, pos] : last_) out.numbers(raw(key.first), raw(key.second), pos);
  out.number(asserted_.size());
  for (const auto& [key, bits] : asserted_) out.numbers(raw(key.first), raw(key.second), bits);
  out.number(lockptr_ + 1);
}

void WindowLocks::load(BlobReader& in) {
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    WindowId window{};
    in.get(window);
    std::vector<WindowLock>& locks = locks_[window];
    locks.resize(in.count());
    for (WindowLock& l : locks) {
      in.numbers(l.process, l.lock, l.target, l.exclusive, l.nocheck, l.proved, l.puts);
      l.gets.resize(in.count());
      for (WindowLock::Run& run : l.gets) in.numbers(run.first, run.last);
    }
  }
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    WindowId window{};
    ProcessId target{};
    in.numbers(window, target);
    in.get(last_[{window, target}]);
  }
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    WindowId window{};
    ProcessId process{};
    in.numbers(window, process);
    in.get(asserted_[{window, process}]);
  }
  in.get(lockptr_);
  --lockptr_;
}

void ThreadLocks::change(const Event& e) {
  const bool shmem = e.type == EventType::kALock || e.type == EventType::kRLock;
  const std::uint32_t i = trace_->index(e.loc);
  if (i == kAbsent) return;
  Held& lock = locks_[{shmem ? absent<ProcessId>() : trace_->process(i), e.lock}];
  lockptr_ = lock.latest;
  lock.latest = e.pos;
  lock.held = is_alock(e.type);
  lock.holder = e.loc;
}

void ThreadLocks::save(BlobWriter& out) const {
  out.number(locks_.size());
  for (const auto& [key, l] : locks_) {
    out.numbers(raw(key.first), raw(key.second), l.latest, l.held, raw(l.holder));
  }
  out.number(lockptr_ + 1);
}

void ThreadLocks::load(BlobReader& in) {
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    ProcessId process{};
    LockId lock{};
    in.numbers(process, lock);
    Held& l = locks_[{process, lock}];
    in.numbers(l.latest, l.held, l.holder);
  }
  in.get(lockptr_);
  --lockptr_;
}

void ThreadTeams::save(BlobWriter& out) const {
  for (const std::vector<std::uint64_t>& team : teams_) {
    out.number(team.size());
    for (const std::uint64_t pos : team) out.number(pos);
  }
  out.number(forkptr_ + 1);
}

void ThreadTeams::load(BlobReader& in) {
  for (std::vector<std::uint64_t>& team : teams_) {
    team.resize(in.count());
    for (std::uint64_t& pos : team) in.get(pos);
  }
  in.get(forkptr_);
  --forkptr_;
}

}  // namespace kojak::earl::sequence
