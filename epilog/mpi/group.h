// Groups of MPI as groups of the runtime (epilog/runtime/group.h), by their members. Callers hold
// the bookkeeping lock. Without memory: nullptr.
#pragma once

#include "epilog/mpi/mpi.h"
#include "epilog/runtime/group.h"

namespace kojak::measure {

// All processes in order as MPI knows them. The caller keeps it alive, or gives MPI_GROUP_NULL.
void use_world_group(MPI_Group world);
// Found by its members; the handle must be valid.
Group* group_of(MPI_Group group);
// The group of a communicator, or its remote group.
Group* local_group_of(MPI_Comm comm);
Group* remote_group_of(MPI_Comm comm);
// Ranks of `group` in `other`, into a list that the next call overwrites; nullptr if it failed.
const int* ranks_in(MPI_Group group, MPI_Group other, int& count);

}  // namespace kojak::measure
