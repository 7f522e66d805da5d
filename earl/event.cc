// Trace::next: one event at a time, as a flat value.
#include "earl/event.h"

#include "earl/detail/flat_event.h"
#include "earl/event_loop.h"

namespace kojak::earl {

bool Trace::next(Event& event) {
  detail::FlatEvent one{event, native()};
  EventLoop::run(*this, one);
  if (one.have) detail::resolve_region(*this, event);
  return one.have;
}

}  // namespace kojak::earl
