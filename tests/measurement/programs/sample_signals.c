/* Signals and stacks of a program that is sampled (ELG_SAMPLE).
 *
 * signals: who gets which signal of the process, and small stacks, on which a sample would not fit; its output is the
 * same with and without samples.
 * leaps: sends itself the signal of the timers, as the kernel would, while a handler of its own interrupts what that
 * does and never comes back, or calls MPI meanwhile. Prints how many samples of counted() and many() there must be. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { kTimers = 32, kGuard = 32768 };

static volatile double value = 0.5;

static double used(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
/* Needs next to no stack. */
static void compute(double seconds) {
  const double begin = used();
  while (used() - begin < seconds) {
    for (int i = 0; i < 1000; ++i) value = 0.5 * value + 1 / (value + i);
  }
}
static void set_handler(int signal, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, NULL);
}
static void set_timer(int which, long microseconds) {
  const struct itimerval period = {{0, microseconds}, {0, microseconds}};
  setitimer(which, &period, NULL);
}

/* Another thread could take them. */
static volatile int here, elsewhere;
static pthread_t first;
static void on_signal(int signal) {
  (void)signal;
  if (pthread_equal(pthread_self(), first)) {
    ++here;
  } else {
    ++elsewhere;
  }
}
static void* idle(void* end) {
  while (*(volatile int*)end == 0) usleep(2000);
  return NULL;
}
static void signals_of_the_process(void) {
  const int timers[] = {ITIMER_REAL, ITIMER_PROF}, numbers[] = {SIGALRM, SIGPROF};
  volatile int end = 0;
  pthread_t thread;
  first = pthread_self();
  pthread_create(&thread, NULL, idle, (void*)&end);
  for (int i = 0; i < 2; ++i) {
    here = elsewhere = 0;
    set_handler(numbers[i], on_signal, SA_RESTART | SA_NODEFER);
    set_timer(timers[i], 4000);
    while (here + elsewhere < 50) compute(0.001);
    set_timer(timers[i], 0);
    signal(numbers[i], SIG_IGN);
    printf("signal %d in another thread: %d\n", numbers[i], elsewhere);
  }
  end = 1;
  pthread_join(thread, NULL);
}

/* A signal to this thread alone: whoever took it elsewhere would leap onto this one's stack. */
static timer_t start_own(int signal, clockid_t clock, long microseconds) {
  struct sigevent event;
  timer_t timer;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  const struct timespec time = {0, 1000 * microseconds};
  const struct itimerspec period = {time, time};
  timer_create(clock, &event, &timer);
  timer_settime(timer, 0, &period, NULL);
  return timer;
}

static sigjmp_buf back;
static void leap(int signal) {
  (void)signal;
  siglongjmp(back, 1);
}
static void leaps_out_of_handlers(void) {
  volatile int leaps = 0;
  set_handler(SIGUSR2, leap, 0);
  const timer_t timer = start_own(SIGUSR2, CLOCK_THREAD_CPUTIME_ID, 1000);
  if (sigsetjmp(back, 1) != 0) ++leaps;
  while (leaps < 25) compute(0.01);
  signal(SIGUSR2, SIG_IGN);
  timer_delete(timer);
  printf("leaps: %d\n", leaps);
}

/* Memory with a stack in its midst, all of which has one content. */
static unsigned char memory[2 * kGuard + 32768];
static size_t changed(size_t stack) {
  size_t others = 0;
  for (size_t i = 0; i < sizeof memory; ++i) {
    others += memory[i] != 0x5a && (i < kGuard || i >= kGuard + stack);
  }
  return others;
}
static volatile int on_stack;
static void compute_there(int signal) {
  (void)signal;
  compute(0.015);
  ++on_stack;
}
static void alternate_stack(size_t size, int use) {
  stack_t stack = {.ss_sp = memory + kGuard, .ss_size = size}, none = {.ss_flags = SS_DISABLE};
  memset(memory, 0x5a, sizeof memory);
  on_stack = 0;
  set_handler(SIGUSR1, compute_there, SA_ONSTACK);
  sigaltstack(&stack, NULL);
  for (int i = 0; i < use; ++i) raise(SIGUSR1);
  compute(0.015);
  for (int i = 0; i < use; ++i) raise(SIGUSR1);
  const size_t others = changed(use != 0 ? size : 0);
  sigaltstack(&none, NULL);
  printf("alternate stack of %zu bytes: %d handlers, %zu bytes beside it changed\n", size, on_stack, others);
}

/* Fills what is left of its stack but for 2 KB, and computes there. */
static void* on_small_stack(void* data) {
  MPI_Barrier(MPI_COMM_SELF);
  pthread_attr_t attributes;
  void* stack = NULL;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &stack, &size);
  pthread_attr_destroy(&attributes);
  const size_t left = (size_t)((char*)__builtin_frame_address(0) - (char*)stack);
  volatile char* const all = __builtin_alloca(left - 2048);
  all[0] = 1;
  compute(0.015);
  *(int*)data += all[0];
  return NULL;
}
static void small_stack(size_t size) {
  int done = 0;
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size);
  pthread_create(&thread, &attributes, on_small_stack, &done);
  pthread_join(thread, NULL);
  pthread_attr_setstack(&attributes, malloc(size), size);
  pthread_create(&thread, &attributes, on_small_stack, &done);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  printf("threads on stacks of %zu bytes: %d\n", size, done);
}

static ucontext_t outside, fiber;
static void in_fiber(void) {
  compute(0.015);
}
static void fibers(void) {
  static char stack[16384];
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = sizeof stack;
  fiber.uc_link = &outside;
  makecontext(&fiber, in_fiber, 0);
  swapcontext(&outside, &fiber);
  printf("fiber: done\n");
}

static __attribute__((noinline)) double after_all(void) { /* in after_all */
  const double begin = used();
  compute(0.3);
  return used() - begin;
}

static void send_sample(void) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = kTimers;
  info.si_code = SI_TIMER;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), kTimers, &info);
}
static __attribute__((noinline)) void counted(int samples) {
  for (int i = 0; i < samples; ++i) send_sample();
  value += 1;
}
static __attribute__((noinline)) void many(int samples) {
  for (int i = 0; i < samples; ++i) send_sample();
  value += 2;
}
static volatile int calls;
static void call_mpi(int signal) {
  (void)signal;
  ++calls;
  int flag;
  MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}
static void leap_and_count(void) {
  int flag;
  volatile int leaps = 0;
  set_handler(SIGUSR2, leap, 0);
  const timer_t timer = start_own(SIGUSR2, CLOCK_MONOTONIC, 300);
  if (sigsetjmp(back, 1) != 0) ++leaps;
  while (leaps < 300) send_sample();
  set_handler(SIGUSR2, call_mpi, SA_RESTART);
  while (calls < 300) send_sample();
  signal(SIGUSR2, SIG_IGN);
  timer_delete(timer);
  MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  counted(700);
  MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  many(5000);
  MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  counted(11);
}

int main(int argc, char** argv) {
  int level, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && strcmp(argv[1], "leaps") == 0) {
    leap_and_count();
    printf("rank %d counted 711 many 5000\n", rank);
  } else {
    signals_of_the_process();
    leaps_out_of_handlers();
    alternate_stack(2048, 0);
    alternate_stack(3500, 0);
    alternate_stack(8192, 1);
    alternate_stack(32768, 1);
    small_stack(49152);
    fibers();
    MPI_Barrier(MPI_COMM_WORLD);
    fprintf(stderr, "rank %d after_all %.6f\n", rank, after_all());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
