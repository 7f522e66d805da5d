/* For programs with injected waits: what a program really did, in its own words.
 *
 * On a busy machine a nominal sleep is not the truth. So every call that the report is checked for
 * is made through TIMED, which takes the time right before and right after it (CLOCK_MONOTONIC: one
 * clock for all processes of a node) and notes, in `key=value` words, what the call did. After
 * MPI_Finalize each process writes its notes to $KOJAK_TRUTH.<rank>; make_truth computes from the
 * files of all processes, by the formulas of the patterns, what every severity must be. A function
 * is either always called through TIMED in a program or never.
 *
 * Who is late is decided outside MPI, on a shared memory page: a late process waits until the
 * others have said that they are about to enter their call, and then some time more. So an injected
 * wait is there however busy the machine is, and no MPI call is added to those under test.
 *
 * Words of TIMED's note (make_truth reads them):
 *   comm=C root=R place=P     a collective on communicator C (any name), world rank of its root,
 * and for scans the own rank in C win=W                     a window (any name); MPI_Win_fence:
 * noprecede=1 group=R,R,...             MPI_Win_post, MPI_Win_start: world ranks flag=0|1
 * MPI_Win_test: its answer polls=N   how many calls in turn this was, of which the last one found
 * something (POLLED) to=R                      a transfer: world rank of its target send=M
 * post=M recv=M finish=M   message M (any name) starts here; its receive is posted, completed here;
 * its send is completed by this Wait. Lists with commas. A blocking receive needs recv only.
 *   win=W lock=R exclusive=0|1 nocheck=1   MPI_Win_lock; without lock= MPI_Win_lock_all
 *   win=W unlock=R            MPI_Win_unlock; without unlock= MPI_Win_unlock_all
 *   win=W flush=R             MPI_Win_flush; without flush= MPI_Win_flush_all
 *   win=W flush_local=R       MPI_Win_flush_local; only after puts
 *   all_noted=1               (once) all calls of the program that can make progress are noted, so
 *                             that it is known when a process was outside MPI
 *   rma=Q result=1            a transfer with request Q (any name); of one that brings data back;
 *                             rma=Q alone: the Wait that completes it. Lists with commas.
 *   near=R,R                  (with comm=) those of whom a neighbourhood collective needs data here
 *   begun=C form=F request=Q root=R place=P near=R,R
 *                             a non-blocking collective on communicator C begins, F its blocking
 * form ends=Q,Q class=barrier    the call that finds these complete, and nothing else; class= if
 * all are barriers group_call=N wait=METRIC  a call that all processes make together, N any name,
 * once used (then all calls of that METRIC must be noted) found=M                   a probe that
 * finds message M bytes_put= bytes_get= bytes_sent_p2p= bytes_rcvd_p2p= bytes_sent_coll=
 * bytes_rcvd_coll= TIMED itself adds site=FUNCTION:LINE, the call path that the report must show it
 * at.
 *
 * One thread; fails by MPI_Abort with a message on stderr. */
#ifndef KOJAK_TESTS_PROGRAMS_TRUTH_H
#define KOJAK_TESTS_PROGRAMS_TRUTH_H

#include <mpi.h>

/* How long a late process lets the others wait, and what of it a check may rely on: the others may
 * be kept from entering for a while after they said that they would. */
enum { kLateMs = 60 };
#define SURELY(ms) (0.4e-3 * (ms))

extern int rank;  /* in MPI_COMM_WORLD */
extern int ranks; /* size of MPI_COMM_WORLD */

/* MPI_Init; the program ends if it was not started with `wanted` processes. */
enum { kTwoToFour = 0 }; /* as `wanted` */
void truth_begin(int* argc, char*** argv, int wanted);
/* MPI_Finalize; writes the notes. */
void truth_end(void);
/* The same without the MPI calls, which a program of another language makes itself: when it entered
 * and left them, by truth_now. */
void truth_open(double entered, double left, int wanted);
void truth_close(double entered, double left);
double truth_now(void); /* CLOCK_MONOTONIC, in seconds */

/* Makes `call` and notes its times. The note's arguments are evaluated after the call. */
#define TIMED(call, ...)                     \
  do {                                       \
    const double entered = truth_enter();    \
    (void)(call);                            \
    truth_at(__func__, __LINE__);            \
    truth_exit(entered, #call, __VA_ARGS__); \
  } while (0)
/* A loop that polls and waits in between is recorded as one call, from its first poll to the one with
 * which `found` becomes true. `between` comes after each of the others. Notes say polls=N, of `polls`. */
#define POLLED(call, found, between, ...)    \
  do {                                       \
    const double entered = truth_enter();    \
    int polls = 0;                           \
    for (;;) {                               \
      (void)(call);                          \
      ++polls;                               \
      if (found) break;                      \
      between;                               \
    }                                        \
    truth_at(__func__, __LINE__);            \
    truth_exit(entered, #call, __VA_ARGS__); \
  } while (0)
double truth_enter(void);
void truth_at(const char* function, int line);
void truth_exit(double entered, const char* call, const char* note, ...)
    __attribute__((format(printf, 3, 4)));
/* What TIMED does after the call, for other languages. */
void truth_note(double entered, double left, const char* call, const char* note, const char* unit,
                int line);

/* All processes wait for each other, outside MPI. Only where no process may need another's
 * progress. */
void meet(void);
/* Tell says that something is about to happen; hear returns after it was told `times` times, in
 * all. Events are numbers below 64, the program's own. */
void tell(int event);
void hear(int event, int times);
int told(int event, int times); /* whether hear would return at once */
void pause_ms(int ms);
void tell_and_sleep(int event); /* in a loop that polls */
/* Hear, and kLateMs more. */
void hear_late(int event, int times);

/* After 20 ms of work this process is held up by a signal: in the MPI call that it makes next, if
 * that waits (MPI libraries wait by asking all the time). It tells `caught`, and goes on kLateMs
 * after `released` was told. */
void hold_me_up(int caught, int released);

/* Called by all processes before a call of each: those in the set `late` come kLateMs after all
 * others. */
void come_late(unsigned late);

/* Sets of ranks: AT(1) | AT(3). A group of them, and the same as text for a note. */
#define AT(r) (1u << (r))
typedef struct {
  MPI_Group group;
  char list[64];
} Members;
Members members_of(unsigned set);
void members_free(Members* members);

/* Checks of the program on itself (to be noted by any one process): the severity computed from the
 * measured times is at least `seconds`, so a test cannot pass because nothing happened; at most
 * that; or exactly 0, whatever the times. Metrics may be summed with '+'; function "*" is all of them. */
void at_least(const char* metrics, const char* function, int at_rank, double seconds);
void at_most(const char* metrics, const char* function, int at_rank, double seconds);
void exactly_zero(const char* metrics, const char* function, int at_rank);

/* The component that the run was started with: $KOJAK_OSC is `which` ("rdma", "pt2pt", "ucx", "mpich"). */
int osc_is(const char* which);
/* Whether it is one whose origins run ahead of a target that computes. Open MPI's osc/rdma does before version 5; there
 * a complete ends when the target enters MPI. */
int origins_run_ahead(void);

#endif
