/* Objects made and freed many times, and many open at once: memory must not grow with the number of calls.
 *
 * Prints the growth of the process's memory over the second half of each loop, in KiB, to $KOJAK_EXPECT/<rank>.
 */
#include "expect.h"

static long resident(void) {
  long pages = 0, total = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &total, &pages) != 2) pages = 0;
  if (file != NULL) fclose(file);
  return pages * 4;
}

static double memory[64], in[64], out[64];

static void windows(void) {
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(out, 1, MPI_DOUBLE, (me + 1) % ranks, 0, 1, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static void communicators(void) {
  MPI_Comm a, b;
  MPI_Comm_dup(MPI_COMM_WORLD, &a);
  MPI_Comm_split(a, me % 2, 0, &b);
  MPI_Sendrecv(out, 1, MPI_DOUBLE, (me + 1) % ranks, 1, in, 1, MPI_DOUBLE, (me + ranks - 1) % ranks, 1, a,
               MPI_STATUS_IGNORE);
  MPI_Comm_free(&a);
  MPI_Comm_free(&b);
}

static void requests(void) {
  MPI_Request request[8];
  for (int i = 0; i < 4; ++i) {
    MPI_Irecv(&in[i], 1, MPI_DOUBLE, (me + ranks - 1) % ranks, i, MPI_COMM_WORLD, &request[i]);
    MPI_Isend(&out[i], 1, MPI_DOUBLE, (me + 1) % ranks, i, MPI_COMM_WORLD, &request[4 + i]);
  }
  MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
  MPI_Recv_init(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &request[0]);
  MPI_Request_free(&request[0]);
  MPI_Irecv(in, 1, MPI_DOUBLE, 0, 10, MPI_COMM_WORLD, &request[0]);
  MPI_Cancel(&request[0]);
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
}

static void types(void) {
  MPI_Datatype type;
  MPI_Group world, group;
  const int ranges[1] = {0};
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&type);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, ranges, &group);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

/* Called 20 times: 100,000 tests in all, by MPI_Win_test and MPI_Test, that find nothing. */
static void spinning(void) {
  const int next = (me + 1) % ranks, previous = (me + ranks - 1) % ranks;
  int done = 0, none;
  MPI_Win win;
  MPI_Group world, to, from;
  MPI_Request request;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &next, &to);
  MPI_Group_incl(world, 1, &previous, &from);
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Irecv(in, 1, MPI_DOUBLE, previous, 11, MPI_COMM_WORLD, &request);
  MPI_Win_post(from, 0, win);
  MPI_Win_start(to, 0, win);
  for (int i = 0; i < 2500; ++i) {
    if (!done) MPI_Win_test(win, &done);
    MPI_Test(&request, &none, MPI_STATUS_IGNORE);
  }
  MPI_Win_complete(win);
  if (!done) MPI_Win_wait(win);
  MPI_Send(out, 1, MPI_DOUBLE, next, 11, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_free(&win);
  MPI_Group_free(&to);
  MPI_Group_free(&from);
  MPI_Group_free(&world);
}

static void measure(const char* name, void (*body)(void), int times) {
  for (int i = 0; i < times; ++i) body();
  const long before = resident();
  for (int i = 0; i < times; ++i) body();
  expect("%s %ld", name, resident() - before);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  measure("windows", windows, 400);
  measure("communicators", communicators, 1000);
  measure("requests", requests, 3000);
  measure("types", types, 3000);
  measure("spinning", spinning, 10);
  end();
  return 0;
}
