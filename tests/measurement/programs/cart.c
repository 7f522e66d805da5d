/* Cartesian topologies of four processes: 2 x 2, periodic in the first dimension, and its rows. */
#include "expect.h"

int main(int argc, char** argv) {
  const int sizes[2] = {2, 2}, periodic[2] = {1, 0}, keep[2] = {0, 1};
  MPI_Comm grid, row;
  begin(&argc, &argv);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 0, &grid);
  expect("MPI_Cart_create");
  MPI_Cart_sub(grid, keep, &row);
  expect("MPI_Cart_sub");
  MPI_Barrier(row);
  expect("MPI_Barrier coll:-:0:0");
  MPI_Comm_free(&row);
  expect("MPI_Comm_free");
  MPI_Comm_free(&grid);
  expect("MPI_Comm_free");
  end();
  return 0;
}
