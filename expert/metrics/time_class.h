// The class that the time of a region belongs to, for regions that are no MPI functions: OpenMP
// constructs by their region type, functions of SHMEM and of the OpenMP lock interface by name.
// And that of a call that completes requests, by what it completed.
//
// SHMEM's functions are those of the table (epilog/format/shmem_functions.h). A name that it does
// not have (Fortran, other libraries, later versions) is taken apart into its words, and each word
// is looked up: shmem_put64_nbi is put, nbi; parts of words decide nothing. Pure functions; nothing
// fails; any thread. Source: EPILOG's region types.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "earl/call.h"
#include "epilog/format/definitions.h"
#include "epilog/format/openmp_constructs.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

// What a function of SHMEM or another such model is; nullopt for any other name.
std::optional<TimeClass> shmem_class(std::string_view name);
// Of the collective ones: those in which everybody waits for the root.
bool is_shmem_broadcast(std::string_view name);

TimeClass region_class(const RegionDef& region);

// Whether the trace has functions of that model, by its table.
bool has_functions_of(const Definitions& definitions, PgasModel model);
// What people call one of its processes: "rank"; UPC's are threads, where none has several.
std::string_view process_word(const Definitions& definitions);

// The classes of all regions of a trace, for what asks at each event. Memory: regions.
class RegionClasses {
 public:
  explicit RegionClasses(const Definitions& definitions) {
    definitions.regions.for_each(
        [this](RegionId id, const RegionDef& region) { classes_.set(id, region_class(region)); });
  }
  // kUser if nothing defines it.
  TimeClass operator[](RegionId id) const {
    const TimeClass* known = classes_.find(id);
    return known == nullptr ? TimeClass::kUser : *known;
  }

 private:
  IdTable<RegionId, TimeClass> classes_;
};

// Whether a call's class depends on what it completed.
constexpr bool completes_requests(MpiRole role) {
  return role >= MpiRole::kWait && role <= MpiRole::kTestsome;
}
// The class of a call that completes requests, from earl::Call::completed.
constexpr TimeClass class_of_completed(std::uint8_t completed) {
  switch (completed) {
    case earl::kCompletedRma:
      return TimeClass::kRmaCommunication;
    case earl::kCompletedBarrier:
      return TimeClass::kBarrier;
    case earl::kCompletedCollective:
    case earl::kCompletedCollective | earl::kCompletedBarrier:
      return TimeClass::kCollective;
    case earl::kCompletedIo:
      return TimeClass::kIo;
    default:
      return TimeClass::kPointToPoint;
  }
}

}  // namespace kojak::expert
