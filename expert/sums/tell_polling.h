// What is told of polling: its waits, as soon as they are known; at the end who serves, and whose
// waits therefore are none.
//
// `Listeners`: the list of an analysis, `Out` where its waits go (expert/patterns/out.h).
#pragma once

#include <optional>

#include "expert/sums/dispatchers.h"
#include "expert/sums/polling_time.h"

namespace kojak::expert {

template <class Listeners, class Out>
void tell_polling(Listeners& to, Out& out) {
  to.template get<PollingTime>().take([&](const Wait& wait) { out.wait(wait); });
}

// After all other waits, and when visits are known.
template <class Listeners, class Out>
void finish_polling(Listeners& to, Out& out, SeverityStore& severities) {
  constexpr MetricIndex kPolling = metric_index<Polling>();
  to.template get<PollingTime>().finish(
      [&](CallPathIndex path, LocationIndex location, TimeSum claimed) {
        severities.add(kPolling, path, location, TimeSum() - claimed);
      });
  tell_polling(to, out);
  const std::optional<MetricIndex> idle = metric_index<IdleDispatcher>(), none;
  const auto& dispatchers = to.template get<Dispatchers>();
  for (const auto& place : dispatchers.finish(severities, metric_index<Visits>())) {
    KOJAK_TELL(to, on_moved, place.path, place.location, metric_index<LateSender>(), idle);
    KOJAK_TELL(to, on_moved, place.path, place.location, metric_index<LateSenderWrongOrder>(),
               none);
    KOJAK_TELL(to, on_moved, place.path, place.location, kPolling, idle);
  }
}

}  // namespace kojak::expert
