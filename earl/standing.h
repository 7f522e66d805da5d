// Where the locations of a trace stand at a place in its midst, for who begins to read there
// (Replay::begin). Values only: no file has it.
//
// At that place nothing may be open but these regions, fence epochs without operations, and locks
// of all without operations, where no lock of one target is ever taken: no message, request,
// other epoch, lock or call that several processes make together has one end before it and one
// behind it. Counts of such things begin anew, at all processes alike; but the first fence of a
// window ends no epoch, so fences count on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "earl/event.h"
#include "earl/ticks.h"
#include "epilog/format/record/types.h"

namespace kojak::earl {

struct Standing {
  struct Open {  // a region instance
    RegionId region{};
    CallSiteId csite = absent<CallSiteId>();
    Seconds enter;
  };
  struct Fenced {
    WindowId window{};
    std::uint64_t fences = 0;  // that its process has left
  };
  struct Processor {  // the latest PROCESSOR
    Seconds time;
    ProcessorTimes times;
  };
  struct Location {
    std::vector<Open> open;  // from the outermost inwards
    // How long the call takes with which it goes on: as a part of the innermost region it belongs
    // to what is before. (What else has ended in these regions does, too.)
    Ticks goes_on_with = 0;
    std::vector<Fenced> fenced;
    std::vector<WindowId> held;  // on which it holds a lock of all
    std::optional<Processor> processor;
    std::uint64_t received = 0;  // messages so far
    Seconds last;  // when its latest event was
  };
  std::vector<Location> locations;  // by index
  // When the run's first event was: a merge of local traces counts from it.
  Seconds run_began;
};

}  // namespace kojak::earl
