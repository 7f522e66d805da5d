#include "expert/patterns/openmp/locks.h"

#include <algorithm>

namespace kojak::expert {

void OmpLocks::on_lock(const earl::OpenCall& call, std::uint32_t id, Seconds time, bool acquired,
                       bool waits) {
  Lock& lock = locks_[std::uint64_t{raw(call.process)} << 32 | id];
  if (!acquired) {
    if (!lock.held || lock.holder != call.index) return;  // its beginning was not recorded
    lock.held = false;
    lock.holds.push_back({lock.since, time, {call.index, raw(call.cnode), time, true}, ++turns_});
    if (lock.holds.size() > kMostHolds) lock.holds.pop_front();
    return;
  }
  if (waits) {
    Waiting waiting{call.enter_pos, {}};
    for (auto hold = lock.holds.rbegin(); hold != lock.holds.rend(); ++hold) {
      if (hold->end <= call.enter) break;
      if (hold->by.location == call.index) continue;
      waiting.parts.push_back({{std::max(hold->begin, call.enter), std::min(hold->end, time)},
                               hold->by,
                               {.scattered = true, .number = hold->number}});
    }
    std::reverse(waiting.parts.begin(), waiting.parts.end());
    if (!waiting.parts.empty()) waiting_[call.index].push_back(std::move(waiting));
  }
  lock.held = true;
  lock.holder = call.index;
  lock.since = time;
}

std::vector<WaitPart> OmpLocks::take_waits(const Call& call) {
  std::vector<Waiting>& open = waiting_[call.index];
  // (What was entered later and never left has gone with its enclosing region.)
  while (!open.empty() && open.back().enter_pos > call.enter_pos) open.pop_back();
  if (open.empty() || open.back().enter_pos != call.enter_pos) return {};
  std::vector<WaitPart> parts = std::move(open.back().parts);
  open.pop_back();
  return parts;
}

}  // namespace kojak::expert
