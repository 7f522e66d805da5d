/* Collective operations: all meet, copy what they need, and meet again. */
#include <string.h>

#include "state.h"

static const struct SmallTeam* whole(void) {
  static struct SmallTeam all;
  if (all.count == 0) all = small_active_set(0, 0, small_pes);
  return &all;
}

SMALL_DEFINE(void, shmem_barrier_all, (void)) {
  small_meet(whole());
}
SMALL_DEFINE(void, shmem_sync_all, (void)) {
  small_meet(whole());
}
SMALL_DEFINE(int, shmem_team_sync, (shmem_team_t team)) {
  small_meet(team);
  return 0;
}
#define SET_PARAMETERS int start, int log_stride, int size, long *psync
#define THE_SET                                                           \
  const struct SmallTeam set = small_active_set(start, log_stride, size); \
  (void)psync;
SMALL_DEFINE(void, shmem_barrier, (SET_PARAMETERS)) {
  THE_SET small_meet(&set);
}
SMALL_DEFINE(void, shmem_sync, (SET_PARAMETERS)) {
  THE_SET small_meet(&set);
}

static void broadcast(const struct SmallTeam* team, void* dest, const void* source, size_t bytes,
                      int root, int to_root) {
  small_meet(team);
  if (team->me != root || to_root) memmove(dest, small_at(source, team->pes[root]), bytes);
  small_meet(team);
}
static void collect(const struct SmallTeam* team, char* dest, const void* source, size_t bytes) {
  *small_mail(small_me) = (long)bytes;
  small_meet(team);
  for (int i = 0; i < team->count; ++i) {
    const size_t part = (size_t)*small_mail(team->pes[i]);
    memmove(dest, small_at(source, team->pes[i]), part);
    dest += part;
  }
  small_meet(team);
}
static void alltoall(const struct SmallTeam* team, char* dest, const char* source, ptrdiff_t dst,
                     ptrdiff_t sst, size_t nelems, size_t size) {
  small_meet(team);
  for (int i = 0; i < team->count; ++i) {
    const char* const theirs = small_at(source, team->pes[i]);
    for (size_t k = 0; k < nelems; ++k) {
      const ptrdiff_t to = (ptrdiff_t)(((size_t)i * nelems + k) * size) * dst;
      const ptrdiff_t from = (ptrdiff_t)(((size_t)team->me * nelems + k) * size) * sst;
      memcpy(dest + to, theirs + from, size);
    }
  }
  small_meet(team);
}

#define ON_TEAM(BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS, T, SIZE)                    \
  SMALL_DEFINE(int, BROADCAST,                                                                 \
               (shmem_team_t team, T * dest, const T* source, size_t nelems, int root)) {      \
    broadcast(team, dest, source, nelems* SIZE, root, 1);                                      \
    return 0;                                                                                  \
  }                                                                                            \
  SMALL_DEFINE(int, COLLECT, (shmem_team_t team, T * dest, const T* source, size_t nelems)) {  \
    collect(team, (char*)dest, source, nelems* SIZE);                                          \
    return 0;                                                                                  \
  }                                                                                            \
  SMALL_DEFINE(int, FCOLLECT, (shmem_team_t team, T * dest, const T* source, size_t nelems)) { \
    collect(team, (char*)dest, source, nelems* SIZE);                                          \
    return 0;                                                                                  \
  }                                                                                            \
  SMALL_DEFINE(int, ALLTOALL, (shmem_team_t team, T * dest, const T* source, size_t nelems)) { \
    alltoall(team, (char*)dest, (const char*)source, 1, 1, nelems, SIZE);                      \
    return 0;                                                                                  \
  }                                                                                            \
  SMALL_DEFINE(int, ALLTOALLS,                                                                 \
               (shmem_team_t team, T * dest, const T* source, ptrdiff_t dst, ptrdiff_t sst,    \
                size_t nelems)) {                                                              \
    alltoall(team, (char*)dest, (const char*)source, dst, sst, nelems, SIZE);                  \
    return 0;                                                                                  \
  }
#define OF_TYPE(NAME, T)                                                             \
  ON_TEAM(shmem_##NAME##_broadcast, shmem_##NAME##_collect, shmem_##NAME##_fcollect, \
          shmem_##NAME##_alltoall, shmem_##NAME##_alltoalls, T, sizeof(T))
SMALL_STANDARD(OF_TYPE)
ON_TEAM(shmem_broadcastmem, shmem_collectmem, shmem_fcollectmem, shmem_alltoallmem,
        shmem_alltoallsmem, void, 1)

#define ON_SET(BITS, BYTES)                                                                  \
  SMALL_DEFINE(void, shmem_broadcast##BITS,                                                  \
               (void* dest, const void* source, size_t nelems, int root, SET_PARAMETERS)) {  \
    THE_SET broadcast(&set, dest, source, nelems* BYTES, root, 0);                           \
  }                                                                                          \
  SMALL_DEFINE(void, shmem_collect##BITS,                                                    \
               (void* dest, const void* source, size_t nelems, SET_PARAMETERS)) {            \
    THE_SET collect(&set, dest, source, nelems* BYTES);                                      \
  }                                                                                          \
  SMALL_DEFINE(void, shmem_fcollect##BITS,                                                   \
               (void* dest, const void* source, size_t nelems, SET_PARAMETERS)) {            \
    THE_SET collect(&set, dest, source, nelems* BYTES);                                      \
  }                                                                                          \
  SMALL_DEFINE(void, shmem_alltoall##BITS,                                                   \
               (void* dest, const void* source, size_t nelems, SET_PARAMETERS)) {            \
    THE_SET alltoall(&set, dest, source, 1, 1, nelems, BYTES);                               \
  }                                                                                          \
  SMALL_DEFINE(void, shmem_alltoalls##BITS,                                                  \
               (void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                SET_PARAMETERS)) {                                                           \
    THE_SET alltoall(&set, dest, source, dst, sst, nelems, BYTES);                           \
  }
ON_SET(32, 4)
ON_SET(64, 8)

/* Reductions go by element: nobody changes a source before all have read it. */
#define AND(a, b) (a) & (b)
#define OR(a, b) (a) | (b)
#define XOR(a, b) (a) ^ (b)
#define MAX(a, b) (a) > (b) ? (a) : (b)
#define MIN(a, b) (a) < (b) ? (a) : (b)
#define SUM(a, b) (a) + (b)
#define PROD(a, b) (a) * (b)
#define REDUCE(NAME, T, OP)                                                                \
  static void reduce_##NAME##_##OP(const struct SmallTeam* team, T* dest, const T* source, \
                                   size_t nelems) {                                        \
    small_meet(team);                                                                      \
    for (size_t k = 0; k < nelems; ++k) {                                                  \
      T made = *(const T*)small_at(source + k, team->pes[0]);                              \
      for (int i = 1; i < team->count; ++i) {                                              \
        const T other = *(const T*)small_at(source + k, team->pes[i]);                     \
        made = (T)(OP(made, other));                                                       \
      }                                                                                    \
      small_meet(team);                                                                    \
      dest[k] = made;                                                                      \
    }                                                                                      \
    small_meet(team);                                                                      \
  }
#define TEAM_REDUCE(NAME, T, OP, op)                                            \
  SMALL_DEFINE(int, shmem_##NAME##_##op##_reduce,                               \
               (shmem_team_t team, T * dest, const T* source, size_t nelems)) { \
    reduce_##NAME##_##OP(team, dest, source, nelems);                           \
    return 0;                                                                   \
  }
#define TO_ALL(NAME, T, OP, op)                                                             \
  SMALL_DEFINE(void, shmem_##NAME##_##op##_to_all,                                          \
               (T * dest, const T* source, int nelems, int start, int log_stride, int size, \
                T* work, long* psync)) {                                                    \
    THE_SET(void) work;                                                                     \
    reduce_##NAME##_##OP(&set, dest, source, (size_t)nelems);                               \
  }
#define REDUCE_BITS(NAME, T) REDUCE(NAME, T, AND) REDUCE(NAME, T, OR) REDUCE(NAME, T, XOR)
#define REDUCE_ORDER(NAME, T) REDUCE(NAME, T, MAX) REDUCE(NAME, T, MIN)
#define REDUCE_SUMS(NAME, T) REDUCE(NAME, T, SUM) REDUCE(NAME, T, PROD)
SMALL_TEAM_BITS(REDUCE_BITS)
SMALL_OLD_SHORT(REDUCE_BITS)
SMALL_OLD_INTEGERS(REDUCE_BITS)
SMALL_STANDARD(REDUCE_ORDER)
SMALL_STANDARD(REDUCE_SUMS)
SMALL_COMPLEX(REDUCE_SUMS)
#define TEAM_BITS(NAME, T) \
  TEAM_REDUCE(NAME, T, AND, and) TEAM_REDUCE(NAME, T, OR, or) TEAM_REDUCE(NAME, T, XOR, xor)
#define TEAM_ORDER(NAME, T) TEAM_REDUCE(NAME, T, MAX, max) TEAM_REDUCE(NAME, T, MIN, min)
#define TEAM_SUMS(NAME, T) TEAM_REDUCE(NAME, T, SUM, sum) TEAM_REDUCE(NAME, T, PROD, prod)
SMALL_TEAM_BITS(TEAM_BITS)
SMALL_STANDARD(TEAM_ORDER)
SMALL_STANDARD(TEAM_SUMS)
SMALL_COMPLEX(TEAM_SUMS)
#define TO_ALL_BITS(NAME, T) \
  TO_ALL(NAME, T, AND, and) TO_ALL(NAME, T, OR, or) TO_ALL(NAME, T, XOR, xor)
#define TO_ALL_ORDER(NAME, T) TO_ALL(NAME, T, MAX, max) TO_ALL(NAME, T, MIN, min)
#define TO_ALL_SUMS(NAME, T) TO_ALL(NAME, T, SUM, sum) TO_ALL(NAME, T, PROD, prod)
SMALL_OLD_SHORT(TO_ALL_BITS)
SMALL_OLD_INTEGERS(TO_ALL_BITS)
SMALL_OLD_SHORT(TO_ALL_ORDER)
SMALL_OLD_INTEGERS(TO_ALL_ORDER)
SMALL_OLD_FLOATS(TO_ALL_ORDER)
SMALL_OLD_SHORT(TO_ALL_SUMS)
SMALL_OLD_INTEGERS(TO_ALL_SUMS)
SMALL_OLD_FLOATS(TO_ALL_SUMS)
SMALL_COMPLEX(TO_ALL_SUMS)
