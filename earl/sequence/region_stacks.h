// State aspect: the region stack of each location, as numbers of ENTER events.
//
// apply() is the transition operator; feed it every event in file order. It also fills in what an
// event gets from its region instance: reg (the region entered, left, or that the event lies in)
// and enterptr. Every other aspect wants events that have been filled in so. LOG_OFF and
// ENTER_TRACING open instances of PAUSING and TRACING; their ends close only those; an exit without
// an ENTER changes nothing and has neither. Memory: open instances. Not thread-safe; nothing fails.
// Source: docs/earl.md.
#pragma once

#include <span>
#include <vector>

#include "earl/sequence/blob.h"
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
      stack.pop_back();
    }
    event.reg = top;
  }
  // Of the location with this dense number, outermost first.
  std::span<const OpenRegion> stack(std::uint32_t index) const { return stacks_[index]; }

  void save(BlobWriter& out) const {
    for (const std::vector<OpenRegion>& stack : stacks_) {
      out.number(stack.size());
      for (const OpenRegion& open : stack) out.numbers(open.enter, raw(open.region));
    }
  }
  void load(BlobReader& in) {
    for (std::vector<OpenRegion>& stack : stacks_) {
      stack.resize(in.count());
      for (OpenRegion& open : stack) in.numbers(open.enter, open.region);
    }
  }

 private:
  const Trace* trace_;
  std::vector<std::vector<OpenRegion>> stacks_;  // by dense number of the location
};

}  // namespace kojak::earl::sequence
