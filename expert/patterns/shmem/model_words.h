// What the nodes of SHMEM's branch say in the other models: words of their texts, and their names.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "epilog/format/shmem_functions.h"

namespace kojak::expert::detail {

// What SHMEM's branch has, and what stands there in another model's.
using WordPair = std::pair<std::string_view, std::string_view>;

// The first that a text has at a place counts.
inline constexpr WordPair kArmciWords[] = {
    {"shmem_team_split_strided", "ARMCI_Group_create"},
    {"Team Management", "Group Management"},
    {"Team Creation", "Group Creation"},
    {"splitting and destroying teams", "making and freeing groups"},
    {"splitting or destroying a team", "making or freeing a group"},
    {"All members of the parent team make a new one together, and end one together.",
     "All members of a group make it together, and free it together."},
    {"All members of the parent team take part in a split, so",
     "All members make a group together, so"},
    {"Destroying a team waits", "Freeing a group waits"},
    {"Make teams", "Make groups"},
    {"Time in a get or an atomic operation while",
     "Time in a get, put or atomic operation, or in the wait for one, while"},
    {"Time in quiet while", "Time in a fence or barrier while"},
    {"in gets and atomic operations", "in gets, puts and atomic operations"},
    {"shmem_barrier_all, shmem_barrier and shmem_sync", "ARMCI_Barrier and armci_msg_barrier"},
    {"shmem_barrier_all", "ARMCI_Barrier"},
    {"shmem_broadcast", "armci_msg_bcast"},
    {"shmem_collect", "armci_msg_gop"},
    {"shmem_set_lock", "ARMCI_Lock"},
    {"shmem_clear_lock", "ARMCI_Unlock"},
    {"shmem_get_nbi", "ARMCI_NbPut"},
    {"shmem_get", "ARMCI_Get"},
    {"shmem_put", "armci_notify"},
    {"shmem_quiet", "ARMCI_Fence"},
    {"shmem_fence", "ARMCI_Test"},
    {"shmem_wait_until", "armci_notify_wait"},
    {"shmem_malloc", "ARMCI_Malloc"},
    {"shmem_finalize", "ARMCI_Finalize"},
    {"shmem_", "armci_"},
    {"set_lock", "ARMCI_Lock"},
    {"a later quiet", "a later wait"},
    {"fence and quiet", "fences"},
    {"a test, a fence", "ARMCI_Test, a fence"},
    {"pe 0", "process 0"},
    {"pe 1", "process 1"},
    {"shmem", "armci"},
    {"SHMEM", "ARMCI"},
    {"symmetric memory", "memory of ARMCI"},
    {"for a variable to change", "for a notification"},
};

inline constexpr WordPair kUpcWords[] = {
    {"All time inside functions of the SHMEM library.",
     "All time in UPC's barriers, locks, accesses to shared memory and collective operations, as "
     "the compiler tells of them (GASP)."},
    {"Time in SHMEM functions.", "Time in UPC's functions and statements."},
    {"puts, gets and atomic operations", "puts and gets"},
    {"gets and atomic operations", "gets"},
    {"broadcasts, collects, reductions", "broadcasts, gathers, reductions"},
    {"start and end, memory that all processes allocate together, and teams",
     "the end, and the allocation of memory"},
    {"shmem_barrier_all, shmem_barrier and shmem_sync", "upc_barrier and upc_wait"},
    {"Time in synchronisation between single processes, and in fence and quiet.",
     "Time in locks, and in upc_fence and upc_notify."},
    {"Waiting for a value, locks, and the ordering of puts.",
     "Locks, and the completion of puts and gets: upc_fence and the fence inside upc_notify."},
    {"Time in start and end of SHMEM.", "Time in the end of the program."},
    {"Start-up and shut-down of the library.",
     "upc_exit, in which all threads end together, and upc_global_exit."},
    {"Time in allocating and freeing symmetric memory.", "Time in allocating and freeing memory."},
    {"All processes allocate together, and each such call ends with a barrier.",
     "All threads call upc_all_alloc and upc_all_lock_alloc together; the other calls are those of "
     "one."},
    {"Time in allocating or freeing symmetric memory before the last process did the same.",
     "Time in upc_all_alloc or upc_all_lock_alloc before the last thread entered it."},
    {"Allocation is a barrier:", "Allocation by all is a barrier:"},
    {"Wait at Finalize", "Wait at Exit"},
    {"Finalize is a barrier of all processes.", "All threads end together."},
    {"Time in a get or an atomic operation while", "Time in a get, or in the wait for one, while"},
    {"Time in quiet while", "Time in a fence while"},
    {"Some implementations move data, or answer an atomic operation, only while",
     "Some implementations move data only while"},
    {"comes back. If the trace",
     "comes back. It counts as inside only in what the compiler tells of, and as computing where "
     "its file is compiled without instrumentation. If the trace"},
    {"(a test, a fence)", "(a fence)"},
    {"completed by a later quiet", "completed by a later upc_sync_nb"},
    {"shmem_barrier_all", "upc_barrier"},
    {"shmem_set_lock", "upc_lock"},
    {"shmem_clear_lock", "upc_unlock"},
    {"shmem_get_nbi", "upc_put"},
    {"shmem_quiet", "upc_fence"},
    {"shmem_malloc", "upc_all_alloc"},
    {"shmem_finalize", "upc_exit"},
    {"shmem", "upc"},
    {"set_lock", "upc_lock"},
    {"SHMEM", "UPC"},
    {"pe 0", "thread 0"},
    {"pe 1", "thread 1"},
    {"processes", "threads"},
    {"Processes", "Threads"},
    {"process", "thread"},
    {"Process", "Thread"},
};

// Of metrics: what their names begin with.
inline constexpr WordPair kArmciNames[] = {{"shmem", "armci"}};
inline constexpr WordPair kUpcNames[] = {{"shmem_finalize_wait", "upc_exit_wait"},
                                         {"shmem", "upc"}};

constexpr std::span<const WordPair> words_of(PgasModel model) {
  if (model == PgasModel::kUpc) return kUpcWords;
  return kArmciWords;
}
constexpr std::span<const WordPair> names_of(PgasModel model) {
  if (model == PgasModel::kUpc) return kUpcNames;
  return kArmciNames;
}

}  // namespace kojak::expert::detail
