// UPC, Late Notification: a thread reads a few bytes of another thread's memory again and again,
// until a third one, or their owner, puts something there. See read_series.h.
#pragma once

#include <cstdint>

#include "expert/metrics/metric.h"
#include "expert/waits/interval.h"

namespace kojak::expert {

// A read that is no wait for progress but a look whether something has changed.
inline constexpr std::uint64_t kMostOfUpcPoll = 16;  // bytes
inline constexpr Seconds kLongUpcPoll{1e-3};

struct UpcLateNotification {
  static constexpr Metric kMetric{
      .name = "upc_late_notification",
      .title = "Late Notification",
      .parent = "upc_rma_communication",
      .summary =
          "Time in reading a place of another thread again and again, before the thread that "
          "changed it entered the call that did.",
      .formula =
          "overlap(c, [c.enter, e]) for each upc_get c of the series that took less than 1 ms, e = "
          "enter of the last put to these bytes before the series ended",
      .meaning =
          "A thread waits for a flag or a counter in shared memory by reading it until it changes. "
          "Whoever changes it is late. A flag that lies at the thread that waits for it, or that "
          "its own thread changes, is read or written by plain loads and stores, of which nothing "
          "is told.",
      .advice =
          "Write earlier: right after the data are there, and before other work. Or let the thread "
          "that waits compute first; let the flag lie where it is waited for.",
      .timeline = "writer: upc_put 5-6; reader: upc_get 1-3 ~1-3, upc_get 3-5 ~3-5, upc_get 5-7",
      .needs = Needs::kUpc};

  static Seconds severity(const Call& c, Seconds written) { return overlap(c, c.enter, written); }
};

}  // namespace kojak::expert
