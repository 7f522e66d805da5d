// What one of those is that a call waits for, in MPI_AWAITS.
#pragma once

#include <cstdint>

namespace kojak {

enum class Awaited : std::uint8_t {
  kReceive = 1,
  kSend = 2,
  kCollective = 3,
  kTransfer = 4,
  kOther = 5,
  kMember = 6,
};

}  // namespace kojak
