/* Ways in which a measured program can end, or be disturbed: stop MODE [CALLS [FOLDER | BYTES]].
 *
 * Rank 0 puts CALLS times into rank 1's window before the end, each rank tells on standard output that it came so far.
 * It locks rank 1's window fewer times, since MPICH's processes poll: each lock takes 30 ms where two share a processor.
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOCKS = 50 };
static jmp_buf before_error;
static int me;

static void jump(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  longjmp(before_error, 1);
}

static void jump_from_window(MPI_Win* win, int* code, ...) {
  (void)win;
  (void)code;
  longjmp(before_error, 1);
}

static void forked(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) exit(7); /* runs exit handlers, the parent's among them */
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
}

static void* probe(void* unused) {
  int flag;
  MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  return unused;
}

/* A call that fails, from a place that lies deeper by what is on the stack and never written. */
static void fail(int kind, int deeper, MPI_Win win) {
  static double x = 0;
  MPI_Request request;
  volatile char room[2000];
  room[0] = 0;
  if (deeper > 0) fail(kind, deeper - 1, win);
  if (deeper == 0 && kind == 0) MPI_Send(&x, 1, MPI_DOUBLE, 1000, 0, MPI_COMM_WORLD);
  if (deeper == 0 && kind == 1) MPI_Isend(&x, 1, MPI_DOUBLE, 1000, 0, MPI_COMM_WORLD, &request);
  if (deeper == 0 && kind == 2) MPI_Put(&x, 1, MPI_DOUBLE, 1000, 0, 1, MPI_DOUBLE, win);
  room[1] = room[0];
}

/* Out of calls that wait, begin something, and transfer, each from a deeper place than the one before and from the same. */
static void jumped(MPI_Win win) {
  MPI_Errhandler handler, of_window;
  MPI_Comm_create_errhandler(jump, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Win_create_errhandler(jump_from_window, &of_window);
  MPI_Win_set_errhandler(win, of_window);
  for (volatile int i = 0; i < 18; ++i) {
    if (setjmp(before_error) == 0) {
      fail(i % 3, i < 9 ? 0 : i - 9, win);
    } else {
      printf("jumped\n");
    }
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  MPI_Errhandler_free(&of_window);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "end";
  const long calls = argc > 2 ? atol(argv[2]) : 1000;
  double *memory, value = 1;
  MPI_Win win;
  int level = MPI_THREAD_SINGLE, out = 0; /* of reach of the traces, in an empty folder */
  if (strcmp(mode, "root") == 0 || strcmp(mode, "user") == 0) level = MPI_THREAD_MULTIPLE;
  MPI_Init_thread(&argc, &argv, level, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Win_allocate(sizeof(double), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_fence(0, win);
  if (strcmp(mode, "limit") == 0) { /* not before MPI has made its own files */
    const rlim_t bytes = argc > 3 ? (rlim_t)atol(argv[3]) : 1 << 18;
    const struct rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (strcmp(mode, "root") == 0 && me == 0) out = chroot(argv[3]) == 0 && chdir("/") == 0 ? 1 : -1;
  if (strcmp(mode, "user") == 0 && me == 0) out = setgid(65534) == 0 && setuid(65534) == 0 ? 1 : -1;
  if (out != 0) printf("rank %d is %s\n", me, out == 1 ? "out" : "still in");
  if (out != 0) { /* a thread whose trace is made from there */
    pthread_t thread;
    pthread_create(&thread, NULL, probe, NULL);
    pthread_join(thread, NULL);
  }
  if (me == 0) {
    for (long i = 0; i < calls; ++i) MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
  }
  MPI_Win_fence(0, win);
  printf("rank %d %s\n", me, me == 1 && memory[0] != 1 ? "wrong" : "right");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(mode, "end") != 0) usleep(300000); /* the others leave the barrier before somebody dies */

  if (strcmp(mode, "exit") == 0) _Exit(3);
  if (strcmp(mode, "exit_handlers") == 0) exit(3);
  if (strcmp(mode, "kill") == 0 && me == 1) raise(SIGKILL);
  if (strcmp(mode, "segv") == 0 && me == 1) raise(SIGSEGV);
  if (strcmp(mode, "term") == 0 && me == 1) raise(SIGTERM);
  if (strcmp(mode, "abort") == 0 && me == 1) MPI_Abort(MPI_COMM_WORLD, 5);
  if (strcmp(mode, "kill") == 0 || strcmp(mode, "segv") == 0 || strcmp(mode, "term") == 0 ||
      strcmp(mode, "abort") == 0) {
    MPI_Barrier(MPI_COMM_WORLD); /* never returns */
  }
  if (strcmp(mode, "fork") == 0) forked();
  if (strcmp(mode, "jump") == 0) jumped(win);
  if (strcmp(mode, "close") == 0) { /* as daemons do; and take the numbers for other files */
    for (int fd = 3; fd < 1024; ++fd) close(fd);
  }
  if (strcmp(mode, "chdir") == 0 && chdir("/") != 0) return 1;
  if (strcmp(mode, "close") != 0) {
    for (long i = 0; me == 0 && i < LOCKS; ++i) {
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
      MPI_Win_unlock(1, win);
    }
  } else {
    _Exit(4);
  }
  MPI_Win_free(&win);
  MPI_Finalize();
  printf("end %d\n", me);
  return 0;
}
