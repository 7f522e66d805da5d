// Where the processes of a run stood that was ended before they were, as a report holds it.
//
// Plain values, made by LastCallFinder; last_call_words.h puts them into words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilog/format/mpi_functions.h"
#include "epilog/format/record/types.h"
#include "epilog/format/shmem_functions.h"

namespace kojak::expert {

// Where one location stood.
struct LastCall {
  std::uint32_t location = 0;   // the analysis's number of it
  std::uint32_t call_path = 0;  // likewise
  std::uint32_t process = 0;
  const MpiFunction* function = nullptr;  // null: outside MPI
  const ShmemFunction* shmem = nullptr;   // null: outside SHMEM's calls that can wait
  Seconds since, until;
  // Outside MPI: the function that it computes since then, as most of its samples say, at the line
  // with the most of them. Absent without samples.
  CallSiteId computes = absent<CallSiteId>();
  CallSiteId awaited_computes = absent<CallSiteId>();  // the one that it waits for, likewise
  std::string awaits;  // "MPI_Win_post of rank 1"; empty if nobody is known to be missing
  std::vector<std::uint32_t> ranks;  // who did not come, ascending
  bool any = false;                  // one of them would have been enough
};

struct LastCalls {
  std::vector<LastCall> calls;                        // by location
  std::string library = "MPI";                        // whose calls can wait: also SHMEM, or both
  std::vector<std::vector<std::uint32_t>> deadlocks;  // ranks, each waits for the next, the last
                                                      // for the first

  bool empty() const { return calls.empty(); }
};

}  // namespace kojak::expert
