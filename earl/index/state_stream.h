// Streaming: one forward pass over a trace that gives each event, with the state after it.
//
//   earl::Trace trace = ...;  earl::sequence::StateStream stream(trace);  Event e;
//   while (stream.next(e)) look_at(e, stream.state());
//
// Events come with region and enterptr. Memory: what is open. The trace must outlive it. After the
// last event state().messages holds the pairs that became final only then.
// Source: docs/earl.md.
#pragma once

#include "earl/index/state.h"

namespace kojak::earl::sequence {

class StateStream {
 public:
  explicit StateStream(Trace& trace) : trace_(trace), state_(trace) {}
  // False at the end of the trace, or at its damage (Trace::damage()).
  bool next(Event& event) {
    if (trace_.next(event)) {
      state_.apply(event);
      return true;
    }
    if (!ended_) state_.messages.finish();
    ended_ = true;
    return false;
  }
  const State& state() const { return state_; }

 private:
  Trace& trace_;
  State state_;
  bool ended_ = false;
};

}  // namespace kojak::earl::sequence
