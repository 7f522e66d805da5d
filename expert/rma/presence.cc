#include "expert/rma/presence.h"

namespace kojak::expert {

void Presence::prune(Process& p, Seconds horizon) {
  const auto needed = std::find_if(p.past.begin(), p.past.end(),
                                   [&](const Interval& i) { return horizon < i.end; });
  p.past.erase(p.past.begin(), needed);
  if (p.past.size() >= kMost) {
    const auto half = static_cast<std::ptrdiff_t>(kMost / 2);
    p.past.erase(p.past.begin(), p.past.begin() + half);
    forgotten_ += kMost / 2;
  }
  p.prune_at = std::max(kFew, 2 * p.past.size());
  if (p.prune_at > kMost) p.prune_at = kMost;
}

void Presence::outside(ProcessId process, Seconds enter, Seconds last, Intervals& out) const {
  const Intervals& past = processes_[raw(process)].past;
  for (auto i = past.rbegin(); i != past.rend() && enter < i->end; ++i) {
    if (last < i->end) continue;  // the enter that ended it came too late
    out.push_back({std::max(enter, i->begin), i->end});
  }
}

bool Presence::throughout(ProcessId process, Seconds begin, Seconds end) const {
  const Process& p = processes_[raw(process)];
  // A call without duration at the very time when the process came out proves nothing: which of
  // the two was first is chance.
  if (p.outside() && p.since <= begin && p.since < end) return true;
  for (auto i = p.past.rbegin(); i != p.past.rend() && begin < i->end; ++i) {
    if (i->begin <= begin && i->begin < end && end < i->end) return true;
  }
  return false;
}

}  // namespace kojak::expert
