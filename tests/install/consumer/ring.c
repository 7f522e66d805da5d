/* A small MPI program that an outside user relinks with the measurement library by pkg-config. */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, size, value = -1;
  int* memory;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Alloc_mem(sizeof(int), MPI_INFO_NULL, &memory);
  *memory = -1;
  MPI_Win_create(memory, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  value = *memory;
  MPI_Win_free(&window);
  MPI_Free_mem(memory);
  MPI_Finalize();
  return value == (rank + size - 1) % size ? 0 : 1;
}
