// The waiting of calls that did not return: as which pattern, for whom, since when, and in which
// order it is told.
//
// A call that did not return waits until its process ended, for whom the note of it names, as the
// pattern that it would have had. What is given refers to the calls, which must outlive it. Linear
// in them, but for the order. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "expert/ends/last_calls.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

struct LastWait {
  const LastCall* call;
  const LastCall* awaited;  // who holds it up, if that is known
  MetricIndex metric;
  Seconds begin;
  std::size_t depth;  // how many wait between it and one that does not
};

struct LastWaits {
  std::vector<LastWait> waits;  // who is waited for stands before those who wait
  Seconds common;               // up to then all still waited
};

LastWaits find_last_waits(const LastCalls& last);

}  // namespace kojak::expert
