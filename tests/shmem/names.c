/* Locks that are variables, in parts of variables, static in a function, and in the heap; two PEs that take turns. */
#include <shmem.h>

long table_lock = 0;
static long of_rows[3] = {0, 0, 0};
static struct {
  int size;
  long lock;
} queue = {0, 0};

static void in_turn(long* lock) {
  shmem_set_lock(lock);
  shmem_clear_lock(lock);
}

int main(void) {
  static long of_main = 0;
  shmem_init();
  long* heap_lock = shmem_malloc(sizeof *heap_lock);
  *heap_lock = 0;
  shmem_barrier_all();
  in_turn(&table_lock);
  in_turn(&table_lock);
  in_turn(&of_rows[2]);
  in_turn(&queue.lock);
  in_turn(&of_main);
  in_turn(heap_lock);
  queue.size = 1;
  shmem_barrier_all();
  shmem_free(heap_lock);
  shmem_finalize();
  return 0;
}
