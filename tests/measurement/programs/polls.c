/* Loops that poll, one stage after another with a barrier between: rank 0 polls, rank 1 is late.
 *
 * Rank 0 writes what it did itself to $KOJAK_EXPECT/0, a line for each stage: its name, how many
 * calls found nothing, how many did, how many pauses there were and how many nanoseconds their
 * sleeps asked for. Two processes. polls [CASE]    all (default): every stage with one thread;
 * threads: those with several; kill: a loop without end
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>

#include "expect.h"

static long failed, found, pauses, asked;
static int in[4], out[4];
static const char* stage_name;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void work(double seconds) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  const double end = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + seconds;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  while ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec < end);
}
static void late(void) {
  const struct timespec time = {0, 20000000};
  nanosleep(&time, NULL);
}

static void begin_stage(const char* name) {
  failed = found = pauses = asked = 0;
  stage_name = name;
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 1) late();
}
static void end_stage(void) {
  if (me == 0) expect("%s %ld %ld %ld %ld", stage_name, failed, found, pauses, asked);
}
static int counted(int flag) {
  if (flag)
    ++found;
  else
    ++failed;
  return !flag;
}

static MPI_Request receive(int tag) {
  MPI_Request request;
  MPI_Irecv(&in[tag], 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
  return request;
}
static void send(int tag) {
  MPI_Send(&out[tag], 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}
static int test(MPI_Request* request) {
  int flag;
  MPI_Test(request, &flag, MPI_STATUS_IGNORE);
  return counted(flag);
}

/* The stages of kind 1. */
static void requests(void) {
  int flag, index, indices[2], count;
  MPI_Request r[2];
  begin_stage("test");
  if (me == 0) {
    for (r[0] = receive(0); test(r);) {
    }
  } else {
    send(0);
  }
  end_stage();

  begin_stage("get_status");
  if (me == 0) {
    r[0] = receive(0);
    while (MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE), counted(flag)) {
    }
    MPI_Wait(r, MPI_STATUS_IGNORE);
  } else {
    send(0);
  }
  end_stage();

  begin_stage("testall");
  if (me == 0) {
    r[0] = receive(0), r[1] = receive(1);
    while (MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE), counted(flag)) {
    }
  } else {
    send(1), late(), send(0);
  }
  end_stage();

  begin_stage("testany");
  if (me == 0) {
    r[0] = receive(0), r[1] = receive(1);
    for (int i = 0; i < 2; ++i) {
      while (MPI_Testany(2, r, &index, &flag, MPI_STATUS_IGNORE), counted(flag)) {
      }
    }
  } else {
    send(1), late(), send(0);
  }
  end_stage();

  begin_stage("testsome");
  if (me == 0) {
    r[0] = receive(0), r[1] = receive(1);
    for (int done = 0; done < 2; done += count) {
      while (MPI_Testsome(2, r, &count, indices, MPI_STATUSES_IGNORE), counted(count != 0)) {
      }
    }
  } else {
    send(1), late(), send(0);
  }
  end_stage();

  /* Two in turn; of one that is over already nothing is asked, and that ends nothing. */
  begin_stage("in_turn");
  if (me == 0) {
    r[0] = receive(0), r[1] = receive(1);
    for (int left = 2; left != 0;) {
      for (int i = 0; i < 2 && left != 0; ++i) {
        const int idle = r[i] == MPI_REQUEST_NULL;
        MPI_Test(&r[i], &flag, MPI_STATUS_IGNORE);
        if (idle || !flag)
          ++failed;
        else
          ++found, --left;
      }
    }
  } else {
    send(1), late(), send(0);
  }
  end_stage();

  /* In between a send is found complete that nobody has asked for before: the loop goes on. */
  begin_stage("interrupted");
  if (me == 0) {
    MPI_Isend(&out[2], 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &r[1]);
    r[0] = receive(0);
    for (int i = 0; test(r); ++i) {
      if (i == 10) test(&r[1]);
    }
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&in[2], 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send(0);
  }
  end_stage();

  /* A collective operation, and a one-sided one. */
  begin_stage("collective");
  MPI_Ibarrier(MPI_COMM_WORLD, r);
  if (me == 0) {
    while (test(r)) {
    }
  } else {
    MPI_Wait(r, MPI_STATUS_IGNORE);
  }
  end_stage();
}

static void messages(void) {
  int flag;
  MPI_Message message;
  begin_stage("iprobe");
  if (me == 0) {
    while (MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), counted(flag)) {
    }
    MPI_Recv(in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    send(0);
  }
  end_stage();
  begin_stage("iprobe_any");
  if (me == 0) {
    while (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE),
           counted(flag)) {
    }
    MPI_Recv(in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    send(0);
  }
  end_stage();
  begin_stage("improbe");
  if (me == 0) {
    while (MPI_Improbe(1, 0, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE), counted(flag)) {
    }
    MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  } else {
    send(0);
  }
  end_stage();
}

static void exposure(void) {
  int flag, other = 1 - me;
  MPI_Win win;
  MPI_Group world, peer;
  MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &other, &peer);
  begin_stage("win_test");
  if (me == 0) {
    MPI_Win_post(peer, 0, win);
    while (MPI_Win_test(win, &flag), counted(flag)) {
    }
  } else {
    MPI_Win_start(peer, 0, win);
    MPI_Win_complete(win);
  }
  end_stage();
  MPI_Group_free(&peer);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
}

/* Each way to pause, after each poll; a select with descriptors is none. */
static void pausing(void) {
  const struct timespec time = {0, 30000};
  MPI_Request r;
  begin_stage("pauses");
  if (me == 0) {
    r = receive(0);
    for (int i = 0; test(&r); ++i) {
      struct timeval wait = {0, 50};
      struct timespec until;
      switch (i % 5) {
        case 0:
          sched_yield();
          break;
        case 1:
          nanosleep(&time, NULL), asked += 30000;
          break;
        case 2:
          usleep(40), asked += 40000;
          break;
        case 3:
          select(0, NULL, NULL, NULL, &wait), asked += 50000;
          break;
        case 4:
          clock_gettime(CLOCK_MONOTONIC, &until);
          until.tv_nsec += 60000;
          if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
          clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
          asked += 60000;
          break;
      }
      ++pauses;
    }
  } else {
    late(), late(), send(0);
  }
  end_stage();
}

static void working(void) {
  MPI_Request r;
  begin_stage("works");
  if (me == 0) {
    for (r = receive(0); test(&r);) work(1e-3);
  } else {
    send(0);
  }
  end_stage();
}

static void many(void) {
  enum { kMany = 100 };
  static int data[kMany];
  static MPI_Request r[kMany];
  begin_stage("many");
  if (me == 0) {
    for (int i = 0; i < kMany; ++i) MPI_Irecv(&data[i], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; test(&r[i]); i = (i + 1) % kMany) {
    }
    MPI_Waitall(kMany, r, MPI_STATUSES_IGNORE);
  } else {
    for (int i = 0; i < kMany; ++i) MPI_Send(out, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  }
  end_stage();
}

/* Two threads, each with a loop of its own. */
static long by_threads;
static void* poll_in_thread(void* argument) {
  const int tag = *(int*)argument;
  MPI_Request r = receive(tag);
  int flag;
  for (;;) {
    MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
    if (flag) return NULL;
    __atomic_add_fetch(&by_threads, 1, __ATOMIC_RELAXED);
  }
}
static void threads(void) {
  begin_stage("threads");
  if (me == 0) {
    int tags[2] = {0, 1};
    pthread_t thread[2];
    for (int i = 0; i < 2; ++i) pthread_create(&thread[i], NULL, poll_in_thread, &tags[i]);
    for (int i = 0; i < 2; ++i) pthread_join(thread[i], NULL);
    failed = by_threads;
    found = 2;
  } else {
    send(0), send(1);
  }
  end_stage();
}

/* A handler of the program's that comes in a sleep of the loop: it polls, too, or leaves the sleep
 * by a longjmp, which need not have made the pause known. */
static sigjmp_buf place;
static volatile int jumps;
static volatile long in_handler, rounds;
static void handler(int signal) {
  int flag;
  (void)signal;
  if (jumps) siglongjmp(place, 1);
  MPI_Iprobe(1, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  ++in_handler;
}
static void signalled(int jump) {
  static MPI_Request r;
  begin_stage(jump ? "jump" : "handler");
  jumps = jump;
  in_handler = rounds = 0;
  if (me == 0) {
    const struct sigaction action = {.sa_handler = handler};
    const struct itimerval soon = {{0, 0}, {0, 1000}};
    const struct timespec time = {0, 5000000};
    sigaction(SIGALRM, &action, NULL);
    r = receive(0);
    sigsetjmp(place, 1);
    while (rounds < 20) {
      ++rounds;
      test(&r);
      setitimer(ITIMER_REAL, &soon, NULL);
      nanosleep(&time, NULL);
    }
    failed += in_handler;
    MPI_Send(out, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send(0);
  }
  end_stage();
}

/* A thread is cancelled in the sleep of its loop. */
static void* poll_until_cancelled(void* argument) {
  const struct timespec time = {1000, 0};
  MPI_Request* const r = argument;
  test(r);
  nanosleep(&time, NULL);
  return NULL;
}
static void cancelled(void) {
  begin_stage("cancelled");
  if (me == 0) {
    pthread_t thread;
    void* result = NULL;
    MPI_Request r = receive(0);
    pthread_create(&thread, NULL, poll_until_cancelled, &r);
    late();
    pthread_cancel(thread);
    pthread_join(thread, &result);
    check(result == PTHREAD_CANCELED, "the thread was not cancelled");
    MPI_Send(out, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send(0);
  }
  end_stage();
}

/* For ever: it is killed from outside, some time after its file says so. */
static void endless(void) {
  MPI_Request r = receive(0);
  const double begin = now();
  while (test(&r)) {
    if (now() - begin > 0.2 && expect_file != NULL) {
      end_stage();
      fclose(expect_file);
      expect_file = NULL;
    }
    usleep(100);
  }
}

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "all";
  int level;
  MPI_Init_thread(&argc, &argv,
                  strcmp(which, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  begin_expecting();
  if (strcmp(which, "all") == 0) {
    requests();
    messages();
    exposure();
    pausing();
    working();
    many();
    signalled(0);
    signalled(1);
  } else if (strcmp(which, "threads") == 0) {
    if (level == MPI_THREAD_MULTIPLE) threads(), cancelled();
  } else if (strcmp(which, "kill") == 0) {
    begin_stage("kill");
    if (me == 0) endless();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (expect_file != NULL) fclose(expect_file);
  MPI_Finalize();
  return 0;
}
