// What kojak knows of every MPI function: one row each, from epilog/mpi/functions.table.
//
// The measurement library makes its wrappers and region definitions from the same table; the merge,
// EARL and EXPERT ask here what role a region plays. A region is never judged by parts of its name.
// Owns nothing at run time: the table is constant data. Thread-safe. Never fails: an unknown name
// gives nullptr.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace kojak {

// Groups that ELG_MPI switches (p2p, coll, rma, io, init, comm, misc).
enum class MpiFamily : std::uint8_t { kP2p, kColl, kRma, kIo, kInit, kComm, kMisc };
// What ELG_MPI calls them, in that order.
inline constexpr std::array<std::string_view, 7> kMpiFamilyNames{"p2p",  "coll", "rma", "io",
                                                                 "init", "comm", "misc"};

// The leaf class of EXPERT's tree that the function's time belongs to.
enum class MpiClass : std::uint8_t {
  kPointToPoint,
  kCollective,
  kBarrier,
  kRmaCommunication,
  kWindowManagement,
  kFence,
  kGeneralActiveTarget,
  kPassiveTarget,
  kIo,
  kInitExit,
  kManagement,
};

// What the function does to epochs, messages and collectives.
enum class MpiRole : std::uint8_t {
  kOther,
  // windows (MPI_WINCOLLEXIT and MPI_WINEXIT)
  kWinCreate,
  kWinFree,
  kWinFence,
  kWinPost,
  kWinStart,
  kWinComplete,
  kWinWait,
  kWinTest,
  kWinLock,
  kWinUnlock,
  kWinLockAll,
  kWinUnlockAll,
  kWinFlush,
  kWinFlushAll,
  kWinFlushLocal,
  kWinFlushLocalAll,
  kWinSync,
  // transfers
  kPut,
  kGet,
  kAccumulate,
  kGetAccumulate,
  kRequestTransfer,
  // point-to-point
  kSend,
  kBsend,
  kSsend,
  kRsend,
  kIsend,
  kIbsend,
  kIssend,
  kIrsend,
  kSendInit,
  kRecv,
  kIrecv,
  kRecvInit,
  kSendrecv,
  kProbe,
  kIprobe,
  kMprobe,
  kImprobe,
  kMrecv,
  kImrecv,
  kStart,
  kStartall,
  kIsendrecv,
  kPsendInit,
  kPrecvInit,
  kPready,  // one, a list or a range of partitions
  kParrived,
  // completion of requests
  kWait,
  kWaitall,
  kWaitany,
  kWaitsome,
  kTest,
  kTestall,
  kTestany,
  kTestsome,
  kRequestGetStatus,
  kRequestFree,
  kCancel,
  // collectives on a communicator (blocking)
  kBarrier,
  kOneToAll,  // bcast, scatter, scatterv
  kAllToOne,  // reduce, gather, gatherv
  kAllToAll,  // allgather(v), allreduce, alltoall(v,w), reduce_scatter(_block)
  kPrefix,    // scan, exscan
  kNeighbor,  // blocking neighbourhood collectives
  kNonblockingCollective,
  kPersistentCollective,  // MPI_Bcast_init and its like: makes the request that MPI_Start starts
  // life cycle
  kInit,
  kFinalize,
  kSessionInit,
  kSessionFinalize,
  kAbort,
  kPcontrol,
  kCommCreate,
  kCommFree,
  kGroup,
};

struct MpiFunction {
  std::string_view name;  // "MPI_Put"
  MpiFamily family;
  MpiClass cls;
  MpiRole role;
  std::uint8_t region_type;  // EPILOG region type (1 function, 4 barrier, 5 one-to-all ...)
  bool can_progress;         // a call that can make progress in the MPI library
  bool may_block;            // ENTER must be written before the call
  std::uint8_t since;        // MPI version times ten that introduced it: 10, 12, 30, 40 ...
};

// All functions, sorted by name (ASCII, as written in C).
std::span<const MpiFunction> mpi_functions();

// The function that a region name means, C ("MPI_Win_fence") or Fortran spelling ("mpi_win_fence",
// "MPI_WIN_FENCE", with any trailing underscores); nullptr for any other region.
const MpiFunction* find_mpi_function(std::string_view region_name);

}  // namespace kojak
