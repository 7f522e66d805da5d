// What all parts of a causal pass share: the processes, the causes that are open, the counts.
// Internal to causal_pass.cc. References must outlive it.
#pragma once

#include <algorithm>
#include <functional>
#include <queue>

#include "merge/clock/causal_process.h"
#include "merge/complete/sync.h"

namespace kojak::merge {

struct CausalState {
  CausalState(const CausalInputs& inputs, const Timelines& by_rank, bool forward)
      : in(inputs),
        defs(in.survey.definitions),
        timelines(by_rank),
        correcting(forward),
        absolute(in.pauses),
        channels(absolute),
        processes(timelines.size()) {}

  std::uint64_t add_item(CausalProcess& p, double time) {
    return p.timeline->add(p.linear, time, p.current().stream.position(), p.thread);
  }
  // The current event as a cause of others.
  Cause cause_here(CausalProcess& p) {
    return {p.rank, correcting ? add_item(p, p.time) : 0, p.linear, p.time};
  }

  static bool behind(const Cause& cause, const CausalProcess& p, double time) {
    return cause.time > time || (cause.time == time && cause.process > p.rank);
  }
  void count(double cause, double effect) {
    ++counts.checked;
    if (cause > effect) {
      ++counts.violations;
      counts.worst = std::max(counts.worst, cause - effect);
    }
  }
  bool recorded(std::uint32_t rank) const {
    return rank < processes.size() && !processes[rank].threads.empty();
  }
  void enqueue(CausalProcess& p) {
    if (p.queued) return;
    p.queued = true;
    queue.emplace(p.time, p.rank);
  }

  const CausalInputs& in;
  const MergedDefinitions& defs;
  const Timelines& timelines;
  bool correcting;
  bool absolute;  // somebody paused: numbers of messages come from state records, too
  Channels channels;
  std::vector<CausalProcess> processes;
  CausalCounts counts;
  using Turn = std::pair<double, std::uint32_t>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> queue;
};

}  // namespace kojak::merge
