/* Ever new tags, more than whose counts a process keeps, while recording is switched off, and around that.
 *
 * Every message says which one it is of those that its sender recorded, or -1. For each call that receives and is
 * recorded the process writes "call SOURCE:NUMBER" to told.RANK; how many bytes it has grown by while recording was off
 * to grown.RANK.
 */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kSteps = 300000, kTags = 600 };
static int rank, size, on = 1, sent;
static FILE* told;

static void send_one(int tag) {
  const int number = on ? sent++ : -1;
  MPI_Send(&number, 1, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD);
}
static void receive_one(int tag) {
  const int source = (rank + size - 1) % size;
  int number;
  MPI_Recv(&number, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (on) fprintf(told, "call %d:%d\n", source, number);
}
static void exchange(int tag) {
  send_one(tag);
  receive_one(tag);
}
static long resident(void) {
  long size_of_all = 0, pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &size_of_all, &pages) != 2) pages = 0;
  if (file != NULL) fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}
static FILE* file_of(const char* what) {
  char name[32];
  snprintf(name, sizeof name, "%s.%d", what, rank);
  return fopen(name, "w");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  told = file_of("told");
  for (int tag = 0; tag < kTags; ++tag) exchange(tag);
  send_one(7); /* received where nobody looks */
  on = 0;
  MPI_Pcontrol(0);
  receive_one(7);
  for (int step = 0; step < 1000; ++step) exchange(step);
  const long before = resident();
  for (int step = 0; step < kSteps; ++step) exchange(step);
  FILE* grown = file_of("grown");
  fprintf(grown, "%ld\n", resident() - before);
  fclose(grown);
  send_one(5); /* received where somebody looks again */
  MPI_Pcontrol(1);
  on = 1;
  receive_one(5);
  for (int round = 0; round < 2; ++round) {
    for (int tag = 0; tag < kTags; ++tag) exchange(tag);
    for (int tag = 0; tag < 300; ++tag) exchange(kSteps - tag);
  }
  on = 0;
  fclose(told);
  MPI_Finalize();
  return 0;
}
