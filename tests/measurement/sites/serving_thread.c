/* A program on a library that answers by a thread (serving_thread_armci.c). Argument: "library"; "own", where the program's
 * own thread does the same by its own calls of MPI; "calls", where that calls the library for it; "jumps", where it ends by
 * jumping there, so that it has no frame on the stack. */
#include <mpi.h>
#include <pthread.h>
#include <string.h>

void* ARMCI_Serve(void* unused);
void ARMCI_Init(int starts);
MPI_Comm ARMCI_Requests(void);
void ARMCI_Get(int target, int ms);
void ARMCI_Finalize(pthread_t* own);

static volatile int done;

static void* serves(void* unused) {
  for (;;) {
    MPI_Status status;
    int word = 0;
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, ARMCI_Requests(), &status);
    if (status.MPI_TAG == 3) return unused;
    for (double end = MPI_Wtime() + 1e-3 * word; MPI_Wtime() < end;) continue;
    MPI_Send(&word, 1, MPI_INT, status.MPI_SOURCE, 2, ARMCI_Requests());
  }
}

static void* calls(void* unused) {
  ARMCI_Serve(unused);
  done = 1;
  return NULL;
}

static void* jumps(void* unused) {
  return ARMCI_Serve(unused);
}

static void compute(double s) {
  for (double end = MPI_Wtime() + s; MPI_Wtime() < end;) continue;
}

int main(int argc, char** argv) {
  int rank, size, level;
  const char* const mode = argc > 1 ? argv[1] : "library";
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 77);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int own = strcmp(mode, "library") != 0;
  pthread_t thread;
  ARMCI_Init(!own);
  if (own) {
    void* (*const start)(void*) = strcmp(mode, "own") == 0 ? serves : strcmp(mode, "calls") == 0 ? calls : jumps;
    pthread_create(&thread, NULL, start, NULL);
  }
  /* The last one computes; the others get from it meanwhile. */
  if (rank == size - 1) {
    compute(0.5);
  } else {
    ARMCI_Get(size - 1, 100);
  }
  ARMCI_Finalize(own ? &thread : NULL);
  MPI_Finalize();
  return 0;
}
