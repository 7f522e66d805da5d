// What all parts of a causal pass share: the processes, the causes that are open, the counts.
// Internal to causal_pass.cc.
//
// References must outlive it. Not thread-safe. Nothing fails.
#pragma once

#include <algorithm>
#include <functional>
#include <queue>

#include "merge/clock/causal_process.h"
#include "merge/complete/sync.h"

namespace kojak::merge {

class CausalState {
 protected:
  CausalState(const CausalInputs& in, const Timelines& timelines, bool correcting)
      : in_(in),
        defs_(in.survey.definitions),
        timelines_(timelines),
        correcting_(correcting),
        absolute_(in.pauses),
        channels_(absolute_),
        processes_(timelines.size()) {}

  std::uint64_t add_item(CausalProcess& p, double time) {
    return p.timeline->add(p.linear, time, p.current().stream.position(), p.thread);
  }
  // The current event as a cause of others.
  Cause cause_here(CausalProcess& p) {
    return {p.rank, correcting_ ? add_item(p, p.time) : 0, p.linear, p.time};
  }

  static bool behind(const Cause& cause, const CausalProcess& p, double time) {
    return cause.time > time || (cause.time == time && cause.process > p.rank);
  }
  void count(double cause, double effect) {
    ++counts_.checked;
    if (cause > effect) {
      ++counts_.violations;
      counts_.worst = std::max(counts_.worst, cause - effect);
    }
  }
  bool recorded(std::uint32_t rank) const {
    return rank < processes_.size() && !processes_[rank].threads.empty();
  }
  void enqueue(CausalProcess& p) {
    if (p.queued) return;
    p.queued = true;
    queue_.emplace(p.time, p.rank);
  }

  const CausalInputs& in_;
  const MergedDefinitions& defs_;
  const Timelines& timelines_;
  bool correcting_;
  bool absolute_;  // somebody paused: numbers of messages come from state records, too
  Channels channels_;
  std::vector<CausalProcess> processes_;
  CausalCounts counts_;
  using Turn = std::pair<double, std::uint32_t>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> queue_;
};

}  // namespace kojak::merge
