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
  in_lock_[raw(call.process)].push_back(lock_calls_.begin(call.enter));
}

void LockQueue::leave_lock(ProcessId process) {
  std::vector<OpenTimes::Ticket>& mine = in_lock_[raw(process)];
  if (mine.empty()) return;
  lock_calls_.end(mine.front());
  mine.front() = mine.back();
  mine.pop_back();
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
  prune(w, target, lock.exit);
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
  prune(w, e.target, unlock.exit);
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
  in_unlock_ = 0;
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
  const auto after = [&](const Intervals& past) {
    return !past.empty() && call_enter < past.back().end;
  };
  const Board& board = w->second.boards[e.target];
  if (!e.exclusive) return !board.exclusive.empty() || after(board.past_exclusive);
  return board.exclusive.size() + board.shared.size() + w->second.all.size() > 1 ||
         after(board.past_exclusive) || after(board.past_shared);
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
    if (board.has_exclusive()) f(target);
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
  if (in_unlock_ == 0) return true;
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
    const auto board = window.boards.find(target);
    if (board == window.boards.end() || epoch.nocheck) return;
    const auto add = [&](const Intervals& past) {
      for (auto i = past.rbegin(); i != past.rend() && epoch.lock_enter < i->end; ++i) {
        set_.push_back(contention(epoch.lock_enter, i->begin, i->end, proof));
      }
    };
    add(board->second.past_exclusive);
    if (epoch.exclusive) add(board->second.past_shared);
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

// Epochs that precede all that are still to be evaluated become a part of the past. Those that have
// not entered unlock yet leave it later than these did, so these come first in the order.
void LockQueue::absorb(Window& window, ProcessId target, Board& board, Seconds now) {
  if (in_unlock_ != 0 || !window.waiting.empty()) return;
  const auto move = [&](std::vector<Id>& list, Intervals& past) {
    return std::erase_if(list, [&](Id id) {
      LockEpoch& e = epochs_[id];
      if (!e.evaluated || !(e.unlock_exit < now)) return false;
      const Interval held{e.lock_enter, e.release_at(target)};
      if (!e.nocheck && held.begin < held.end) {
        past.push_back(held);
        make_set(past);
      }
      epochs_.give_back(id);
      return true;
    });
  };
  const bool had = !board.past_exclusive.empty();
  window.exclusive -= move(board.exclusive, board.past_exclusive);
  window.exclusive += !had && !board.past_exclusive.empty();
  move(board.shared, board.past_shared);
}

// What was unlocked before anybody who may still wait asked for a lock is not needed any more.
void LockQueue::prune(Window& window, ProcessId target, Seconds now) {
  const Seconds all = std::min(earliest(window.all), lock_calls_.earliest());
  Seconds any = all;
  const auto prune_board = [&](auto board) {
    Board& b = board->second;
    const Seconds here = std::min({all, earliest(b.exclusive), earliest(b.shared)});
    any = std::min(any, here);
    window.exclusive -= drop_before(b.exclusive, here);
    drop_before(b.shared, here);
    absorb(window, board->first, b, now);
    const auto forget = [&](Intervals& past) {
      if (past.empty() || here < past.front().end) return false;
      std::erase_if(past, [&](const Interval& i) { return i.end <= here; });
      return past.empty();
    };
    window.exclusive -= forget(b.past_exclusive);
    forget(b.past_shared);
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
