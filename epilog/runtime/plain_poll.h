// A call behind PlainCall that polls: it asks whether something has come, and returns at once.
//
// In place of begin_call(), and of what ends a call: polls that found nothing are joined
// (polling.h), what found something is recorded behind the series that it ends. No counterpart of
// MPI's bookkeeping: what was found is told by the records of the call alone.
#pragma once

#include "epilog/runtime/polling.h"

namespace kojak::measure {

[[gnu::noinline]] void begin_poll(PlainCall& call, unsigned function, std::uint32_t group,
                                  const void* caller);
// It is back, and recorded. True: it has found nothing, and is part of a series; nothing is left to
// be written. False: its records are.
[[gnu::noinline]] bool poll_is_joined(PlainCall& call, const PollMember& what, bool found,
                                      Ticks exit);
// Behind that: as records_of().
Recording records_of_poll(PlainCall& call, Ticks exit);

}  // namespace kojak::measure
