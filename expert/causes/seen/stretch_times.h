// How the processes spent what they did between calls: that they ran, were blocked, or had no
// processor (PROCESSOR), so that a root cause says it and not that it computed.
//
// Fed as StretchSums. A cause is charged as before: only what it took longer is divided, by what
// its process did not run more than the others in that stretch. Only for traces with readings
// around what is done outside of calls (RUN_PROPERTY processor.stretches); processes without are
// left out. Memory: that of StretchSums. Not thread-safe; nothing fails.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "expert/causes/root_causes.h"
#include "expert/causes/seen/stretch_sums.h"
#include "expert/sums/not_run.h"
#include "expert/sums/processors.h"

namespace kojak::expert {

class StretchTimes {
 public:
  // Absent: no process has such readings.
  static std::optional<StretchTimes> of(const Setting& setting, const RegionClasses& classes) {
    const Processors readings(setting);
    if (!readings.any_looked_at()) return std::nullopt;
    return StretchTimes(classes, readings.looked_at());
  }
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

  // A reading before those that count.
  void on_processor_before(LocationIndex location, Seconds time,
                           const earl::ProcessorTimes& times) {
    (void)readings_[location].add(time, times);
  }
  void on_goes_on(const earl::Call& from) { sums_.on_goes_on(from); }
  // After the last event: what another one was told of; its call path p is paths[p] here.
  void add(StretchTimes& other, std::span<const CallPathIndex> paths) {
    other.sums_.finish();
    sums_.add(other.sums_, paths);
  }
  template <class Archive>
  void visit(Archive& archive) {
    sums_.finish();
    archive(sums_);
  }
  // After the last event.
  void add_to(RootCauses& causes);

 private:
  // Times: without a processor, not known, and by what it was blocked.
  static constexpr std::size_t kNoProcessor = 0, kUnknown = kBlockedKinds,
                               kValues = kBlockedKinds + 1;

  std::vector<bool> looked_at_;
  StretchSums<Ticks> sums_;
  std::vector<NotRunFinder> readings_;
};

}  // namespace kojak::expert
