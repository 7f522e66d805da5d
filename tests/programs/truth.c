#define _GNU_SOURCE
#include "truth.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kEvents = 64, kLateRounds = 256, kPatienceS = 60 };

/* Shared by the processes; all zero at first. */
typedef struct {
  atomic_int arrived;
  atomic_int told[kEvents];
  atomic_int entering[kLateRounds];
} Board;

int rank = -1;
int ranks = 0;
static Board* board;
static const char* prefix;
static FILE* notes;
static char* notes_text;
static size_t notes_size;
static int late_rounds;
static int caught_event;
static int released_event;

static const char* site_function;
static int site_line;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void give_up(const char* what, const char* which) {
  fprintf(stderr, "rank %d: %s%s%s\n", rank, what, which, errno ? "" : "\n");
  if (errno) fprintf(stderr, "rank %d: %s\n", rank, strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

/* Waits outside MPI until `counter` has reached `value`. */
static void wait_for(atomic_int* counter, int value, const char* what) {
  const double since = now();
  while (atomic_load(counter) < value) {
    usleep(100);
    errno = 0;
    if (now() - since > kPatienceS) give_up("nobody came: ", what);
  }
}

static void open_board(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s.board", prefix);
  int file = -1;
  if (rank == 0) {
    file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0) give_up("cannot create ", path);
    if (ftruncate(file, sizeof(Board)) != 0) give_up("cannot size ", path);
  } else {
    struct stat info;
    const double since = now();
    while ((file < 0 && (file = open(path, O_RDWR)) < 0) || fstat(file, &info) != 0 ||
           info.st_size < (off_t)sizeof(Board)) {
      if (now() - since > kPatienceS) give_up("cannot open ", path);
      usleep(100);
    }
  }
  void* memory = mmap(NULL, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) give_up("cannot map ", path);
  close(file);
  board = memory;
  meet();
  if (rank == 0) unlink(path);
}

void truth_open(double entered, double left, int wanted) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  prefix = getenv("KOJAK_TRUTH");
  errno = 0;
  if (prefix == NULL) give_up("KOJAK_TRUTH must name where the notes go", "");
  if (wanted == kTwoToFour ? ranks < 2 || ranks > 4 : ranks != wanted)
    give_up("started with the wrong number of processes", "");
  notes = open_memstream(&notes_text, &notes_size);
  if (notes == NULL) give_up("no memory for the notes", "");
  fprintf(notes, "ranks %d\nMPI_Init %.9f %.9f\n", ranks, entered, left);
  fflush(notes);
  open_board();
}

void truth_close(double entered, double left) {
  fprintf(notes, "MPI_Finalize %.9f %.9f group_call=finalize wait=mpi_finalize_wait\n", entered,
          left);
  int good = fclose(notes) == 0;
  char path[4096];
  snprintf(path, sizeof path, "%s.%d", prefix, rank);
  FILE* file = fopen(path, "w");
  good = good && file != NULL && fwrite(notes_text, 1, notes_size, file) == notes_size;
  if (file != NULL && fclose(file) != 0) good = 0;
  free(notes_text);
  if (!good) {
    fprintf(stderr, "rank %d: cannot write %s: %s\n", rank, path, strerror(errno));
    exit(1);
  }
}

void truth_begin(int* argc, char*** argv, int wanted) {
  const double entered = now();
  MPI_Init(argc, argv);
  truth_open(entered, now(), wanted);
}

void truth_end(void) {
  const double entered = now();
  MPI_Finalize();
  truth_close(entered, now());
}

double truth_now(void) {
  return now();
}

double truth_enter(void) {
  /* Start the call with a fresh time slice: a process that is put aside between this clock reading
   * and the one of the measurement library would seem to be a wrong measurement. */
  sched_yield();
  return now();
}

void truth_at(const char* function, int line) {
  site_function = function;
  site_line = line;
}

void truth_exit(double entered, const char* call, const char* note, ...) {
  const double left = now();
  const int name = (int)strcspn(call, "(");
  fprintf(notes, "%.*s %.9f %.9f ", name, call, entered, left);
  va_list arguments;
  va_start(arguments, note);
  vfprintf(notes, note, arguments);
  va_end(arguments);
  fprintf(notes, " site=%s:%d\n", site_function, site_line);
}

void truth_note(double entered, double left, const char* call, const char* note, const char* unit,
                int line) {
  fprintf(notes, "%s %.9f %.9f %s site=%s:%d\n", call, entered, left, note, unit, line);
}

void meet(void) {
  const int place = atomic_fetch_add(&board->arrived, 1);
  wait_for(&board->arrived, (place / ranks + 1) * ranks, "meet");
}

void tell(int event) {
  atomic_fetch_add(&board->told[event], 1);
}

void hear(int event, int times) {
  char what[32];
  snprintf(what, sizeof what, "event %d", event);
  wait_for(&board->told[event], times, what);
}

int told(int event, int times) {
  return atomic_load(&board->told[event]) >= times;
}

void pause_ms(int ms) {
  const double until = now() + 1e-3 * ms;
  for (double left = until - now(); left > 0; left = until - now())
    usleep((useconds_t)(left * 1e6) + 1);
}

void tell_and_sleep(int event) {
  tell(event);
  pause_ms(5);
}

void hear_late(int event, int times) {
  hear(event, times);
  pause_ms(kLateMs);
}

static void held_up(int signal) {
  (void)signal;
  const int error = errno;
  tell(caught_event);
  hear_late(released_event, 1);
  errno = error;
}

void hold_me_up(int caught, int released) {
  caught_event = caught;
  released_event = released;
  struct sigaction action = {.sa_handler = held_up, .sa_flags = SA_RESTART};
  const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
  if (sigaction(SIGPROF, &action, NULL) != 0 || setitimer(ITIMER_PROF, &soon, NULL) != 0)
    give_up("cannot set a timer", "");
}

void come_late(unsigned late) {
  if (late_rounds == kLateRounds) give_up("too many late rounds", "");
  atomic_int* entering = &board->entering[late_rounds++];
  if (late & AT(rank)) {
    int others = 0;
    for (int r = 0; r < ranks; ++r) others += !(late & AT(r));
    wait_for(entering, others, "come_late");
    pause_ms(kLateMs);
  } else {
    atomic_fetch_add(entering, 1);
  }
}

Members members_of(unsigned set) {
  Members members = {MPI_GROUP_NULL, ""};
  int list[32];
  int count = 0;
  size_t length = 0;
  for (int r = 0; r < ranks; ++r) {
    if (!(set & AT(r))) continue;
    length += (size_t)snprintf(members.list + length, sizeof members.list - length, "%s%d",
                               count == 0 ? "" : ",", r);
    list[count++] = r;
  }
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, count, list, &members.group);
  MPI_Group_free(&world);
  return members;
}

void members_free(Members* members) {
  MPI_Group_free(&members->group);
}

void at_least(const char* metrics, const char* function, int at_rank, double seconds) {
  fprintf(notes, "at_least %s %s %d %.9f\n", metrics, function, at_rank, seconds);
}

void at_most(const char* metrics, const char* function, int at_rank, double seconds) {
  fprintf(notes, "at_most %s %s %d %.9f\n", metrics, function, at_rank, seconds);
}

void exactly_zero(const char* metrics, const char* function, int at_rank) {
  fprintf(notes, "exactly_zero %s %s %d 0\n", metrics, function, at_rank);
}

int osc_is(const char* which) {
  const char* osc = getenv("KOJAK_OSC");
  return osc != NULL && strcmp(osc, which) == 0;
}

int origins_run_ahead(void) {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
  return 0;
#else
  return osc_is("rdma");
#endif
}
