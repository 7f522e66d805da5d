// Whom a call waited for: the call of another process whose begin ended the waiting.
//
// Most patterns of waiting end when somebody enters a call: the last process a barrier, a late
// sender its send, a late target its post, the holder of a lock its unlock. The finder is told
// which calls waited and for how long (expert::PatternInstance), is handed what EARL's replay
// delivers, and picks of the calls that each could have waited for the one that began when the
// waiting ended. Patterns that wait for data to move (completion) have no such call and get no
// answer. Memory: the calls asked for. Not thread-safe; nothing fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "earl/replay.h"
#include "expert/worst_instances.h"

namespace kojak::html {

struct WaitCause {
  std::uint32_t location = 0;             // dense number, as in earl::OpenCall::index
  const MpiFunction* function = nullptr;  // what it called; null: not MPI
};

class CauseFinder {
 public:
  explicit CauseFinder(std::span<const expert::PatternInstance> waits);

  // From the replay of the same trace.
  void on_message_call(const earl::MessageCall& completed);
  void on_collective(const earl::CollectiveInstance& instance);
  void on_window_collective(const earl::WindowInstance& instance);
  void on_access_transaction(const earl::AccessEpoch& epoch);
  void on_exposure_transaction(const earl::ExposureEpoch& epoch);
  void on_passive_epoch(const earl::PassiveEpoch& epoch);

  // Of the n-th of the waits; none if it is unknown.
  const std::optional<WaitCause>& cause(std::size_t wait) const { return waits_[wait].cause; }

 private:
  enum class Rule : std::uint8_t {
    kNone,
    kMembers,
    kSenders,
    kReceivers,
    kPosts,
    kCompletes,
    kUnlocks
  };
  struct Wait {
    Rule rule = Rule::kNone;
    bool ends_late = false;  // the waiting began later than the call
    std::uint32_t location = 0;
    Seconds enter, exit, end;
    double distance = 0;  // of the best candidate from the waiting's end
    std::optional<WaitCause> cause;
  };

  static Wait as_wait(const expert::PatternInstance& instance);
  // Calls f for each wait of that rule at a call that began between the two times.
  template <class F>
  void each(Rule rule, std::uint32_t location, Seconds first, Seconds last, F&& f);
  template <class Members>
  void members(const Members& members);
  static void consider(Wait& wait, const earl::OpenCall& candidate);

  std::vector<Wait> waits_;
  std::vector<std::size_t> by_enter_;  // positions in waits_
  bool locks_ = false;                 // some wait for a lock
  // The last unlock calls of each target's window.
  std::map<std::pair<WindowId, ProcessId>, std::vector<earl::OpenCall>> unlocks_;
};

}  // namespace kojak::html
