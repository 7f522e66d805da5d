// What a record does to its process's epochs on a window, by the function that it leaves.
//
// MPI_WINEXIT and MPI_WINCOLLEXIT stand for several functions: the region that they leave tells
// which. A call that was never left has no such record and moves nothing. The list of the records
// is epoch_move(); who reads records of all types asks kMovesEpoch. Constant functions.
#pragma once

#include "epilog/format/mpi_functions.h"
#include "epilog/format/record/records.h"

namespace kojak {

enum class EpochMove : std::uint8_t {
  kNone,
  kCreate,
  kFree,
  kFence,
  kStart,
  kPost,
  kComplete,
  kWait,  // and a true test
  kLock,
  kUnlock,
  kLockAll,
  kUnlockAll,
  kFlush,        // of one target or all
  kRequestDone,  // a Wait*/Test* found an operation with a request of its own complete
  kWindowState,  // the process tells where it stands after what was not recorded
  kPeerState,
};

// MPI_WINEXIT; `ends`: its synex. A test that gave false ends nothing.
constexpr EpochMove group_exit_move(MpiRole role, bool ends) {
  switch (role) {
    case MpiRole::kWinStart:
      return EpochMove::kStart;
    case MpiRole::kWinPost:
      return EpochMove::kPost;
    case MpiRole::kWinComplete:
      return EpochMove::kComplete;
    case MpiRole::kWinWait:
      return EpochMove::kWait;
    case MpiRole::kWinTest:
      return ends ? EpochMove::kWait : EpochMove::kNone;
    default:
      return EpochMove::kNone;
  }
}
// MPI_WINCOLLEXIT.
constexpr EpochMove collective_exit_move(MpiRole role) {
  switch (role) {
    case MpiRole::kWinCreate:
      return EpochMove::kCreate;
    case MpiRole::kWinFence:
      return EpochMove::kFence;
    case MpiRole::kWinFree:
      return EpochMove::kFree;
    default:
      return EpochMove::kNone;
  }
}

// `role` of the innermost open region; asked for exits only.
template <class R>
constexpr EpochMove epoch_move(const R& record, MpiRole role) {
  (void)record;
  (void)role;
  if constexpr (std::is_same_v<R, MpiWinExit>) {
    return group_exit_move(role, raw(record.synex) != 0);
  } else if constexpr (std::is_same_v<R, MpiWinCollExit>) {
    return collective_exit_move(role);
  } else if constexpr (std::is_same_v<R, MpiWinLock>) {
    return EpochMove::kLock;
  } else if constexpr (std::is_same_v<R, MpiWinUnlock>) {
    return EpochMove::kUnlock;
  } else if constexpr (std::is_same_v<R, MpiWinLockAll>) {
    return EpochMove::kLockAll;
  } else if constexpr (std::is_same_v<R, MpiWinUnlockAll>) {
    return EpochMove::kUnlockAll;
  } else if constexpr (std::is_same_v<R, MpiWinFlush>) {
    return EpochMove::kFlush;
  } else if constexpr (std::is_same_v<R, MpiRmaComplete>) {
    return EpochMove::kRequestDone;
  } else if constexpr (std::is_same_v<R, WinState>) {
    return EpochMove::kWindowState;
  } else if constexpr (std::is_same_v<R, EpochState>) {
    return EpochMove::kPeerState;
  } else {
    return EpochMove::kNone;
  }
}

// Whether records of the type can move an epoch at all: the two that stand for several functions
// do, by these roles, and others whatever the role.
template <class R>
inline constexpr bool kMovesEpoch = epoch_move(R{}, MpiRole::kWinStart) != EpochMove::kNone ||
                                    epoch_move(R{}, MpiRole::kWinFence) != EpochMove::kNone;

}  // namespace kojak
