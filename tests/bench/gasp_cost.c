/* Nanoseconds of CPU time of a pair of GASP's events, START and END: gasp_cost CALLS. As
 * measurement_cost.c. Two threads of UPC are played by two processes: of which the second does
 * nothing. What the plain times have is the front alone, which finds no measurement library.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pieces.h"

void* gasp_init(int model, int* argc, char*** argv);
void gasp_event_notify(void* context, unsigned tag, int type, const char* file, int line, int column, ...);
enum { kStart, kEnd };

/* ---- what elg_gasp.upc has */

enum { kThreads = 2, kMostBytes = 8192 };
struct elg_gasp_id {
  const char* name;
  unsigned id;
};
enum { kFunction = 1, kNotify, kWait, kBarrier, kFence, kGet, kPut, kLock, kUnlock };
const struct elg_gasp_id elg_gasp_ids[] = {
    {"UPC_VERSION", 1},     {"C_FUNC", kFunction}, {"UPC_NOTIFY", kNotify}, {"UPC_WAIT", kWait},     {"UPC_BARRIER", kBarrier},
    {"UPC_FENCE", kFence},  {"UPC_GET", kGet},     {"UPC_PUT", kPut},       {"UPC_LOCK", kLock},     {"UPC_UNLOCK", kUnlock},
    {"UPC_USEREVT_START", 100}, {"UPC_USEREVT_END", 999}, {0, 0}};

typedef struct shared {
  unsigned long long address;
  unsigned thread, phase;
} shared;

static struct common {
  pthread_barrier_t barrier;
  char blocks[kThreads][kMostBytes];
}* common;
static int me;

int elg_gasp_thread(void) { return me; }
int elg_gasp_threads(void) { return kThreads; }
void elg_gasp_place(const void* pts, int* thread, unsigned long long* address) {
  const shared* const pointer = pts;
  *thread = (int)pointer->thread;
  *address = pointer->address;
}
void elg_gasp_exchange(const void* mine, void* all, size_t bytes) {
  int i;
  memcpy(common->blocks[me], mine, bytes);
  pthread_barrier_wait(&common->barrier);
  for (i = 0; i < kThreads; ++i) memcpy((char*)all + (size_t)i * bytes, common->blocks[i], bytes);
  pthread_barrier_wait(&common->barrier);
}

/* ---- */

#define TELL(tag, ...)                                                    \
  gasp_event_notify(context, tag, kStart, "pi.upc", 7, 0, __VA_ARGS__);   \
  gasp_event_notify(context, tag, kEnd, "pi.upc", 7, 0, __VA_ARGS__)

static void play(long calls) {
  void* const context = gasp_init(0, 0, 0);
  static char local[64];
  const size_t bytes = 8;
  shared remote = {64, 1, 0}, own = {64, 0, 0};
  if (me != 0) return;
#if defined(__x86_64__)
  static volatile unsigned long long clock_value;
  MEASURE("clock", clock_value = __builtin_ia32_rdtsc(), (void)0);
#endif
  MEASURE("upc_get", TELL(kGet, 1, local, &remote, bytes), (void)0);
  MEASURE("upc_put", TELL(kPut, 1, &remote, local, bytes), (void)0);
  MEASURE("upc_get_strict", TELL(kGet, 0, local, &remote, bytes), (void)0);
  MEASURE("upc_get_own", TELL(kGet, 1, local, &own, bytes), (void)0);
  MEASURE("upc_fence", TELL(kFence, 0), (void)0);
  MEASURE("lock_unlock", TELL(kLock, &remote); TELL(kUnlock, &remote), (void)0);
  MEASURE("upc_barrier", TELL(kBarrier, 0, 0), (void)0);
  MEASURE("notify_wait", TELL(kNotify, 0, 0); TELL(kWait, 0, 0), (void)0);
  MEASURE("function", TELL(kFunction, "relax"), (void)0);
}

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 100000;
  pthread_barrierattr_t attributes;
  pid_t children[kThreads];
  int i, failed = 0;
  common = mmap(0, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&common->barrier, &attributes, kThreads);
  for (i = 0; i < kThreads; ++i) {
    if ((children[i] = fork()) != 0) continue;
    me = i;
    play(calls);
    return 0;
  }
  for (i = 0; i < kThreads; ++i) {
    int status = 0;
    waitpid(children[i], &status, 0);
    failed = failed || status != 0;
  }
  return failed;
}
