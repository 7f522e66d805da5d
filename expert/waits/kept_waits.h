// Waits that are kept until it is known whether they count.
//
// What they have in common stands once: the waiting call, and whom it waited for in which
// operation. Memory: 32 bytes for each wait, 32 for each call that waited, 64 for each turn of a
// holder or absence of a target, in a LogMemory. Not thread-safe; throws std::bad_alloc as that
// does.
#pragma once

#include <array>

#include "epilog/format/io/log_memory.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

class KeptWaits {
 public:
  explicit KeptWaits(LogMemory& memory) : waits_(memory), calls_(memory), awaited_(memory) {}

  void add(const Wait& wait) {
    const WaitingCall call{wait.enter, wait.exit, wait.exit_pos, wait.call_path, wait.location};
    if (calls_.empty() || !(calls_.back() == call)) calls_.push_back(call);
    waits_.push_back({wait.begin, wait.end, wait.waiting,
                      static_cast<std::uint32_t>(calls_.size() - 1),
                      number_of({wait.ended_by, wait.operation})});
    if (waits_.size() % kAtOnce == 0) waits_.memory().rest();
  }
  // f(Wait&) for all of them, in their order; their metrics are 0, and they are known in a sum.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < waits_.size(); ++i) {
      const Kept& kept = waits_[i];
      const WaitingCall& call = calls_[kept.call];
      const Awaited& awaited = awaited_[kept.awaited];
      Wait wait{.metric = 0,
                .call_path = call.call_path,
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
      f(wait);
      if (i % kAtOnce == kAtOnce - 1) waits_.memory().rest();
    }
  }

 private:
  static constexpr std::size_t kAtOnce = 1 << 16;  // between two times when logs rest

  struct WaitingCall {
    Seconds enter, exit;
    std::uint64_t exit_pos;
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
