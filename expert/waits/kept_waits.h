// Waits that are kept until it is known whether they count.
//
// What they have in common stands once: the waiting call, and whom it waited for in which
// operation. Memory: 32 bytes for each wait, 40 for each call that waited, 64 for each turn of a
// holder or absence of a target, in a LogMemory. Not thread-safe; throws std::bad_alloc as that
// does.
#pragma once

#include <array>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "epilog/format/io/log_memory.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

class KeptWaits {
 public:
  explicit KeptWaits(LogMemory& memory) : waits_(memory), calls_(memory), awaited_(memory) {}

  // `order`: of the call that it is told of, never less than that of the wait before.
  void add(const Wait& wait, std::uint64_t order) {
    const WaitingCall call{wait.enter,    wait.exit,      order,
                           wait.exit_pos, wait.call_path, wait.location};
    if (calls_.empty() || !(calls_.back() == call)) calls_.push_back(call);
    waits_.push_back({wait.begin, wait.end, wait.waiting,
                      static_cast<std::uint32_t>(calls_.size() - 1),
                      number_of({wait.ended_by, wait.operation})});
    if (waits_.size() % kAtOnce == 0) waits_.memory().rest();
  }
  std::uint64_t last_order() const { return calls_.empty() ? 0 : calls_.back().order; }
  // All waits of a metric, those of all lists in their order; their times are known in a sum.
  // f(Wait&).
  template <class F>
  static void for_each(MetricIndex metric, std::span<const KeptWaits* const> lists, F&& f) {
    using Next = std::pair<std::uint64_t, std::size_t>;  // the order of a list's next wait
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    std::vector<std::size_t> at(lists.size());
    for (std::size_t l = 0; l < lists.size(); ++l) {
      if (!lists[l]->waits_.empty()) next.emplace(lists[l]->order(0), l);
    }
    std::size_t told = 0;
    while (!next.empty()) {
      const auto [order, l] = next.top();
      next.pop();
      const KeptWaits& list = *lists[l];
      std::size_t& i = at[l];
      for (; i < list.waits_.size() && list.order(i) == order; ++i) {
        Wait wait = list.wait(i);
        wait.metric = metric;
        f(wait);
        if (++told % kAtOnce == 0) list.waits_.memory().rest();
      }
      if (i < list.waits_.size()) next.emplace(list.order(i), l);
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

  std::uint64_t order(std::size_t i) const { return calls_[waits_[i].call].order; }
  Wait wait(std::size_t i) const {
    const Kept& kept = waits_[i];
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
  // Those who wait for the same turn mostly do so at nearly the same time.
  std::uint32_t number_of(const Awaited& awaited) {
    std::uint32_t& recent = recent_[awaited.operation.number % recent_.size()];
    if (recent < awaited_.size() && awaited_[recent] == awaited) return recent;
    recent = static_cast<std::uint32_t>(awaited_.size());
    awaited_.push_back(awaited);
    return recent;
  }

  LogVector<Kept> waits_;
  LogVector<WaitingCall> calls_;
  LogVector<Awaited> awaited_;
  std::array<std::uint32_t, 1024> recent_{};
};

}  // namespace kojak::expert
