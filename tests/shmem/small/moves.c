/* Transfers, atomic operations, signals, locks. */
#include <string.h>

#include "state.h"

static void put(shmem_ctx_t ctx, void* dest, const void* source, size_t bytes, int pe) {
  memmove(small_at(dest, small_pe(ctx, pe)), source, bytes);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static void get(shmem_ctx_t ctx, void* dest, const void* source, size_t bytes, int pe) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  memmove(dest, small_at(source, small_pe(ctx, pe)), bytes);
}
static void put_strided(shmem_ctx_t ctx, char* dest, const char* source, ptrdiff_t dst,
                        ptrdiff_t sst, size_t nelems, size_t size, int pe) {
  for (size_t i = 0; i < nelems; ++i)
    put(ctx, dest + (ptrdiff_t)(i * size) * dst, source + (ptrdiff_t)(i * size) * sst, size, pe);
}
static void get_strided(shmem_ctx_t ctx, char* dest, const char* source, ptrdiff_t dst,
                        ptrdiff_t sst, size_t nelems, size_t size, int pe) {
  for (size_t i = 0; i < nelems; ++i)
    get(ctx, dest + (ptrdiff_t)(i * size) * dst, source + (ptrdiff_t)(i * size) * sst, size, pe);
}
static void put_signal(shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
                       uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) {
  uint64_t* const at = small_at(sig_addr, small_pe(ctx, pe));
  put(ctx, dest, source, bytes, pe);
  if (sig_op == SHMEM_SIGNAL_ADD) {
    __atomic_fetch_add(at, signal, __ATOMIC_SEQ_CST);
  } else {
    __atomic_store_n(at, signal, __ATOMIC_SEQ_CST);
  }
}

#define COPIES(NAME, T, SIZE)                                                                \
  SMALL_BOTH(void, put##NAME, (T * dest, const T* source, size_t nelems, int pe),            \
             put(ctx, dest, source, nelems* SIZE, pe);)                                      \
  SMALL_BOTH(void, put##NAME##_nbi, (T * dest, const T* source, size_t nelems, int pe),      \
             put(ctx, dest, source, nelems* SIZE, pe);)                                      \
  SMALL_BOTH(void, get##NAME, (T * dest, const T* source, size_t nelems, int pe),            \
             get(ctx, dest, source, nelems* SIZE, pe);)                                      \
  SMALL_BOTH(void, get##NAME##_nbi, (T * dest, const T* source, size_t nelems, int pe),      \
             get(ctx, dest, source, nelems* SIZE, pe);)                                      \
  SMALL_BOTH(void, put##NAME##_signal,                                                       \
             (T * dest, const T* source, size_t nelems, uint64_t* sig_addr, uint64_t signal, \
              int sig_op, int pe),                                                           \
             put_signal(ctx, dest, source, nelems* SIZE, sig_addr, signal, sig_op, pe);)     \
  SMALL_BOTH(void, put##NAME##_signal_nbi,                                                   \
             (T * dest, const T* source, size_t nelems, uint64_t* sig_addr, uint64_t signal, \
              int sig_op, int pe),                                                           \
             put_signal(ctx, dest, source, nelems* SIZE, sig_addr, signal, sig_op, pe);)
#define STRIDES(PUT, GET, T, SIZE)                                                             \
  SMALL_BOTH(void, PUT,                                                                        \
             (T * dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe), \
             put_strided(ctx, (char*)dest, (const char*)source, dst, sst, nelems, SIZE, pe);)  \
  SMALL_BOTH(void, GET,                                                                        \
             (T * dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe), \
             get_strided(ctx, (char*)dest, (const char*)source, dst, sst, nelems, SIZE, pe);)
#define BLOCKS(BITS, BYTES) COPIES(BITS, void, BYTES) STRIDES(iput##BITS, iget##BITS, void, BYTES)
SMALL_SIZES(BLOCKS)
COPIES(mem, void, 1)

#define MOVES(NAME, T)                                                                            \
  SMALL_BOTH(void, NAME##_put, (T * dest, const T* source, size_t nelems, int pe),                \
             put(ctx, dest, source, nelems * sizeof(T), pe);)                                     \
  SMALL_BOTH(void, NAME##_put_nbi, (T * dest, const T* source, size_t nelems, int pe),            \
             put(ctx, dest, source, nelems * sizeof(T), pe);)                                     \
  SMALL_BOTH(void, NAME##_p, (T * dest, T value, int pe), put(ctx, dest, &value, sizeof(T), pe);) \
  SMALL_BOTH(void, NAME##_get, (T * dest, const T* source, size_t nelems, int pe),                \
             get(ctx, dest, source, nelems * sizeof(T), pe);)                                     \
  SMALL_BOTH(void, NAME##_get_nbi, (T * dest, const T* source, size_t nelems, int pe),            \
             get(ctx, dest, source, nelems * sizeof(T), pe);)                                     \
  SMALL_BOTH(T, NAME##_g, (const T* source, int pe), T value;                                     \
             get(ctx, &value, source, sizeof(T), pe); return value;)                              \
  SMALL_BOTH(void, NAME##_put_signal,                                                             \
             (T * dest, const T* source, size_t nelems, uint64_t* sig_addr, uint64_t signal,      \
              int sig_op, int pe),                                                                \
             put_signal(ctx, dest, source, nelems * sizeof(T), sig_addr, signal, sig_op, pe);)    \
  SMALL_BOTH(void, NAME##_put_signal_nbi,                                                         \
             (T * dest, const T* source, size_t nelems, uint64_t* sig_addr, uint64_t signal,      \
              int sig_op, int pe),                                                                \
             put_signal(ctx, dest, source, nelems * sizeof(T), sig_addr, signal, sig_op, pe);)    \
  STRIDES(NAME##_iput, NAME##_iget, T, sizeof(T))
SMALL_STANDARD(MOVES)

SMALL_DEFINE(uint64_t, shmem_signal_fetch, (const uint64_t* sig_addr)) {
  return __atomic_load_n(sig_addr, __ATOMIC_SEQ_CST);
}

/* Atomic operations; AT is the variable. */
#define AT(T, address) (T*)small_at(address, small_pe(ctx, pe))
#define FETCH(T) \
  T old;         \
  __atomic_load(AT(T, source), &old, __ATOMIC_SEQ_CST);
#define SET(T) __atomic_store(AT(T, dest), &value, __ATOMIC_SEQ_CST);
#define SWAP(T) \
  T old;        \
  __atomic_exchange(AT(T, dest), &value, &old, __ATOMIC_SEQ_CST);
#define COMPARE_SWAP(T) \
  T old = cond;         \
  __atomic_compare_exchange(AT(T, dest), &old, &value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
#define CHANGE(T, OP, BY) const T old = __atomic_fetch_##OP(AT(T, dest), BY, __ATOMIC_SEQ_CST);
#define ATOMIC_MOVES(NAME, T)                                                         \
  SMALL_BOTH(T, NAME##_atomic_fetch, (const T* source, int pe), FETCH(T) return old;) \
  SMALL_BOTH(void, NAME##_atomic_set, (T * dest, T value, int pe), SET(T))            \
  SMALL_BOTH(T, NAME##_atomic_swap, (T * dest, T value, int pe), SWAP(T) return old;) \
  SMALL_BOTH(void, NAME##_atomic_fetch_nbi, (T * fetch, const T* source, int pe),     \
             FETCH(T)* fetch = old;)                                                  \
  SMALL_BOTH(void, NAME##_atomic_swap_nbi, (T * fetch, T * dest, T value, int pe),    \
             SWAP(T)* fetch = old;)
#define ATOMIC_SUMS(NAME, T)                                                                       \
  SMALL_BOTH(T, NAME##_atomic_compare_swap, (T * dest, T cond, T value, int pe),                   \
             COMPARE_SWAP(T) return old;)                                                          \
  SMALL_BOTH(T, NAME##_atomic_fetch_inc, (T * dest, int pe), CHANGE(T, add, 1) return old;)        \
  SMALL_BOTH(T, NAME##_atomic_fetch_add, (T * dest, T value, int pe),                              \
             CHANGE(T, add, value) return old;)                                                    \
  SMALL_BOTH(void, NAME##_atomic_inc, (T * dest, int pe), CHANGE(T, add, 1)(void) old;)            \
  SMALL_BOTH(void, NAME##_atomic_add, (T * dest, T value, int pe),                                 \
             CHANGE(T, add, value)(void) old;)                                                     \
  SMALL_BOTH(void, NAME##_atomic_compare_swap_nbi, (T * fetch, T * dest, T cond, T value, int pe), \
             COMPARE_SWAP(T)* fetch = old;)                                                        \
  SMALL_BOTH(void, NAME##_atomic_fetch_inc_nbi, (T * fetch, T * dest, int pe),                     \
             CHANGE(T, add, 1)* fetch = old;)                                                      \
  SMALL_BOTH(void, NAME##_atomic_fetch_add_nbi, (T * fetch, T * dest, T value, int pe),            \
             CHANGE(T, add, value)* fetch = old;)
#define ATOMIC_BIT(NAME, T, OP)                                                            \
  SMALL_BOTH(T, NAME##_atomic_fetch_##OP, (T * dest, T value, int pe),                     \
             CHANGE(T, OP, value) return old;)                                             \
  SMALL_BOTH(void, NAME##_atomic_##OP, (T * dest, T value, int pe),                        \
             CHANGE(T, OP, value)(void) old;)                                              \
  SMALL_BOTH(void, NAME##_atomic_fetch_##OP##_nbi, (T * fetch, T * dest, T value, int pe), \
             CHANGE(T, OP, value)* fetch = old;)
#define ATOMIC_BITS(NAME, T) \
  ATOMIC_BIT(NAME, T, and) ATOMIC_BIT(NAME, T, or) ATOMIC_BIT(NAME, T, xor)
SMALL_ATOMIC(ATOMIC_MOVES)
SMALL_ATOMIC_FLOATS(ATOMIC_MOVES)
SMALL_ATOMIC(ATOMIC_SUMS)
SMALL_ATOMIC_BITS(ATOMIC_BITS)

#define OLD(result, name, parameters, ...)         \
  SMALL_DEFINE(result, shmem_##name, parameters) { \
    const shmem_ctx_t ctx = NULL;                  \
    __VA_ARGS__                                    \
  }
#define OLD_MOVES(NAME, T)                                              \
  OLD(T, NAME##_fetch, (const T* source, int pe), FETCH(T) return old;) \
  OLD(void, NAME##_set, (T * dest, T value, int pe), SET(T))            \
  OLD(T, NAME##_swap, (T * dest, T value, int pe), SWAP(T) return old;)
#define OLD_SUMS(NAME, T)                                                                \
  OLD(T, NAME##_cswap, (T * dest, T cond, T value, int pe), COMPARE_SWAP(T) return old;) \
  OLD(T, NAME##_finc, (T * dest, int pe), CHANGE(T, add, 1) return old;)                 \
  OLD(T, NAME##_fadd, (T * dest, T value, int pe), CHANGE(T, add, value) return old;)    \
  OLD(void, NAME##_inc, (T * dest, int pe), CHANGE(T, add, 1)(void) old;)                \
  OLD(void, NAME##_add, (T * dest, T value, int pe), CHANGE(T, add, value)(void) old;)
SMALL_OLD_INTEGERS(OLD_MOVES)
SMALL_FLOATS(OLD_MOVES)
SMALL_OLD_INTEGERS(OLD_SUMS)

/* A lock is PE 0's variable. */
static int try_lock(long* lock) {
  long* const at = small_at(lock, 0);
  long free_lock = 0;
  return __atomic_compare_exchange_n(at, &free_lock, small_me + 1, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}
SMALL_DEFINE(void, shmem_set_lock, (long* lock)) {
  while (!try_lock(lock)) small_pause();
}
SMALL_DEFINE(int, shmem_test_lock, (long* lock)) {
  return !try_lock(lock);
}
SMALL_DEFINE(void, shmem_clear_lock, (long* lock)) {
  __atomic_store_n((long*)small_at(lock, 0), 0, __ATOMIC_SEQ_CST);
}
