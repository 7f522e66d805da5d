/* One-sided communication of every kind, in every kind of epoch. */
#include "expect.h"

static double in[64], out[64];
static int next, previous;
static MPI_Win win;
static int window_number = -1;

static void fences(void) {
  MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE, win);
  expect("MPI_Win_fence assert:10 win:%d", window_number);
  MPI_Put(out, 4, MPI_DOUBLE, next, 0, 8, MPI_FLOAT, win);
  expect("MPI_Put put:%d:32", next);
  MPI_Get(in, 2, MPI_DOUBLE, next, 64, 4, MPI_FLOAT, win);
  expect("MPI_Get get:%d:16", next);
  MPI_Accumulate(out, 1, MPI_INT, previous, 128, 1, MPI_INT, MPI_SUM, win);
  expect("MPI_Accumulate put:%d:4", previous);
  MPI_Put(out, 0, MPI_DOUBLE, next, 0, 0, MPI_DOUBLE, win);
  expect("MPI_Put put:%d:0", next);
  MPI_Put(out, 4, MPI_DOUBLE, MPI_PROC_NULL, 0, 4, MPI_DOUBLE, win);
  expect("MPI_Put");
  MPI_Get(in, 4, MPI_DOUBLE, MPI_PROC_NULL, 0, 4, MPI_DOUBLE, win);
  expect("MPI_Get");
  MPI_Win_fence(0, win);
  expect("MPI_Win_fence win:%d", window_number);
  MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT, win);
  expect("MPI_Win_fence assert:20 win:%d", window_number);
}

static void general_active_target(void) {
  MPI_Group world, to, from;
  int flag;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &next, &to);
  MPI_Group_incl(world, 1, &previous, &from);
  for (int i = 0; i < 2; ++i) {
    MPI_Win_post(from, i == 0 ? 0 : MPI_MODE_NOSTORE, win);
    expect(i == 0 ? "MPI_Win_post group:0:%d" : "MPI_Win_post assert:2 group:0:%d", previous);
    MPI_Win_start(to, 0, win);
    expect("MPI_Win_start group:0:%d", next);
    MPI_Put(out, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, win);
    expect("MPI_Put put:%d:8", next);
    MPI_Win_complete(win);
    expect("MPI_Win_complete group:1:%d", next);
    if (i == 0) {
      MPI_Win_wait(win);
      expect("MPI_Win_wait group:1:%d", previous);
    } else {
      do {
        MPI_Win_test(win, &flag);
      } while (!flag && after_a_while());
      expect("*MPI_Win_test");
      expect("MPI_Win_test group:1:%d", previous);
    }
  }
  MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
  expect("MPI_Win_start group:0:");
  MPI_Win_complete(win);
  expect("MPI_Win_complete group:1:");
  MPI_Group_free(&world);
  MPI_Group_free(&to);
  MPI_Group_free(&from);
}

static int rmaid;

static void passive_target(void) {
  MPI_Request request, more[2];
#ifdef MPICH
  /* MPICH 4.0 hangs in a later MPI_Win_lock_all after a lock with MPI_MODE_NOCHECK, with and without us. */
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
  expect("MPI_Win_lock lock:%d:0", next);
#else
  MPI_Win_lock(MPI_LOCK_SHARED, next, MPI_MODE_NOCHECK, win);
  expect("MPI_Win_lock assert:1 lock:%d:0", next);
#endif
  MPI_Put(out, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, win);
  expect("MPI_Put put:%d:8", next);
  MPI_Win_flush(next, win);
  expect("MPI_Win_flush flush:%d:0", next);
  MPI_Win_flush_local(next, win);
  expect("MPI_Win_flush_local flush:%d:1", next);
  MPI_Win_unlock(next, win);
  expect("MPI_Win_unlock unlock:%d", next);
  barrier();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
  expect("MPI_Win_lock lock:%d:1", next);
  MPI_Win_unlock(next, win);
  expect("MPI_Win_unlock unlock:%d", next);
  barrier();

  MPI_Win_lock_all(0, win);
  expect("MPI_Win_lock_all lock_all");
  double one = 1, result;
  MPI_Fetch_and_op(&one, &result, MPI_DOUBLE, next, 0, MPI_SUM, win);
  expect("MPI_Fetch_and_op getput:%d:8:8", next);
  MPI_Fetch_and_op(NULL, &result, MPI_DOUBLE, next, 0, MPI_NO_OP, win);
  expect("MPI_Fetch_and_op get:%d:8", next);
  MPI_Get_accumulate(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, next, 0, 2, MPI_DOUBLE, MPI_REPLACE, win);
  expect("MPI_Get_accumulate getput:%d:16:16", next);
  MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, in, 2, MPI_DOUBLE, next, 0, 2, MPI_DOUBLE, MPI_NO_OP, win);
  expect("MPI_Get_accumulate get:%d:16", next);
  int expected = 0, desired = 0, before;
  MPI_Compare_and_swap(&desired, &expected, &before, MPI_INT, next, 256, win);
  expect("MPI_Compare_and_swap getput:%d:4:4", next);
  MPI_Win_flush_all(win);
  expect("MPI_Win_flush_all flush:-:0");
  MPI_Win_flush_local_all(win);
  expect("MPI_Win_flush_local_all flush:-:1");
  MPI_Win_sync(win);
  expect("MPI_Win_sync sync");

  /* rmaids so far: see the count in main */
  MPI_Rput(out, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, win, &request);
  expect("MPI_Rput put:%d:8", next);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("MPI_Wait rma_complete:%d", rmaid);
  MPI_Rput(out, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, win, &more[0]);
  expect("MPI_Rput put:%d:8", next);
  MPI_Rget(in, 1, MPI_DOUBLE, next, 8, 1, MPI_DOUBLE, win, &more[1]);
  expect("MPI_Rget get:%d:8", next);
  MPI_Waitall(2, more, MPI_STATUSES_IGNORE);
  expect("MPI_Waitall rma_complete:%d rma_complete:%d", rmaid + 1, rmaid + 2);
  MPI_Raccumulate(out, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, MPI_SUM, win, &more[0]);
  expect("MPI_Raccumulate put:%d:8", next);
  MPI_Rget_accumulate(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, MPI_SUM, win, &more[1]);
  expect("MPI_Rget_accumulate getput:%d:8:8", next);
  MPI_Waitall(2, more, MPI_STATUSES_IGNORE);
  expect("MPI_Waitall rma_complete:%d rma_complete:%d", rmaid + 3, rmaid + 4);
  MPI_Rput(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, win, &request);
  expect("MPI_Rput");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("MPI_Wait");
  MPI_Win_unlock_all(win);
  expect("MPI_Win_unlock_all unlock_all");
  barrier();
}

static void failing(void) {
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, win);
  expect("MPI_Win_lock_all lock_all");
  check(MPI_Put(out, 1, MPI_DATATYPE_NULL, next, 0, 1, MPI_DOUBLE, win) != MPI_SUCCESS, "a put of nothing");
  expect("MPI_Put error:3");
  check(MPI_Put(out, 1, MPI_DOUBLE, ranks + 7, 0, 1, MPI_DOUBLE, win) != MPI_SUCCESS, "a put to nobody");
  expect("MPI_Put error:6");
  MPI_Win_unlock_all(win);
  expect("MPI_Win_unlock_all unlock_all");
  MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  double* memory;
  begin(&argc, &argv);
  next = (me + 1) % ranks;
  previous = (me + ranks - 1) % ranks;
  for (int flavour = 0; flavour < 3; ++flavour) {
    static double created[1024];
    if (flavour == 0) {
      MPI_Win_create(created, sizeof created, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
      expect("MPI_Win_create win:%d", ++window_number);
    } else if (flavour == 2) {
      MPI_Win_allocate_shared(8192, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
      expect("MPI_Win_allocate_shared win:%d", ++window_number);
    } else {
      MPI_Win_allocate(8192, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
      expect("MPI_Win_allocate win:%d", ++window_number);
    }
    /* Operations before the first Rput: 4 in fences, 2 in start epochs, 1 under lock, and under lock_all 2+1+2+1+2.
       Rput to Rget_accumulate take 1+1+1+1+2, and the round's failing calls none. */
    const int before = 4 + 2 + 1 + 8, own = 6;
    rmaid = flavour * (before + own) + before;
    fences();
    general_active_target();
    passive_target();
    failing();
    MPI_Win_free(&win);
    expect("MPI_Win_free win:%d", window_number);
  }
  end();
  return 0;
}
