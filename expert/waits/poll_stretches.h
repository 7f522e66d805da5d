// Series of polls that go on in one another: what comes before the part that a call ends.
//
// A sample, a region of the program's or something else that was found divides a series. Whoever
// knows for what the call at its end waited asks here for the parts before. Feed it every series
// and the exit of its instance. Memory: parts of the stretch that is open on each location, at most
// kMostParts, and copies for the last calls that ended one: a call is asked about when its messages
// are final. Source: docs/format.md, "Polls".
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "earl/aspects/polls.h"
#include "earl/aspects/symmetric_memory.h"
#include "earl/call.h"

namespace kojak::expert {

class PollStretches {
 public:
  struct Part {
    earl::Call call;
    earl::PolledSeries series;

    // When it first asked for this request, or at the place in the code where that was found;
    // nothing if it asked for neither.
    std::optional<Seconds> since(RequestId request, const earl::OpenCall& found) const {
      std::optional<Seconds> first;
      if (!is_absent(request)) first = series.first_for(request);
      for (const MpiPoll& m : series.members) {
        const bool several = raw(m.kind) != raw(PollKind::kRequest) || raw(m.requests) > 1;
        const bool may_be = is_absent(request) || several;
        if (!first && may_be && m.rid == found.region && m.csid == found.csite) {
          first = m.first_enter;
        }
      }
      return first;
    }
    // When it first tested one of these variables of SHMEM.
    template <class Variables>
    std::optional<Seconds> since(const Variables& variables) const {
      std::optional<Seconds> first;
      for (const earl::AwaitedVariable& variable : variables) {
        const std::optional<Seconds> tested = series.first_for_variable(variable.offset);
        if (tested && (!first || *tested < *first)) first = tested;
      }
      return first;
    }
  };
  using Parts = std::vector<Part>;

  explicit PollStretches(std::size_t locations) : locations_(locations) {}

  void on_polled(const earl::OpenCall& call, const earl::PolledSeries& series) {
    Location& l = locations_[call.index];
    if (!series.goes_on()) l.open.clear();
    l.latest = series;
    l.enter_pos = call.enter_pos;
  }
  KOJAK_INLINED void on_call(const earl::Call& call) {
    if (call.joined) [[unlikely]]
      end(call);
  }
  // The parts before that of this call, in order; null if there are none.
  const Parts* before(const earl::Call& call) const {
    for (const Ended& e : locations_[call.index].ended) {
      if (e.enter_pos == call.enter_pos) return &e.parts;
    }
    return nullptr;
  }

  // The parts of the latest stretch of a location, in order.
  const Parts& latest(std::uint32_t location) const { return locations_[location].open; }

 private:
  static constexpr std::size_t kMostParts = 4096, kMostEnded = 16;
  struct Ended {
    std::uint64_t enter_pos;
    Parts parts;
  };
  struct Location {
    earl::PolledSeries latest;
    std::uint64_t enter_pos = ~std::uint64_t{0};  // of its instance
    Parts open;
    std::deque<Ended> ended;
  };

  void end(const earl::Call& call) {
    Location& l = locations_[call.index];
    if (l.enter_pos != call.enter_pos) return;
    if (!l.latest.alone() && !l.open.empty()) {
      if (l.ended.size() == kMostEnded) l.ended.pop_front();
      l.ended.push_back({call.enter_pos, l.open});
    }
    if (call.polled && l.open.size() < kMostParts) l.open.push_back({call, l.latest});
  }

  std::vector<Location> locations_;
};

}  // namespace kojak::expert
