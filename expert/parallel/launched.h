// Whether a launcher has started this process as one of several, by what it puts into the
// environment. Nothing is said to the others, and none of them need run this program.
#pragma once

#include <optional>
#include <string>

namespace kojak::parallel {

struct Launched {
  int rank = 0;
  int size = 1;          // two or more
  int on_node = 1;       // of these, as far as is known
  std::string launcher;  // "mpirun", "mpiexec", "srun"
  std::string mpi;       // whose libraries it starts programs for: "openmpi", "mpich"
  double share_of_node() const { return static_cast<double>(on_node) / size; }
};

// Absent where this process is the only one, or no launcher known to us started it.
std::optional<Launched> launched();

}  // namespace kojak::parallel
