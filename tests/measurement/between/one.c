/* A library between a program and MPI that has one function, ONE_name. */
#include <mpi.h>

#if defined(ONE_Barrier)
int MPI_Barrier(MPI_Comm comm) {
  return PMPI_Barrier(comm);
}
#elif defined(ONE_Comm_rank)
int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  return PMPI_Comm_rank(comm, rank);
}
#elif defined(ONE_Comm_size)
int MPI_Comm_size(MPI_Comm comm, int* size) {
  return PMPI_Comm_size(comm, size);
}
#elif defined(ONE_Recv)
int MPI_Recv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  return PMPI_Recv(data, n, type, from, tag, comm, status);
}
#elif defined(ONE_Ssend)
int MPI_Ssend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return PMPI_Ssend(data, n, type, to, tag, comm);
}
#elif defined(ONE_Win_create)
int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                   MPI_Win* win) {
  return PMPI_Win_create(base, size, unit, info, comm, win);
}
#elif defined(ONE_Win_fence)
int MPI_Win_fence(int assertion, MPI_Win win) {
  return PMPI_Win_fence(assertion, win);
}
#elif defined(ONE_Win_free)
int MPI_Win_free(MPI_Win* win) {
  return PMPI_Win_free(win);
}
#elif defined(ONE_Comm_dup)
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return PMPI_Comm_dup(comm, made);
}
#elif defined(ONE_Comm_free)
int MPI_Comm_free(MPI_Comm* comm) {
  return PMPI_Comm_free(comm);
}
#elif defined(ONE_Finalize)
int MPI_Finalize(void) {
  return PMPI_Finalize();
}
#elif defined(ONE_Init)
int MPI_Init(int* argc, char*** argv) {
  return PMPI_Init(argc, argv);
}
#endif
