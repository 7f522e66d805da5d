/* Libraries that have MPI_X and no PMPI_X, with handles of their own: a shim that opens the MPI itself (SHIM_MPI names it)
 * where nobody else sees it, and a stub of one process. With PROGRAM the program for both; with INNER a part of the MPI that
 * calls a function by MPI's name, as MPICH 4.2 does for files (SHIM_INNER names it).
 */
#ifdef PROGRAM
#include <stdio.h>
int MPI_Init(int*, char***), MPI_Finalize(void), MPI_Comm_rank(int, int*), MPI_Comm_size(int, int*), MPI_File_touch(int);

int main(int argc, char** argv) {
  int rank = -1, size = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(7, &rank);
  MPI_Comm_size(7, &size);
  const int file = MPI_File_touch(7);
  printf("%d of %d, file %d\n", rank, size, file);
  return MPI_Finalize();
}
#elif defined(INNER)
#include <mpi.h>

int inner(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  return MPI_Get_library_version(text, &length);
}
#elif defined(STUB)
int MPI_Init(int* argc, char*** argv) {
  return argc == 0 || argv == 0;
}
int MPI_Finalize(void) {
  return 0;
}
int MPI_Comm_rank(int comm, int* rank) {
  *rank = 0;
  return comm != 7;
}
int MPI_Comm_size(int comm, int* size) {
  *size = 1;
  return comm != 7;
}
int MPI_File_touch(int comm) {
  return comm != 7;
}
#else
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

static void* mpi;
/* As the MPI has it, but not as mpi.h declares it for this file. */
#define CALL(name, ...) ((int (*)(__VA_ARGS__))dlsym(mpi, name))

#if defined(OPEN_MPI)
static void* handle_of(const char* name) {
  return dlsym(mpi, name);
}
#define WORLD handle_of("ompi_mpi_comm_world")
#define NO_INFO handle_of("ompi_mpi_info_null")
typedef void* Handle;
#else
#define WORLD MPI_COMM_WORLD
#define NO_INFO MPI_INFO_NULL
typedef int Handle;
#endif

/* The names of MPI are this library's: other types, so they are given by their symbols. */
int shim_init(int* argc, char*** argv) __asm__("MPI_Init");
int shim_init(int* argc, char*** argv) {
  mpi = dlopen(getenv("SHIM_MPI"), RTLD_NOW | RTLD_LOCAL);
  return mpi == NULL ? 1 : CALL("PMPI_Init", int*, char***)(argc, argv);
}
int shim_finalize(void) __asm__("MPI_Finalize");
int shim_finalize(void) {
  return CALL("PMPI_Finalize", void)();
}
int shim_rank(int comm, int* rank) __asm__("MPI_Comm_rank");
int shim_rank(int comm, int* rank) {
  return comm == 7 ? CALL("PMPI_Comm_rank", Handle, int*)(WORLD, rank) : 5;
}
int shim_size(int comm, int* size) __asm__("MPI_Comm_size");
int shim_size(int comm, int* size) {
  return comm == 7 ? CALL("PMPI_Comm_size", Handle, int*)(WORLD, size) : 5;
}
/* Inside, an MPI calls its own PMPI_Comm_dup and its like for a file. */
int MPI_File_touch(int comm) {
  void *file, *part = dlopen(getenv("SHIM_INNER"), RTLD_NOW | RTLD_LOCAL);
  (void)comm;
  if (part == NULL || ((int (*)(void))dlsym(part, "inner"))() != MPI_SUCCESS) return -1;
  const int opened = CALL("PMPI_File_open", Handle, const char*, int, Handle, void**)(
      WORLD, "touched", MPI_MODE_CREATE | MPI_MODE_RDWR, NO_INFO, &file);
  return opened != MPI_SUCCESS ? opened : CALL("PMPI_File_close", void**)(&file);
}
#endif
