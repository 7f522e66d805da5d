// Keys of RUN_PROPERTY that the measurement writes and the analysis reads.
#pragma once

namespace kojak::run_property {

inline constexpr const char* kMpiLibrary =
    "mpi.library";                                   // "Open MPI v4.1.4", "MPICH Version: ..."
inline constexpr const char* kEnvironment = "env.";  // before the name of a variable

}  // namespace kojak::run_property
