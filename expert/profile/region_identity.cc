#include "expert/profile/region_identity.h"

#include "epilog/format/openmp_constructs.h"
#include "epilog/format/text/xml_text.h"
#include "expert/metrics/time_class.h"

namespace kojak::expert {
namespace {

// What CUBE tells the kinds of functions by; of the program's own, the file.
std::string module_of(const RegionDef& region) {
  if (region.function != nullptr || region.name.starts_with("MPI_")) return "MPI";
  if (region.is_tracing() || region.is_pausing()) return "EPIK";  // the measurement itself
  if (is_omp(region.type) || region_class(region) == TimeClass::kOmpLockApi) return "OMP";
  if (shmem_class(region.name)) return "SHMEM";
  return region.file;
}

}  // namespace

RegionIdentity identity_of(const Definitions& definitions, RegionId region,
                           const std::string& name) {
  RegionIdentity identity{xml_text(name), "", absent<Line>(), absent<Line>()};
  if (const RegionDef* def = definitions.regions.find(region)) {
    identity.module = xml_text(module_of(*def));
    identity.begin = def->begin;
    identity.end = def->end;
  }
  return identity;
}

}  // namespace kojak::expert
