/* What only UPC knows, for the measurement: compile this with your UPC compiler, together with the
   program and without instrumentation, and link with $(elg_config --gasp). */
#pragma pupc off
#include <stddef.h>
#include <string.h>
#include <upc.h>
#include <gasp_upc.h>
#if __UPC_COLLECTIVE__ || defined(__BERKELEY_UPC__)
#include <upc_collective.h>
#endif

struct elg_gasp_id {
  const char* name;
  unsigned id;
};
const struct elg_gasp_id elg_gasp_ids[] = {
#ifdef GASP_UPC_VERSION
    {"UPC_VERSION", GASP_UPC_VERSION},
#endif
#ifdef GASP_C_FUNC
    {"C_FUNC", GASP_C_FUNC},
#endif
#ifdef GASP_C_MALLOC
    {"C_MALLOC", GASP_C_MALLOC},
#endif
#ifdef GASP_C_REALLOC
    {"C_REALLOC", GASP_C_REALLOC},
#endif
#ifdef GASP_C_FREE
    {"C_FREE", GASP_C_FREE},
#endif
#ifdef GASP_UPC_COLLECTIVE_EXIT
    {"UPC_COLLECTIVE_EXIT", GASP_UPC_COLLECTIVE_EXIT},
#endif
#ifdef GASP_UPC_NONCOLLECTIVE_EXIT
    {"UPC_NONCOLLECTIVE_EXIT", GASP_UPC_NONCOLLECTIVE_EXIT},
#endif
#ifdef GASP_UPC_NOTIFY
    {"UPC_NOTIFY", GASP_UPC_NOTIFY},
#endif
#ifdef GASP_UPC_WAIT
    {"UPC_WAIT", GASP_UPC_WAIT},
#endif
#ifdef GASP_UPC_BARRIER
    {"UPC_BARRIER", GASP_UPC_BARRIER},
#endif
#ifdef GASP_UPC_FENCE
    {"UPC_FENCE", GASP_UPC_FENCE},
#endif
#ifdef GASP_UPC_FORALL
    {"UPC_FORALL", GASP_UPC_FORALL},
#endif
#ifdef GASP_UPC_GLOBAL_ALLOC
    {"UPC_GLOBAL_ALLOC", GASP_UPC_GLOBAL_ALLOC},
#endif
#ifdef GASP_UPC_ALL_ALLOC
    {"UPC_ALL_ALLOC", GASP_UPC_ALL_ALLOC},
#endif
#ifdef GASP_UPC_ALLOC
    {"UPC_ALLOC", GASP_UPC_ALLOC},
#endif
#ifdef GASP_UPC_FREE
    {"UPC_FREE", GASP_UPC_FREE},
#endif
#ifdef GASP_UPC_GLOBAL_LOCK_ALLOC
    {"UPC_GLOBAL_LOCK_ALLOC", GASP_UPC_GLOBAL_LOCK_ALLOC},
#endif
#ifdef GASP_UPC_ALL_LOCK_ALLOC
    {"UPC_ALL_LOCK_ALLOC", GASP_UPC_ALL_LOCK_ALLOC},
#endif
#ifdef GASP_UPC_LOCK_FREE
    {"UPC_LOCK_FREE", GASP_UPC_LOCK_FREE},
#endif
#ifdef GASP_UPC_LOCK
    {"UPC_LOCK", GASP_UPC_LOCK},
#endif
#ifdef GASP_UPC_LOCK_ATTEMPT
    {"UPC_LOCK_ATTEMPT", GASP_UPC_LOCK_ATTEMPT},
#endif
#ifdef GASP_UPC_UNLOCK
    {"UPC_UNLOCK", GASP_UPC_UNLOCK},
#endif
#ifdef GASP_UPC_MEMCPY
    {"UPC_MEMCPY", GASP_UPC_MEMCPY},
#endif
#ifdef GASP_UPC_MEMGET
    {"UPC_MEMGET", GASP_UPC_MEMGET},
#endif
#ifdef GASP_UPC_MEMPUT
    {"UPC_MEMPUT", GASP_UPC_MEMPUT},
#endif
#ifdef GASP_UPC_MEMSET
    {"UPC_MEMSET", GASP_UPC_MEMSET},
#endif
#ifdef GASP_UPC_GET
    {"UPC_GET", GASP_UPC_GET},
#endif
#ifdef GASP_UPC_PUT
    {"UPC_PUT", GASP_UPC_PUT},
#endif
#ifdef GASP_UPC_NB_GET_INIT
    {"UPC_NB_GET_INIT", GASP_UPC_NB_GET_INIT},
#endif
#ifdef GASP_UPC_NB_GET_DATA
    {"UPC_NB_GET_DATA", GASP_UPC_NB_GET_DATA},
#endif
#ifdef GASP_UPC_NB_PUT_INIT
    {"UPC_NB_PUT_INIT", GASP_UPC_NB_PUT_INIT},
#endif
#ifdef GASP_UPC_NB_PUT_DATA
    {"UPC_NB_PUT_DATA", GASP_UPC_NB_PUT_DATA},
#endif
#ifdef GASP_UPC_NB_SYNC
    {"UPC_NB_SYNC", GASP_UPC_NB_SYNC},
#endif
#ifdef GASP_BUPC_NB_TRYSYNC
    {"BUPC_NB_TRYSYNC", GASP_BUPC_NB_TRYSYNC},
#endif
#ifdef GASP_BUPC_NB_MEMGET_INIT
    {"BUPC_NB_MEMGET_INIT", GASP_BUPC_NB_MEMGET_INIT},
#endif
#ifdef GASP_BUPC_NB_MEMPUT_INIT
    {"BUPC_NB_MEMPUT_INIT", GASP_BUPC_NB_MEMPUT_INIT},
#endif
#ifdef GASP_BUPC_NB_MEMCPY_INIT
    {"BUPC_NB_MEMCPY_INIT", GASP_BUPC_NB_MEMCPY_INIT},
#endif
#ifdef GASP_BUPC_STATIC_SHARED
    {"BUPC_STATIC_SHARED", GASP_BUPC_STATIC_SHARED},
#endif
#ifdef GASP_UPC_CACHE_MISS
    {"UPC_CACHE_MISS", GASP_UPC_CACHE_MISS},
#endif
#ifdef GASP_UPC_CACHE_HIT
    {"UPC_CACHE_HIT", GASP_UPC_CACHE_HIT},
#endif
#ifdef GASP_UPC_CACHE_INVALIDATE
    {"UPC_CACHE_INVALIDATE", GASP_UPC_CACHE_INVALIDATE},
#endif
#ifdef GASP_UPC_ALL_BROADCAST
    {"UPC_ALL_BROADCAST", GASP_UPC_ALL_BROADCAST},
#endif
#ifdef GASP_UPC_ALL_SCATTER
    {"UPC_ALL_SCATTER", GASP_UPC_ALL_SCATTER},
#endif
#ifdef GASP_UPC_ALL_GATHER
    {"UPC_ALL_GATHER", GASP_UPC_ALL_GATHER},
#endif
#ifdef GASP_UPC_ALL_GATHER_ALL
    {"UPC_ALL_GATHER_ALL", GASP_UPC_ALL_GATHER_ALL},
#endif
#ifdef GASP_UPC_ALL_EXCHANGE
    {"UPC_ALL_EXCHANGE", GASP_UPC_ALL_EXCHANGE},
#endif
#ifdef GASP_UPC_ALL_PERMUTE
    {"UPC_ALL_PERMUTE", GASP_UPC_ALL_PERMUTE},
#endif
#ifdef GASP_UPC_ALL_REDUCE
    {"UPC_ALL_REDUCE", GASP_UPC_ALL_REDUCE},
#endif
#ifdef GASP_UPC_ALL_PREFIX_REDUCE
    {"UPC_ALL_PREFIX_REDUCE", GASP_UPC_ALL_PREFIX_REDUCE},
#endif
#ifdef GASP_UPC_USEREVT_START
    {"UPC_USEREVT_START", GASP_UPC_USEREVT_START},
    {"UPC_USEREVT_END", GASP_UPC_USEREVT_END},
#endif
#ifdef UPC_IN_NOSYNC
    {"UPC_IN_NOSYNC", UPC_IN_NOSYNC},   {"UPC_IN_MYSYNC", UPC_IN_MYSYNC},
    {"UPC_IN_ALLSYNC", UPC_IN_ALLSYNC}, {"UPC_OUT_NOSYNC", UPC_OUT_NOSYNC},
    {"UPC_OUT_MYSYNC", UPC_OUT_MYSYNC}, {"UPC_OUT_ALLSYNC", UPC_OUT_ALLSYNC},
#endif
    {0, 0}};

int elg_gasp_thread(void) {
  return MYTHREAD;
}

int elg_gasp_threads(void) {
  return THREADS;
}

void elg_gasp_place(const void* pts, int* thread, unsigned long long* address) {
  shared const void* const pointer = *(shared const void* const*)pts;
  *thread = (int)upc_threadof((shared void*)pointer);
  *address = (unsigned long long)upc_addrfield((shared void*)pointer);
}

#define ELG_MOST 8192
struct elg_gasp_block {
  char bytes[ELG_MOST];
};
static shared struct elg_gasp_block elg_gasp_blocks[THREADS];

/* Called by all threads together, with the same size. */
void elg_gasp_exchange(const void* mine, void* all, size_t bytes) {
  int i;
  upc_memput(&elg_gasp_blocks[MYTHREAD], (void*)mine, bytes);
  upc_barrier;
  for (i = 0; i < THREADS; ++i) upc_memget((char*)all + i * bytes, &elg_gasp_blocks[i], bytes);
  upc_barrier; /* nobody writes again before all have read */
}
