/* The prototypes of OpenSHMEM 1.5 in C, the deprecated ones too, as a small library for tests has
 * them; by its lists of types. With SMALL_SANDIA_NUMBERS the comparisons have the numbers of
 * Sandia's library, else numbers of our own.
 */
#ifndef SMALL_SHMEM_H
#define SMALL_SHMEM_H

#include <stddef.h>
#include <stdint.h>

#include "types.h"

typedef struct SmallContext* shmem_ctx_t;
typedef struct SmallTeam* shmem_team_t;
typedef struct {
  int num_contexts;
} shmem_team_config_t;

extern shmem_ctx_t SHMEM_CTX_DEFAULT;
extern shmem_team_t SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED;

#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
enum { SHMEM_TEAM_NUM_CONTEXTS = 1 };
enum { SHMEM_CTX_SERIALIZED = 1, SHMEM_CTX_PRIVATE = 2, SHMEM_CTX_NOSTORE = 4 };
enum { SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE };
enum { SHMEM_MALLOC_ATOMICS_REMOTE = 1, SHMEM_MALLOC_SIGNAL_REMOTE = 2 };
enum { SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD };
enum {
  SHMEM_SYNC_VALUE = 0,
  SHMEM_MAX_NAME_LEN = 256,
  SHMEM_MAJOR_VERSION = 1,
  SHMEM_MINOR_VERSION = 5
};
#ifdef SMALL_SANDIA_NUMBERS
enum { SHMEM_CMP_EQ = 1, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE };
#else
enum { SHMEM_CMP_LE = 11, SHMEM_CMP_LT, SHMEM_CMP_GE, SHMEM_CMP_GT, SHMEM_CMP_NE, SHMEM_CMP_EQ };
#endif
#define SHMEM_BARRIER_SYNC_SIZE 1
#define SHMEM_BCAST_SYNC_SIZE 1
#define SHMEM_COLLECT_SYNC_SIZE 1
#define SHMEM_REDUCE_SYNC_SIZE 1
#define SHMEM_ALLTOALL_SYNC_SIZE 1
#define SHMEM_ALLTOALLS_SYNC_SIZE 1
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 1

/* Life cycle and questions */
void shmem_init(void);
int shmem_init_thread(int requested, int* provided);
void start_pes(int npes);
void shmem_finalize(void);
void shmem_global_exit(int status);
void shmem_query_thread(int* provided);
void shmem_pcontrol(int level, ...);
int shmem_my_pe(void);
int shmem_n_pes(void);
int shmem_pe_accessible(int pe);
int shmem_addr_accessible(const void* addr, int pe);
void* shmem_ptr(const void* dest, int pe);
void shmem_info_get_version(int* major, int* minor);
void shmem_info_get_name(char* name);

/* Symmetric memory */
void* shmem_malloc(size_t size);
void* shmem_calloc(size_t count, size_t size);
void* shmem_align(size_t alignment, size_t size);
void* shmem_malloc_with_hints(size_t size, long hints);
void* shmem_realloc(void* ptr, size_t size);
void shmem_free(void* ptr);

/* Teams and contexts */
int shmem_team_my_pe(shmem_team_t team);
int shmem_team_n_pes(shmem_team_t team);
int shmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t* config);
int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);
int shmem_team_split_strided(shmem_team_t parent, int start, int stride, int size,
                             const shmem_team_config_t* config, long config_mask,
                             shmem_team_t* new_team);
int shmem_team_split_2d(shmem_team_t parent, int xrange, const shmem_team_config_t* xaxis_config,
                        long xaxis_mask, shmem_team_t* xaxis_team,
                        const shmem_team_config_t* yaxis_config, long yaxis_mask,
                        shmem_team_t* yaxis_team);
void shmem_team_destroy(shmem_team_t team);
int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx);
int shmem_ctx_create(long options, shmem_ctx_t* ctx);
void shmem_ctx_destroy(shmem_ctx_t ctx);
int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team);

/* Transfers: with a context, and without */
#define SMALL_MOVES(NAME, T)                                                                       \
  void shmem_##NAME##_put(T* dest, const T* source, size_t nelems, int pe);                        \
  void shmem_##NAME##_put_nbi(T* dest, const T* source, size_t nelems, int pe);                    \
  void shmem_##NAME##_p(T* dest, T value, int pe);                                                 \
  void shmem_##NAME##_iput(T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,  \
                           int pe);                                                                \
  void shmem_##NAME##_get(T* dest, const T* source, size_t nelems, int pe);                        \
  void shmem_##NAME##_get_nbi(T* dest, const T* source, size_t nelems, int pe);                    \
  T shmem_##NAME##_g(const T* source, int pe);                                                     \
  void shmem_##NAME##_iget(T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,  \
                           int pe);                                                                \
  void shmem_##NAME##_put_signal(T* dest, const T* source, size_t nelems, uint64_t* sig_addr,      \
                                 uint64_t signal, int sig_op, int pe);                             \
  void shmem_##NAME##_put_signal_nbi(T* dest, const T* source, size_t nelems, uint64_t* sig_addr,  \
                                     uint64_t signal, int sig_op, int pe);                         \
  void shmem_ctx_##NAME##_put(shmem_ctx_t ctx, T* dest, const T* source, size_t nelems, int pe);   \
  void shmem_ctx_##NAME##_put_nbi(shmem_ctx_t ctx, T* dest, const T* source, size_t nelems,        \
                                  int pe);                                                         \
  void shmem_ctx_##NAME##_p(shmem_ctx_t ctx, T* dest, T value, int pe);                            \
  void shmem_ctx_##NAME##_iput(shmem_ctx_t ctx, T* dest, const T* source, ptrdiff_t dst,           \
                               ptrdiff_t sst, size_t nelems, int pe);                              \
  void shmem_ctx_##NAME##_get(shmem_ctx_t ctx, T* dest, const T* source, size_t nelems, int pe);   \
  void shmem_ctx_##NAME##_get_nbi(shmem_ctx_t ctx, T* dest, const T* source, size_t nelems,        \
                                  int pe);                                                         \
  T shmem_ctx_##NAME##_g(shmem_ctx_t ctx, const T* source, int pe);                                \
  void shmem_ctx_##NAME##_iget(shmem_ctx_t ctx, T* dest, const T* source, ptrdiff_t dst,           \
                               ptrdiff_t sst, size_t nelems, int pe);                              \
  void shmem_ctx_##NAME##_put_signal(shmem_ctx_t ctx, T* dest, const T* source, size_t nelems,     \
                                     uint64_t* sig_addr, uint64_t signal, int sig_op, int pe);     \
  void shmem_ctx_##NAME##_put_signal_nbi(shmem_ctx_t ctx, T* dest, const T* source, size_t nelems, \
                                         uint64_t* sig_addr, uint64_t signal, int sig_op, int pe);
SMALL_STANDARD(SMALL_MOVES)
#undef SMALL_MOVES

/* Of elements without a type; NAME is a number of bits, or mem. */
#define SMALL_BLOCKS(NAME)                                                                         \
  void shmem_put##NAME(void* dest, const void* source, size_t nelems, int pe);                     \
  void shmem_put##NAME##_nbi(void* dest, const void* source, size_t nelems, int pe);               \
  void shmem_get##NAME(void* dest, const void* source, size_t nelems, int pe);                     \
  void shmem_get##NAME##_nbi(void* dest, const void* source, size_t nelems, int pe);               \
  void shmem_put##NAME##_signal(void* dest, const void* source, size_t nelems, uint64_t* sig_addr, \
                                uint64_t signal, int sig_op, int pe);                              \
  void shmem_put##NAME##_signal_nbi(void* dest, const void* source, size_t nelems,                 \
                                    uint64_t* sig_addr, uint64_t signal, int sig_op, int pe);      \
  void shmem_ctx_put##NAME(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems,         \
                           int pe);                                                                \
  void shmem_ctx_put##NAME##_nbi(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems,   \
                                 int pe);                                                          \
  void shmem_ctx_get##NAME(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems,         \
                           int pe);                                                                \
  void shmem_ctx_get##NAME##_nbi(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems,   \
                                 int pe);                                                          \
  void shmem_ctx_put##NAME##_signal(shmem_ctx_t ctx, void* dest, const void* source,               \
                                    size_t nelems, uint64_t* sig_addr, uint64_t signal,            \
                                    int sig_op, int pe);                                           \
  void shmem_ctx_put##NAME##_signal_nbi(shmem_ctx_t ctx, void* dest, const void* source,           \
                                        size_t nelems, uint64_t* sig_addr, uint64_t signal,        \
                                        int sig_op, int pe);
#define SMALL_SIZED_BLOCKS(BITS, BYTES)                                                     \
  SMALL_BLOCKS(BITS)                                                                        \
  void shmem_iput##BITS(void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,       \
                        size_t nelems, int pe);                                             \
  void shmem_iget##BITS(void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,       \
                        size_t nelems, int pe);                                             \
  void shmem_ctx_iput##BITS(shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dst, \
                            ptrdiff_t sst, size_t nelems, int pe);                          \
  void shmem_ctx_iget##BITS(shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dst, \
                            ptrdiff_t sst, size_t nelems, int pe);
SMALL_SIZES(SMALL_SIZED_BLOCKS)
SMALL_BLOCKS(mem)
#undef SMALL_SIZED_BLOCKS
#undef SMALL_BLOCKS
uint64_t shmem_signal_fetch(const uint64_t* sig_addr);
uint64_t shmem_signal_wait_until(uint64_t* sig_addr, int cmp, uint64_t cmp_value);

/* Atomic operations */
#define SMALL_ATOMIC_MOVES(NAME, T)                                                             \
  T shmem_##NAME##_atomic_fetch(const T* source, int pe);                                       \
  void shmem_##NAME##_atomic_set(T* dest, T value, int pe);                                     \
  T shmem_##NAME##_atomic_swap(T* dest, T value, int pe);                                       \
  void shmem_##NAME##_atomic_fetch_nbi(T* fetch, const T* source, int pe);                      \
  void shmem_##NAME##_atomic_swap_nbi(T* fetch, T* dest, T value, int pe);                      \
  T shmem_ctx_##NAME##_atomic_fetch(shmem_ctx_t ctx, const T* source, int pe);                  \
  void shmem_ctx_##NAME##_atomic_set(shmem_ctx_t ctx, T* dest, T value, int pe);                \
  T shmem_ctx_##NAME##_atomic_swap(shmem_ctx_t ctx, T* dest, T value, int pe);                  \
  void shmem_ctx_##NAME##_atomic_fetch_nbi(shmem_ctx_t ctx, T* fetch, const T* source, int pe); \
  void shmem_ctx_##NAME##_atomic_swap_nbi(shmem_ctx_t ctx, T* fetch, T* dest, T value, int pe);
#define SMALL_ATOMIC_SUMS(NAME, T)                                                             \
  T shmem_##NAME##_atomic_compare_swap(T* dest, T cond, T value, int pe);                      \
  T shmem_##NAME##_atomic_fetch_inc(T* dest, int pe);                                          \
  T shmem_##NAME##_atomic_fetch_add(T* dest, T value, int pe);                                 \
  void shmem_##NAME##_atomic_inc(T* dest, int pe);                                             \
  void shmem_##NAME##_atomic_add(T* dest, T value, int pe);                                    \
  void shmem_##NAME##_atomic_compare_swap_nbi(T* fetch, T* dest, T cond, T value, int pe);     \
  void shmem_##NAME##_atomic_fetch_inc_nbi(T* fetch, T* dest, int pe);                         \
  void shmem_##NAME##_atomic_fetch_add_nbi(T* fetch, T* dest, T value, int pe);                \
  T shmem_ctx_##NAME##_atomic_compare_swap(shmem_ctx_t ctx, T* dest, T cond, T value, int pe); \
  T shmem_ctx_##NAME##_atomic_fetch_inc(shmem_ctx_t ctx, T* dest, int pe);                     \
  T shmem_ctx_##NAME##_atomic_fetch_add(shmem_ctx_t ctx, T* dest, T value, int pe);            \
  void shmem_ctx_##NAME##_atomic_inc(shmem_ctx_t ctx, T* dest, int pe);                        \
  void shmem_ctx_##NAME##_atomic_add(shmem_ctx_t ctx, T* dest, T value, int pe);               \
  void shmem_ctx_##NAME##_atomic_compare_swap_nbi(shmem_ctx_t ctx, T* fetch, T* dest, T cond,  \
                                                  T value, int pe);                            \
  void shmem_ctx_##NAME##_atomic_fetch_inc_nbi(shmem_ctx_t ctx, T* fetch, T* dest, int pe);    \
  void shmem_ctx_##NAME##_atomic_fetch_add_nbi(shmem_ctx_t ctx, T* fetch, T* dest, T value, int pe);
#define SMALL_ATOMIC_BIT(NAME, T, OP)                                                          \
  T shmem_##NAME##_atomic_fetch_##OP(T* dest, T value, int pe);                                \
  void shmem_##NAME##_atomic_##OP(T* dest, T value, int pe);                                   \
  void shmem_##NAME##_atomic_fetch_##OP##_nbi(T* fetch, T* dest, T value, int pe);             \
  T shmem_ctx_##NAME##_atomic_fetch_##OP(shmem_ctx_t ctx, T* dest, T value, int pe);           \
  void shmem_ctx_##NAME##_atomic_##OP(shmem_ctx_t ctx, T* dest, T value, int pe);              \
  void shmem_ctx_##NAME##_atomic_fetch_##OP##_nbi(shmem_ctx_t ctx, T* fetch, T* dest, T value, \
                                                  int pe);
#define SMALL_ATOMIC_BIT_SET(NAME, T) \
  SMALL_ATOMIC_BIT(NAME, T, and) SMALL_ATOMIC_BIT(NAME, T, or) SMALL_ATOMIC_BIT(NAME, T, xor)
SMALL_ATOMIC(SMALL_ATOMIC_MOVES)
SMALL_ATOMIC_FLOATS(SMALL_ATOMIC_MOVES)
SMALL_ATOMIC(SMALL_ATOMIC_SUMS)
SMALL_ATOMIC_BITS(SMALL_ATOMIC_BIT_SET)
#undef SMALL_ATOMIC_MOVES
#undef SMALL_ATOMIC_SUMS
#undef SMALL_ATOMIC_BIT
#undef SMALL_ATOMIC_BIT_SET

/* Deprecated ones */
#define SMALL_OLD_ATOMIC_MOVES(NAME, T)              \
  T shmem_##NAME##_fetch(const T* source, int pe);   \
  void shmem_##NAME##_set(T* dest, T value, int pe); \
  T shmem_##NAME##_swap(T* dest, T value, int pe);
#define SMALL_OLD_ATOMIC_SUMS(NAME, T)                      \
  T shmem_##NAME##_cswap(T* dest, T cond, T value, int pe); \
  T shmem_##NAME##_finc(T* dest, int pe);                   \
  T shmem_##NAME##_fadd(T* dest, T value, int pe);          \
  void shmem_##NAME##_inc(T* dest, int pe);                 \
  void shmem_##NAME##_add(T* dest, T value, int pe);
SMALL_OLD_INTEGERS(SMALL_OLD_ATOMIC_MOVES)
SMALL_FLOATS(SMALL_OLD_ATOMIC_MOVES)
SMALL_OLD_INTEGERS(SMALL_OLD_ATOMIC_SUMS)
#undef SMALL_OLD_ATOMIC_MOVES
#undef SMALL_OLD_ATOMIC_SUMS

/* Waiting for values */
#define SMALL_WAITS(NAME, T)                                                                       \
  void shmem_##NAME##_wait_until(T* ivar, int cmp, T cmp_value);                                   \
  void shmem_##NAME##_wait_until_all(T* ivars, size_t nelems, const int* status, int cmp,          \
                                     T cmp_value);                                                 \
  size_t shmem_##NAME##_wait_until_any(T* ivars, size_t nelems, const int* status, int cmp,        \
                                       T cmp_value);                                               \
  size_t shmem_##NAME##_wait_until_some(T* ivars, size_t nelems, size_t* indices,                  \
                                        const int* status, int cmp, T cmp_value);                  \
  void shmem_##NAME##_wait_until_all_vector(T* ivars, size_t nelems, const int* status, int cmp,   \
                                            T* cmp_values);                                        \
  size_t shmem_##NAME##_wait_until_any_vector(T* ivars, size_t nelems, const int* status, int cmp, \
                                              T* cmp_values);                                      \
  size_t shmem_##NAME##_wait_until_some_vector(T* ivars, size_t nelems, size_t* indices,           \
                                               const int* status, int cmp, T* cmp_values);         \
  int shmem_##NAME##_test(T* ivar, int cmp, T cmp_value);                                          \
  int shmem_##NAME##_test_all(T* ivars, size_t nelems, const int* status, int cmp, T cmp_value);   \
  size_t shmem_##NAME##_test_any(T* ivars, size_t nelems, const int* status, int cmp,              \
                                 T cmp_value);                                                     \
  size_t shmem_##NAME##_test_some(T* ivars, size_t nelems, size_t* indices, const int* status,     \
                                  int cmp, T cmp_value);                                           \
  int shmem_##NAME##_test_all_vector(T* ivars, size_t nelems, const int* status, int cmp,          \
                                     T* cmp_values);                                               \
  size_t shmem_##NAME##_test_any_vector(T* ivars, size_t nelems, const int* status, int cmp,       \
                                        T* cmp_values);                                            \
  size_t shmem_##NAME##_test_some_vector(T* ivars, size_t nelems, size_t* indices,                 \
                                         const int* status, int cmp, T* cmp_values);
SMALL_WAIT(SMALL_WAITS)
#undef SMALL_WAITS
#define SMALL_OLD_WAITS(NAME, T) void shmem_##NAME##_wait(T* ivar, T cmp_value);
SMALL_OLD_SHORT(SMALL_OLD_WAITS)
SMALL_OLD_INTEGERS(SMALL_OLD_WAITS)
#undef SMALL_OLD_WAITS
void shmem_wait(long* ivar, long cmp_value);

/* Order, locks */
void shmem_quiet(void);
void shmem_fence(void);
void shmem_ctx_quiet(shmem_ctx_t ctx);
void shmem_ctx_fence(shmem_ctx_t ctx);
void shmem_set_lock(long* lock);
int shmem_test_lock(long* lock);
void shmem_clear_lock(long* lock);

/* Collective operations: on all, on teams, on active sets */
void shmem_barrier_all(void);
void shmem_sync_all(void);
int shmem_team_sync(shmem_team_t team);
#define SMALL_TEAM_MOVES(NAME, T)                                                          \
  int shmem_##NAME##_broadcast(shmem_team_t team, T* dest, const T* source, size_t nelems, \
                               int root);                                                  \
  int shmem_##NAME##_collect(shmem_team_t team, T* dest, const T* source, size_t nelems);  \
  int shmem_##NAME##_fcollect(shmem_team_t team, T* dest, const T* source, size_t nelems); \
  int shmem_##NAME##_alltoall(shmem_team_t team, T* dest, const T* source, size_t nelems); \
  int shmem_##NAME##_alltoalls(shmem_team_t team, T* dest, const T* source, ptrdiff_t dst, \
                               ptrdiff_t sst, size_t nelems);
SMALL_STANDARD(SMALL_TEAM_MOVES)
#undef SMALL_TEAM_MOVES
int shmem_broadcastmem(shmem_team_t team, void* dest, const void* source, size_t nelems, int root);
int shmem_collectmem(shmem_team_t team, void* dest, const void* source, size_t nelems);
int shmem_fcollectmem(shmem_team_t team, void* dest, const void* source, size_t nelems);
int shmem_alltoallmem(shmem_team_t team, void* dest, const void* source, size_t nelems);
int shmem_alltoallsmem(shmem_team_t team, void* dest, const void* source, ptrdiff_t dst,
                       ptrdiff_t sst, size_t nelems);
#define SMALL_REDUCE(NAME, T, OP) \
  int shmem_##NAME##_##OP##_reduce(shmem_team_t team, T* dest, const T* source, size_t nelems);
#define SMALL_REDUCE_BITS(NAME, T) \
  SMALL_REDUCE(NAME, T, and) SMALL_REDUCE(NAME, T, or) SMALL_REDUCE(NAME, T, xor)
#define SMALL_REDUCE_ORDER(NAME, T) SMALL_REDUCE(NAME, T, max) SMALL_REDUCE(NAME, T, min)
#define SMALL_REDUCE_SUMS(NAME, T) SMALL_REDUCE(NAME, T, sum) SMALL_REDUCE(NAME, T, prod)
SMALL_TEAM_BITS(SMALL_REDUCE_BITS)
SMALL_STANDARD(SMALL_REDUCE_ORDER)
SMALL_STANDARD(SMALL_REDUCE_SUMS)
SMALL_TEAM_SUMS(SMALL_REDUCE_SUMS)
#undef SMALL_REDUCE
#undef SMALL_REDUCE_BITS
#undef SMALL_REDUCE_ORDER
#undef SMALL_REDUCE_SUMS

void shmem_barrier(int start, int log_stride, int size, long* psync);
void shmem_sync(int start, int log_stride, int size, long* psync);
#define SMALL_SET_MOVES(BITS)                                                                    \
  void shmem_broadcast##BITS(void* dest, const void* source, size_t nelems, int root, int start, \
                             int log_stride, int size, long* psync);                             \
  void shmem_collect##BITS(void* dest, const void* source, size_t nelems, int start,             \
                           int log_stride, int size, long* psync);                               \
  void shmem_fcollect##BITS(void* dest, const void* source, size_t nelems, int start,            \
                            int log_stride, int size, long* psync);                              \
  void shmem_alltoall##BITS(void* dest, const void* source, size_t nelems, int start,            \
                            int log_stride, int size, long* psync);                              \
  void shmem_alltoalls##BITS(void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,       \
                             size_t nelems, int start, int log_stride, int size, long* psync);
SMALL_SET_MOVES(32)
SMALL_SET_MOVES(64)
#undef SMALL_SET_MOVES
#define SMALL_TO_ALL(NAME, T, OP)                                                    \
  void shmem_##NAME##_##OP##_to_all(T* dest, const T* source, int nelems, int start, \
                                    int log_stride, int size, T* work, long* psync);
#define SMALL_TO_ALL_BITS(NAME, T) \
  SMALL_TO_ALL(NAME, T, and) SMALL_TO_ALL(NAME, T, or) SMALL_TO_ALL(NAME, T, xor)
#define SMALL_TO_ALL_ORDER(NAME, T) SMALL_TO_ALL(NAME, T, max) SMALL_TO_ALL(NAME, T, min)
#define SMALL_TO_ALL_SUMS(NAME, T) SMALL_TO_ALL(NAME, T, sum) SMALL_TO_ALL(NAME, T, prod)
SMALL_OLD_SHORT(SMALL_TO_ALL_BITS)
SMALL_OLD_INTEGERS(SMALL_TO_ALL_BITS)
SMALL_OLD_SHORT(SMALL_TO_ALL_ORDER)
SMALL_OLD_INTEGERS(SMALL_TO_ALL_ORDER)
SMALL_OLD_FLOATS(SMALL_TO_ALL_ORDER)
SMALL_OLD_SHORT(SMALL_TO_ALL_SUMS)
SMALL_OLD_INTEGERS(SMALL_TO_ALL_SUMS)
SMALL_OLD_FLOATS(SMALL_TO_ALL_SUMS)
SMALL_COMPLEX(SMALL_TO_ALL_SUMS)
#undef SMALL_TO_ALL
#undef SMALL_TO_ALL_BITS
#undef SMALL_TO_ALL_ORDER
#undef SMALL_TO_ALL_SUMS

#endif
