// The waiting of calls that did not return: as which pattern, for whom, since when, and in which
// order it is told.
//
// A call that did not return waits until its process ended, for whom the note of it names, as the
// pattern that it would have had. What is given refers to the calls, which must outlive it. Linear
// in them, but for the order. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "expert/causes/root_causes.h"
#include "expert/ends/last_calls.h"
#include "expert/metrics/metric.h"
#include "expert/waits/wait.h"

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
// The n-th of them as it is told: as one that nobody has ended. In a deadlock nobody is to blame.
Wait wait_of(const LastWait& last, std::size_t n);
// All waiting in and behind a deadlock has that as its cause.
void add_deadlocks(const LastWaits& waits, std::size_t deadlocks, RootCauses& found);

}  // namespace kojak::expert
