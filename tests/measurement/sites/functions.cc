// Functions of the program as regions, by -finstrument-functions. run_regions.py knows which must be in the trace.
#include <mpi.h>

#include <stdexcept>

namespace solver {

int calls = 0;

void smooth() {
  ++calls;
}
struct Grid {
  void exchange(int depth);
};
void Grid::exchange(int depth) {
  if (depth > 0) exchange(depth - 1);
  MPI_Barrier(MPI_COMM_WORLD);
}
void fails() {
  throw std::runtime_error("out of here");
}
void step(Grid& grid) {
  smooth();
  grid.exchange(1);
  try {
    fails();
  } catch (const std::exception&) {
    smooth();
  }
}

}  // namespace solver

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  solver::Grid grid;
  for (int i = 0; i < 2; ++i) solver::step(grid);
  MPI_Finalize();
  return solver::calls == 4 ? 0 : 1;
}
