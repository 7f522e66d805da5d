// Waiting time within a call: what blocked it.
//
// earl::overlap() is one of the two forms of waiting time, blocked() the other; both lie within the
// call's exclusive time. Pure functions on values; safe from any thread. Source:
// docs/patterns.
#pragma once

#include <optional>
#include <span>

#include "earl/call.h"
#include "epilog/format/mpi_roles.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

using earl::Call;
using earl::Interval;
using earl::overlap;

// Whether the first of several requests that is complete ends the call: of those that wait, and of
// a series of tests that ends with one.
inline bool first_one_ends(const Call& c) {
  const MpiRole role = c.role();
  return kojak::first_one_ends(role) ||
         (c.polled && (role == MpiRole::kTestany || role == MpiRole::kTestsome));
}

// Something that may have blocked a call, how far its location's clock and the caller's may be
// apart, and the call that it was.
struct Cause {
  Seconds time;
  Seconds delta;
  EndedBy by = {};
};

// The latest cause that came before the call had ended; null if all came later.
inline const Cause* deciding_cause(const Call& c, std::span<const Cause> causes) {
  const Cause* latest = nullptr;
  for (const Cause& cause : causes) {
    if (cause.time <= c.exit + cause.delta && (latest == nullptr || latest->time < cause.time)) {
      latest = &cause;
    }
  }
  return latest;
}
// When it came.
inline std::optional<Seconds> latest_cause(const Call& c, std::span<const Cause> causes) {
  const Cause* const latest = deciding_cause(c, causes);
  return latest != nullptr ? std::optional(latest->time) : std::nullopt;
}

// How long the call was blocked by the latest of the causes that came before it ended: for calls
// that may return early, where what happened after the call had ended did not block it.
inline Seconds blocked(const Call& c, std::span<const Cause> causes) {
  const std::optional<Seconds> latest = latest_cause(c, causes);
  return latest ? overlap(c, c.enter, *latest) : Seconds{0};
}
inline Seconds blocked(const Call& c, Cause cause) {
  return blocked(c, std::span<const Cause>(&cause, 1));
}
// How long a call went on behind the first exit from an operation that nobody leaves before all
// have come.
inline Seconds completion(const Call& c, Seconds latest_enter, Seconds first_exit) {
  return overlap(c, std::max(first_exit, latest_enter), c.exit);
}
// Who it was that blocked it.
inline EndedBy blocked_by(const Call& c, std::span<const Cause> causes) {
  const Cause* const latest = deciding_cause(c, causes);
  return latest != nullptr ? latest->by : EndedBy{};
}

}  // namespace kojak::expert
