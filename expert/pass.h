// The pass of an analysis over a trace: the sink, who finds waits, and the list of those who
// listen.
//
// For analysis.cc alone, and local to it: what is called once is inlined then.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "earl/replay.h"
#include "expert/analysis.h"
#include "expert/causes/cause_finder.h"
#include "expert/causes/group_maker.h"
#include "expert/causes/seen/stretch_counters.h"
#include "expert/causes/seen/stretch_times.h"
#include "expert/ends/last_call_finder.h"
#include "expert/ends/last_waits.h"
#include "expert/ends/unbegun.h"
#include "expert/page/trace_reader.h"
#include "expert/part_sums.h"
#include "expert/patterns/catalogue.h"
#include "expert/patterns/out.h"
#include "expert/patterns/wait_finders.h"
#include "expert/sums/hardware_counters.h"
#include "expert/sums/masters.h"
#include "expert/sums/processors.h"
#include "expert/sums/samples.h"
#include "expert/sums/tell_polling.h"
#include "expert/sums/time_profile.h"
#include "expert/sums/unexplained.h"

namespace kojak::expert {
namespace {  // NOLINT

// Who listens to what the trace tells and to the waits that are found (waits/stream.h). A new
// consumer is its file and its word here.
using Listeners =
    Consumers<SeverityStore*, TimeProfile, Unexplained, UpcMasters, PollingTime, Dispatchers,
              LastCallFinder, Unbegun, Samples, Processors, FailedCallCounter,
              std::optional<HardwareCounters>, std::optional<Instances>, std::optional<CauseFinder>,
              std::optional<StretchCounters>, std::optional<StretchTimes>, SendModes*,
              html::TimelineReader*, WaitList*>;

// Receives the replay's events and hands them to those who listen and to those who find waits,
// which come back as rows for the ones who listen.
class Analysis : public earl::Sink {
 public:
  using Counts = std::span<const std::uint64_t>;  // of the trace's hardware counters

  // `gate`: which calls are added up; null: all.
  Analysis(const earl::Trace& trace, const AnalysisOptions& options, const Gate* gate)
      : options_(options),
        gate_(gate),
        passed_(gate == nullptr ? 0 : gate->locations.size()),
        severities_(kAllMetrics, trace.location_count()),
        setting_{trace, severities_},
        classes_(trace.definitions()),
        to_(setting_),
        out_(trace, setting_.services, classes_, with_extras(trace),
             options.want_each_wait() ? &logs_ : nullptr, gate),
        finders_(trace, out_) {
    follows_ = finders_.follow_calls();
    to_.each_extra([&](auto& c) {
      follows_ = follows_ || requires(const earl::OpenCall& call) {
        c.on_enter(call);
      }
      || requires(const earl::Call& call) {
        c.on_call(call);
      }
      || requires(const earl::Call& call, Counts counts) {
        c.on_call(call, counts);
      };
    });
  }

  void begin(const earl::CallTree& tree, Seconds first) {
    library_.emplace(tree, out_.definitions());
    KOJAK_TELL(to_, use, &*library_);
    KOJAK_TELL(to_, on_begin, first);
  }

  // ---- from the replay
  template <int kStep>
  KOJAK_INLINED void fetch(LocationIndex location, ProcessId process) const {
    finders_.template fetch<kStep>(location, process);
  }
  KOJAK_INLINED void on_enter(const earl::OpenCall& call) {
    if (follows_) [[unlikely]]
      follow_enter(call);
    KOJAK_TELL_EACH(to_, each_always, on_enter, call);
  }
  KOJAK_INLINED void on_call(const Call& call, Counts counters) {
    const bool own = gate_ == nullptr || gate_->own(call.index, call.exit_pos);
    if (gate_ != nullptr) [[unlikely]]
      pass_gate(call);
    if (own) [[likely]]
      KOJAK_TELL_EACH(to_, each_always, on_call, call);
    else if (call.incomplete)
      of<TimeProfile>().leave_open(call);
    finders_.on_every_call(call);
    if (call.joined) [[unlikely]]
      tell_polling(to_, out_);
    if (follows_) [[unlikely]]
      follow_exit(call, counters, own);
    if ((++calls_ & 0xFFFFF) == 0 && options_.progress) options_.progress(call.exit_pos);
  }
  KOJAK_INLINED void on_transfer(const earl::Transfer& transfer) {
    KOJAK_TELL(to_, on_transfer, transfer);
    finders_.on_transfer(transfer);
  }
  bool wants_transfer_ends() const { return options_.page != nullptr || finders_.wants_ends(); }
  void on_omp_task(const earl::OpenCall& task, ThreadId creator) {
    finders_.on_omp_task(task, creator);
  }
  void on_marked_transfer(ProcessId origin, RmaId rmaid, ProcessId,
                          const earl::AccessEpoch* epoch) {
    finders_.on_marked_transfer(origin, rmaid, epoch);
  }
  // All others, by how many things they tell.
#define KOJAK_TELL_ALL(handler, ...)                            \
  KOJAK_TELL(to_, handler, __VA_ARGS__);                        \
  [&](auto& finders) {                                          \
    if constexpr (requires { finders.handler(__VA_ARGS__); }) { \
      finders.handler(__VA_ARGS__);                             \
    }                                                           \
  }(finders_);
#define KOJAK_ONE(handler) \
  template <class A>       \
  void handler(const A& a){KOJAK_TELL_ALL(handler, a)}
#define KOJAK_TWO(handler)               \
  template <class A, class B>            \
  void handler(const A& a, const B& b) { \
    KOJAK_TELL_ALL(handler, a, b)        \
  }
  KOJAK_ONE(on_access_epoch)
  KOJAK_ONE(on_access_transaction)
  KOJAK_ONE(on_collective)
  KOJAK_ONE(on_collective_begun)
  KOJAK_ONE(on_collective_exit)
  KOJAK_ONE(on_collective_unbegun)
  KOJAK_ONE(on_collective_wait)
  KOJAK_ONE(on_exposure_transaction)
  KOJAK_ONE(on_fence_epoch)
  KOJAK_ONE(on_first_sample)
  KOJAK_ONE(on_message_call)
  KOJAK_ONE(on_passive_epoch)
  KOJAK_ONE(on_passive_step)
  KOJAK_ONE(on_receive)
  KOJAK_ONE(on_rma_place)
  KOJAK_ONE(on_send)
  KOJAK_ONE(on_symmetric_lock)
  KOJAK_ONE(on_symmetric_wait)
  KOJAK_ONE(on_transfer_end)
  KOJAK_ONE(on_unreceived)
  KOJAK_ONE(on_window_collective)
  KOJAK_TWO(on_awaits)
  KOJAK_TWO(on_comm_created)
  KOJAK_TWO(on_counted)
  KOJAK_TWO(on_epoch_call)
  KOJAK_TWO(on_found)
  KOJAK_TWO(on_omp_fork)
  KOJAK_TWO(on_open_call)
  KOJAK_TWO(on_partitioned)
  KOJAK_TWO(on_polled)
  KOJAK_TWO(on_polls)
  KOJAK_TWO(on_polls_moved)
  KOJAK_TWO(on_probe)
  KOJAK_TWO(on_quiet)
  KOJAK_TWO(on_request_tested)
  KOJAK_TWO(on_value)
#undef KOJAK_TWO
#undef KOJAK_ONE
#undef KOJAK_TELL_ALL
  void on_processor(const earl::OpenCall& in, Seconds time, const earl::ProcessorTimes& times) {
    if (own_now(in.index)) return KOJAK_TELL(to_, on_processor, in, time, times);
    KOJAK_TELL(to_, on_processor_before, in.index, time, times);
  }
  void on_process_end(const earl::OpenCall& call, Seconds last, Seconds time) {
    KOJAK_TELL(to_, on_process_end, call, last, time);
  }
  void on_failed_call(const earl::OpenCall& call, Seconds time, std::uint8_t error_class,
                      std::uint32_t code) {
    if (own_now(call.index)) KOJAK_TELL(to_, on_failed_call, call, time, error_class, code);
  }
  void on_sample(const earl::OpenCall& in, Seconds time, CallSiteId site, std::uint32_t count) {
    if (own_now(in.index)) KOJAK_TELL(to_, on_sample, in, time, site, count);
  }
  void on_unmet_receive(ProcessId process, ProcessId source, CommId com, Tag tag,
                        RequestId request) {
    KOJAK_TELL(to_, on_unmet_receive, process, source, com, tag, request);
  }
  void on_omp_join(const earl::OpenCall& call, Seconds) {
    finders_.on_omp_join(call);
  }
  void on_omp_team(const earl::OpenCall& call, std::uint64_t team, std::uint32_t index,
                   std::uint32_t size) {
    finders_.on_omp_team(call, team, index, size);
  }
  void on_omp_lock(const earl::OpenCall& call, LockId lock, Seconds time, bool acquired) {
    finders_.on_omp_lock(call, lock, time, acquired);
  }

  // After the last event. The rest is asked once, in this order.
  void end(const earl::CallTree& tree, Seconds last) {
    KOJAK_TELL(to_, on_end, last);
    of<TimeProfile>().finish(tree);
    finders_.on_end();
  }
  void finish(const PassiveEvidence* of_run = nullptr) {
    finders_.finish(of_run);
    if (of<LastCallFinder>().any()) {
      last_calls_ = of<LastCallFinder>().finish();
      last_waits_ = find_last_waits(last_calls_);
      KOJAK_TELL(to_, on_last_waits, last_waits_.common);
      std::size_t n = 0;
      for (const LastWait& last_wait : last_waits_.waits) out_.wait(wait_of(last_wait, ++n));
    }
    finish_polling(to_, out_, severities_);
    of<UpcMasters>().finish(severities_);
  }
  // Where the trace begins in the midst of a run, after begin().
  void go_on_from(const earl::Standing& standing) {
    for (std::uint32_t i = 0; i < standing.locations.size(); ++i) {
      const auto& told = standing.locations[i].processor;
      if (told) KOJAK_TELL(to_, on_processor_before, i, told->time, told->times);
    }
  }
  // What is added up, once.
  PartSums take_sums(const earl::CallTree& tree, const earl::Findings& findings) {
    PartSums sums{std::move(severities_), std::move(of<Unexplained>())};
    sums.paths = call_paths_of(tree);
    sums.notes = out_.notes();
    sums.failed = of<FailedCallCounter>();
    sums.findings.add(findings);
    if (gate_ != nullptr) {
      sums.processors = std::move(of<Processors>());
      sums.dispatchers.emplace(of<Dispatchers>());
      sums.samples.emplace(std::move(of<Samples>()));
      sums.late = sums.late || !sums.dispatchers->none();  // (it has moved their waits)
      if (options_.send_modes != nullptr) sums.send_modes = *options_.send_modes;
      if (options_.page != nullptr) sums.page.emplace(std::move(options_.page->sums()));
    }
    sums.instances = std::move(of<std::optional<Instances>>());
    sums.spent = std::move(of<std::optional<StretchTimes>>());
    if (const RmaWaits* const rma = finders_.rma()) {
      sums.sureness = rma->sureness();
      sums.lock_decisions = rma->lock_decisions();
    }
    return sums;
  }
  // Another one's, to be read (PartSums::visit).
  PartSums no_sums() const {
    PartSums sums{SeverityStore(kAllMetrics, severities_.locations()), Unexplained(setting_)};
    sums.processors.emplace(setting_);
    sums.dispatchers.emplace(setting_);
    sums.samples.emplace(setting_);
    if (options_.partners) sums.instances.emplace(options_.instances, setting_.locations());
    if (options_.send_modes != nullptr) sums.send_modes = options_.send_modes->fresh();
    if (options_.root_causes) sums.spent = StretchTimes::of(setting_, classes_);
    if (options_.page != nullptr) sums.page.emplace(options_.page->no_sums());
    return sums;
  }
  auto root_causes(const WaitResults& waits, PartSums& sums, CauseParts* others)
      -> std::optional<RootCauses> {
    auto& causes = of<std::optional<CauseFinder>>();
    if (!causes) return std::nullopt;
    RootCauses found = causes->finish(waits, others, sums.paths);
    add_deadlocks(last_waits_, last_calls_.deadlocks.size(), found);
    add_deadlock_groups(found);
    if (auto& counters = of<std::optional<StretchCounters>>()) counters->add_to(found);
    if (sums.spent) sums.spent->add_to(found);
    return found;
  }
  LastCalls take_last_calls() {
    return std::move(last_calls_);
  }
  template <class Consumer>
  Consumer& of() {
    return to_.get<Consumer>();
  }
  WaitFinders<Out<Listeners>>& finders() {
    return finders_;
  }

 private:
  // Whether what a location tells between calls is own, by now: behind its exit from the meeting
  // at which the slice begins. (With the one at which it ends its records end.)
  bool own_now(LocationIndex location) const {
    return gate_ == nullptr || gate_->locations[location].first == 0 || passed_[location];
  }
  void pass_gate(const Call& call) {
    if (call.exit_pos + 1 != gate_->locations[call.index].first) return;
    passed_[call.index] = true;
    KOJAK_TELL(to_, on_goes_on, call);
  }
  // The consumers that this trace and the caller want.
  Listeners& with_extras(const earl::Trace& trace) {
    const std::size_t locations = trace.location_count();
    of<SeverityStore*>() = &severities_;
    of<SendModes*>() = options_.send_modes;
    of<html::TimelineReader*>() = options_.page;
    of<WaitList*>() = options_.waits;
    if (options_.partners) of<std::optional<Instances>>().emplace(options_.instances, locations);
    const bool counters = !trace.definitions().metrics.empty();
    if (counters) of<std::optional<HardwareCounters>>().emplace(setting_);
    if (!options_.root_causes) return to_;
    const CauseFinder::Options limits{.most = options_.most_of_root_causes};
    of<std::optional<CauseFinder>>().emplace(setting_, classes_, limits, logs_);
    of<std::optional<StretchTimes>>() = StretchTimes::of(setting_, classes_);
    if (counters) {
      of<std::optional<StretchCounters>>().emplace(trace.definitions(), classes_, locations);
    }
    return to_;
  }
  // What only some traces and some wishes need of every region instance.
  [[gnu::noinline]] void follow_enter(const earl::OpenCall& call) {
    finders_.on_enter(call);
    if (!own_now(call.index)) return KOJAK_TELL_EACH(to_, each_extra, on_enter_before, call);
    KOJAK_TELL_EACH(to_, each_extra, on_enter, call);
  }
  [[gnu::noinline]] void follow_exit(const Call& call, Counts counters, bool own) {
    finders_.on_call(call);
    if (!own) return KOJAK_TELL_EACH(to_, each_extra, on_call_before, call);
    KOJAK_TELL_EACH(to_, each_extra, on_call, call);
    KOJAK_TELL_EACH(to_, each_extra, on_call, call, counters);
  }

  const AnalysisOptions& options_;
  const Gate* const gate_;
  std::vector<bool> passed_;  // by location
  LogMemory logs_;            // of waits: what one is done with is there for the next
  SeverityStore severities_;
  Setting setting_;
  RegionClasses classes_;
  Listeners to_;
  Out<Listeners> out_;
  WaitFinders<Out<Listeners>> finders_;
  bool follows_ = false;  // something needs every region instance
  std::optional<LibraryCalls> library_;
  LastCalls last_calls_;
  LastWaits last_waits_;
  std::uint64_t calls_ = 0;
};

}  // namespace
}  // namespace kojak::expert
