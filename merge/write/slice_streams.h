// The streams of a slice: where they begin, and when their first and last calls have ended. Part of
// pass 2.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/clock/stream.h"
#include "merge/complete/placement.h"
#include "merge/write/slice.h"

namespace kojak::merge {

class SliceStreams {
 public:
  // Of all of the run where `slice` is null. References must outlive it.
  SliceStreams(const Slice* slice, const std::vector<LocalTrace>& traces)
      : slice_(slice), first_(traces.data()) {}

  bool any() const { return slice_ != nullptr; }
  bool ends_run() const { return slice_ == nullptr || slice_->ends_run; }
  InputPart part(std::size_t trace) const {
    return slice_ == nullptr ? InputPart{} : slice_->traces[trace].part;
  }
  // Brings the streams to where the slice begins, and tells where they stand.
  void begin(std::vector<Stream>& streams, Placement& placement) const {
    for (Stream& s : streams) {
      const Slice::OfTrace& of = slice_->traces[trace_of(s)];
      s.stack = of.open;
      s.input.skip_to(of.part.first);
      for (const Slice::Window& told : of.windows) {
        WindowEpochs& window = placement.window(s.index, told.id);
        window.standing.fences = told.fences;
        window.standing.fence_open = told.fence_open;
        window.standing.all = told.all;
        window.completions = told.completions;
        window.last_stream = s.index;
        for (const Slice::Window::Peer& p : told.peers) {
          PeerEpochs& peer = window.peer(p.rank);
          peer.standing.access = p.access;
          peer.standing.exposure = peer.exposures_ended = p.exposure;
        }
      }
    }
  }
  // The current record has been written; f() gives the number of events written so far.
  template <class F>
  [[gnu::noinline]] void written(const Stream& s, F&& f) const {
    const std::size_t trace = trace_of(s);
    const Slice::OfTrace& of = slice_->traces[trace];
    const std::uint64_t at = s.position();
    if (at == of.met) slice_->edge(trace, false, f());
    if (at == of.last) slice_->edge(trace, true, f());
  }

 private:
  std::size_t trace_of(const Stream& s) const { return static_cast<std::size_t>(s.trace - first_); }
  const Slice* slice_;
  const LocalTrace* first_;
};

}  // namespace kojak::merge
