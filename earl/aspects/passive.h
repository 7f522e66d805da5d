// State aspect: passive target epochs; passive_epochs.h says what they are.
//
// Feed it the calls in order of their exits. Faults are counted.
#pragma once

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "earl/aspects/passive_epochs.h"
#include "earl/findings.h"
#include "earl/many_open.h"
#include "earl/target_table.h"
#include "epilog/model/lock_proof.h"

namespace kojak::earl {

class PassiveTarget {
 public:
  PassiveTarget(std::uint32_t processes, Findings& findings)
      : findings_(findings),
        open_(processes),
        gets_(processes),
        segments_(processes),
        known_(processes) {}

  void lock(const Call& call, WindowId window, ProcessId target, bool exclusive);
  void lock_all(const Call& call, WindowId window);
  // The epoch that ends, or nullptr; valid until the next call.
  const PassiveEpoch* unlock(const Call& call, WindowId window, ProcessId target);
  const PassiveEpoch* unlock_all(const Call& call, WindowId window);
  // Flush of a target, or of all (absent).
  void flush(const Call& call, WindowId window, ProcessId target, bool local);
  // A Wait*/Test* has completed a request: of a get, or of what completes at the origin only.
  void complete_request(const Call& call, WindowId window, RmaId rmaid);
  // WIN_STATE: whether a lock of all is open after a gap.
  void resume_all(ProcessId process, WindowId window, std::uint8_t open);
  // EPOCH_STATE: what else is open then.
  void resume(ProcessId process, WindowId window, ProcessId peer, std::uint8_t open,
              std::uint64_t ops);
  void pause(ProcessId process) {
    ++segments_[raw(process)];
    known_[raw(process)] = Known::kNothing;
  }
  // Recording goes on; what is open then is told after it.
  void record_again(ProcessId process) {
    if (known_[raw(process)] == Known::kNothing) known_[raw(process)] = Known::kSoon;
  }
  void free(ProcessId process, WindowId window, std::uint64_t pos);

  bool any_open(ProcessId process) const { return !open_[raw(process)].empty(); }
  // The open lock of the target, or (absent) of all; kNone if there is none.
  std::uint32_t open_lock(ProcessId process, WindowId window, ProcessId target) const {
    return find(process, window, target, is_absent(target));
  }
  // An operation under that lock. `request`: it has one of its own.
  TransferSlot issue(std::uint32_t lock, ProcessId target, RmaId rmaid, bool get, bool request);
  void leave_transfer(const TransferSlot& slot, Seconds exit);
  bool mark(ProcessId origin, WindowId window, ProcessId target);
  // f(const PassiveEpoch&) for what is still open at the end; counts it, unless recording was off
  // there: then it may have ended unseen.
  template <class F>
  void finish(F&& f) {
    for (std::size_t process = 0; process < open_.size(); ++process) {
      std::vector<std::uint32_t>& list = open_[process];
      std::sort(list.begin(), list.end(), [this](std::uint32_t a, std::uint32_t b) {
        return epochs_[a].number < epochs_[b].number;
      });
      for (const std::uint32_t i : list) {
        if (known_[process] == Known::kAll) {
          findings_.add(Finding::kUnclosedEpoch, epochs_[i].lock.exit_pos, epochs_[i].lock.loc);
        }
        f(close(i));
      }
      list.clear();
    }
  }

  // No lock is held but such of all, under which nothing is outstanding.
  bool at_rest() const {
    const auto rests = [this](std::uint32_t i) {
      const Group& group = groups_[epochs_[i].group];
      return epochs_[i].all && group.with_gets.empty() && group.with_puts.empty();
    };
    return std::all_of(open_.begin(), open_.end(), [&](const auto& open) {
      return std::all_of(open.begin(), open.end(), rests);
    });
  }
  // What is open stays so behind the end of the trace.
  void leave_open() {
    for (std::vector<std::uint32_t>& open : open_) open.clear();
  }

 private:
  // What is outstanding at a target of an open epoch.
  struct Outstanding {
    model::LockOperations operations;
    std::uint32_t flushes = 0;  // that ended gets
    // Its places in the lists of its group, or kNone.
    std::uint32_t with_gets = kNone, with_puts = kNone;
  };
  struct Epoch : PassiveEpoch {
    TargetTable<FenceTarget> set;
    std::vector<Outstanding> outstanding;  // by place of the target
    bool proved = false;
    std::uint32_t segment = 0;
    std::uint32_t place = 0;     // among those that its process has open
    std::uint64_t number = 0;    // in the order of their beginnings; 0 when it is closed
    std::uint32_t group = 0;     // of its process and window
    std::uint32_t in_group = 0;  // its place there
  };
  struct Target {
    std::uint32_t epoch, place;
  };
  // The open epochs of a process on a window, and at which targets of them something is
  // outstanding: a flush of all targets looks at these alone.
  struct Group {
    std::vector<std::uint32_t> open;
    std::vector<Target> with_gets, with_puts;
  };
  // A get with a request of its own. It is looked for until it is complete: by its request, a
  // flush, or the end of its epoch.
  struct Get {
    RmaId rmaid{};
    std::uint32_t epoch;
    std::uint64_t number;  // the epoch's
    std::uint32_t target;  // its place among the targets
    std::uint32_t flushes;
    bool complete;
  };
  // The gets of a process, in the order of their numbers. Those that are complete are dropped from
  // the ends at once, the others when they are half of all.
  struct Gets {
    std::deque<Get> list;
    std::size_t most = 64;
  };
  static ManyOpen::Key key(ProcessId process, WindowId window, ProcessId target, bool all) {
    return {std::uint64_t{raw(process)} << 1 | (all ? 1U : 0U),
            std::uint64_t{raw(window)} << 32 | (all ? 0U : raw(target))};
  }
  // The keys and numbers of a process's open epochs.
  auto keys() const {
    return [this](std::uint32_t i) {
      const Epoch& e = epochs_[i];
      return std::pair(key(e.origin, e.window, e.target, e.all), i);
    };
  }
  static detail::Key64 group_key(ProcessId process, WindowId window) {
    return {std::uint64_t{raw(process)} << 32 | raw(window)};
  }
  void take_from_list(ProcessId process, std::uint32_t epoch);
  // `all`: of lock_all, which has no target.
  std::uint32_t open(const Call* call, ProcessId process, WindowId window, ProcessId target,
                     bool all);
  std::uint32_t find(ProcessId process, WindowId window, ProcessId target, bool all) const;
  const PassiveEpoch* end(const Call& call, std::uint32_t epoch);
  const PassiveEpoch& close(std::uint32_t epoch);
  void forget(ProcessId process, std::uint32_t epoch);
  static void prove(Epoch& epoch, const Call& call);
  void flush_target(std::uint32_t epoch, const Call& call, std::uint32_t target, bool local);
  void join_group(std::uint32_t epoch);
  void leave_group(const Epoch& epoch);
  // Enters a target into a list of its group, or takes it out.
  void enter(std::vector<Target> Group::*list, std::uint32_t Outstanding::*at, Target target);
  void take_out(std::vector<Target> Group::*list, std::uint32_t Outstanding::*at, Target target);
  void list_outstanding(Target target);
  bool is_outstanding(const Get& get) const;
  void add_get(ProcessId process, const Get& get);
  void tidy(Gets& gets);

  Findings& findings_;
  Pool<Epoch> epochs_;
  std::vector<std::vector<std::uint32_t>> open_;  // by process, in no order
  std::uint64_t opened_ = 0;
  ManyOpen many_;
  Pool<Group> groups_;
  detail::FlatIndex<detail::Key64> group_of_;  // those of windows with an open epoch
  std::vector<Gets> gets_;                     // by process
  std::vector<std::uint32_t> segments_;
  // What is known of a process's epochs: nothing while recording is off.
  enum class Known : std::uint8_t { kAll, kNothing, kSoon };
  void learn(ProcessId process) {
    if (known_[raw(process)] == Known::kSoon) known_[raw(process)] = Known::kAll;
  }
  std::vector<Known> known_;
  std::uint32_t delivered_ = kNone;
};

}  // namespace kojak::earl
