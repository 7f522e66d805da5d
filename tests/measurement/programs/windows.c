/* Messages that overtake each other, taken by receives that stay open for long, a third of them from any source, while
 * recording is switched off and on: windows N, N rounds between two switches; 0: it stays on.
 *
 * Every message says which one it is of those that its sender recorded, or -1. For each call that receives and is
 * recorded the process writes "call SOURCE:NUMBER ..." to told.RANK.
 */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kOpen = 12, kRounds = 1200 };
static int rank, size, in[kOpen];
static MPI_Request requests[kOpen];

static void post(int i) {
  const int source = i % 3 == 2 ? MPI_ANY_SOURCE : (rank + 1 + i % 3) % size;
  MPI_Irecv(&in[i], 1, MPI_INT, source, i / 3 % 3, MPI_COMM_WORLD, &requests[i]);
}

int main(int argc, char** argv) {
  const int each = argc > 1 ? atoi(argv[1]) : 25;
  char name[32];
  int on = 1, sent = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  snprintf(name, sizeof name, "told.%d", rank);
  FILE* told = fopen(name, "w");
  unsigned seed = 17 + (unsigned)rank;
  for (int i = 0; i < kOpen; ++i) post(i);
  for (int round = 0; round < kRounds; ++round) {
    if (each != 0 && round % each == 0) {
      on = round / each % 2 == 0;
      MPI_Pcontrol(on);
    }
    for (int k = 0; k < 3; ++k) {
      const int number = on ? sent++ : -1;
      MPI_Send(&number, 1, MPI_INT, (rank + 1 + rand_r(&seed) % 3) % size, rand_r(&seed) % 3, MPI_COMM_WORLD);
    }
    usleep(rand_r(&seed) % 300);
    int done, which[kOpen];
    MPI_Status status[kOpen];
    MPI_Testsome(kOpen, requests, &done, which, status);
    if (on && done > 0) fprintf(told, "call");
    for (int j = 0; j < done; ++j) {
      if (on) fprintf(told, " %d:%d", status[j].MPI_SOURCE, in[which[j]]);
      post(which[j]);
    }
    if (on && done > 0) fprintf(told, "\n");
  }
  fclose(told);
  MPI_Pcontrol(0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kOpen; ++i) {
    MPI_Cancel(&requests[i]);
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
  for (int flag = 1; flag;) { /* what nobody has taken */
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    if (flag) MPI_Recv(in, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
