#include "expert/parallel/launched.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace kojak::parallel {
namespace {

std::optional<int> number_of(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  int number = 0;
  const char* const end = text + std::strlen(text);
  const auto [at, error] = std::from_chars(text, end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Launched> launched() {
  struct Variables {
    const char *size, *rank, *launcher, *mpi;
  };
  // Open MPI's mpirun, also where srun has started its servers; those that speak PMI, srun of Slurm
  // for an MPI that does among them; srun without that.
  constexpr Variables kKnown[] = {
      {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "mpirun", "openmpi"},
      {"PMI_SIZE", "PMI_RANK", "mpiexec", "mpich"},
      {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun", "openmpi"}};
  for (const Variables& known : kKnown) {
    const std::optional<int> size = number_of(known.size), rank = number_of(known.rank);
    if (!size || !rank || *rank < 0 || *rank >= *size) continue;
    if (*size == 1) return std::nullopt;
    int on_node = *size;
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
      if (const auto told = number_of(name); told && *told > 0) on_node = std::min(*told, *size);
    }
    return Launched{*rank, *size, on_node, known.launcher, known.mpi};
  }
  return std::nullopt;
}

}  // namespace kojak::parallel
