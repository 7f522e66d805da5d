// Whether the processes had a processor when they wanted to run (PROCESSOR): on machines with more
// work than processors the commonest reason for being late, and none that lies in the program.
//
// The kernel's counts stand at calls, 0.1 s apart or more, and around what is done outside of calls
// for long and without a processor, or blocked: that is summed apart, and exact. Else the time
// without a processor is known between two of them, of a part of that only bounds.
// What one that serves the others lacks makes no worker late, and is not counted.
// Memory: 16 bytes for each of at most kReadings readings; with more, every second is dropped, as
// often as needed. Times in seconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "earl/event.h"
#include "expert/metrics/selection.h"
#include "expert/metrics/time_class.h"
#include "expert/sums/instances.h"
#include "expert/sums/not_run.h"
#include "expert/sums/processor_use.h"
#include "expert/sums/setting.h"

namespace kojak::expert {

inline constexpr std::string_view kNoProcessorMetric = "no_processor";  // a metric

class Processors {
 public:
  static constexpr std::size_t kReadings = std::size_t{1} << 20;

  explicit Processors(const Setting& setting);
  explicit Processors(std::size_t locations, std::size_t readings = kReadings);

  void add(LocationIndex location, CallPathIndex path, Seconds time,
           const earl::ProcessorTimes& times);
  // A reading before those that count.
  void on_processor_before(LocationIndex location, Seconds time, const earl::ProcessorTimes& times) {
    locations_[location].not_run.add(time, times);
  }
  // What another one was told of, behind this one; its call path p is paths[p] here. False: both
  // together are another thing than all of it at once (too many readings, or counts that fall).
  bool add(const Processors& other, std::span<const CallPathIndex> paths);
  template <class Archive>
  void visit(Archive& archive) {
    for (Location& l : locations_) {
      archive(l.readings, l.seen, l.every, l.path, l.first, l.last, l.begin, l.end, l.blocked,
              l.no_processor);
    }
    archive(any_);
  }
  void on_processor(const earl::OpenCall& in, Seconds time, const earl::ProcessorTimes& times);
  bool any() const { return any_; }
  // By location: whether there are readings around all that it does outside of calls.
  const std::vector<bool>& looked_at() const { return looked_at_; }
  bool any_looked_at() const {
    return std::find(looked_at_.begin(), looked_at_.end(), true) != looked_at_.end();
  }

  // How long the thread was without a processor within [from, to]: no less and no more than that.
  struct Bounds {
    double least = 0, most = 0;
  };
  Bounds without(LocationIndex location, Seconds from, Seconds to) const;

  // Instance::without_processor.
  void add_to(WaitResults& waits) const;
  ProcessorUse finish(const Definitions& definitions, const std::vector<CallPath>& paths) const;

 private:
  struct Reading {
    Seconds time;
    std::uint64_t wanted;  // nanoseconds
  };
  struct Location {
    std::vector<Reading> readings;
    std::uint64_t seen = 0;  // all that were given
    unsigned every = 1;      // of these one is kept
    CallPathIndex path = 0;  // of the first
    earl::ProcessorTimes first, last;
    Seconds begin, end;
    NotRunFinder not_run;
    TimeSum blocked, no_processor;  // outside of calls
  };
  ProcessorUse summarise(const Definitions& definitions) const;

  std::vector<Location> locations_;
  std::vector<bool> looked_at_;
  std::optional<RegionClasses> classes_;
  const Services* services_ = nullptr;
  std::size_t most_;  // readings of a location
  bool any_ = false;
};

// The root metric kNoProcessorMetric: of each thread at its outermost region.
void add_processor_metric(const ProcessorUse& use, SeverityStore& severities,
                          std::vector<ReportMetric>& metrics);

}  // namespace kojak::expert
