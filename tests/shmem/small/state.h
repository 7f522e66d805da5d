/* What the parts of the small SHMEM library share. */
#ifndef SMALL_STATE_H
#define SMALL_STATE_H

#include "shmem.h"

enum { kMostPes = 16 };

/* A set of PEs, by their numbers in the world, and the place where they meet. */
struct SmallTeam {
  int me; /* index of this PE, or -1 */
  int count;
  int meeting;
  int pes[kMostPes];
};
struct SmallContext {
  shmem_team_t team;
};

extern int small_me, small_pes;
/* The same variable at another PE. */
void* small_at(const volatile void* address, int pe);
/* Number in the world of a PE as the context names it. */
int small_pe(shmem_ctx_t ctx, int pe);
/* Waits until all members have come. */
void small_meet(const struct SmallTeam* team);
struct SmallTeam small_active_set(int start, int log_stride, int size);
/* A word that each PE can leave for the others. */
long* small_mail(int pe);
/* Lets others run. */
void small_pause(void);

/* A function of the library: under its own name alone, or as profiling interfaces have it. */
#ifdef SMALL_PROFILING
#define SMALL_DEFINE(result, name, parameters)                    \
  result p##name parameters;                                      \
  __attribute__((weak, alias("p" #name))) result name parameters; \
  result p##name parameters
#else
#define SMALL_DEFINE(result, name, parameters) result name parameters
#endif

/* With a context and without; the body has `ctx`. */
#define SMALL_WITH_CTX(...) (shmem_ctx_t ctx, __VA_ARGS__)
#define SMALL_BOTH(result, name, parameters, ...)                     \
  SMALL_DEFINE(result, shmem_##name, parameters) {                    \
    const shmem_ctx_t ctx = NULL;                                     \
    __VA_ARGS__                                                       \
  }                                                                   \
  SMALL_DEFINE(result, shmem_ctx_##name, SMALL_WITH_CTX parameters) { \
    __VA_ARGS__                                                       \
  }

#endif
