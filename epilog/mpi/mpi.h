// The MPI's own header, without a reference to the MPI's data.
//
// Open MPI's handles are addresses of variables in its library. Ours has to load where no MPI is
// (sh under the preload), and a program may have copies of these variables (copy relocations), so
// the addresses are looked up with the functions (chain.h); a constant that is not in the list does
// not compile. In the archive the linker fills them in.
#pragma once

#include <mpi.h>

#if defined(OPEN_MPI)
#define KOJAK_MPI_CONSTANTS(X) \
  X(ompi_message_no_proc)      \
  X(ompi_message_null)         \
  X(ompi_mpi_byte)             \
  X(ompi_mpi_comm_null)        \
  X(ompi_mpi_comm_self)        \
  X(ompi_mpi_comm_world)       \
  X(ompi_mpi_datatype_null)    \
  X(ompi_mpi_double)           \
  X(ompi_mpi_errhandler_null)  \
  X(ompi_mpi_errors_return)    \
  X(ompi_mpi_file_null)        \
  X(ompi_mpi_group_null)       \
  X(ompi_mpi_info_null)        \
  X(ompi_mpi_op_band)          \
  X(ompi_mpi_op_bor)           \
  X(ompi_mpi_op_bxor)          \
  X(ompi_mpi_op_land)          \
  X(ompi_mpi_op_lor)           \
  X(ompi_mpi_op_lxor)          \
  X(ompi_mpi_op_max)           \
  X(ompi_mpi_op_maxloc)        \
  X(ompi_mpi_op_min)           \
  X(ompi_mpi_op_minloc)        \
  X(ompi_mpi_op_no_op)         \
  X(ompi_mpi_op_null)          \
  X(ompi_mpi_op_prod)          \
  X(ompi_mpi_op_replace)       \
  X(ompi_mpi_op_sum)           \
  X(ompi_mpi_win_null)         \
  X(ompi_request_null)

namespace kojak::measure {

struct Constants {
#define KOJAK_CONSTANT(name) void* name;
  KOJAK_MPI_CONSTANTS(KOJAK_CONSTANT)
#undef KOJAK_CONSTANT
};
extern Constants the_constants;

}  // namespace kojak::measure

#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) \
  (static_cast<type>(::kojak::measure::the_constants.global))
#endif
