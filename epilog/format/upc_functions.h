// The regions of UPC, which the events of GASP become: one row each, with the role that SHMEM's
// function of the same kind has. By name, sorted.
#pragma once

#include <algorithm>
#include <array>

#include "epilog/format/shmem_functions.h"

namespace kojak {

namespace upc_detail {
inline constexpr std::uint8_t kFunction = 1, kBarrier = 4, kOneToAll = 5, kAllToOne = 6,
                              kAllToAll = 7, kOtherCollective = 8;
struct Row {
  std::string_view name;
  MpiFamily family;
  ShmemRole role;
  std::uint8_t region_type;
  bool waits;  // it may wait for another thread
};
inline constexpr Row kRows[] = {
    {"upc_all_alloc", MpiFamily::kMisc, ShmemRole::kMalloc, kFunction, true},
    {"upc_all_broadcast", MpiFamily::kColl, ShmemRole::kBroadcast, kOneToAll, true},
    {"upc_all_exchange", MpiFamily::kColl, ShmemRole::kAlltoall, kAllToAll, true},
    {"upc_all_gather", MpiFamily::kColl, ShmemRole::kGather, kAllToOne, true},
    {"upc_all_gather_all", MpiFamily::kColl, ShmemRole::kCollect, kAllToAll, true},
    {"upc_all_lock_alloc", MpiFamily::kMisc, ShmemRole::kMalloc, kFunction, true},
    {"upc_all_permute", MpiFamily::kColl, ShmemRole::kPermute, kOtherCollective, true},
    {"upc_all_prefix_reduce", MpiFamily::kColl, ShmemRole::kPrefixReduce, kOtherCollective, true},
    {"upc_all_reduce", MpiFamily::kColl, ShmemRole::kReduceToOne, kAllToOne, true},
    {"upc_all_scatter", MpiFamily::kColl, ShmemRole::kScatter, kOneToAll, true},
    {"upc_alloc", MpiFamily::kMisc, ShmemRole::kOwnMemory, kFunction, false},
    {"upc_barrier", MpiFamily::kColl, ShmemRole::kBarrier, kBarrier, true},
    {"upc_exit", MpiFamily::kInit, ShmemRole::kFinalize, kFunction, true},
    {"upc_fence", MpiFamily::kRma, ShmemRole::kQuiet, kFunction, true},
    {"upc_free", MpiFamily::kMisc, ShmemRole::kOwnMemory, kFunction, true},
    {"upc_get", MpiFamily::kRma, ShmemRole::kGet, kFunction, true},
    {"upc_get_nb", MpiFamily::kRma, ShmemRole::kGetNbi, kFunction, false},
    {"upc_global_alloc", MpiFamily::kMisc, ShmemRole::kOwnMemory, kFunction, true},
    {"upc_global_exit", MpiFamily::kInit, ShmemRole::kExit, kFunction, false},
    {"upc_global_lock_alloc", MpiFamily::kMisc, ShmemRole::kOwnMemory, kFunction, true},
    {"upc_lock", MpiFamily::kMisc, ShmemRole::kSetLock, kFunction, true},
    {"upc_lock_attempt", MpiFamily::kMisc, ShmemRole::kTestLock, kFunction, true},
    {"upc_lock_free", MpiFamily::kMisc, ShmemRole::kOwnMemory, kFunction, true},
    {"upc_memcpy", MpiFamily::kRma, ShmemRole::kCopy, kFunction, true},
    {"upc_memcpy_nb", MpiFamily::kRma, ShmemRole::kCopyNbi, kFunction, false},
    {"upc_memget", MpiFamily::kRma, ShmemRole::kGet, kFunction, true},
    {"upc_memget_nb", MpiFamily::kRma, ShmemRole::kGetNbi, kFunction, false},
    {"upc_memput", MpiFamily::kRma, ShmemRole::kPut, kFunction, true},
    {"upc_memput_nb", MpiFamily::kRma, ShmemRole::kPutNbi, kFunction, false},
    {"upc_memset", MpiFamily::kRma, ShmemRole::kPut, kFunction, true},
    {"upc_notify", MpiFamily::kColl, ShmemRole::kNotify, kFunction, true},
    {"upc_put", MpiFamily::kRma, ShmemRole::kPut, kFunction, true},
    {"upc_put_nb", MpiFamily::kRma, ShmemRole::kPutNbi, kFunction, false},
    {"upc_sync_nb", MpiFamily::kRma, ShmemRole::kLocalWait, kFunction, true},
    {"upc_unlock", MpiFamily::kMisc, ShmemRole::kClearLock, kFunction, true},
    {"upc_wait", MpiFamily::kColl, ShmemRole::kNotifyWait, kBarrier, true},
};
constexpr auto made() {
  std::array<ShmemFunction, std::size(kRows)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Row& row = kRows[i];
    all[i] = {row.name, row.family, row.role, row.region_type, true, row.waits, 0, PgasModel::kUpc};
  }
  return all;
}
}  // namespace upc_detail

inline constexpr auto kUpcFunctions = upc_detail::made();
static_assert(std::is_sorted(kUpcFunctions.begin(), kUpcFunctions.end(),
                             [](const ShmemFunction& a, const ShmemFunction& b) {
                               return a.name < b.name;
                             }));

// The place of a region in that table.
consteval unsigned upc_function(std::string_view name) {
  for (unsigned i = 0; i < kUpcFunctions.size(); ++i) {
    if (kUpcFunctions[i].name == name) return i;
  }
  __builtin_unreachable();  // no region of UPC: it does not compile
}

}  // namespace kojak
