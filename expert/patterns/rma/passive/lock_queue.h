// Passive target epochs of all processes, and whose turns at a lock each of them waited for.
//
// An epoch is given its place among those on its target by model::LockOrder; then all that held the
// lock before it are known. Turns are kept while somebody is in a call, or was in one that is still
// to be looked at, that began before the turn was over. An epoch of lock_all has a place at each
// target of its window where exclusive locks are asked for. Memory: open epochs x targets used,
// epochs whose order is open, turns as above, and as long those of lock_all. Not thread-safe;
// nothing fails; what it is told must be in order of time. Source: passive-target paper 2006,
// inefficiency patterns; model/lock_order.h.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "earl/many_open.h"
#include "expert/patterns/rma/passive/lock_epoch.h"
#include "expert/patterns/rma/passive/presence.h"

namespace kojak::expert {

class LockQueue {
 public:
  using Id = std::uint32_t;
  // What came before an epoch at one target.
  class Turns;
  struct Told {
    // The epoch has its place at a target: ask `turns` for whom its calls waited.
    std::function<void(LockEpoch& epoch, ProcessId target, const Turns& turns)> placed;
    // It is over, or given up: it takes part in nothing more. Once for each epoch.
    std::function<void(LockEpoch& epoch)> over;
    std::function<bool(ProcessId, ProcessId)> same_node;
  };

  LockQueue(std::uint32_t processes, const Presence& presence, Told told)
      : presence_(presence), told_(std::move(told)), open_(processes), in_lock_(processes) {}

  LockEpoch& operator[](Id id) { return epochs_[id]; }
  // Epochs that the process has open, in order of opening.
  const std::vector<Id>& open(ProcessId process) const { return open_[raw(process)]; }
  // kNone if there is none. `target` absent: lock_all.
  Id find(ProcessId process, WindowId window, ProcessId target) const;

  // A process enters Win_lock or Win_lock_all; later leaves it.
  void enter_lock(ProcessId process) {
    ++in_lock_[raw(process)];
    ++locking_;
  }
  void leave_lock(ProcessId process) {
    if (in_lock_[raw(process)] == 0) return;
    --in_lock_[raw(process)];
    --locking_;
  }
  void enter_unlock(ProcessId process, Seconds time) { unlocks_.enter(raw(process), time); }
  void leave_unlock(ProcessId process) { unlocks_.leave(raw(process)); }

  // Turns that were over by then need not be kept.
  void forget_before(Seconds horizon) {
    horizon_ = horizon;
    while (!recent_.empty() && recent_.front().end <= horizon) drop_recent();
  }

  Id begin(const Call& lock, WindowId window, ProcessId target, bool exclusive);
  // The end of the call proves that the epoch holds its lock at that target.
  void prove(Id id, LockTarget& target, const Call& call);
  void end(Id id, const Call& unlock);
  // Recording was switched off, the window freed: what the process has open (on that window) takes
  // part in nothing any more.
  void give_up(ProcessId process, WindowId window = absent<WindowId>());
  // Looks again where that may help by now.
  void wake(Seconds now) {
    while (!wakes_.empty() && wakes_.top().time < now) wake_one(now);
  }
  // Those still open at the end of the trace are looked at as they are.
  void finish();

  // Nothing is open but locks of all whose operations are complete, on windows where no other lock
  // was taken.
  bool at_rest() const;
  bool holds_standing() const;
  bool any_open() const {
    return std::any_of(open_.begin(), open_.end(), [](const auto& open) { return !open.empty(); });
  }

  // Whether a call of the open epoch may turn out to have waited for another's lock.
  bool contended(Id id, Seconds call_enter);

  const model::LockDecisions& decisions() const { return decisions_; }

 private:
  struct Board {  // one target of one window
    model::LockOrder order;
    std::deque<LockTurn> turns[2];    // by release; [1]: of exclusive locks
    std::uint32_t open[2] = {0, 0};   // epochs by Win_lock that are open
    std::size_t active = kNotActive;  // its place among the active ones
    Seconds wake = kNever;
    std::uint64_t joined = 0;  // the last of recent_ that has been closed here
    bool exclusive() const { return open[1] != 0 || order.pending() || !turns[1].empty(); }
  };
  static constexpr std::size_t kNotActive = ~std::size_t{0};
  struct Window {
    std::map<ProcessId, Board> boards;
    std::vector<ProcessId> active;  // targets of exclusive locks, now or not long ago
    std::uint32_t all = 0;          // open epochs of lock_all
  };
  // An epoch of lock_all that ended while somebody was in a lock call: nobody knew then at which
  // target that would turn out to have waited for it.
  struct Recent {
    WindowId window{};
    Id id = 0;
    Seconds end;
    std::uint64_t number = 0;
  };
  struct Wake {
    Seconds time;
    WindowId window{};
    ProcessId target{};
    bool operator<(const Wake& other) const { return other.time < time; }  // the earliest on top
  };

  static earl::ManyOpen::Key key(ProcessId process, WindowId window, ProcessId target) {
    return {raw(process), std::uint64_t{raw(window)} << 32 | raw(target)};
  }
  // The keys and numbers of a process's open epochs.
  auto keys() const {
    return [this](Id id) {
      const LockEpoch& e = epochs_[id];
      return std::pair(key(e.origin, e.window, e.target), id);
    };
  }
  void take_from_list(Id id);
  void activate(Window& window, WindowId id, ProcessId target, Board& board, Seconds now);
  void rest(Window& window, Board& board);
  void close_at(Window& window, ProcessId target, Board& board, Id id, Seconds now);
  void drop_recent();
  void settle(Window& window, WindowId id, ProcessId target, Board& board, Seconds now);
  void place(Board& board, ProcessId target, const model::LockOrder::Placed& placed);
  void over(Id id);
  void give_up_one(Id id);
  void wake_one(Seconds now);

  const Presence& presence_;
  Told told_;
  earl::Pool<LockEpoch> epochs_;
  std::map<WindowId, Window> windows_;
  std::vector<std::vector<Id>> open_;  // by process
  earl::ManyOpen many_;
  std::vector<std::uint32_t> in_lock_;  // by process: its calls of Win_lock
  std::size_t locking_ = 0;             // all of them
  model::UnlockCalls unlocks_;
  std::priority_queue<Wake> wakes_;
  std::deque<Recent> recent_;
  std::uint64_t recents_ = 0;
  Seconds horizon_;
  model::LockDecisions decisions_;
  std::uint32_t serial_ = 0;
};

class LockQueue::Turns {
 public:
  // f(turn, begin, end): within [begin, end] of the call, less what came after the epoch's proof.
  template <class F>
  void for_each(const Call& call, F&& f) const {
    const Seconds begin = std::max(call.enter, asked_), end = std::min(call.exit, proof_);
    if (!(begin < end)) return;
    for (const bool exclusive : {true, false}) {
      if (!exclusive && !exclusive_) break;
      const std::deque<LockTurn>& turns = board_.turns[exclusive];
      for (auto turn = turns.rbegin(); turn != turns.rend() && begin < turn->release; ++turn) {
        if (turn->origin == origin_ || !(turn->asked < end)) continue;
        f(*turn, begin, end);
      }
    }
  }

 private:
  friend class LockQueue;
  Turns(const Board& board, const LockEpoch& epoch, Seconds proof)
      : board_(board),
        origin_(epoch.origin),
        exclusive_(epoch.exclusive),
        asked_(epoch.lock_enter),
        proof_(proof) {}
  const Board& board_;
  ProcessId origin_;
  bool exclusive_;
  Seconds asked_, proof_;
};

}  // namespace kojak::expert
