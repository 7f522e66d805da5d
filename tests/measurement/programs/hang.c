/* Programs that hang, each in its own way: hang MODE, on three processes.
 *
 * Every process writes two times of day (seconds) and its number to ready.RANK just before it stands still for good, so
 * that it can be ended from outside: note() was before its last call, or before the one that it stands in if something
 * called back from there does not return, and the second is now. The file is open before, so that no other process's
 * disk keeps this one between the time and what follows it. Whoever is not in an MPI call sleeps, but for
 * one that computes.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int me;

static int ready_file;
static double noted;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void note(void) {
  noted = now();
}

static void prepare(void) {
  char name[32];
  snprintf(name, sizeof name, "ready.%d", me);
  ready_file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
  note();
}

static void ready(void) {
  char line[96];
  const int size = snprintf(line, sizeof line, "%.9f %.9f %d\n", noted, now(), (int)getpid());
  if (write(ready_file, line, (size_t)size) != size) abort();
}

static void stand_outside(void) {
  ready();
  for (;;) pause();
}

static volatile double value_;
static __attribute__((noinline)) void stuck(void) {
  for (;;) value_ = 0.5 * value_ + 1; /* in stuck */
}

static void in_barrier(void) {
  ready();
  MPI_Barrier(MPI_COMM_WORLD);
}

static void epochs(const char* mode, MPI_Win win) {
  MPI_Group all, other;
  MPI_Win_get_group(win, &all);
  if (me == 2) in_barrier();
  const int peer = 1 - me;
  note();
  MPI_Group_incl(all, 1, &peer, &other);
  double value = 1;
  if (me == 0 && strcmp(mode, "wait") == 0) { /* nobody completes */
    MPI_Win_post(other, 0, win);
    ready();
    MPI_Win_wait(win);
  } else if (me == 0) { /* nobody posts */
    ready();
    MPI_Win_start(other, 0, win);
    MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
    MPI_Win_complete(win);
  } else if (strcmp(mode, "wait") == 0) {
    MPI_Win_start(other, 0, win);
    note();
    MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win);
    stand_outside();
  } else {
    stand_outside();
  }
}

/* Rank 1 holds the lock of rank 2 for good; rank 0 wants it. */
static void locks(MPI_Win win) {
  double value = 1;
  if (me == 1) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
    MPI_Put(&value, 1, MPI_DOUBLE, 2, 0, 1, MPI_DOUBLE, win);
    MPI_Win_flush(2, win);
    note();
    MPI_Send(&value, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
    stand_outside();
  } else if (me == 0) {
    MPI_Recv(&value, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ready();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
    MPI_Win_flush(2, win);
    MPI_Win_unlock(2, win);
  } else {
    in_barrier();
  }
}

/* Rank 0 reads in rank 2 again and again, each time under a shared lock; a hundred times before others come. */
static int read_under_lock(MPI_Win win, int reads) {
  double value = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
  if (reads < 0) return 0;
  MPI_Get(&value, 1, MPI_DOUBLE, 2, 0, 1, MPI_DOUBLE, win);
  MPI_Win_unlock(2, win);
  return value == 0;
}
static void write_number(const char* name) {
  char line[32];
  const int size = snprintf(line, sizeof line, "%d\n", (int)getpid());
  const int file = open("unready", O_CREAT | O_TRUNC | O_WRONLY, 0644);
  if (write(file, line, (size_t)size) != size || close(file) != 0 || rename("unready", name) != 0) abort();
}
static int read_number(const char* name) {
  int number = 0;
  FILE* file;
  while ((file = fopen(name, "r")) == NULL) usleep(1000);
  if (fscanf(file, "%d", &number) != 1) abort();
  fclose(file);
  return number;
}
/* "asks": rank 1 takes the lock while rank 0 reads on, and keeps it; rank 0 cannot tell when, so rank 1 does. "holds":
 * rank 0 keeps its own lock, and rank 1 wants one. */
static void reads(const char* mode, MPI_Win win) {
  double value = 0;
  const int asks = strcmp(mode, "asks") == 0;
  if (me == 2) in_barrier();
  if (me == 0) {
    for (int n = 0; n < 100; ++n) read_under_lock(win, n);
    if (!asks) read_under_lock(win, -1);
    note();
    write_number("reads");
    if (!asks) stand_outside();
    while (read_under_lock(win, 0)) {
    }
    abort();
  }
  const int reader = read_number("reads");
  note();
  if (!asks) ready();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
  MPI_Put(&value, 1, MPI_DOUBLE, 2, 0, 1, MPI_DOUBLE, win);
  MPI_Win_flush(2, win);
  if (!asks) abort();
  FILE* const file = fopen("ready.0", "w");
  fprintf(file, "%.9f %.9f %d\n", noted, now(), reader);
  fclose(file);
  note();
  stand_outside();
}

enum { LARGE = 1 << 20 };

/* Rank 1 neither posts, nor gives its lock of rank 2 back: a large transfer waits for that in some implementations. */
static void transfers(const char* mode) {
  static double memory[LARGE], value[LARGE];
  MPI_Win win;
  MPI_Group all, other;
  const int peer = 1, locks = strcmp(mode, "locked") == 0;
  MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_get_group(win, &all);
  note();
  MPI_Group_incl(all, 1, &peer, &other);
  if (me == 2) in_barrier();
  if (me == 1 && locks) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
    MPI_Put(value, 1, MPI_DOUBLE, 2, 0, 1, MPI_DOUBLE, win);
    MPI_Win_flush(2, win);
    note();
    MPI_Send(value, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
  }
  if (me == 1) stand_outside();
  if (locks) {
    MPI_Recv(value, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ready();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
    MPI_Get(value, LARGE, MPI_DOUBLE, 2, 0, LARGE, MPI_DOUBLE, win);
    MPI_Win_unlock(2, win);
  } else {
    ready();
    MPI_Win_start(other, 0, win);
    if (strcmp(mode, "put") == 0)
      MPI_Put(value, LARGE, MPI_DOUBLE, 1, 0, LARGE, MPI_DOUBLE, win);
    else
      MPI_Get(value, LARGE, MPI_DOUBLE, 1, 0, LARGE, MPI_DOUBLE, win);
    MPI_Win_complete(win);
  }
}

/* A call that begins something and does not come back: a function that MPI calls back stands still. */
static int never_copied(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra, (void)in, (void)out, (void)flag;
  stand_outside();
  return MPI_SUCCESS;
}
static void begin(void) {
  int key;
  MPI_Comm comm;
  MPI_Request request;
  if (me != 0) in_barrier();
  MPI_Comm_create_keyval(never_copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
  note();
  MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
}

/* A call that only begins something and does not come back: a library between the program and MPI (stands.c) stands
 * still in it. */
extern void (*stand_in_call)(void);

static void library(const char* mode, double* value) {
  MPI_Request request;
  if (me == 2) in_barrier();
  if (me == 1) stand_outside();
  if (strcmp(mode, "in_start") == 0) MPI_Send_init(value, 1, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD, &request);
  stand_in_call = stand_outside;
  note();
  if (strcmp(mode, "in_isend") == 0) MPI_Isend(value, 1, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD, &request);
  if (strcmp(mode, "in_start") == 0) MPI_Start(&request);
  if (strcmp(mode, "in_ibcast") == 0) MPI_Ibcast(value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
}

/* Messages so large that they wait for their receives, which rank 1 does not post; and a broadcast that rank 1, its
 * root, does not begin. */
static void completions(const char* mode) {
  static double value[LARGE];
  MPI_Request request;
  if (me == 1) stand_outside();
  if (me == 2 && strcmp(mode, "ibcast") != 0) in_barrier();
  if (strcmp(mode, "isend") == 0) MPI_Isend(value, LARGE, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD, &request);
  if (strcmp(mode, "started") == 0) {
    MPI_Send_init(value, LARGE, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
  }
  if (strcmp(mode, "ibcast") == 0) MPI_Ibcast(value, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD, &request);
  ready();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Two files are open, so that a call is told apart from that of the other one. */
static void files(const char* mode) {
  MPI_File file[2];
  char name[2][64];
  for (int i = 0; i < 2; ++i) {
    snprintf(name[i], sizeof name[i], "hang.%d.data", i);
    MPI_File_open(MPI_COMM_WORLD, name[i], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, file + i);
  }
  MPI_File_set_size(file[0], 64);
  note();
  MPI_File_set_size(file[1], 64);
  if (me == 1) stand_outside();
  ready();
  if (strcmp(mode, "open") == 0) {
    MPI_File third;
    MPI_File_open(MPI_COMM_WORLD, "hang.2.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &third);
  }
  if (strcmp(mode, "close") == 0) MPI_File_close(file);
  MPI_File_set_view(file[1], 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  in_barrier();
}

#if MPI_VERSION >= 4
/* The parts of a message that rank 1 does not give away, does not receive, or that rank 0 itself keeps. */
static void parts(const char* mode, double* value) {
  MPI_Request request;
  if (me == 2) in_barrier();
  if (me == 0 && strcmp(mode, "given") == 0)
    MPI_Precv_init(value, 2, 1, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  else if (me == 0)
    MPI_Psend_init(value, 2, 1, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  else if (strcmp(mode, "given") == 0)
    MPI_Psend_init(value, 2, 1, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  else
    MPI_Precv_init(value, 2, 1, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  if (me == 1 && strcmp(mode, "taken") == 0) stand_outside();
  note();
  MPI_Start(&request);
  if (me == 1 && strcmp(mode, "given") == 0) MPI_Pready(0, request);
  if (me == 0 && strcmp(mode, "given") != 0) MPI_Pready(1, request);
  if (me == 0 && strcmp(mode, "taken") == 0) MPI_Pready(0, request);
  if (me == 1) stand_outside();
  ready();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
#endif

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "recv";
  double *memory, value[2] = {0, 0};
  MPI_Win win;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  prepare();
  MPI_Alloc_mem(sizeof(double), MPI_INFO_NULL, &memory);
  MPI_Win_create(memory, sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (strcmp(mode, "wait") == 0 || strcmp(mode, "start") == 0) epochs(mode, win);
  if (strcmp(mode, "lock") == 0) locks(win);
  if (strcmp(mode, "asks") == 0 || strcmp(mode, "holds") == 0) {
    memory[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    reads(mode, win);
  }
  if (strcmp(mode, "compute") == 0) {
    if (me == 2) in_barrier();
    note();
    if (me == 1) ready(), stuck();
    ready();
    MPI_Recv(&value, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "recv") == 0) {
    if (me == 1) stand_outside();
    ready();
    MPI_Recv(value, 1, MPI_DOUBLE, me == 0 ? 1 : MPI_ANY_SOURCE, 7, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "poll") == 0) { /* each waits for the other, but rank 1 asks */
    MPI_Request request;
    if (me == 2) in_barrier();
    if (me == 0) ready(), MPI_Recv(value, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(value, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, &request);
    note();
    ready();
    for (int done = 0; !done; usleep(1000)) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "send") == 0) {
    if (me == 1) stand_outside();
    if (me == 2) in_barrier();
    ready();
    MPI_Ssend(value, 1, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD);
  }
  if (strcmp(mode, "barrier") == 0) {
    if (me == 1) stand_outside();
    in_barrier();
  }
  if (strcmp(mode, "fence") == 0) {
    note();
    MPI_Win_fence(0, win);
    if (me == 1) stand_outside();
    ready();
    MPI_Win_fence(0, win);
  }
  if (strcmp(mode, "begun") == 0) {
    if (me == 1) stand_outside();
    MPI_Ibarrier(MPI_COMM_WORLD, requests);
    ready();
    MPI_Wait(requests, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "waitall") == 0) { /* the message of rank 2 comes, that of rank 1 does not */
    if (me == 2) MPI_Send(value, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD);
    if (me == 2) in_barrier();
    if (me == 1) stand_outside();
    for (int i = 0; i < 2; ++i)
      MPI_Irecv(value + i, 1, MPI_DOUBLE, i + 1, 5, MPI_COMM_WORLD, requests + i);
    ready();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  if (strcmp(mode, "deadlock") == 0) {
    if (me == 2) in_barrier();
    ready();
    MPI_Recv(value, 1, MPI_DOUBLE, 1 - me, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "put") == 0 || strcmp(mode, "get") == 0 || strcmp(mode, "locked") == 0) transfers(mode);
  if (strcmp(mode, "begin") == 0) begin();
  if (strncmp(mode, "in_", 3) == 0) library(mode, value);
  if (strcmp(mode, "isend") == 0 || strcmp(mode, "started") == 0 || strcmp(mode, "ibcast") == 0) completions(mode);
  if (strcmp(mode, "open") == 0 || strcmp(mode, "close") == 0 || strcmp(mode, "view") == 0) files(mode);
#if MPI_VERSION >= 4
  if (strcmp(mode, "given") == 0 || strcmp(mode, "taken") == 0 || strcmp(mode, "kept") == 0) parts(mode, value);
#endif
  if (strcmp(mode, "mismatch") == 0) { /* one of them calls another collective operation */
    ready();
    if (me == 1) MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (;;) MPI_Recv(value, 1, MPI_DOUBLE, me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
