// Passive target epochs of all processes, and for whom each of them waited.
//
// An epoch is evaluated when it is closed and every epoch that may have held the lock before it is
// closed, too: at once, unless a conflicting holder is inside its unlock call at that moment (an
// epoch that is open and not in unlock when this one ends cannot have come before it). Closed
// epochs are kept while an open or waiting one, or a process inside a lock call, asked for its lock
// before they were unlocked. Memory: open epochs x targets used, and epochs that overlap them. Not
// thread-safe; nothing fails; what it is told must be in order of time.
// Source: the merge spec, "Lock grants"; the pattern spec, "Lock Contention".
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "expert/rma/lock_epoch.h"
#include "expert/rma/open_times.h"

namespace kojak::expert {

class LockQueue {
 public:
  using Id = std::uint32_t;
  // evaluated(epoch, set): its calls waited in these times; called once for each epoch that closes
  // or is given up (then with an empty set).
  using Evaluated = std::function<void(LockEpoch& epoch, const Intervals& waits)>;

  LockQueue(std::uint32_t processes, Evaluated evaluated)
      : evaluated_(std::move(evaluated)),
        open_(processes),
        unlocking_(processes),
        in_lock_(processes) {}

  LockEpoch& operator[](Id id) { return epochs_[id]; }
  // Epochs that the process has open, in order of opening.
  const std::vector<Id>& open(ProcessId process) const { return open_[raw(process)]; }
  // kNone if there is none. `target` absent: lock_all.
  Id find(ProcessId process, WindowId window, ProcessId target) const;

  // A process enters Win_lock or Win_lock_all; later leaves it.
  void enter_lock(const earl::OpenCall& call);
  void leave_lock(ProcessId process);
  void enter_unlock(ProcessId process) {
    in_unlock_ += !unlocking_[raw(process)];
    unlocking_[raw(process)] = true;
  }
  void leave_unlock(ProcessId process) {
    in_unlock_ -= unlocking_[raw(process)];
    unlocking_[raw(process)] = false;
  }

  Id begin(const Call& lock, WindowId window, ProcessId target, bool exclusive);
  void end(Id id, const Call& unlock);
  // Recording was switched off, the window freed: what the process has open (on that window) takes
  // part in nothing any more.
  void give_up(ProcessId process, WindowId window = absent<WindowId>());
  // Those still open at the end of the trace are evaluated as they are.
  void finish();

  // Whether a call of the open epoch may turn out to have waited for another's lock.
  bool contended(Id id, Seconds call_enter);

 private:
  struct Board {  // one target of one window: epochs on it by Win_lock, open or kept
    std::vector<Id> exclusive, shared;
    // Of those that precede all that are still to be evaluated: from asking to release, as sets.
    // Their own origins come back only after they have released: for them the sets say nothing.
    Intervals past_exclusive, past_shared;
    bool empty() const {
      return exclusive.empty() && shared.empty() && past_exclusive.empty() && past_shared.empty();
    }
    bool has_exclusive() const { return !exclusive.empty() || !past_exclusive.empty(); }
  };
  struct Window {
    std::map<ProcessId, Board> boards;
    std::vector<Id> all;        // by lock_all, open or kept
    std::size_t exclusive = 0;  // on all boards: epochs, and boards with such a past
    std::vector<Id> waiting;    // closed, not evaluated
  };

  Holding holding(LockEpoch& epoch, ProcessId target);
  template <class F>
  void for_each_rival(Window& window, LockEpoch& epoch, ProcessId target, F&& f);
  template <class F>
  void for_each_target(Window& window, LockEpoch& epoch, F&& f);
  void find_releases(Window& window, LockEpoch& epoch);
  bool ready(Window& window, LockEpoch& epoch);
  void evaluate(Window& window, LockEpoch& epoch);
  void settle(Window& window);
  Seconds earliest(const std::vector<Id>& list) const;
  std::size_t drop_before(std::vector<Id>& list, Seconds time);
  void prune(Window& window, ProcessId target, Seconds now);
  void absorb(Window& window, ProcessId target, Board& board, Seconds now);
  void drop(Window& window, Id id);
  void give_up_one(Id id);

  Evaluated evaluated_;
  earl::detail::Pool<LockEpoch> epochs_;
  std::map<WindowId, Window> windows_;
  std::vector<std::vector<Id>> open_;  // by process
  std::vector<bool> unlocking_;        // by process: inside an unlock call
  std::size_t in_unlock_ = 0;          // how many are
  std::vector<std::vector<OpenTimes::Ticket>>
      in_lock_;  // by process: calls that its threads are in
  OpenTimes lock_calls_;
  Intervals set_;  // kept for its memory only
  std::uint32_t serial_ = 0;
};

}  // namespace kojak::expert
