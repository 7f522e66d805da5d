/* Stands for a communication library that starts a thread in each process, as ComEx's MPI-PT and MPI-MT do: the thread
 * answers the requests of all, until the library ends. Its file's name tells what it is. */
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>

enum { kRequest = 1, kAnswer = 2, kQuit = 3 };

static MPI_Comm requests = MPI_COMM_NULL;
static pthread_t thread;

static int answer_one(void) {
  MPI_Status status;
  int word = 0;
  MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, requests, &status);
  if (status.MPI_TAG == kQuit) return 0;
  for (double end = MPI_Wtime() + 1e-3 * word; MPI_Wtime() < end;) continue;
  MPI_Send(&word, 1, MPI_INT, status.MPI_SOURCE, kAnswer, requests);
  return 1;
}

/* Also for the program's own threads. */
void* ARMCI_Serve(void* unused) {
  while (answer_one()) continue;
  return unused;
}

static void* serve_requests(void* unused) {
  return ARMCI_Serve(unused);
}

/* `starts`: a thread of the library's. */
void ARMCI_Init(int starts) {
  MPI_Comm_dup(MPI_COMM_WORLD, &requests);
  if (starts) pthread_create(&thread, NULL, serve_requests, NULL);
}

MPI_Comm ARMCI_Requests(void) {
  return requests;
}

/* It takes the target so many ms. */
void ARMCI_Get(int target, int ms) {
  MPI_Send(&ms, 1, MPI_INT, target, kRequest, requests);
  MPI_Recv(&ms, 1, MPI_INT, target, kAnswer, requests, MPI_STATUS_IGNORE);
}

/* Ends the thread of this process, which is its own where it is given. */
void ARMCI_Finalize(pthread_t* own) {
  int rank, word = 0;
  MPI_Comm_rank(requests, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(&word, 1, MPI_INT, rank, kQuit, requests);
  pthread_join(own != NULL ? *own : thread, NULL);
  MPI_Comm_free(&requests);
}
