// What kojak knows of every SHMEM function: one row each, from the templates in
// epilog/shmem/functions.table; and of every ARMCI function and every region of UPC, which have
// roles of the same kind, from epilog/armci/functions.table and upc_functions.h.
//
// The measurement library makes its wrappers and region definitions from the same table; the merge,
// EARL and EXPERT ask here what role a region plays. A region is never judged by parts of its name.
// Owns nothing at run time: the table is constant data. Thread-safe. Never fails: an unknown name
// gives nullptr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "epilog/format/mpi_functions.h"

namespace kojak {

enum class ShmemRole : std::uint8_t {
  kOther,
  // life cycle; init, finalize and the allocations synchronise all processes
  kInit,
  kFinalize,
  kExit,  // shmem_global_exit
  // transfers, each PUT_1TS .. or GET_1TS ..; "nbi": complete only with what completes the context
  kPut,
  kPutNbi,
  kPutStrided,
  kPutSignal,
  kPutSignalNbi,
  kGet,
  kGetNbi,
  kGetStrided,
  kAtomicPut,
  kAtomicGet,
  kAtomicGetNbi,
  kAtomicGetPut,
  kAtomicGetPutNbi,
  // completion and order
  kQuiet,
  kFence,
  // collective, end in COLLEXIT
  kBarrier,  // completes what the process has issued, too
  kSync,     // does not
  kBroadcast,
  kCollect,
  kFcollect,
  kAlltoall,
  kReduce,
  kMalloc,
  kRealloc,
  kFree,
  kTeamCreate,
  kTeamDestroy,
  // waiting for a value
  kWait,
  kWaitUntil,
  kWaitUntilAll,
  kWaitUntilAny,
  kWaitUntilSome,
  kTest,
  kTestAll,
  kTestAny,
  kTestSome,
  // locks
  kSetLock,
  kTestLock,
  kClearLock,
  // contexts
  kContextCreate,
  kContextDestroy,
  // of ARMCI alone
  kAtomicPutNbi,
  kLocalWait,  // what was issued is complete at this process: gets are there, puts have left
  kLocalTest,
  // of UPC alone
  kNotify,      // begins a barrier of two phases, and completes as kQuiet
  kNotifyWait,  // ends it
  kCopy,        // a get, a put, or both
  kCopyNbi,
  kScatter,
  kGather,
  kPermute,
  kReduceToOne,
  kPrefixReduce,
  kOwnMemory,  // allocation and release by one process
};

// Whose functions they are. The roles, the records and the analysis are one for all of them.
enum class PgasModel : std::uint8_t { kShmem, kArmci, kUpc };
// As people call it, and CUBE.
constexpr std::string_view name_of(PgasModel model) {
  constexpr std::string_view kNames[] = {"SHMEM", "ARMCI", "UPC"};
  return kNames[static_cast<std::size_t>(model)];
}

// A call that returns only when its variables are as it wants them. (A test returns at once.)
constexpr bool waits_for_variable(ShmemRole role) {
  return role >= ShmemRole::kWait && role <= ShmemRole::kWaitUntilSome;
}
// Whether it is one of these, or a test.
constexpr bool asks_for_variable(ShmemRole role) {
  return role >= ShmemRole::kWait && role <= ShmemRole::kTestSome;
}
// A call that sets, tests or clears a lock. ALOCK and RLOCK outside of such a call are states: they
// say where the process stands after a gap.
constexpr bool handles_lock(ShmemRole role) {
  return role >= ShmemRole::kSetLock && role <= ShmemRole::kClearLock;
}

struct ShmemFunction {
  std::string_view name;  // "shmem_long_put"
  MpiFamily family;
  ShmemRole role;
  std::uint8_t region_type;  // EPILOG region type (1 function, 4 barrier, 5 one-to-all ...)
  bool can_progress;         // a call that can make progress in the SHMEM library
  bool may_block;            // it may wait for another process
  std::uint8_t since;        // OpenSHMEM version times ten that introduced it; 10: older
  PgasModel model = PgasModel::kShmem;
};

// All functions of each, sorted by name.
std::span<const ShmemFunction> shmem_functions();
std::span<const ShmemFunction> armci_functions();
std::span<const ShmemFunction> upc_functions();

// The function that a region name means; nullptr for any other region.
const ShmemFunction* find_shmem_function(std::string_view region_name);

}  // namespace kojak
