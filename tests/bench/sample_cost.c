/* What a sample costs, in microseconds of CPU time: the signal, the walk over the stack, and its
 * record in the trace.
 *
 * Run with the measurement library and ELG_SAMPLE=10s, so that no timer adds samples of its own.
 * The program sends itself the timers' signal, as the kernel would, from a stack of 1, 8 and 64
 * frames, a hundred times between two calls of MPI. What a signal costs that the library leaves at
 * once, as it does with those of others, is printed apart. The last figure is what both together
 * take of the time with a sample every 10 ms.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kSignal = 32, kAtOnce = 100, kRounds = 200 };

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void send_signals(int code) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = kSignal;
  info.si_code = code;
  for (int i = 0; i < kAtOnce; ++i) {
    syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), kSignal, &info);
  }
}

__attribute__((noinline)) static int at_depth(int depth, int code) {
  if (depth <= 1) {
    send_signals(code);
    return 1;
  }
  volatile int frames = at_depth(depth - 1, code);
  return frames + 1;
}

/* Microseconds for each signal. */
static double measure(int depth, int code) {
  double best = 1e9;
  for (int run = 0; run < 5; ++run) {
    const double begin = cpu_seconds();
    for (int i = 0; i < kRounds; ++i) {
      int flag;
      at_depth(depth, code);
      MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    }
    const double each = 1e6 * (cpu_seconds() - begin) / (kRounds * kAtOnce);
    if (each < best) best = each;
  }
  return best;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int depths[] = {1, 8, 64};
  for (int i = 0; i < 3; ++i) {
    const double ignored = measure(depths[i], SI_QUEUE), taken = measure(depths[i], SI_TIMER);
    printf(
        "%2d frames: %6.2f us a sample, and %5.2f us for signal and sending; %.4f %% of the time "
        "at 10 ms\n",
        depths[i], taken - ignored, ignored, taken / 10e3 * 100);
  }
  MPI_Finalize();
  return 0;
}
