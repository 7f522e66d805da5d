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

// Of metrics: what their names begin with.
inline constexpr WordPair kArmciNames[] = {{"shmem", "armci"}};

constexpr std::span<const WordPair> words_of(PgasModel) {
  return kArmciWords;
}
constexpr std::span<const WordPair> names_of(PgasModel) {
  return kArmciNames;
}

}  // namespace kojak::expert::detail
