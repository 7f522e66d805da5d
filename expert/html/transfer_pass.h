// The first pass over a trace: starts and ends of its transfers, which lie on two locations.
//
// A transfer is put together by its origin and rmaid; memory follows what is open and the limit of
// the sample. Not thread-safe; faults of the trace are counted there.
#pragma once

#include <cmath>
#include <functional>
#include <unordered_map>
#include <vector>

#include "earl/trace.h"
#include "expert/html/sample.h"
#include "expert/html/trace_content.h"

namespace kojak::html {

// From seconds of the trace.
struct Clock {
  double begin = 0;
  Nanoseconds operator()(Seconds time) const {
    const double distance = (time.value - begin) * 1e9;
    return distance > 0 ? static_cast<Nanoseconds>(std::llround(distance)) : 0;
  }
  Nanoseconds length(Seconds time) const {
    return time.value > 0 ? static_cast<Nanoseconds>(std::llround(time.value * 1e9)) : 0;
  }
};

using TransferKey = std::uint64_t;  // origin process and rmaid
inline TransferKey transfer_key(ProcessId origin, RmaId rmaid) {
  return static_cast<TransferKey>(raw(origin)) << 32 | raw(rmaid);
}

class TransferPass {
 public:
  TransferPass(earl::Trace& trace, std::size_t limit) : trace_(trace), sample_(limit) {}

  void run(const std::function<void(std::uint64_t)>& progress);

  Clock clock() const { return clock_; }
  double end() const { return std::max(end_, clock_.begin); }
  std::uint64_t seen() const { return sample_.seen(); }

  std::vector<TransferArrow> finish(std::unordered_map<TransferKey, std::size_t>& places);

 private:
  struct Kept {
    TransferArrow arrow;
    TransferKey key = 0;
  };
  static constexpr TransferArrow kUnknown{.origin = kAbsent, .target = kAbsent, .window = kAbsent};

  void transfer(const earl::Event& event);

  void add(TransferArrow arrow, TransferKey key);

  earl::Trace& trace_;
  Clock clock_;
  double end_ = 0;
  Sample<Kept> sample_;
  std::unordered_map<TransferKey, TransferArrow> open_;
};

}  // namespace kojak::html
