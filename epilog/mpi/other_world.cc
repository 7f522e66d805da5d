#include "epilog/mpi/other_world.h"

namespace kojak::measure {

std::byte* put_other_world(const Recorder& r, std::byte* to, Seconds time, std::uint32_t window,
                           std::uint32_t target, std::uint8_t kind, std::uint64_t bytes,
                           std::uint64_t got) {
  return put(r, to,
             MpiOtherWorld{r.lid, time, WindowId{window}, Count{target}, Byte{kind}, Bytes64{bytes},
                           Bytes64{got}});
}

}  // namespace kojak::measure
