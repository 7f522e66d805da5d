/* Waiting for values, and what orders and completes. */
#include "state.h"

#define COMPARE(NAME, T)                                     \
  static int compare_##NAME(const T* at, int cmp, T value) { \
    const T now = __atomic_load_n(at, __ATOMIC_SEQ_CST);     \
    return cmp == SHMEM_CMP_EQ   ? now == value              \
           : cmp == SHMEM_CMP_NE ? now != value              \
           : cmp == SHMEM_CMP_GT ? now > value               \
           : cmp == SHMEM_CMP_GE ? now >= value              \
           : cmp == SHMEM_CMP_LT ? now < value               \
                                 : now <= value;             \
  }
SMALL_WAIT(COMPARE)

static int counts(const int* status, size_t i) {
  return status == NULL || status[i] == 0;
}

/* VALUE is that of element i; how many there are, and how many have it, also by their places. */
#define LOOK(NAME, VALUE, DO)                             \
  size_t there = 0, found = 0;                            \
  for (size_t i = 0; i < nelems; ++i) {                   \
    if (!counts(status, i)) continue;                     \
    ++there;                                              \
    if (!compare_##NAME(&ivars[i], cmp, VALUE)) continue; \
    DO;                                                   \
    ++found;                                              \
  }
#define FORMS(NAME, T, SUFFIX, PARAMETER, VALUE)                                                   \
  static size_t any_##NAME##SUFFIX(T* ivars, size_t nelems, const int* status, int cmp, PARAMETER, \
                                   size_t* first) {                                                \
    LOOK(NAME, VALUE, if (found == 0)* first = i)                                                  \
    (void)found;                                                                                   \
    return there;                                                                                  \
  }                                                                                                \
  SMALL_DEFINE(int, shmem_##NAME##_test_all##SUFFIX,                                               \
               (T * ivars, size_t nelems, const int* status, int cmp, PARAMETER)) {                \
    LOOK(NAME, VALUE, (void)0)                                                                     \
    return found == there;                                                                         \
  }                                                                                                \
  SMALL_DEFINE(size_t, shmem_##NAME##_test_any##SUFFIX,                                            \
               (T * ivars, size_t nelems, const int* status, int cmp, PARAMETER)) {                \
    size_t first = SIZE_MAX;                                                                       \
    any_##NAME##SUFFIX(ivars, nelems, status, cmp, GIVEN, &first);                                 \
    return first;                                                                                  \
  }                                                                                                \
  SMALL_DEFINE(                                                                                    \
      size_t, shmem_##NAME##_test_some##SUFFIX,                                                    \
      (T * ivars, size_t nelems, size_t * indices, const int* status, int cmp, PARAMETER)) {       \
    LOOK(NAME, VALUE, indices[found] = i)                                                          \
    (void)there;                                                                                   \
    return found;                                                                                  \
  }                                                                                                \
  SMALL_DEFINE(void, shmem_##NAME##_wait_until_all##SUFFIX,                                        \
               (T * ivars, size_t nelems, const int* status, int cmp, PARAMETER)) {                \
    for (;;) {                                                                                     \
      LOOK(NAME, VALUE, (void)0)                                                                   \
      if (found == there) return;                                                                  \
      small_pause();                                                                               \
    }                                                                                              \
  }                                                                                                \
  SMALL_DEFINE(size_t, shmem_##NAME##_wait_until_any##SUFFIX,                                      \
               (T * ivars, size_t nelems, const int* status, int cmp, PARAMETER)) {                \
    size_t first = SIZE_MAX;                                                                       \
    while (any_##NAME##SUFFIX(ivars, nelems, status, cmp, GIVEN, &first) != 0 &&                   \
           first == SIZE_MAX)                                                                      \
      small_pause();                                                                               \
    return first;                                                                                  \
  }                                                                                                \
  SMALL_DEFINE(                                                                                    \
      size_t, shmem_##NAME##_wait_until_some##SUFFIX,                                              \
      (T * ivars, size_t nelems, size_t * indices, const int* status, int cmp, PARAMETER)) {       \
    for (;;) {                                                                                     \
      LOOK(NAME, VALUE, indices[found] = i)                                                        \
      if (found != 0 || there == 0) return found;                                                  \
      small_pause();                                                                               \
    }                                                                                              \
  }
#define ONE(NAME, T)                                                                \
  SMALL_DEFINE(void, shmem_##NAME##_wait_until, (T * ivar, int cmp, T cmp_value)) { \
    while (!compare_##NAME(ivar, cmp, cmp_value)) small_pause();                    \
  }                                                                                 \
  SMALL_DEFINE(int, shmem_##NAME##_test, (T * ivar, int cmp, T cmp_value)) {        \
    return compare_##NAME(ivar, cmp, cmp_value);                                    \
  }
SMALL_WAIT(ONE)
#define GIVEN cmp_value
#define SAME_FORMS(NAME, T) FORMS(NAME, T, , T cmp_value, cmp_value)
SMALL_WAIT(SAME_FORMS)
#undef GIVEN
#define GIVEN cmp_values
#define VECTOR_FORMS(NAME, T) FORMS(NAME, T, _vector, T* cmp_values, cmp_values[i])
SMALL_WAIT(VECTOR_FORMS)

#define OLD_WAIT(NAME, T)                                                 \
  SMALL_DEFINE(void, shmem_##NAME##_wait, (T * ivar, T cmp_value)) {      \
    while (!compare_##NAME(ivar, SHMEM_CMP_NE, cmp_value)) small_pause(); \
  }
SMALL_OLD_SHORT(OLD_WAIT)
SMALL_OLD_INTEGERS(OLD_WAIT)
SMALL_DEFINE(void, shmem_wait, (long* ivar, long cmp_value)) {
  while (!compare_long(ivar, SHMEM_CMP_NE, cmp_value)) small_pause();
}
SMALL_DEFINE(uint64_t, shmem_signal_wait_until,
             (uint64_t * sig_addr, int cmp, uint64_t cmp_value)) {
  while (!compare_uint64(sig_addr, cmp, cmp_value)) small_pause();
  return __atomic_load_n(sig_addr, __ATOMIC_SEQ_CST);
}

SMALL_DEFINE(void, shmem_quiet, (void)) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
SMALL_DEFINE(void, shmem_fence, (void)) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
SMALL_DEFINE(void, shmem_ctx_quiet, (shmem_ctx_t ctx)) {
  (void)ctx;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
SMALL_DEFINE(void, shmem_ctx_fence, (shmem_ctx_t ctx)) {
  (void)ctx;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
