/* What samples must show (ELG_SAMPLE), by the program's own processor times.
 *
 * work: process 1 computes longer in relax(); all compute alike in smooth(); relax() calls exp() of a library without
 * lines. Each prints how much processor time it has used in each.
 * disturb: what programs do with signals, timers, processes and threads; its output is the same with and without.
 * cancel: ends a thread. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int me;

static double used(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static __attribute__((noinline)) double relax(double x, int rounds) {
  for (int i = 0; i < rounds; ++i) x = exp(-x) + 1e-9 * i; /* in relax */
  return x;
}

static __attribute__((noinline)) double smooth(double x, int rounds) {
  for (int i = 0; i < rounds; ++i) x = 0.5 * x + 1 / (x + i); /* in smooth */
  return x;
}

/* Computes for so much processor time, and gives how much it was. */
static double work(double (*what)(double, int), double seconds, double* value) {
  const double begin = used();
  while (used() - begin < seconds) *value = what(*value, 20000);
  return used() - begin;
}

static void compute(void) {
  double value = 0.5, relaxed = 0, smoothed = 0;
  for (int i = 0; i < 4; ++i) {
    relaxed += work(relax, me == 1 ? 0.3 : 0.05, &value);
    smoothed += work(smooth, 0.1, &value);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("rank %d relax %.6f smooth %.6f\n", me, relaxed, smoothed);
  if (!(value < 1e300)) printf("not a number\n");
}

static volatile sig_atomic_t profiled, ended;
static void on_profile(int signal) {
  (void)signal;
  ++profiled;
}
static void on_timer(union sigval value) {
  (void)value;
  ++ended;
}

static void own_timers(double* value) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_profile;
  sigaction(SIGPROF, &action, NULL);
  const struct itimerval period = {{0, 10000}, {0, 10000}}, none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &period, NULL);
  work(smooth, 0.2, value);
  setitimer(ITIMER_PROF, &none, NULL);
  signal(SIGPROF, SIG_IGN);
  printf("own profiling signals: %s\n", profiled >= 1 ? "came" : "wrong");
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = on_timer;
  timer_t timer;
  const struct itimerspec once = {{0, 0}, {0, 1000000}};
  const int made = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &once, NULL) == 0;
  for (int i = 0; i < 1000 && ended == 0; ++i) usleep(1000);
  printf("own timer: %s\n", made && ended == 1 && timer_delete(timer) == 0 ? "once" : "wrong");
}

/* With all signals blocked no signal but its own comes to light. */
static void all_blocked(double* value) {
  sigset_t all, before, pending;
  siginfo_t info;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  work(smooth, 0.1, value);
  sigpending(&pending);
  int strangers = 0;
  for (int s = 1; s <= 64; ++s) strangers += s != SIGCHLD && sigismember(&pending, s) == 1;
  const struct timespec soon = {0, 30000000};
  while (sigtimedwait(&all, &info, &soon) > 0) strangers += info.si_signo != SIGCHLD;
  const int none = errno == EAGAIN;
  raise(SIGUSR1);
  int got = 0;
  sigwait(&all, &got);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  printf("signals while all are blocked: %d, %s, then %s\n", strangers, none ? "none to wait for" : "wrong",
         got == SIGUSR1 ? "its own" : "another");
}

static void sleeps(double* value) {
  int early = 0;
  for (int i = 0; i < 200; ++i) {
    work(smooth, 0.0005, value);
    const struct timespec one = {0, 1000000};
    early += nanosleep(&one, NULL) != 0;
  }
  printf("sleeps that ended early: %d\n", early);
}

static void processes(double* value) {
  int wrong = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      work(smooth, 0.005, value);
      if (i % 2 == 0) _exit(7);
      execl("/bin/sh", "sh", "-c", "exit 7", (char*)NULL);
      _exit(1);
    }
    work(smooth, 0.002, value);
    int status = 0;
    pid_t ended_child;
    do ended_child = waitpid(child, &status, 0);
    while (ended_child < 0 && errno == EINTR);
    wrong += ended_child != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7;
  }
  printf("children that ended otherwise: %d\n", wrong);
}

static int deep(int level, double* value) {
  volatile char room[64];
  room[level % 64] = (char)level;
  if (level == 0) return (int)(work(smooth, 0.05, value) < 0);
  return deep(level - 1, value) + room[level % 64] - (char)level;
}

static void* in_thread(void* data) {
  double value = 0.25;
  work(relax, 0.1, &value);
  MPI_Comm_rank(MPI_COMM_WORLD, data);
  work(relax, 0.1, &value);
  return NULL;
}

static void* until_cancelled(void* data) {
  (void)data;
  for (;;) pause();
  return NULL;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "work";
  int provided;
  double value = 0.5;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (strcmp(mode, "disturb") == 0) {
    own_timers(&value);
    all_blocked(&value);
    sleeps(&value);
    processes(&value);
    printf("deep: %d\n", deep(20000, &value));
    pthread_t thread;
    int rank = -1;
    pthread_create(&thread, NULL, in_thread, &rank);
    pthread_join(thread, NULL);
    printf("thread: %s\n", rank == me ? "done" : "wrong");
  } else if (strcmp(mode, "cancel") == 0) {
    pthread_t thread;
    void* result = NULL;
    pthread_create(&thread, NULL, until_cancelled, NULL);
    work(smooth, 0.05, &value);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    work(smooth, 0.1, &value);
    printf("thread: %s\n", result == PTHREAD_CANCELED ? "cancelled" : "wrong");
  } else {
    compute();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
