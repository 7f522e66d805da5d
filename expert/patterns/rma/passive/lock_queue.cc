#include "expert/patterns/rma/passive/lock_queue.h"

#include <algorithm>

namespace kojak::expert {

using model::LockOrder;

LockQueue::Id LockQueue::find(ProcessId process, WindowId window, ProcessId target) const {
  if (earl::ManyOpen::knows(open_[raw(process)].size())) [[unlikely]]
    return many_.find(key(process, window, target));
  for (const Id id : open_[raw(process)]) {
    const LockEpoch& e = epochs_[id];
    if (e.window == window && e.target == target) return id;
  }
  return earl::kNone;
}

void LockQueue::activate(Window& window, WindowId id, ProcessId target, Board& board, Seconds now) {
  if (board.active != kNotActive) return;
  board.active = window.active.size();
  window.active.push_back(target);
  for (const Recent& r : recent_) {
    if (r.window == id && board.joined < r.number) close_at(window, target, board, r.id, now);
  }
  board.joined = recents_;
}

// Forgets turns that nobody asks about any more.
void LockQueue::rest(Window& window, Board& board) {
  for (std::deque<LockTurn>& turns : board.turns) {
    while (!turns.empty() && turns.front().release <= horizon_) turns.pop_front();
  }
  if (board.active == kNotActive || board.exclusive()) return;
  const ProcessId last = window.active.back();
  window.active[board.active] = last;
  window.boards.find(last)->second.active = board.active;
  window.active.pop_back();
  board.active = kNotActive;
}

bool LockQueue::at_rest() const {
  const auto rests = [&](Id id) {
    const LockEpoch& e = epochs_[id];
    const auto complete = [](const LockTarget& t) { return !t.operations.any(); };
    return e.all() && windows_.at(e.window).active.empty() &&
           std::all_of(e.targets.items().begin(), e.targets.items().end(), complete);
  };
  return locking_ == 0 && std::all_of(open_.begin(), open_.end(), [&](const auto& of_process) {
           return std::all_of(of_process.begin(), of_process.end(), rests);
         });
}

bool LockQueue::holds_standing() const {
  return std::any_of(open_.begin(), open_.end(), [&](const auto& of_process) {
    return std::any_of(of_process.begin(), of_process.end(),
                       [&](Id id) { return epochs_[id].standing; });
  });
}

LockQueue::Id LockQueue::begin(const Call& lock, WindowId window, ProcessId target,
                               bool exclusive) {
  if (const Id old = find(lock.process, window, target); old != earl::kNone) {
    give_up_one(old);  // its unlock is missing
  }
  const Id id = epochs_.take();
  LockEpoch& e = epochs_[id];
  e.origin = lock.process;
  e.window = window;
  e.target = target;
  e.exclusive = exclusive;
  e.nocheck = lock.nocheck();
  e.standing = false;
  e.serial = ++serial_;
  e.unplaced = 0;
  e.asked = LockEpoch::kNoTicket;
  e.lock_enter = lock.enter;
  e.lock_exit = lock.exit;
  e.targets.clear();
  e.calls.clear();
  std::vector<Id>& list = open_[raw(lock.process)];
  list.push_back(id);
  many_.added(list, keys());
  Window& w = windows_[window];
  if (e.all()) {
    w.all += !e.nocheck;
  } else {
    e.targets.get(target);
    if (!e.nocheck) {
      Board& board = w.boards[target];
      ++board.open[exclusive];
      if (exclusive) activate(w, window, target, board, lock.exit);
    }
  }
  return id;
}

void LockQueue::prove(Id id, LockTarget& target, const Call& call) {
  if (target.proof < kNever) return;
  const LockEpoch& e = epochs_[id];
  target.proof_enter = call.enter;
  target.proof = call.exit;
  if (e.nocheck) return;
  target.service = presence_.service(e.origin, target.target, {e.lock_enter, e.lock_exit},
                                     {call.enter, call.exit});
  target.entry =
      windows_[e.window].boards[target.target].order.prove(raw(e.origin), e.exclusive, call.exit);
}

void LockQueue::close_at(Window& window, ProcessId target, Board& board, Id id, Seconds now) {
  LockEpoch& e = epochs_[id];
  LockTarget& t = e.targets[e.targets.get(target)];
  if (!(t.proof < e.unlock_exit)) {
    t.proof_enter = e.unlock_enter;
    t.proof = e.unlock_exit;
    t.service =
        presence_.service(e.origin, target, {e.lock_enter, e.lock_exit}, {t.proof_enter, t.proof});
  }
  ++e.unplaced;
  board.order.close({raw(e.origin), e.exclusive, e.lock_enter, e.lock_exit, e.unlock_enter,
                     e.unlock_exit, t.proof_enter, t.proof, id},
                    std::exchange(t.entry, LockOrder::kNoProof));
  settle(window, e.window, target, board, now);
}

void LockQueue::drop_recent() {
  const Id id = recent_.front().id;
  recent_.pop_front();
  if (--epochs_[id].unplaced == 0) over(id);
}

void LockQueue::end(Id id, const Call& unlock) {
  LockEpoch& e = epochs_[id];
  e.unlock_enter = unlock.enter;
  e.unlock_exit = unlock.exit;
  e.location = unlock.index;
  e.call_path = raw(unlock.cnode);
  take_from_list(id);
  if (e.nocheck) return over(id);
  Window& w = windows_[e.window];
  ++e.unplaced;  // until all targets have been told
  if (e.all()) {
    --w.all;
    for (LockTarget& t : e.targets.items()) {
      if (t.entry == LockOrder::kNoProof) continue;
      Board& board = w.boards.find(t.target)->second;
      if (board.active != kNotActive) continue;
      board.order.withdraw(std::exchange(t.entry, LockOrder::kNoProof));
    }
    const std::vector<ProcessId> active = w.active;
    if (locking_ != in_lock_[raw(e.origin)]) {
      recent_.push_back({e.window, id, unlock.exit, ++recents_});
      ++e.unplaced;
    }
    for (const ProcessId target : active) {
      Board& board = w.boards.find(target)->second;
      board.joined = recents_;
      close_at(w, target, board, id, unlock.exit);
    }
  } else {
    Board& board = w.boards.find(e.target)->second;
    --board.open[e.exclusive];
    close_at(w, e.target, board, id, unlock.exit);
  }
  if (--e.unplaced == 0) over(id);
}

void LockQueue::take_from_list(Id id) {
  std::vector<Id>& list = open_[raw(epochs_[id].origin)];
  std::erase(list, id);
  many_.removed(list, keys()(id).first, keys());
}

void LockQueue::over(Id id) {
  told_.over(epochs_[id]);
  epochs_.give_back(id);
}

void LockQueue::settle(Window& window, WindowId id, ProcessId target, Board& board, Seconds now) {
  const Seconds due =
      board.order.settle(now, unlocks_, {board.open[0] + window.all != 0, board.open[1] != 0},
                         [&](const LockOrder::Placed& placed) { place(board, target, placed); });
  rest(window, board);
  if (due < board.wake) {
    board.wake = due;
    wakes_.push({due, id, target});
  }
}

void LockQueue::place(Board& board, ProcessId target, const LockOrder::Placed& placed) {
  const auto id = static_cast<Id>(placed.hold.tag);
  LockEpoch& e = epochs_[id];
  decisions_.add(placed.decision);
  if (!e.calls.empty()) told_.placed(e, target, Turns(board, e, placed.hold.proof));
  const LockTarget& t = e.targets[e.targets.find(target)];
  if (horizon_ < placed.release) {
    const Seconds asked = std::max(e.lock_enter, placed.free);
    if (asked < placed.release) {
      std::deque<LockTurn>& turns = board.turns[e.exclusive];
      auto at = turns.end();
      while (at != turns.begin() && placed.release < std::prev(at)->release) --at;
      turns.insert(at, {e.origin, asked, t.service, placed.release,
                        told_.same_node(e.origin, target), e.location, e.call_path, e.serial});
    }
  }
  if (--e.unplaced == 0) over(id);
}

void LockQueue::wake_one(Seconds now) {
  const Wake wake = wakes_.top();
  wakes_.pop();
  const auto window = windows_.find(wake.window);
  if (window == windows_.end()) return;
  const auto board = window->second.boards.find(wake.target);
  if (board == window->second.boards.end() || board->second.wake != wake.time) return;
  board->second.wake = kNever;
  settle(window->second, wake.window, wake.target, board->second, now);
}

void LockQueue::give_up_one(Id id) {
  LockEpoch& e = epochs_[id];
  take_from_list(id);
  Window& w = windows_[e.window];
  if (!e.nocheck) {
    if (e.all()) {
      --w.all;
    } else {
      --w.boards.find(e.target)->second.open[e.exclusive];
    }
    for (LockTarget& t : e.targets.items()) {
      if (t.entry == LockOrder::kNoProof) continue;
      w.boards.find(t.target)->second.order.withdraw(t.entry);
    }
  }
  over(id);
}

void LockQueue::give_up(ProcessId process, WindowId window) {
  const std::vector<Id> list = open_[raw(process)];
  for (const Id id : list) {
    if (is_absent(window) || epochs_[id].window == window) give_up_one(id);
  }
}

void LockQueue::finish() {
  const auto each_board = [&](auto&& f) {
    for (auto& [id, window] : windows_) {
      for (auto& [target, board] : window.boards) f(id, window, target, board);
    }
  };
  while (!recent_.empty()) drop_recent();
  each_board([&](WindowId id, Window& window, ProcessId target, Board& board) {
    settle(window, id, target, board, kNever);
  });
  for (std::vector<Id>& list : open_) {
    for (const Id id : list) {
      LockEpoch& e = epochs_[id];
      Window& w = windows_[e.window];
      const auto look = [&](ProcessId target) {
        const auto board = w.boards.find(target);
        if (board == w.boards.end()) return;
        told_.placed(e, target, Turns(board->second, e, e.proof_at(target)));
      };
      if (!e.nocheck && !e.calls.empty()) {
        if (e.all()) {
          for (const ProcessId target : w.active) look(target);
        } else {
          look(e.target);
        }
      }
      over(id);
    }
    list.clear();
  }
}

bool LockQueue::contended(Id id, Seconds call_enter) {
  const LockEpoch& e = epochs_[id];
  if (e.nocheck) return false;
  if (!e.all() && !(call_enter < e.proof_at(e.target))) return false;
  if (locking_ != 0) return true;
  const Window& w = windows_.find(e.window)->second;
  if (e.all()) return !w.active.empty();
  const Board& board = w.boards.find(e.target)->second;
  const auto after = [&](bool exclusive) {
    const std::deque<LockTurn>& turns = board.turns[exclusive];
    return !turns.empty() && call_enter < turns.back().release;
  };
  if (board.order.pending() || after(true)) return true;
  if (!e.exclusive) return board.open[1] != 0;
  return board.open[0] + board.open[1] + w.all > 1 || after(false);
}

}  // namespace kojak::expert
