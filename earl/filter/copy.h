// Writes the selected part of a merged trace as a trace of its own.
//
// One forward pass: definitions as they are (with the new number of events, and in a native trace
// with what the whole trace had lost before), then the selected
// events, balanced, with state records, and without what is cut through (severed.h). A transfer
// needs both its processes; its events go with its start: an end whose start was not kept is left
// out, a start whose end lies behind the cut stays. Memory: open regions, standings, and intervals
// of the numbers of kept transfers. Errors: the writer keeps its own; damage of
// the input ends the copy and is told.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "earl/filter/severed.h"
#include "earl/filter/timeline.h"
#include "epilog/format/io/reader.h"

namespace kojak::filter {

struct Copied {
  std::uint64_t events = 0;  // written
  std::uint64_t added = 0;   // of them, that the whole trace does not have: what is open at edges
  std::uint64_t num_events = 0;  // offsets of the records that hold the number, 0 if there is none
  std::uint64_t event_count64 = 0;
  std::optional<Error> damage;  // the input could not be read on
};

// What the trace lacks already.
struct Inherited {
  std::uint64_t damaged = 0;  // records that do not hold what their type needs
  bool end = false;           // it has been cut off, or something else stands there
  std::uint64_t events = 0;   // that are missing at its end, as far as it says

  // A classic trace has no record that tells of losses. There the number of events that the cut
  // announces counts those that are missing, too: so every reader that compares finds fewer.
  std::uint64_t missing() const { return damaged + (end ? std::max<std::uint64_t>(events, 1) : 0); }
};

struct CopyInputs {
  TraceReader& reader;
  const Definitions& definitions;
  const Selection& selection;
  const Severed& severed;
  const Inherited& inherited;
  std::uint64_t events;  // for NUM_EVENTS, if it is known
  const std::function<void(std::uint64_t offset)>& progress;
};

// Without a writer, only counts.
Copied copy_selected(const CopyInputs& inputs, TraceWriter* writer);

// Puts the number of events into the definitions that were written.
Status replace_event_count(TraceWriter& writer, const Copied& copied,
                           const Inherited& inherited = {});

}  // namespace kojak::filter
