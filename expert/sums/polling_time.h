// What of series of polls that wait no pattern claims: the metric Polling.
//
// A series counts if something was found at the end of it, or of those that go on in it; or if
// these last 1 ms or more and did not only read (who reads one place 100,000 times and finds the
// same need not wait for another value). What counts of an instance is its exclusive time less all
// claims of patterns; where it lies is told, too, as waits for nobody who is known: what is between
// the claims. Claims come behind the instance, in any order; the latest instances of each location
// are kept until others follow. What is claimed of earlier ones, or by evidence of the whole trace,
// is taken off the sum of the call path and location.
//
// Memory: some 70 instances for each location that polls, more as long as a series goes on. Nothing
// fails. Source: docs/format.md, "Polls".
#pragma once

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "earl/aspects/polls.h"
#include "earl/call.h"
#include "expert/patterns/catalogue.h"
#include "expert/sums/setting.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

class PollingTime {
 public:
  explicit PollingTime(const Setting& setting)
      : services_(setting.services), locations_(setting.locations()) {}

  void on_polled(const earl::OpenCall& call, const earl::PolledSeries& series);
  // Every region instance, at its exit.
  KOJAK_INLINED void on_call(const earl::Call& call) {
    if (call.joined && !services_.at(call.index, call.enter)) [[unlikely]]
      add(call);
  }
  void on_wait(const Wait& wait) {
    if (any_ && claims(wait.metric)) claim(wait);
  }
  void on_sum(MetricIndex metric, CallPathIndex path, LocationIndex location, TimeSum time) {
    if (any_ && claims(metric)) later_[{path, location}] += time;
  }
  // f(const Wait&) for what is known by now.
  template <class F>
  void take(F&& f) {
    for (const Wait& wait : ready_) f(wait);
    ready_.clear();
  }
  // Once, after all waits: take() has the rest then. f(path, location, TimeSum) for what was told
  // and is claimed all the same.
  template <class F>
  void finish(F&& f) {
    for (LocationIndex l = 0; l < locations_.size(); ++l) settle_all(l);
    for (const auto& [place, time] : later_) {
      const auto told = told_.find(place);
      if (told == told_.end() || !time) continue;
      f(place.first, place.second, std::min(time, told->second));
    }
  }

  static constexpr double kLong = 1e-3;  // a stretch without a find

 private:
  static constexpr std::size_t kRecent = 64, kMostOpen = 4096;
  using Place = std::pair<CallPathIndex, LocationIndex>;
  struct Part {
    CallPathIndex path;
    Seconds enter, exit;
    std::uint64_t enter_pos, exit_pos;
    TimeSum left;  // that is not claimed
    std::vector<earl::Interval> claimed;
  };
  // Series that go on in one another.
  struct Stretch {
    Seconds begin, end;
    bool found = false, reads = false;
    bool counts() const { return found || (!reads && (end - begin).value >= kLong); }
  };
  struct Location {
    std::deque<Part> parts;
    std::size_t open = 0;  // the last ones, of the latest stretch
    Stretch stretch;
    std::uint64_t series_of = ~std::uint64_t{0};  // enter_pos of the instance told of last
    bool goes_on = false, found = false, reads = false;
    std::uint64_t settled = 0;  // exit_pos: all up to there are
    bool any_settled = false;
  };

  static bool claims(MetricIndex metric) {
    return kAllMetrics[metric].kind == Metric::Kind::kPattern && !kPartOfPattern[metric];
  }
  void add(const earl::Call& call);
  void claim(const Wait& wait);
  void end_stretch(Location& l);
  void settle_first(LocationIndex location);
  void settle_all(LocationIndex location);

  const Services& services_;
  std::vector<Location> locations_;
  std::vector<Wait> ready_;
  std::map<Place, TimeSum> told_, later_;
  bool any_ = false;
};

}  // namespace kojak::expert
