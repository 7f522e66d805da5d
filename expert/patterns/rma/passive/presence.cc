#include "expert/patterns/rma/passive/presence.h"

namespace kojak::expert {

template <class Times>
void Presence::prune(Times& times, std::size_t& prune_at, Seconds horizon) {
  const auto needed = std::find_if(times.begin(), times.end(),
                                   [&](const auto& time) { return horizon < end_of(time); });
  times.erase(times.begin(), needed);
  if (times.size() >= kMost) {
    const auto half = static_cast<std::ptrdiff_t>(kMost / 2);
    times.erase(times.begin(), times.begin() + half);
    forgotten_ += kMost / 2;
  }
  prune_at = std::min(std::max(kFew, 2 * times.size()), kMost);
}
template void Presence::prune(Intervals&, std::size_t&, Seconds);
template void Presence::prune(std::vector<Absence>&, std::size_t&, Seconds);

Presence::Service Presence::service(ProcessId asks, ProcessId process, Interval lock,
                                    Interval proof) const {
  if (process == asks || raw(process) >= processes_.size()) return {};
  const Process& p = processes_[raw(process)];
  if (!(lock.begin < p.returned)) return {};
  const auto after = [&](Seconds time, Intervals::const_iterator from) {
    return std::upper_bound(from, p.served.end(), time,
                            [](Seconds t, const Interval& i) { return t < i.end; });
  };
  // In a damaged trace calls may end before they begin: nothing is known of them.
  const auto first = after(lock.begin, p.served.begin());
  if (first == p.served.end() || proof.end < first->end) return {};
  const auto beyond = after(lock.end, first);
  if (first != beyond) return {first->begin, std::prev(beyond)->end};
  if (first->end <= proof.begin) return {first->begin, first->end};
  return {first->begin,
          p.returned <= proof.end ? p.returned : std::prev(after(proof.end, first + 1))->end};
}

const Presence::Absence* Presence::outside(ProcessId process, Interval call, Seconds last,
                                           Intervals& out) const {
  const std::vector<Absence>& past = processes_[raw(process)].past;
  const Absence* latest = nullptr;
  for (auto i = past.rbegin(); i != past.rend() && call.begin < i->when.end; ++i) {
    if (!(i->when.begin < call.end)) continue;
    if (last < i->when.end) continue;  // the enter that ended it came too late
    if (latest == nullptr && !i->came_back()) continue;
    if (latest == nullptr) latest = &*i;
    out.push_back({std::max(call.begin, i->when.begin), i->when.end});
  }
  return latest;
}

bool Presence::throughout(ProcessId process, Seconds begin, Seconds end) const {
  const Process& p = processes_[raw(process)];
  // A call without duration at the very time when the process came out proves nothing: which of
  // the two was first is chance.
  if (p.outside() && p.since <= begin && p.since < end) return true;
  for (auto i = p.past.rbegin(); i != p.past.rend() && begin < i->when.end; ++i) {
    if (i->when.begin <= begin && i->when.begin < end && end < i->when.end) return true;
  }
  return false;
}

bool Presence::came_back(ProcessId process, Seconds issued, Interval call, Seconds last) const {
  const std::vector<Absence>& past = processes_[raw(process)].past;
  for (auto i = past.rbegin(); i != past.rend() && call.begin < i->when.end; ++i) {
    if (i->came_back() && i->when.begin <= issued && i->when.begin < call.end &&
        i->when.end <= last)
      return true;
  }
  return false;
}

}  // namespace kojak::expert
