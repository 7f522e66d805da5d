// What libexpert_mpi.so does for expert, which is linked with no MPI: one such library is built for
// each MPI, and the one of the launcher's is loaded where several processes were started.
//
// All of it is called by one thread. An error of MPI ends all processes, as MPI has it.
#pragma once

#include <stddef.h>

namespace kojak::parallel {

inline constexpr unsigned kExpertMpiVersion = 1;

struct ExpertMpi {
  unsigned version;
  // Waits for all processes that the launcher started. 0, or MPI's error class.
  int (*init)(int* rank, int* size);
  int (*send)(int to, const void* data, size_t size);
  // Waits for a message of exactly this size, asleep.
  int (*receive)(int from, void* data, size_t size);
  int (*finalize)(void);
  void (*abort)(int status);
};

inline constexpr const char* kExpertMpiSymbol = "kojak_expert_mpi";  // an ExpertMpi

}  // namespace kojak::parallel
