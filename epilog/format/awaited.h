// The kinds of things that a call waits for, in MPI_AWAITS.
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
  kPartsReceived = 7,  // a partitioned message: its parts
  kPartsSent = 8,      // one that the other side has not received
  kPartsKept = 9,      // one of which this process has not given all parts away
};

// MPI_OPEN_CALL gives a file's call a number whose part above these bits says which file it is.
inline constexpr unsigned kFileCallBits = 40;

}  // namespace kojak
