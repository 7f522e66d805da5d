// Regions of the program itself: by the API (elg_user.h), in Fortran, and by
// -finstrument-functions.
//
// They lie on the thread's stack of open regions (open_regions.h). An exit that is not that of the
// innermost region (a longjmp, an exception) leaves all regions above its own. Names that
// ELG_FILTER excludes cost one look into the thread's cache.
#pragma once

#include <cstdint>

#include "epilog/runtime/recorder.h"

namespace kojak::measure {

// Writes the definition of a region whose key no table knows yet; kRejected if the filter leaves it
// out or it cannot be written.
RegionId define_user(Recorder& r, std::uint64_t key, const void* what);

}  // namespace kojak::measure
