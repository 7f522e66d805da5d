#include "expert/rma/lock_queue.h"

#include <algorithm>

namespace kojak::expert {

using earl::detail::kNone;

LockQueue::Id LockQueue::find(ProcessId process, WindowId window, ProcessId target) const {
  for (const Id id : open_[raw(process)]) {
    const LockEpoch& e = epochs_[id];
    if (e.window == window && e.target == target) return id;
  }
  return kNone;
}

void LockQueue::enter_lock(const earl::OpenCall& call) {
  in_lock_.emplace_back(call.process, lock_calls_.begin(call.enter));
}

void LockQueue::leave_lock(ProcessId process) {
  const auto it = std::find_if(in_lock_.begin(), in_lock_.end(),
                               [&](const auto& entry) { return entry.first == process; });
  if (it == in_lock_.end()) return;
  lock_calls_.end(it->second);
  *it = in_lock_.back();
  in_lock_.pop_back();
}

LockQueue::Id LockQueue::begin(const Call& lock, WindowId window, ProcessId target,
                               bool exclusive) {
  if (const Id old = find(lock.process, window, target); old != kNone) {
    give_up_one(old);  // its unlock is missing
  }
  const Id id = epochs_.take();
  LockEpoch& e = epochs_[id];
  e.origin = lock.process;
  e.window = window;
  e.target = target;
  e.exclusive = exclusive;
  e.nocheck = lock.nocheck();
  e.closed = e.evaluated = false;
  e.serial = ++serial_;
  e.lock_enter = lock.enter;
  e.lock_exit = lock.exit;
  e.unlock_enter = e.unlock_exit = kNever;
  e.targets.clear();
  e.calls.clear();
  open_[raw(lock.process)].push_back(id);
  Window& w = windows_[window];
  if (e.all()) {
    w.all.push_back(id);
  } else {
    e.targets.get(target);
    Board& board = w.boards[target];
    (exclusive ? board.exclusive : board.shared).push_back(id);
    w.exclusive += exclusive;
  }
  prune(w, target);
  return id;
}

void LockQueue::end(Id id, const Call& unlock) {
  LockEpoch& e = epochs_[id];
  e.unlock_enter = unlock.enter;
  e.unlock_exit = unlock.exit;
  e.closed = true;
  std::erase(open_[raw(e.origin)], id);
  Window& w = windows_[e.window];
  find_releases(w, e);
  w.waiting.push_back(id);
  settle(w);
  prune(w, e.target);
}

void LockQueue::give_up_one(Id id) {
  LockEpoch& e = epochs_[id];
  std::erase(open_[raw(e.origin)], id);
  Window& w = windows_[e.window];
  evaluated_(e, {});
  drop(w, id);
  settle(w);
}

void LockQueue::give_up(ProcessId process, WindowId window) {
  const std::vector<Id> list = open_[raw(process)];
  for (const Id id : list) {
    if (is_absent(window) || epochs_[id].window == window) give_up_one(id);
  }
}

void LockQueue::finish() {
  std::fill(unlocking_.begin(), unlocking_.end(), false);
  for (std::vector<Id>& list : open_) {
    for (const Id id : list) {
      Window& w = windows_[epochs_[id].window];
      evaluate(w, epochs_[id]);
    }
    list.clear();
  }
  for (auto& [id, window] : windows_) {
    for (const Id waiting : window.waiting) evaluate(window, epochs_[waiting]);
    window.waiting.clear();
  }
}

bool LockQueue::contended(Id id, Seconds call_enter) {
  LockEpoch& e = epochs_[id];
  if (e.nocheck) return false;
  if (!e.all() && !(call_enter < e.proof_at(e.target))) return false;
  if (!lock_calls_.empty()) return true;
  const auto w = windows_.find(e.window);
  if (w == windows_.end()) return false;
  if (e.all()) return w->second.exclusive != 0;
  const Board& board = w->second.boards[e.target];
  if (!e.exclusive) return !board.exclusive.empty();
  return board.exclusive.size() + board.shared.size() + w->second.all.size() > 1;
}

Holding LockQueue::holding(LockEpoch& epoch, ProcessId target) {
  return {epoch.proof_at(target), epoch.lock_exit, epoch.unlock_enter, epoch.unlock_exit};
}

template <class F>
void LockQueue::for_each_rival(Window& window, LockEpoch& epoch, ProcessId target, F&& f) {
  const auto visit = [&](const std::vector<Id>& list) {
    for (const Id id : list) {
      if (conflict(epoch, epochs_[id])) f(epochs_[id]);
    }
  };
  if (const auto board = window.boards.find(target); board != window.boards.end()) {
    visit(board->second.exclusive);
    if (epoch.exclusive) visit(board->second.shared);
  }
  if (epoch.exclusive) visit(window.all);
}

// The targets at which the epoch may have rivals.
template <class F>
void LockQueue::for_each_target(Window& window, LockEpoch& epoch, F&& f) {
  if (!epoch.all()) return f(epoch.target);
  if (window.exclusive == 0) return;
  for (const auto& [target, board] : window.boards) {
    if (!board.exclusive.empty()) f(target);
  }
}

void LockQueue::find_releases(Window& window, LockEpoch& epoch) {
  for_each_target(window, epoch, [&](ProcessId target) {
    Seconds release = epoch.unlock_exit;
    const Holding mine = holding(epoch, target);
    for_each_rival(window, epoch, target, [&](LockEpoch& rival) {
      const Holding theirs = holding(rival, target);
      if (theirs.proof < release && held_before(mine, theirs)) release = theirs.proof;
    });
    release = std::max(release, epoch.unlock_enter);
    if (release < epoch.unlock_exit) epoch.targets[epoch.targets.get(target)].release = release;
  });
}

bool LockQueue::ready(Window& window, LockEpoch& epoch) {
  bool all_closed = true;
  for_each_target(window, epoch, [&](ProcessId target) {
    for_each_rival(window, epoch, target, [&](LockEpoch& rival) {
      all_closed = all_closed && (rival.closed || !unlocking_[raw(rival.origin)]);
    });
  });
  return all_closed;
}

void LockQueue::evaluate(Window& window, LockEpoch& epoch) {
  set_.clear();
  for_each_target(window, epoch, [&](ProcessId target) {
    const Seconds proof = epoch.proof_at(target);
    const Holding mine = holding(epoch, target);
    for_each_rival(window, epoch, target, [&](LockEpoch& rival) {
      if (!rival.closed || !held_before(holding(rival, target), mine)) return;
      set_.push_back(
          contention(epoch.lock_enter, rival.lock_enter, rival.release_at(target), proof));
    });
  });
  make_set(set_);
  epoch.evaluated = true;
  evaluated_(epoch, set_);
}

// Evaluates what can be evaluated. Only a process that leaves unlock makes more possible.
void LockQueue::settle(Window& window) {
  std::erase_if(window.waiting, [&](Id id) {
    if (!ready(window, epochs_[id])) return false;
    evaluate(window, epochs_[id]);
    return true;
  });
}

Seconds LockQueue::earliest(const std::vector<Id>& list) const {
  Seconds time = kNever;
  for (const Id id : list) {
    if (!epochs_[id].evaluated) time = std::min(time, epochs_[id].lock_enter);
  }
  return time;
}

std::size_t LockQueue::drop_before(std::vector<Id>& list, Seconds time) {
  return std::erase_if(list, [&](Id id) {
    LockEpoch& e = epochs_[id];
    if (!e.evaluated || !(e.unlock_exit <= time)) return false;
    epochs_.give_back(id);
    return true;
  });
}

// What was unlocked before anybody who may still wait asked for a lock is not needed any more.
void LockQueue::prune(Window& window, ProcessId target) {
  const Seconds all = std::min(earliest(window.all), lock_calls_.earliest());
  Seconds any = all;
  const auto prune_board = [&](auto board) {
    Board& b = board->second;
    const Seconds here = std::min({all, earliest(b.exclusive), earliest(b.shared)});
    any = std::min(any, here);
    window.exclusive -= drop_before(b.exclusive, here);
    drop_before(b.shared, here);
    return b.empty() ? window.boards.erase(board) : std::next(board);
  };
  if (!is_absent(target) && window.all.empty()) {
    if (const auto board = window.boards.find(target); board != window.boards.end()) {
      prune_board(board);
    }
    return;
  }
  for (auto board = window.boards.begin(); board != window.boards.end();)
    board = prune_board(board);
  drop_before(window.all, any);
}

void LockQueue::drop(Window& window, Id id) {
  LockEpoch& e = epochs_[id];
  if (e.all()) {
    std::erase(window.all, id);
  } else {
    Board& board = window.boards[e.target];
    window.exclusive -= std::erase(board.exclusive, id);
    std::erase(board.shared, id);
  }
  epochs_.give_back(id);
}

}  // namespace kojak::expert
