#include "expert/metrics/region_kind.h"

#include "expert/metrics/time_class.h"

namespace kojak::expert {
namespace {

RegionKind kind_of_shmem(std::optional<TimeClass> time_class) {
  if (!time_class) return RegionKind::kProgram;
  switch (as_shmem(*time_class)) {
    case TimeClass::kShmemCollective:
      return RegionKind::kCollective;
    case TimeClass::kShmemRma:
      return RegionKind::kTransfer;
    case TimeClass::kShmemBarrier:
      return RegionKind::kBarrier;
    case TimeClass::kShmemPairSync:
    case TimeClass::kShmemLock:
      return RegionKind::kPassiveTarget;
    case TimeClass::kShmemWait:
      return RegionKind::kPointToPoint;
    case TimeClass::kShmemInitExit:
      return RegionKind::kInitExit;
    default:
      return RegionKind::kManagement;
  }
}

}  // namespace

RegionKind kind_of(const RegionDef& region) {
  if (region.is_tracing() || region.is_pausing()) return RegionKind::kMeasurement;
  if (region.function == nullptr) return kind_of_shmem(shmem_class(region.name));
  switch (region.function->cls) {
    case MpiClass::kPointToPoint:
      return RegionKind::kPointToPoint;
    case MpiClass::kCollective:
      return RegionKind::kCollective;
    case MpiClass::kBarrier:
      return RegionKind::kBarrier;
    case MpiClass::kRmaCommunication:
      return RegionKind::kTransfer;
    case MpiClass::kWindowManagement:
      return RegionKind::kWindow;
    case MpiClass::kFence:
      return RegionKind::kFence;
    case MpiClass::kGeneralActiveTarget:
      return RegionKind::kActiveTarget;
    case MpiClass::kPassiveTarget:
      return RegionKind::kPassiveTarget;
    case MpiClass::kIo:
      return RegionKind::kIo;
    case MpiClass::kInitExit:
      return RegionKind::kInitExit;
    case MpiClass::kManagement:
      return RegionKind::kManagement;
  }
  return RegionKind::kProgram;
}

}  // namespace kojak::expert
