#include "epilog/mpi/other_world.h"

#include "epilog/mpi/call.h"

namespace kojak::measure {

void put_other_world(Recording& call, Window& window, int rank, std::uint8_t kind,
                     std::uint64_t bytes, std::uint64_t got) {
  if (!call.use(window)) return;
  call.event(MpiOtherWorld{call.r.lid, call.exit, static_cast<WindowId>(window.id),
                           Count{static_cast<std::uint32_t>(rank)}, Byte{kind}, Bytes64{bytes},
                           Bytes64{got}});
  call.leave();
}

}  // namespace kojak::measure
