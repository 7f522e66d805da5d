// Which long MPI calls no pattern explains: the metric Not explained.
//
// For each function a histogram of the durations of its calls gives the median: ten steps to a
// decade, of which the upper end counts. A call is long if more than 1 ms of it, and more than ten
// medians of its function, is claimed by no pattern; with fewer than ten calls of the function, or
// if no pattern looks at the function, 1 ms alone decides. What counts is the unclaimed rest less
// the median (with fewer than ten calls the rest). The median is known at the end only, so rests
// are summed by call path, location and step; as ten times the end of a step is the end of a step
// again, that loses nothing. A call's waits come one after the other, after its exit: the last few
// calls of each location that waited are kept until others follow.
//
// Memory: steps x functions, and a few steps for each call path and location with long calls.
// Start-up (MPI_Init) is left out: what it waits for lies before the trace. So are series of polls:
// they are as long as what they look for takes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "earl/call.h"
#include "expert/patterns/catalogue.h"
#include "expert/sums/setting.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

class Unexplained {
 public:
  explicit Unexplained(const Setting& setting)
      : services_(setting.services),
        steps_(steps()),
        rests_(setting.locations()),
        recent_(setting.locations()) {}

  // Every region instance, at its exit.
  KOJAK_INLINED void on_call(const earl::Call& call) {
    if (call.function == nullptr || !concerns(*call.function) || call.joined) return;
    if (services_.at(call.index, call.enter)) [[unlikely]]
      return;
    if (call.function != last_function_) [[unlikely]] {
      last_function_ = call.function;
      last_histogram_ = &histograms_[call.function];
    }
    ++last_histogram_->counts[steps_.of(call.exclusive.value)];
    ++last_histogram_->calls;
    if (call.exclusive.value > kLong) [[unlikely]]
      add_long(call);
  }
  // A wait of a call that has been told.
  void on_wait(const Wait& wait) {
    if (wait.known == Wait::Known::kInSum || kPartOfPattern[wait.metric]) return;
    if (wait.known == Wait::Known::kAtEnd) {
      late_[{wait.call_path, wait.location}].add(wait.waiting.value);
    } else if (wait.exclusive.value > kLong) {
      claim(wait);
    }
  }
  void on_sum(MetricIndex metric, CallPathIndex path, LocationIndex location, TimeSum time) {
    if (!kPartOfPattern[metric]) late_[{path, location}] += time;
  }
  // What another one was told of other calls; its call path p is paths[p] here.
  void add(Unexplained& other, std::span<const CallPathIndex> paths);
  template <class Archive>
  void visit(Archive& archive) {
    for (LocationIndex l = 0; l < recent_.size(); ++l) settle_all(l);
    std::uint64_t functions = histograms_.size();
    archive(functions);
    auto each = histograms_.begin();
    for (std::uint64_t f = 0; f < functions; ++f) {
      const MpiFunction* function = Archive::kReads ? nullptr : each->first;
      archive.pointer(function, mpi_functions());
      archive(Archive::kReads ? histograms_[function] : (each++)->second);
    }
    std::uint64_t paths = functions_.size();
    archive(paths);
    if constexpr (Archive::kReads) functions_.resize(paths);
    for (const MpiFunction*& function : functions_) archive.pointer(function, mpi_functions());
    archive(rests_, late_);
  }
  // f(CallPathIndex, LocationIndex, TimeSum) for all that is left.
  template <class F>
  void finish(F&& f) {
    for (LocationIndex l = 0; l < recent_.size(); ++l) settle_all(l);
    for (CallPathIndex p = 0; p < functions_.size(); ++p) {
      if (functions_[p] == nullptr) continue;
      const std::span<const Rests> row = rests_.find(p);
      for (LocationIndex l = 0; l < row.size(); ++l) {
        TimeSum left = left_of(*functions_[p], row[l]);
        if (const auto late = late_.find({p, l}); late != late_.end()) left -= late->second;
        if (left > TimeSum::of(kNegligible)) f(p, l, left);
      }
    }
  }

  // The step that a duration belongs to: 10^(i/10) ns up to the next one; the first holds 0, too.
  static unsigned step_of(Seconds duration) { return steps().of(duration.value); }
  static double upper_end(unsigned step) { return steps().ends[step]; }

 private:
  static constexpr unsigned kSteps = 161;  // up to 10^7 s
  static constexpr double kNegligible = 1e-9;
  static constexpr std::uint64_t kFew = 10;
  static constexpr double kLong = 1e-3;
  static constexpr std::size_t kRecent = 4;

  struct Steps {
    std::array<double, kSteps> ends;          // upper ones, in seconds
    std::array<std::uint8_t, 2048> first_of;  // by binary exponent: the first that can be meant
    KOJAK_INLINED unsigned of(double duration) const {
      if (!(duration > 0)) return 0;
      unsigned step = first_of[std::bit_cast<std::uint64_t>(duration) >> 52 & 0x7FF];
      while (step + 1 < kSteps && ends[step] <= duration) ++step;
      return step;
    }
  };
  static const Steps& steps();
  struct Histogram {
    std::array<std::uint64_t, kSteps> counts{};
    std::uint64_t calls = 0;
  };
  struct Rest {  // of calls of which this much is unclaimed
    std::uint32_t step = 0;
    std::int64_t calls = 0;
    TimeSum sum;
  };
  using Rests = std::vector<Rest>;
  struct Claimed {
    std::uint64_t enter_pos = 0;
    CallPathIndex path = 0;
    TimeSum duration, claimed;
  };

  static bool concerns(const MpiFunction& function) { return function.role != MpiRole::kInit; }
  static bool looked_at(const MpiFunction& function) { return function.role != MpiRole::kOther; }
  void add_long(const earl::Call& call);
  void claim(const Wait& wait);
  void move(CallPathIndex path, LocationIndex location, TimeSum rest, std::int64_t calls);
  void settle(LocationIndex location, const Claimed& claimed);
  void settle_all(LocationIndex location);
  TimeSum left_of(const MpiFunction& function, const Rests& rests) const;

  const Services& services_;
  const Steps& steps_;
  std::map<const MpiFunction*, Histogram> histograms_;
  const MpiFunction* last_function_ = nullptr;
  Histogram* last_histogram_ = nullptr;
  std::vector<const MpiFunction*> functions_;  // by call path with long calls
  RowTable<Rests> rests_;
  std::vector<std::vector<Claimed>> recent_;  // by location, the oldest first
  std::map<std::pair<CallPathIndex, LocationIndex>, TimeSum> late_;
};

}  // namespace kojak::expert
