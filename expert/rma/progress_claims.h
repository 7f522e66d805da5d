// Claims of Wait for Progress, until it is known whether they hold.
//
// If any call that cannot end without its target began and ended while the target was outside MPI,
// then progress needs no MPI calls there, and all claims of that window, kind of call, and same or
// different node are void. So claims are summed up apart until the end of the trace. Memory:
// windows x kinds x call paths x locations that claim something. Not thread-safe; nothing fails.
// Source: the pattern spec, "Wait for Progress", "Guard against false claims".
#pragma once

#include <array>
#include <map>
#include <unordered_map>

#include "expert/rma/waiting_call.h"
#include "expert/worst_instances.h"

namespace kojak::expert {

class ProgressClaims {
 public:
  explicit ProgressClaims(std::size_t instances) : instances_(instances) {}

  // A call of that kind ended although its target, on the same node or not, had been outside ever
  // since one of its operations was issued.
  void asynchronous(WindowId window, ProgressKind kind, bool same_node) {
    windows_[window].asynchronous[static_cast<std::size_t>(kind)][same_node] = true;
  }
  // What is left of the call's times without its targets after what was taken before.
  void claim(const WaitingCall& waiting) {
    const Call& call = waiting.call;
    const Amounts amounts = left_over(waiting);
    if (!(amounts.both > 0)) return;
    Class& c = windows_[waiting.window].classes[static_cast<std::size_t>(waiting.kind)];
    c.sums[std::uint64_t{raw(call.cnode)} << 32 | call.index] += amounts;
    if (c.worst.empty()) c.worst.assign(3, WorstInstances(instances_));
    const std::array<double, 3> waits{amounts.same, amounts.other, amounts.both};
    for (std::size_t i = 0; i < 3; ++i) {
      if (!(waits[i] > 0)) continue;
      c.worst[i].add({0, raw(call.cnode), call.index, {waits[i]}, call.enter, call.exit});
    }
  }

  // At the end of the trace, for all that holds: sum(kind, call path, location, seconds),
  // instance(kind, instance).
  template <class Sum, class Instance>
  void finish(Sum&& sum, Instance&& instance) const {
    for (const auto& [id, window] : windows_) {
      for (std::size_t k = 0; k < kProgressKinds; ++k) {
        const auto kind = static_cast<ProgressKind>(k);
        const bool same = !window.is_void(kind, true), other = !window.is_void(kind, false);
        if (!same && !other) continue;
        const std::size_t which = same && other ? 2 : (same ? 0 : 1);
        const Class& c = window.classes[k];
        for (const auto& [where, amounts] : c.sums) {
          const double value = which == 2 ? amounts.both : (same ? amounts.same : amounts.other);
          if (value > 0) {
            sum(kind, static_cast<CallPathIndex>(where >> 32), static_cast<LocationIndex>(where),
                value);
          }
        }
        if (c.worst.empty()) continue;
        for (const PatternInstance& i : c.worst[which].sorted()) instance(kind, i);
      }
    }
  }
  // Windows and kinds of call where claims were void.
  std::uint64_t voided() const {
    std::uint64_t count = 0;
    for (const auto& [id, window] : windows_) {
      for (std::size_t k = 0; k < kProgressKinds; ++k) {
        const auto kind = static_cast<ProgressKind>(k);
        count += !window.classes[k].sums.empty() &&
                 (window.is_void(kind, true) || window.is_void(kind, false));
      }
    }
    return count;
  }

 private:
  struct Amounts {
    double same = 0, other = 0, both = 0;
    Amounts& operator+=(const Amounts& more) {
      same += more.same;
      other += more.other;
      both += more.both;
      return *this;
    }
  };
  static Amounts left_over(const WaitingCall& waiting) {
    const Call& call = waiting.call;
    if (waiting.taken.empty() && (waiting.outside_same.empty() || waiting.outside_other.empty()))
        [[likely]] {
      const double same = length_within(call, waiting.outside_same).value;
      const double other = length_within(call, waiting.outside_other).value;
      return {same, other, same + other};
    }
    const Intervals same = without(waiting.outside_same, waiting.taken);
    const Intervals other = without(waiting.outside_other, waiting.taken);
    Intervals both = same;
    both.insert(both.end(), other.begin(), other.end());
    make_set(both);
    return {length_within(call, same).value, length_within(call, other).value,
            length_within(call, both).value};
  }
  struct Class {
    std::unordered_map<std::uint64_t, Amounts> sums;  // by call path and location
    std::vector<WorstInstances> worst;                // same node, others, both
  };
  struct Window {
    std::array<std::array<bool, 2>, kProgressKinds> asynchronous{};
    std::array<Class, kProgressKinds> classes;

    bool seen(ProgressKind kind, bool same_node) const {
      return asynchronous[static_cast<std::size_t>(kind)][same_node];
    }
    // Transfers and locks may return early: they stand or fall with the calls that complete.
    bool is_void(ProgressKind kind, bool same_node) const {
      switch (kind) {
        case ProgressKind::kAccessTransfer:
          return seen(ProgressKind::kComplete, same_node);
        case ProgressKind::kPassiveTransfer:
        case ProgressKind::kLock:
          return seen(ProgressKind::kFlush, same_node) || seen(ProgressKind::kUnlock, same_node) ||
                 seen(ProgressKind::kGetWait, same_node);
        default:
          return seen(kind, same_node);
      }
    }
  };

  std::size_t instances_;
  std::map<WindowId, Window> windows_;
};

}  // namespace kojak::expert
