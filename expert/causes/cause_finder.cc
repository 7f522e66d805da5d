#include "expert/causes/cause_finder.h"

#include <algorithm>

#include "expert/causes/cause_solver.h"

namespace kojak::expert {

CauseFinder::CauseFinder(std::size_t locations, const Options& options)
    : options_(options), timelines_(locations), moments_(locations) {}

void CauseFinder::on_together(std::uint64_t operation, std::span<const Arrival> arrivals) {
  operation_ = operation;
  kept_ = false;
  current_.clear();
  members_.clear();
  for (const Arrival& a : arrivals) {
    current_.push_back({ticks(a.time), a.location});
    members_.push_back(a.location);
  }
  std::sort(current_.begin(), current_.end(), [](const ArrivalRecord& a, const ArrivalRecord& b) {
    return a.time != b.time ? a.time < b.time : a.location < b.location;
  });
  std::sort(members_.begin(), members_.end());
  groups_.push_back({moments_.group(members_), current_.back().time, 0, 0});
}

void CauseFinder::on_wait(const Wait& wait) {
  const Seconds idle = wait.ended_by.idle_since;
  if (!(idle < wait.end) || !wait.ended_by.known()) return add_wait(wait, false);
  Wait part = wait;  // until it had done its work for the one that waits
  if (wait.begin < idle) {
    part.end = part.ended_by.time = idle;
    part.waiting = std::min(wait.waiting, idle - wait.begin);
    add_wait(part, false);
    part.begin = idle;
    part.waiting = wait.waiting - part.waiting;
  }
  part.end = wait.end;
  part.ended_by = wait.ended_by;
  add_wait(part, true);
}

void CauseFinder::on_direct_wait(const Wait& wait) {
  add_wait(wait, true);
}

void CauseFinder::add_wait(const Wait& wait, bool direct) {
  WaitRecord w{};
  w.begin = ticks(wait.begin);
  w.end = ticks(wait.end);
  // Where it lies within its call is not known: at the call's begin as well as anywhere.
  if (!wait.ended_by.known()) w.end = std::min(w.end, w.begin + in_ticks(wait.waiting.value));
  if (wait.waiting.value < options_.min_wait) {
    not_listed_ += in_ticks(wait.waiting.value);
    return;
  }
  w.location = wait.location;
  w.metric = wait.metric;
  w.call_path = wait.call_path;
  w.by = wait.ended_by.known() ? wait.ended_by.location : kNoLocation;
  w.by_time = wait.ended_by.known() ? ticks(wait.ended_by.time) : 0;
  w.direct = direct;
  w.object = wait.operation.object;
  w.object_id = wait.operation.id;
  const bool for_all = !groups_.empty() && wait.operation.number == operation_ &&
                       !current_.empty() && w.by_time == current_.back().time;
  if (for_all && !direct) {
    if (!kept_) {
      groups_.back().first = arrivals_.size();
      groups_.back().arrivals = current_.size();
      arrivals_.insert(arrivals_.end(), current_.begin(), current_.end());
      kept_ = true;
    }
    w.group = static_cast<std::uint32_t>(groups_.size() - 1);
  }
  waits_.push_back(w);
}

RootCauses CauseFinder::finish(std::span<const Asked> asked) {
  return CauseSolver(*this).solve(asked);
}

}  // namespace kojak::expert
