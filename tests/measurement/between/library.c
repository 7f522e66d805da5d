/* Libraries between a program and MPI: each is this file with one of the macros.
 *
 *   CLIENTS  one process is a server and stays in MPI_Init to the end; the others are one MPI_COMM_WORLD to the program, or
 *            two. SERVER=first makes rank 0 the server, else it is the last; WORLDS=2.
 *   PAIRS    MPI_Barrier is three barriers over parts of the processes.
 *   COUNTS   counts calls of the program and tells the counts at the end.
 *   ALIAS    PMPI_Init is another name of its MPI_Init, and the MPI's comes from dlsym(RTLD_NEXT), as in measuring tools.
 *   UNSEEN   takes PMPI_Init from the MPI by dlsym(RTLD_NEXT), without one of its own.
 *   LATE     MPI_Finalize only promises: PMPI_Finalize is called at exit.
 *   PART     has MPI_Barrier and MPI_Comm_size only.
 *   SHADOW   keeps a copy of each communicator for itself, and passes operations on with that.
 *   NAMES    MPI_Ssend calls MPI_Issend and MPI_Wait by these names.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(COUNTS) || defined(ALIAS)
/* A line at once: those of several processes do not mix. */
static void tell(const char* line) {
  const ssize_t written = write(STDOUT_FILENO, line, strlen(line));
  (void)written;
}
#endif

#ifdef CLIENTS
static MPI_Comm clients;

static MPI_Comm seen(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD ? clients : comm;
}

static int server(void) {
  int size;
  const char* where = getenv("SERVER");
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  return where != NULL && strcmp(where, "first") == 0 ? 0 : size - 1;
}

int MPI_Init(int* argc, char*** argv) {
  int rank, size;
  const int result = PMPI_Init(argc, argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const int worlds = getenv("WORLDS") != NULL ? atoi(getenv("WORLDS")) : 1;
  PMPI_Comm_split(MPI_COMM_WORLD, rank == server() ? worlds : rank % worlds, rank, &clients);
  /* The worlds' communicators get different numbers: Open MPI 4.1 has one file for the windows of all of a node's that have
   * the same, and the program then fails at times, measured or not. */
  if (rank != server() && rank % worlds == 1) {
    MPI_Comm first = clients;
    PMPI_Comm_dup(first, &clients);
    PMPI_Comm_free(&first);
  }
  if (rank != server()) return result;
  for (int i = 1; i < size; ++i) {
    PMPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  PMPI_Finalize();
  exit(0);
}
int MPI_Finalize(void) {
  PMPI_Send(NULL, 0, MPI_BYTE, server(), 9, MPI_COMM_WORLD);
  return PMPI_Finalize();
}
int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  return PMPI_Comm_rank(seen(comm), rank);
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  return PMPI_Comm_size(seen(comm), size);
}
int MPI_Barrier(MPI_Comm comm) {
  return PMPI_Barrier(seen(comm));
}
int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return PMPI_Win_create(base, size, unit, info, seen(comm), win);
}
int MPI_Ssend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return PMPI_Ssend(data, n, type, to, tag, seen(comm));
}
int MPI_Recv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  return PMPI_Recv(data, n, type, from, tag, seen(comm), status);
}
#endif

#ifdef PAIRS
static MPI_Comm pair, leaders;

int MPI_Init(int* argc, char*** argv) {
  int rank;
  const int result = PMPI_Init(argc, argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
  PMPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &leaders);
  return result;
}
int MPI_Barrier(MPI_Comm comm) {
  if (comm != MPI_COMM_WORLD) return PMPI_Barrier(comm);
  PMPI_Barrier(pair);
  PMPI_Barrier(leaders);
  return PMPI_Barrier(pair);
}
#endif

#ifdef COUNTS
static int ranks, sizes, barriers, fences, sends, type_sizes, groups;

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  ++ranks;
  return PMPI_Comm_rank(comm, rank);
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  ++sizes;
  return PMPI_Comm_size(comm, size);
}
int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return PMPI_Barrier(comm);
}
int MPI_Win_fence(int assertion, MPI_Win win) {
  ++fences;
  return PMPI_Win_fence(assertion, win);
}
int MPI_Ssend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++sends;
  return PMPI_Ssend(data, n, type, to, tag, comm);
}
int MPI_Type_size(MPI_Datatype type, int* size) {
  ++type_sizes;
  return PMPI_Type_size(type, size);
}
int MPI_Win_get_group(MPI_Win win, MPI_Group* group) {
  ++groups;
  return PMPI_Win_get_group(win, group);
}
int MPI_Init(int* argc, char*** argv) {
  return PMPI_Init(argc, argv);
}
int MPI_Finalize(void) {
  char line[128];
  snprintf(line, sizeof line, "counted: %d %d %d %d %d %d %d\n", ranks, sizes, barriers, fences, sends, type_sizes, groups);
  tell(line);
  return PMPI_Finalize();
}
#endif

#ifdef ALIAS
int MPI_Init(int* argc, char*** argv) {
  int (*init)(int*, char***);
  *(void**)&init = dlsym(RTLD_NEXT, "PMPI_Init");
  return init(argc, argv);
}
int PMPI_Init(int* argc, char*** argv) __attribute__((alias("MPI_Init")));
int MPI_Finalize(void) {
  int (*finalize)(void);
  *(void**)&finalize = dlsym(RTLD_NEXT, "PMPI_Finalize");
  tell("the tool ends\n");
  return finalize();
}
int PMPI_Finalize(void) __attribute__((alias("MPI_Finalize")));
#endif

#ifdef UNSEEN
int MPI_Init(int* argc, char*** argv) {
  int (*init)(int*, char***);
  *(void**)&init = dlsym(RTLD_NEXT, "PMPI_Init");
  return init(argc, argv);
}
#endif

#ifdef LATE
static void end(void) {
  PMPI_Finalize();
}
int MPI_Finalize(void) {
  atexit(end);
  return MPI_SUCCESS;
}
#endif

#ifdef PART
int MPI_Barrier(MPI_Comm comm) {
  return PMPI_Barrier(comm);
}
int MPI_Comm_size(MPI_Comm comm, int* size) {
  return PMPI_Comm_size(comm, size);
}
#endif

#ifdef SHADOW
static MPI_Comm known[8], shadows[8];
static int count;

static void shadow(MPI_Comm comm) {
  known[count] = comm;
  PMPI_Comm_dup(comm, &shadows[count++]);
}
static MPI_Comm shadow_of(MPI_Comm comm) {
  for (int i = count; i-- > 0;) {
    if (known[i] == comm) return shadows[i];
  }
  return comm;
}
int MPI_Init(int* argc, char*** argv) {
  const int result = PMPI_Init(argc, argv);
  shadow(MPI_COMM_WORLD);
  return result;
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  const int result = PMPI_Comm_dup(comm, made);
  shadow(*made);
  return result;
}
int MPI_Comm_free(MPI_Comm* comm) {
  for (int i = 0; i < count; ++i) {
    if (known[i] != *comm) continue;
    known[i] = MPI_COMM_NULL;
    PMPI_Comm_free(&shadows[i]);
    break;
  }
  return PMPI_Comm_free(comm);
}
int MPI_Barrier(MPI_Comm comm) {
  return PMPI_Barrier(shadow_of(comm));
}
int MPI_Ssend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return PMPI_Ssend(data, n, type, to, tag, shadow_of(comm));
}
int MPI_Recv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  return PMPI_Recv(data, n, type, from, tag, shadow_of(comm), status);
}
#endif

#ifdef NAMES
int MPI_Ssend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_Request request;
  const int result = MPI_Issend(data, n, type, to, tag, comm, &request);
  return result != MPI_SUCCESS ? result : MPI_Wait(&request, MPI_STATUS_IGNORE);
}
#endif
