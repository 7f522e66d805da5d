// OpenMP's constructs as regions: EPILOG's region types, and the regions that the measurement
// writes.
//
// The types up to 26 are the classic ones; those of tasks are ours. A region of a construct is
// named by the construct, and its call site tells where that stands in the program. A construct
// that admits one thread at a time has a second region within the first: what is done by the one;
// so the exclusive time of the first is waiting.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kojak {

inline constexpr std::uint8_t kOmpParallel = 11, kOmpLoop = 12, kOmpSections = 13,
                              kOmpWorkshare = 15, kOmpSingle = 16, kOmpMaster = 17,
                              kOmpCritical = 18, kOmpAtomic = 19, kOmpBarrier = 20,
                              kOmpImplicitBarrier = 21, kOmpFlush = 22, kOmpCriticalBlock = 23,
                              kOmpOrdered = 25, kOmpOrderedBlock = 26, kOmpLastClassicType = 26,
                              kOmpTask = 27, kOmpTaskwait = 28, kOmpTaskgroup = 29,
                              kOmpLastType = 29;
constexpr bool is_omp(std::uint8_t region_type) {
  return region_type >= kOmpParallel && region_type <= kOmpLastType;
}

struct OmpRegion {
  std::string_view name;
  std::uint8_t type;
};

// Numbers of the regions that are written, in the order of the list.
enum class OmpConstruct : std::uint8_t {
  kParallel,
  kLoop,
  kSections,
  kWorkshare,
  kSingle,
  kMaster,
  kDistribute,
  kTaskloop,
  kScope,
  kBarrier,
  kImplicitBarrier,
  kCritical,
  kCriticalBlock,
  kOrdered,
  kOrderedBlock,
  kAtomic,
  kAtomicBlock,
  kSetLock,
  kSetNestLock,
  kTask,
  kTaskwait,
  kTaskgroup,
};

inline constexpr std::array<OmpRegion, 22> kOmpRegions{{
    {"omp parallel", kOmpParallel},
    {"omp loop", kOmpLoop},
    {"omp sections", kOmpSections},
    {"omp workshare", kOmpWorkshare},
    {"omp single", kOmpSingle},
    {"omp master", kOmpMaster},
    {"omp distribute", kOmpLoop},
    {"omp taskloop", kOmpLoop},
    {"omp scope", kOmpWorkshare},
    {"omp barrier", kOmpBarrier},
    {"omp implicit barrier", kOmpImplicitBarrier},
    {"omp critical", kOmpCritical},
    {"omp critical block", kOmpCriticalBlock},
    {"omp ordered", kOmpOrdered},
    {"omp ordered block", kOmpOrderedBlock},
    {"omp atomic", kOmpAtomic},
    {"omp atomic block", kOmpCriticalBlock},
    {"omp_set_lock", 1},
    {"omp_set_nest_lock", 1},
    {"omp task", kOmpTask},
    {"omp taskwait", kOmpTaskwait},
    {"omp taskgroup", kOmpTaskgroup},
}};
constexpr const OmpRegion& omp_region(OmpConstruct construct) {
  return kOmpRegions[static_cast<std::size_t>(construct)];
}
static_assert(omp_region(OmpConstruct::kTaskgroup).type == kOmpTaskgroup);
static_assert(omp_region(OmpConstruct::kSetLock).name == "omp_set_lock");

}  // namespace kojak
