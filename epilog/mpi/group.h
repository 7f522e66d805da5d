// Groups of processes as lists of world ranks, one object for each distinct list.
//
// Communicators, windows and the groups given to MPI_Win_post and MPI_Win_start refer to them. They
// are kept until the session ends: programs use few distinct groups, and equal ones share. Members
// of another MPI_COMM_WORLD are kAbsent. Callers hold the bookkeeping lock. Without memory:
// nullptr.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "epilog/format/types.h"
#include "epilog/runtime/memory.h"

namespace kojak::measure {

struct Group {
  std::uint32_t id = 0;
  std::uint32_t count = 0;
  std::uint32_t* ranks = nullptr;         // world ranks in group order
  bool foreign = false;                   // has members of another world
  std::uint32_t as_comm = kAbsent;        // the communicator object that stands for it in events
  std::atomic<std::uint64_t> defined{0};  // by which threads
  std::atomic<std::uint64_t> defined_as_comm{0};
  Group* same_hash = nullptr;
};

// The first, of all processes in order; call it once, before any other.
Group* make_world_group(std::uint32_t size);
// All processes in order as MPI knows them. The caller keeps it alive, or gives MPI_GROUP_NULL.
void use_world_group(MPI_Group world);
Group* group_of_ranks(const std::uint32_t* ranks, std::uint32_t count);
// By its members; the handle must be valid.
Group* group_of(MPI_Group group);
// The group of a communicator, or its remote group.
Group* local_group_of(MPI_Comm comm);
Group* remote_group_of(MPI_Comm comm);
// Ranks of `group` in `other`, into a list that the next call overwrites; nullptr if it failed.
const int* ranks_in(MPI_Group group, MPI_Group other, int& count);
std::uint32_t next_comm_id();

}  // namespace kojak::measure
