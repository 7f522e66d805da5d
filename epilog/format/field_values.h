// What the bits and numbers in fields of records mean, where more than one place writes or reads
// them. (What is open on a window, what an attribute tells and what a LOST counts: types.h.)
// records.def says the same in words, for the page of the format.
#pragma once

#include "epilog/format/record/types.h"

namespace kojak {

// REQUEST_STATE: kinds and flags.
enum class OpenRequest : std::uint8_t {
  kReceive = 1,
  kSend,
  kCollective,
  kTransfer,
  kPartitioned,
  kIo,
  kOther,
  kIdle
};
inline constexpr std::uint8_t kRequestReported = 1, kAnySource = 2, kAnyTag = 4, kBegunBefore = 8,
                              kCompleteBefore = 16;

// COLL_STATE, WIN_STATE: a collective call failed in its midst. How many this process has taken
// part in is not known any more, and none is paired from here on.
inline constexpr std::uint64_t kCountLost = ~std::uint64_t{0};

// COMM_IDENTITY and, the first one, WIN_IDENTITY: flags.
inline constexpr std::uint8_t kIdentityUnknown = 1, kIntercommunicator = 2, kForeignMembers = 4,
                              kStandsForGroup = 8;

// WIN_IDENTITY: flavour.
inline constexpr std::uint8_t kFlavourCreated = 1, kFlavourAllocated = 2, kFlavourDynamic = 3,
                              kFlavourShared = 4;

// MPI_RMA_CALL and SHMEM_RMA_CALL: kind. A get-and-put has both bits.
inline constexpr std::uint8_t kCallPut = 1, kCallGet = 2;

// MPI_RMA_PLACE: op.
inline constexpr std::uint8_t kPlacePlain = 0, kPlaceSwap = 15, kPlaceOther = 255;

// MPI_OTHER_WORLD: kind. Transfers have these bits, too.
inline constexpr std::uint8_t kOtherSharedLock = 4, kOtherExclusiveLock = 5, kOtherUnlock = 6,
                              kOtherFlush = 7, kOtherFlushLocal = 8;

// SHMEM_PLACE and SHMEM_RMA_CALL: flags.
inline constexpr std::uint8_t kPlaceNonBlocking = 1, kPlaceAtomic = 2, kPlaceSignal = 4;

// SHMEM_QUIET: kind.
inline constexpr std::uint8_t kQuietLocal = 1, kQuietOne = 2, kQuietPuts = 4;

// ATTR_UI1 of kAttrCollectiveFlags: how an operation of UPC synchronises. No flag for one side
// means ALLSYNC there.
inline constexpr std::uint8_t kInNoSync = 1, kInMySync = 2, kInAllSync = 4, kOutNoSync = 8,
                              kOutMySync = 16, kOutAllSync = 32;

// ALOCK and RLOCK: numbers of ARMCI's mutexes, above those of SHMEM's locks: the process that has
// it, and behind that its number there.
inline constexpr std::uint32_t kFirstMutex = 0xC0000000u, kMutexProcesses = 0x3FFFFu;
inline constexpr unsigned kMutexBits = 12;

// SHMEM_PLACE of ARMCI: the number of the allocation, and below that the distance from where the
// target's part of it begins. All processes number their common allocations from 1 on; those of
// another group, from kOfGroup on, have bits of a hash of its members and behind those a number.
inline constexpr unsigned kAllocationShift = 40, kAllocationBits = 12;
inline constexpr std::uint32_t kAllocationOfGroup = 1u << 23, kMostAllocations = 1u << 20;

// MPI_REQUEST_COMPLETE: kind.
inline constexpr Byte kDoneCollective{1}, kDoneIo{2}, kDoneGeneralized{3};

// MPI_POLLED and MPI_POLL_CALL: judged, end and flags; MPI_POLL: kind.
enum class PollClass : std::uint8_t { kWaits = 1, kEven, kWorks };
enum class PollEnd : std::uint8_t {
  kFound = 1,
  kOtherClass,
  kOtherCall,
  kLogOff,
  kCut,
  kProcessEnded
};
enum class PollKind : std::uint8_t {
  kRequest = 1,
  kMessage,
  kExposure,
  kRead,
  kSwap,
  kSync,
  kShmem
};
inline constexpr std::uint8_t kPollGoesOn = 1, kPollBegunBefore = 2, kPollAlone = 4;
// "Unknown", "none" in a u8 of these.
inline constexpr Count64 kUnknown64{~std::uint64_t{0}};

// METRIC: dtype of a counter of floating-point numbers.
inline constexpr std::uint8_t kFloatCounter = 1;

}  // namespace kojak
