// What a pattern is handed as `out`: what it may ask of the trace, and where it tells what it
// found.
//
// Knows which operation the patterns are being told of, and hands each wait to those who listen.
// Not thread-safe; nothing fails.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "earl/trace.h"
#include "expert/metrics/time_class.h"
#include "expert/patterns/catalogue.h"
#include "expert/patterns/notes.h"
#include "expert/waits/gate.h"
#include "expert/waits/services.h"
#include "expert/waits/stream.h"

namespace kojak::expert {

template <class Listeners>
class Out final : public WaitStream {
 public:
  // `memory`: see WaitStream. `gate`: of which calls those who listen are told; null: of all.
  Out(const earl::Trace& trace, const Services& services, const RegionClasses& classes,
      Listeners& to, LogMemory* memory, const Gate* gate)
      : trace_(trace),
        services_(services),
        classes_(classes),
        to_(to),
        memory_(memory),
        gate_(gate) {}

  // ---- for the patterns
  // The call `at` waited that long, until the call `by` of another process let it go; from `begin`
  // on if the waiting began later than the call.
  template <class Pattern>
  void add(Pattern, const Call& at, Seconds severity, EndedBy by = {},
           std::optional<Seconds> begin = {}) {
    static_assert(Pattern::kMetric.unit == Unit::kSeconds);
    if (!(severity > Seconds{0})) {
      if constexpr (tells_arrivals<Pattern>()) arrival(at, by);
      return;
    }
    Wait found = wait_of_call(metric_at<Pattern>(at), at);
    found.begin = std::max(begin.value_or(at.waits_from()), at.enter);
    found.end = by.known() ? std::min(by.time, at.exit) : at.exit;
    found.waiting = severity;
    found.ended_by = by;
    found.operation = operation_;
    if constexpr (Pattern::kMetric.nobody_awaited) found.cause = Wait::Cause::kNobody;
    wait(found);
  }
  template <class Pattern>
  void add(Pattern, const earl::OpenCall& at, std::uint64_t amount) {
    static_assert(Pattern::kMetric.unit != Unit::kSeconds);
    if (amount == 0 || !own(at.index, at.enter_pos)) return;
    KOJAK_TELL(to_, on_count, metric_index<Pattern>(), raw(at.cnode), at.index, amount);
  }
  // Of what need not be whole.
  template <class Pattern>
  void add(Pattern, CallPathIndex path, LocationIndex location, double amount) {
    static_assert(Pattern::kMetric.fractions);
    KOJAK_TELL(to_, on_amount, metric_index<Pattern>(), path, location, amount);
  }
  // `of`: a call that it is about.
  void count(Note note, const Call& of) {
    if (own(of.index, of.exit_pos)) ++notes_[static_cast<std::size_t>(note)];
  }
  Seconds delta(const earl::OpenCall& a, const earl::OpenCall& b) const {
    return trace_.has_clock_errors() ? trace_.delta(a.index, b.index) : Seconds{0};
  }
  // No two clocks of the trace are further apart.
  Seconds max_delta() const { return trace_.max_delta(); }
  const Definitions& definitions() const { return trace_.definitions(); }
  const Services& services() const { return services_; }
  bool native() const { return trace_.native(); }
  bool shared_memory(WindowId window) const {
    const WindowDef* def = definitions().windows.find(window);
    return def != nullptr && def->flavour == kFlavourShared;
  }
  TimeClass class_of(const earl::OpenCall& call) const { return classes_[call.region]; }
  // Whether an instance is of a collective of SHMEM, or of another model's, of that class of
  // SHMEM's.
  bool is_shmem(const earl::CollectiveInstance& instance, TimeClass time_class,
                bool broadcast) const {
    const TimeClass own = classes_[instance.region];
    if (instance.function != nullptr || as_shmem(own) != time_class) return false;
    if (own == TimeClass::kUpcCollective) return false;  // which have flags
    const RegionDef* region = definitions().regions.find(instance.region);
    return region != nullptr && is_shmem_broadcast(region->name) == broadcast;
  }
  ShmemRole shmem_role(const earl::OpenCall& call) const {
    const ShmemFunction* shmem = definitions().shmem(call.region);
    return shmem == nullptr ? ShmemRole::kOther : shmem->role;
  }

  // ---- for who tells the patterns
  // What they are told of next is one operation.
  void begin_operation(Operation::Object object, std::uint32_t id,
                       std::uint32_t process = kNoLocation) {
    operation_ = {.object = object, .id = id, .process = process, .number = operation_.number + 1};
  }
  const Operation& operation() const { return operation_; }
  // For a time another one, that began before.
  void set_operation(const Operation& operation) { operation_ = operation; }
  // What is known at the end, of the whole trace.
  void count_at_end(Note note, std::uint64_t times) {
    notes_[static_cast<std::size_t>(note)] += times;
  }
  const std::array<std::uint64_t, kNotes>& notes() const { return notes_; }

  // ---- for who finds waits without being a pattern
  // Who serves the others does not wait.
  void wait(const Wait& found) override {
    if (!own(found.location, found.exit_pos)) return;
    if (!services_.at(found.location, found.enter)) [[likely]]
      KOJAK_TELL(to_, on_wait, found);
  }
  void sum(MetricIndex metric, CallPathIndex path, LocationIndex location, TimeSum time) override {
    KOJAK_TELL(to_, on_sum, metric, path, location, time);
  }
  void begin_stage() override { KOJAK_TELL(to_, on_stage); }
  bool own(const Call& call) const override { return own(call.index, call.exit_pos); }
  LogMemory* memory() override { return memory_; }
  void arrival(const Call& at, const EndedBy& by) {
    if (!own(at.index, at.exit_pos)) return;
    if (services_.at(at.index, at.enter) || services_.at(by.location, by.time)) [[unlikely]]
      return;
    KOJAK_TELL(to_, on_arrival, at, by);
  }
  Listeners& listeners() { return to_; }
  // Whether somebody asks on whom calls depend, waiting or not.
  bool asks_for_arrivals() {
    bool asks = false;
    to_.each([&](auto& listener) {
      asks = asks || requires(const Call& at, const EndedBy& by) {
        listener.on_arrival(at, by);
      };
    });
    return asks;
  }

 private:
  // Of the library whose call it is.
  template <class Pattern>
  MetricIndex metric_at(const earl::OpenCall& at) const {
    constexpr MetricIndex kMetric = metric_index<Pattern>();
    if constexpr (Pattern::kMetric.needs == Needs::kShmem) {
      const std::optional<PgasModel> model = model_of(classes_[at.region]);
      if (model) return in_model(kMetric, *model);
    }
    return kMetric;
  }
  // Whether the one that a pattern names ended the call even if nobody waited.
  template <class Pattern>
  static constexpr bool tells_arrivals() {
    return !is_part_of_pattern(Pattern::kMetric) && !Pattern::kMetric.nobody_awaited &&
           !Pattern::kMetric.names_only_waits;
  }

  KOJAK_INLINED bool own(LocationIndex location, std::uint64_t pos) const {
    return gate_ == nullptr || gate_->own(location, pos);
  }

  const earl::Trace& trace_;
  const Services& services_;
  const RegionClasses& classes_;
  Listeners& to_;
  LogMemory* const memory_;
  const Gate* const gate_;
  std::array<std::uint64_t, kNotes> notes_{};
  Operation operation_;  // that the patterns are being told of
};

}  // namespace kojak::expert
