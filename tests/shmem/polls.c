/* Loops of tests, as check_waits.py judges them: "polls PE FUNCTION CALLS" tells how many calls
 * each function had. With an argument each loop sleeps between its tests.
 *
 * What is tested lies in the symmetric heap: Open MPI's tests make no progress, and what others put
 * into a program's own variables need not come in a loop of these alone, measured or not.
 */
#include "timed.h"

static struct Shared {
  int written;
  long added, lock, given_up;
  long long while_it_works;
  unsigned there;
  unsigned long one_of[2];
  int several[3];
} * shared;
static int sleeps;

static unsigned long tests_of[8];
static void polls(int me) {
  static const char* const names[] = {
      "shmem_int_test",  "shmem_long_test",  "shmem_longlong_test",  "shmem_uint_test",
      "shmem_test_lock", "shmem_ulong_test", "shmem_ulonglong_test", "shmem_int_test_any"};
  for (int i = 0; i < 8; ++i)
    if (tests_of[i] != 0) printf("polls %d %s %lu\n", me, names[i], tests_of[i]);
}
static int again(int which) {
  ++tests_of[which];
  if (sleeps) usleep(1000);
  return 1;
}
static void compute(double seconds) {
  const double end = now() + seconds;
  while (now() < end) {
  }
}
#define UNTIL(which, test)          \
  while (again(which) && !(test)) { \
  }

int main(int argc, char** argv) {
  shmem_init();
  const int me = shmem_my_pe();
  sleeps = argc > 1 && argv[1] != NULL;
  shared = shmem_malloc(sizeof *shared);
  *shared = (struct Shared){0};
  if (me == 0) shmem_set_lock(&shared->lock);
  TIMED("barrier", shmem_barrier_all());

  if (me == 0) {
    late(0.3);
    TIMED("write_int", shmem_int_p(&shared->written, 1, 1));
    late(0.1);
    TIMED("write_long", shmem_long_atomic_add(&shared->added, 2, 1));
    late(0.3);
    TIMED("release", shmem_clear_lock(&shared->lock));
  } else if (me == 1) {
    TIMED("test_int", UNTIL(0, shmem_int_test(&shared->written, SHMEM_CMP_EQ, 1)));
    /* By turns with another one, that finds nothing, and with pauses. */
    TIMED("test_long",
          UNTIL(1, (shmem_ulong_test(&shared->one_of[++tests_of[5] % 2], SHMEM_CMP_NE, 0),
                    usleep(50), shmem_long_test(&shared->added, SHMEM_CMP_GE, 2))));
    TIMED("test_lock", UNTIL(4, shmem_test_lock(&shared->lock) == 0));
    shmem_clear_lock(&shared->lock);
  }
  TIMED("barrier", shmem_barrier_all());

#ifdef HAS_TESTS_OF_SEVERAL /* since OpenSHMEM 1.5 */
  if (me == 0) {
    late(0.06);
    TIMED("write_any", shmem_int_p(&shared->several[2], 1, 1));
  } else if (me == 1) {
    TIMED("test_any", UNTIL(7, shmem_int_test_any(shared->several, 3, NULL, SHMEM_CMP_NE, 0) == 2));
  }
  TIMED("barrier", shmem_barrier_all());
#endif

  /* None of these waits for anybody: it computes between the tests; it is there at the first one;
   * what it tests never comes. */
  if (me == 0) {
    late(0.05);
    shmem_longlong_p(&shared->while_it_works, 1, 1);
    shmem_uint_p(&shared->there, 1, 1);
  } else if (me == 1) {
    UNTIL(2, (compute(100e-6), shmem_longlong_test(&shared->while_it_works, SHMEM_CMP_GT, 0)));
  }
  TIMED("barrier", shmem_barrier_all());
  if (me == 1) {
    UNTIL(3, shmem_uint_test(&shared->there, SHMEM_CMP_EQ, 1));
    for (int i = 0; i < 1000 && again(6); ++i) {
      if (shmem_ulonglong_test((unsigned long long*)&shared->given_up, SHMEM_CMP_NE, 0)) return 1;
    }
  }
  TIMED("barrier", shmem_barrier_all());

  const int good = me != 1 || (shared->written == 1 && shared->added == 2);
  print_calls(me);
  polls(me);
  shmem_free(shared);
  shmem_finalize();
  return good ? 0 : 1;
}
