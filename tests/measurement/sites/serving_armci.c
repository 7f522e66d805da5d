/* Stands for a communication library that keeps the highest rank for itself, as ComEx's MPI-PR does: that process never
 * comes back from ARMCI_Init, answers requests there, and ends MPI and itself. Its file's name tells what it is. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { kRequest = 1, kAnswer = 2, kQuit = 3 };

static int mine, server, serves;
static MPI_Comm workers = MPI_COMM_NULL;

static void serve(void) {
  for (int left = server; left != 0;) {
    MPI_Status status;
    int word = 0;
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == kQuit) {
      --left;
    } else {
      for (double end = MPI_Wtime() + 1e-3 * word; MPI_Wtime() < end;) continue;
      MPI_Send(&word, 1, MPI_INT, status.MPI_SOURCE, kAnswer, MPI_COMM_WORLD);
    }
  }
  MPI_Comm_free(&workers);
  MPI_Finalize();
  exit(0);
}

/* `keeps`: a process for the library. */
void ARMCI_Init(int keeps) {
  int all;
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  server = all - 1;
  serves = keeps;
  MPI_Comm_split(MPI_COMM_WORLD, keeps && mine == server, mine, &workers);
  if (keeps && mine == server) serve();
}

void ARMCI_Barrier(void) {
  MPI_Barrier(workers);
}

/* It takes the server so many ms. */
void ARMCI_Get(int ms) {
  if (!serves) return;
  MPI_Send(&ms, 1, MPI_INT, server, kRequest, MPI_COMM_WORLD);
  MPI_Recv(&ms, 1, MPI_INT, server, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* `ends_mpi`: 1, it does; 2, only a message to oneself. */
void ARMCI_Finalize(int ends_mpi) {
  int word = 0, same = 0;
  if (serves) MPI_Send(&word, 1, MPI_INT, server, kQuit, MPI_COMM_WORLD);
  if (ends_mpi != 2) MPI_Comm_free(&workers);
  if (!ends_mpi) return;
  MPI_Sendrecv(&word, 1, MPI_INT, mine, kRequest, &same, 1, MPI_INT, mine, kRequest, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (ends_mpi == 1) MPI_Finalize();
}
