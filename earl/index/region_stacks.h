// State aspect: the region stack of each location, as numbers of ENTER events.
//
// apply() is the transition operator; feed it every event in file order. It also fills in what an
// event gets from its region instance: reg (the region entered, left, or that the event lies in)
// and enterptr. Every other aspect wants events that have been filled in so. LOG_OFF and
// ENTER_TRACING open instances of PAUSING and TRACING; their ends close only those; an exit without
// an ENTER changes nothing and has neither. Memory: open instances.
// record() and restore(): state.h. Source: docs/earl.md.
#pragma once

#include <span>
#include <vector>

#include "earl/index/interval_column.h"
#include "earl/trace.h"

namespace kojak::earl::sequence {

struct OpenRegion {
  std::uint64_t enter;  // number of the ENTER
  RegionId region;
};

class RegionStacks {
 public:
  explicit RegionStacks(const Trace& trace) : trace_(&trace), stacks_(trace.location_count()) {}

  void apply(Event& event) {
    const std::uint32_t i = trace_->index(event.loc);
    if (i == kAbsent) [[unlikely]]
      return;
    std::vector<OpenRegion>& stack = stacks_[i];
    if (!stack.empty()) event.enterptr = stack.back().enter;
    if (is_enter(event.type)) {
      stack.push_back({event.pos, event.reg});
      return;
    }
    if (stack.empty()) return;
    const RegionId top = stack.back().region;
    if (is_exit(event.type)) {
      if ((event.type == EventType::kLogOn && top != trace_->pausing_region()) ||
          (event.type == EventType::kExitTracing && top != trace_->tracing_region())) [[unlikely]] {
        event.enterptr = kNoEvent;
        return;
      }
      if (log_ != nullptr) (*log_)[i].add(stack.back().enter, event.pos);
      stack.pop_back();
    }
    event.reg = top;
  }
  // The open regions of the location with this dense number, outermost first.
  std::span<const OpenRegion> stack(std::uint32_t index) const { return stacks_[index]; }

  // Region instances, from ENTER to exit, by location.
  void record(std::vector<IntervalColumn>* log) { log_ = log; }
  void end_record(std::uint64_t end) {
    for (std::size_t i = 0; i < stacks_.size(); ++i) {
      for (const OpenRegion& open : stacks_[i]) (*log_)[i].add(open.enter, end);
    }
  }
  // The stack of one location.
  void restore(std::uint32_t index, std::vector<OpenRegion> stack) {
    stacks_[index] = std::move(stack);
  }

 private:
  const Trace* trace_;
  std::vector<IntervalColumn>* log_ = nullptr;
  std::vector<std::vector<OpenRegion>> stacks_;  // by dense number of the location
};

}  // namespace kojak::earl::sequence
