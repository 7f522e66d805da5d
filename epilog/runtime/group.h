// Groups of processes as lists of world ranks, one object for each distinct list.
//
// Communicators, windows, the groups given to MPI_Win_post and MPI_Win_start, and active sets refer
// to them. They are kept until the session ends: programs use few distinct groups, and equal ones
// share. Members of another MPI_COMM_WORLD are kAbsent. Callers hold the bookkeeping lock. Without
// memory: nullptr.
#pragma once

#include <atomic>
#include <cstdint>

#include "epilog/format/record/types.h"
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

// The first, of all processes in order; call it before any other. Again it gives the same.
Group* make_world_group(std::uint32_t size);
Group* group_of_ranks(const std::uint32_t* ranks, std::uint32_t count);
// Communicators, and what else groups of processes do collective calls on, are numbered together.
std::uint32_t next_comm_id();

}  // namespace kojak::measure
