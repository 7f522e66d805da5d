// Waits that are kept until it is known whether they count.
//
// What they have in common stands once: the waiting call, and whom it waited for in which
// operation. Memory: 32 bytes for each wait, 40 for each call that waited, 64 for each turn of a
// holder or absence of a target, in a LogMemory. Not thread-safe; throws std::bad_alloc as that
// does.
#pragma once

#include <algorithm>
#include <array>
#include <queue>
#include <span>
#include <vector>

#include "epilog/format/io/log_memory.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

class KeptWaits {
 public:
  explicit KeptWaits(LogMemory& memory) : memory_(memory), calls_(memory), awaited_(memory) {}

  // `order`: of the call that it is told of. All waits of one come together, and calls in their
  // order, or in few such runs: those under a lock of all come at its end, process by process.
  void add(const Wait& wait, std::uint64_t order) {
    const WaitingCall call{wait.enter,    wait.exit,      order,
                           wait.exit_pos, wait.call_path, wait.location};
    if (calls_.empty() || !(calls_.back() == call)) {
      if (calls_.empty() || calls_.back().order != order) choose_run(order);
      calls_.push_back(call);
    }
    runs_[run_].waits.push_back({wait.begin, wait.end, wait.waiting,
                                 static_cast<std::uint32_t>(calls_.size() - 1),
                                 number_of({wait.ended_by, wait.operation})});
    if (++count_ % kAtOnce == 0) memory_.rest();
  }
  // All waits of a metric, those of all lists in their order; their times are known in a sum.
  // f(Wait&).
  template <class F>
  static void for_each(MetricIndex metric, std::span<const KeptWaits* const> lists, F&& f) {
    struct Next {  // the next wait of a run
      std::uint64_t order;
      const KeptWaits* list;
      const Run* run;
      std::size_t at;
      bool operator<(const Next& other) const { return other.order < order; }  // the first on top
    };
    std::priority_queue<Next> next;
    for (const KeptWaits* const list : lists) {
      for (const Run& run : list->runs_) next.push({list->order(run.waits[0]), list, &run, 0});
    }
    std::size_t told = 0;
    while (!next.empty()) {
      auto [order, list, run, at] = next.top();
      next.pop();
      const std::uint64_t others = next.empty() ? ~std::uint64_t{0} : next.top().order;
      const LogVector<Kept>& waits = run->waits;
      do {
        Wait wait = list->wait(waits[at]);
        wait.metric = metric;
        f(wait);
        if (++told % kAtOnce == 0) list->memory_.rest();
        if (++at == waits.size()) break;
        // (The waits of a call come one after the other.)
        const std::uint64_t before = order;
        order = list->order(waits[at]);
        if (order != before && order > others) break;
      } while (true);
      if (at != waits.size()) next.push({order, list, run, at});
    }
  }

 private:
  static constexpr std::size_t kAtOnce = 1 << 16;  // between two times when logs rest

  struct WaitingCall {
    Seconds enter, exit;
    std::uint64_t order, exit_pos;
    CallPathIndex call_path;
    LocationIndex location;
    bool operator==(const WaitingCall&) const = default;
  };
  struct Awaited {
    EndedBy ended_by;
    Operation operation;
    bool operator==(const Awaited&) const = default;
  };
  struct Kept {
    Seconds begin, end, waiting;
    std::uint32_t call, awaited;
  };

  std::uint64_t order(const Kept& kept) const { return calls_[kept.call].order; }
  // A run to which a call of that order can be added.
  void choose_run(std::uint64_t order) {
    const auto fits = [order](const Run& run) { return run.last <= order; };
    if (run_ == runs_.size() || !fits(runs_[run_])) {
      const auto found = std::find_if(runs_.begin(), runs_.end(), fits);
      run_ = static_cast<std::size_t>(found - runs_.begin());
      if (found == runs_.end()) runs_.push_back({LogVector<Kept>(memory_, run_ != 0), 0});
    }
    runs_[run_].last = order;
  }
  Wait wait(const Kept& kept) const {
    const WaitingCall& call = calls_[kept.call];
    const Awaited& awaited = awaited_[kept.awaited];
    return {.call_path = call.call_path,
            .location = call.location,
            .enter = call.enter,
            .exit = call.exit,
            .exit_pos = call.exit_pos,
            .begin = kept.begin,
            .end = kept.end,
            .waiting = kept.waiting,
            .ended_by = awaited.ended_by,
            .operation = awaited.operation,
            .cause = Wait::Cause::kSeen,
            .known = Wait::Known::kInSum};
  }
  struct Run {
    LogVector<Kept> waits;  // in the order of their calls
    std::uint64_t last;     // of these orders
  };

  // Those who wait for the same turn mostly do so at nearly the same time.
  std::uint32_t number_of(const Awaited& awaited) {
    std::uint32_t& recent = recent_[awaited.operation.number % recent_.size()];
    if (recent < awaited_.size() && awaited_[recent] == awaited) return recent;
    recent = static_cast<std::uint32_t>(awaited_.size());
    awaited_.push_back(awaited);
    return recent;
  }

  LogMemory& memory_;
  std::vector<Run> runs_;
  std::size_t run_ = 0;  // of the latest call
  std::size_t count_ = 0;
  LogVector<WaitingCall> calls_;
  LogVector<Awaited> awaited_;
  std::array<std::uint32_t, 1024> recent_{};
};

}  // namespace kojak::expert
