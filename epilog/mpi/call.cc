#include "epilog/mpi/call.h"

namespace kojak::measure {

bool left_behind(Recorder& r, const CallFrame* here) {
  // The stack grows downwards: a frame at or below ours cannot be a caller's. One above is, as long
  // as nobody has written over it.
  if (here < r.frame && r.frame->self == r.frame) return false;
  if (r.open_region != 0) {
    r.open_region = 0;
    r.last = ticks();
    publish(r, put(r.cursor, Exit{r.lid, to_seconds(r.last)}));
  }
  r.frame = nullptr;
  r.forwarded = 0;
  return true;
}

void count_lost(Recorder& r) {
  std::uint64_t count;
  std::memcpy(&count, r.lost, sizeof count);
  ++count;
  std::memcpy(r.lost, &count, sizeof count);
}

}  // namespace kojak::measure
