// How the processes spent what they did between calls: that they ran, were blocked, or had no
// processor (PROCESSOR), so that a root cause says it and not that it computed.
//
// Fed as StretchSums. A cause is charged as before: only what it took longer is divided, by what
// its process did not run more than the others in that stretch. Only for traces with readings
// around what is done outside of calls (RUN_PROPERTY processor.stretches); processes without are
// left out. Memory: that of StretchSums. Not thread-safe; nothing fails.
#pragma once

#include <vector>

#include "expert/causes/root_causes.h"
#include "expert/causes/seen/stretch_sums.h"
#include "expert/sums/not_run.h"

namespace kojak::expert {

class StretchTimes {
 public:
  // `looked_at`: by location, whether there are such readings.
  StretchTimes(const RegionClasses& classes, std::vector<bool> looked_at)
      : looked_at_(std::move(looked_at)),
        sums_(kValues, classes, looked_at_.size()),
        readings_(looked_at_.size()) {}

  void use(const LibraryCalls* library) { sums_.use(library); }
  void compare_as(CallPathIndex path, CallPathIndex as) { sums_.compare_as(path, as); }
  void on_enter(const earl::OpenCall& call) { sums_.on_enter(call); }
  void on_call(const earl::Call& call) { sums_.on_call(call); }
  void on_processor(const earl::OpenCall& in, Seconds time, const earl::ProcessorTimes& times);

  // After the last event.
  void add_to(RootCauses& causes);

 private:
  // Seconds: without a processor, not known, and by what it was blocked.
  static constexpr std::size_t kNoProcessor = 0, kUnknown = kBlockedKinds,
                               kValues = kBlockedKinds + 1;

  std::vector<bool> looked_at_;
  StretchSums sums_;
  std::vector<NotRunFinder> readings_;
};

}  // namespace kojak::expert
