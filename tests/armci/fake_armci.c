/* An ARMCI of our own words, so that the tests need neither of the real ones: PARMCI_ functions over MPI messages, with a
   progress engine that polls. A get, put, accumulate or lock asks its target by a message; the target answers in whatever
   call of ARMCI it makes next. Compiled as either of the two libraries: -DCOMEX (with -DSERVICE the highest rank serves
   the others and never comes back from ARMCI_Init; with -DONE_QUEUE answers are looked for among the requests, from
   anybody, as ComEx's MPI-TS does; with -DTHREAD a thread in each process serves, as in MPI-PT), else as ARMCI-MPI. Not
   thread-safe; one error ends the program. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef COMEX
typedef struct { void **src, **dst; int length, bytes; } vector;
typedef int handle_of_request;
typedef int group_of_processes;
enum { kSwap = 10, kSwapLong, kAdd, kAddLong };
enum { kAccLong = 42, kAccDouble = 38 };
#else
typedef struct { void **src, **dst; int bytes, length; } vector;
typedef struct { int target, aggregate; } handle_of_request;
typedef struct { MPI_Comm comm, other; int *to_all, *to_group, rank, size; } group_of_processes;
enum { kAdd, kAddLong, kSwap, kSwapLong };
enum { kAccLong = 1, kAccDouble = 3 };
#endif

#define API(result, name, arguments, passed)                     \
  result P##name arguments;                                      \
  __attribute__((weak)) result name arguments { return P##name passed; } \
  result P##name arguments
#define API_SMALL(result, name, arguments, passed)               \
  result p##name arguments;                                      \
  __attribute__((weak)) result name arguments { return p##name passed; } \
  result p##name arguments

enum { kRequest = 1, kReply = 2, kMostBytes = 1 << 16, kMutexes = 8, kMostOpen = 64 };
enum { kPut, kAcc, kGet, kRmw, kLock, kUnlock, kNotify, kEnd, kAnswer };
typedef struct { int what, from, bytes, extra; char* at; double scale; char data[kMostBytes]; } request;
#define HEAD offsetof(request, data)

static MPI_Comm all = MPI_COMM_NULL;
static int me, n, started;
static int holder[kMutexes], queue[kMutexes][64], queued[kMutexes];
#ifdef COMEX
static int seen[64];
#endif
static volatile int notified[64];
static struct { int target; void* to; } open[kMostOpen]; /* gets whose answer is still to come, in order */
static int opened;
#ifdef COMEX
MPI_Comm ARMCI_COMM_WORLD;
static int served = -1; /* the rank in MPI_COMM_WORLD that serves */
#else
group_of_processes ARMCI_GROUP_WORLD;
#endif

int armci_msg_me(void) { return me; }
int armci_msg_nproc(void) { return n; }

#ifdef ONE_QUEUE
static void* wanted; /* where the answer goes that this process waits for, and whether it came */
static int came;
static void answer(int to, const void* data, int bytes) {
  static request r;
  r.what = kAnswer; r.from = me; r.bytes = bytes;
  if (bytes != 0) memcpy(r.data, data, (size_t)bytes);
  MPI_Send(&r, (int)HEAD + bytes, MPI_BYTE, to, kRequest, all);
}
#else
static void answer(int to, const void* data, int bytes) { MPI_Send(data, bytes, MPI_BYTE, to, kReply, all); }
#endif

static void serve(const request* r) {
  switch (r->what) {
    case kPut:
      memcpy(r->at, r->data, (size_t)r->bytes);
      return answer(r->from, 0, 0);
    case kAcc:
      for (int i = 0; i < r->bytes / 8; ++i) {
        if (r->extra == kAccLong) ((long*)r->at)[i] += (long)r->scale * ((const long*)r->data)[i];
        else ((double*)r->at)[i] += r->scale * ((const double*)r->data)[i];
      }
      return answer(r->from, 0, 0);
    case kGet:
      return answer(r->from, r->at, r->bytes);
    case kRmw: {
      char old[8];
      int value;
      memcpy(old, r->at, (size_t)r->bytes);
      memcpy(&value, r->data, sizeof value);
      if (r->bytes == 8) *(long*)r->at = r->extra ? *(long*)r->at + value : value;
      else *(int*)r->at = r->extra ? *(int*)r->at + value : value;
      return answer(r->from, old, r->bytes);
    }
    case kLock:
      if (holder[r->extra] >= 0) { queue[r->extra][queued[r->extra]++] = r->from; return; }
      holder[r->extra] = r->from;
      return answer(r->from, 0, 0);
    case kUnlock:
      holder[r->extra] = -1;
      if (queued[r->extra] > 0) {
        holder[r->extra] = queue[r->extra][0];
        memmove(queue[r->extra], queue[r->extra] + 1, sizeof(int) * (size_t)--queued[r->extra]);
        answer(holder[r->extra], 0, 0);
      }
      return;
    case kNotify:
      ++notified[r->from];
      return;
#ifdef ONE_QUEUE
    case kAnswer:
      if (r->bytes != 0) memcpy(wanted, r->data, (size_t)r->bytes);
      came = 1;
      return;
#endif
  }
}

#ifdef THREAD
#include <pthread.h>
static pthread_t server;
static void* _progress_server(void* unused) {
  static request r;
  do {
    MPI_Recv(&r, sizeof r, MPI_BYTE, MPI_ANY_SOURCE, kRequest, all, MPI_STATUS_IGNORE);
    serve(&r);
  } while (r.what != kEnd);
  return unused;
}
static void progress(void) {}
#else
static void progress(void) {
  static request r;
  int there = 1;
  while (there) {
    MPI_Iprobe(MPI_ANY_SOURCE, kRequest, all, &there, MPI_STATUS_IGNORE);
    if (!there) return;
    MPI_Recv(&r, sizeof r, MPI_BYTE, MPI_ANY_SOURCE, kRequest, all, MPI_STATUS_IGNORE);
    serve(&r);
  }
}
#endif

#ifdef ONE_QUEUE
static void receive(int from, void* to, int bytes) {
  (void)from; (void)bytes;
  wanted = to;
  for (came = 0; !came;) progress();
}
#else
static void receive(int from, void* to, int bytes) {
  int there = 0;
  while (!there) {
    progress();
    MPI_Iprobe(from, kReply, all, &there, MPI_STATUS_IGNORE);
  }
  MPI_Recv(to, bytes, MPI_BYTE, from, kReply, all, MPI_STATUS_IGNORE);
}
#endif

static void finish_open(void) {
  for (int i = 0; i < opened; ++i) receive(open[i].target, open[i].to, kMostBytes);
  opened = 0;
}

static void ask(int target, int what, void* at, const void* data, int bytes, int extra, double scale) {
  static request r;
  const int carried = what == kGet || what == kLock || what == kUnlock || what == kNotify ? 0 : what == kRmw ? 4 : bytes;
  if (bytes > kMostBytes || target < 0 || target >= n) { fprintf(stderr, "fake ARMCI: a wrong call\n"); MPI_Abort(all, 3); }
  finish_open();
  r.what = what; r.from = me; r.bytes = bytes; r.extra = extra; r.at = at; r.scale = scale;
  if (carried != 0) memcpy(r.data, data, (size_t)carried);
  MPI_Send(&r, (int)HEAD + carried, MPI_BYTE, target, kRequest, all);
}

static void put(const void* src, void* dst, int bytes, int proc) {
  ask(proc, kPut, dst, src, bytes, 0, 0);
  receive(proc, 0, 0);
}
static void get(void* src, void* dst, int bytes, int proc) {
  ask(proc, kGet, src, 0, bytes, 0, 0);
  receive(proc, dst, bytes);
}
static void acc(int type, const void* scale, const void* src, void* dst, int bytes, int proc) {
  ask(proc, kAcc, dst, src, bytes, type, type == kAccLong ? (double)*(const long*)scale : *(const double*)scale);
  receive(proc, 0, 0);
}

/* f(source, destination, bytes) for each block of strided data. */
#define STRIDED(block)                                                                                    \
  do {                                                                                                    \
    int index[8] = {0}, level = 0;                                                                        \
    while (level < levels + 1) {                                                                          \
      char *s = src, *d = dst;                                                                            \
      for (int l = 0; l < levels; ++l) { s += index[l] * src_stride[l]; d += index[l] * dst_stride[l]; }  \
      block;                                                                                              \
      for (level = 0; level < levels && ++index[level] == count[level + 1]; ++level) index[level] = 0;    \
      if (level == levels) break;                                                                         \
    }                                                                                                     \
  } while (0)
#define VECTORS(block)                                                                                    \
  for (int v = 0; v < len; ++v)                                                                           \
    for (int i = 0; i < darr[v].length; ++i) { void *s = darr[v].src[i], *d = darr[v].dst[i]; block; }
#define STRIDES void *src, int *src_stride, void *dst, int *dst_stride, int *count, int levels
#define STRIDES_PASSED src, src_stride, dst, dst_stride, count, levels

static void start(MPI_Comm comm) {
  if (started) return;
  started = 1;
  for (int m = 0; m < kMutexes; ++m) holder[m] = -1;
#ifdef SERVICE
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  served = size - 1;
  MPI_Comm_split(comm, rank == served, rank, &all);
  if (rank == served) {
    for (int left = size - 1; left > 0; --left) MPI_Recv(0, 0, MPI_BYTE, MPI_ANY_SOURCE, kEnd, comm, MPI_STATUS_IGNORE);
    MPI_Finalize();
    exit(0);
  }
#else
  MPI_Comm_dup(comm, &all);
#endif
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &n);
#ifdef THREAD
  int level;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE || pthread_create(&server, NULL, _progress_server, NULL) != 0) MPI_Abort(all, 77);
#endif
#ifdef COMEX
  ARMCI_COMM_WORLD = all;
#else
  ARMCI_GROUP_WORLD.comm = all;
#endif
}

static void wait_for_all(MPI_Comm comm) {
  MPI_Request request;
  int there = 0;
  finish_open();
  for (MPI_Ibarrier(comm, &request); !there; MPI_Test(&request, &there, MPI_STATUS_IGNORE)) progress();
}

API(int, ARMCI_Init, (void), ()) { start(MPI_COMM_WORLD); return 0; }
API(int, ARMCI_Init_args, (int* argc, char*** argv), (argc, argv)) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (!begun) MPI_Init(argc, argv);
  start(MPI_COMM_WORLD);
  return 0;
}
#ifdef COMEX
API(int, ARMCI_Init_mpi_comm, (MPI_Comm comm), (comm)) { start(comm); return 0; }
API(void, ARMCI_Finalize, (void), ()) {
  wait_for_all(all);
#ifdef THREAD
  static request last = {.what = kEnd};
  MPI_Send(&last, (int)HEAD, MPI_BYTE, me, kRequest, all);
  pthread_join(server, NULL);
#endif
  if (served >= 0) MPI_Send(0, 0, MPI_BYTE, served, kEnd, MPI_COMM_WORLD);
}
#else
API(int, ARMCI_Init_thread, (int wanted), (wanted)) { (void)wanted; start(MPI_COMM_WORLD); return 0; }
API(int, ARMCI_Init_thread_comm, (int wanted, MPI_Comm comm), (wanted, comm)) { (void)wanted; start(comm); return 0; }
API(int, ARMCI_Finalize, (void), ()) { wait_for_all(all); return 0; }
#endif
API(int, ARMCI_Initialized, (void), ()) { return started; }

API(int, ARMCI_Put, (void* src, void* dst, int bytes, int proc), (src, dst, bytes, proc)) { put(src, dst, bytes, proc); return 0; }
API(int, ARMCI_Get, (void* src, void* dst, int bytes, int proc), (src, dst, bytes, proc)) { get(src, dst, bytes, proc); return 0; }
API(int, ARMCI_Acc, (int type, void* scale, void* src, void* dst, int bytes, int proc), (type, scale, src, dst, bytes, proc)) {
  acc(type, scale, src, dst, bytes, proc);
  return 0;
}
API(int, ARMCI_PutS, (STRIDES, int proc), (STRIDES_PASSED, proc)) { STRIDED(put(s, d, count[0], proc)); return 0; }
API(int, ARMCI_GetS, (STRIDES, int proc), (STRIDES_PASSED, proc)) { STRIDED(get(s, d, count[0], proc)); return 0; }
API(int, ARMCI_AccS, (int type, void* scale, STRIDES, int proc), (type, scale, STRIDES_PASSED, proc)) {
  STRIDED(acc(type, scale, s, d, count[0], proc));
  return 0;
}
API(int, ARMCI_PutV, (vector* darr, int len, int proc), (darr, len, proc)) { VECTORS(put(s, d, darr[v].bytes, proc)) return 0; }
API(int, ARMCI_GetV, (vector* darr, int len, int proc), (darr, len, proc)) { VECTORS(get(s, d, darr[v].bytes, proc)) return 0; }
API(int, ARMCI_AccV, (int type, void* scale, vector* darr, int len, int proc), (type, scale, darr, len, proc)) {
  VECTORS(acc(type, scale, s, d, darr[v].bytes, proc))
  return 0;
}
API(int, ARMCI_Put_flag, (void* src, void* dst, int bytes, int* f, int v, int proc), (src, dst, bytes, f, v, proc)) {
  put(src, dst, bytes, proc);
  put(&v, f, sizeof v, proc);
  return 0;
}
API(int, ARMCI_PutS_flag, (STRIDES, int* f, int v, int proc), (STRIDES_PASSED, f, v, proc)) {
  PARMCI_PutS(STRIDES_PASSED, proc);
  put(&v, f, sizeof v, proc);
  return 0;
}
#define VALUES(T, type)                                                                                                \
  API(int, ARMCI_PutValue##T, (type v, void* dst, int proc), (v, dst, proc)) { put(&v, dst, sizeof v, proc); return 0; } \
  API(int, ARMCI_NbPutValue##T, (type v, void* dst, int proc, handle_of_request* h), (v, dst, proc, h)) {                \
    (void)h;                                                                                                           \
    put(&v, dst, sizeof v, proc);                                                                                       \
    return 0;                                                                                                          \
  }                                                                                                                    \
  API(type, ARMCI_GetValue##T, (void* src, int proc), (src, proc)) { type v; get(src, &v, sizeof v, proc); return v; }
VALUES(Int, int)
VALUES(Long, long)
VALUES(Float, float)
VALUES(Double, double)

API(int, ARMCI_NbPut, (void* src, void* dst, int bytes, int proc, handle_of_request* h), (src, dst, bytes, proc, h)) {
  (void)h;
  put(src, dst, bytes, proc);
  return 0;
}
API(int, ARMCI_NbGet, (void* src, void* dst, int bytes, int proc, handle_of_request* h), (src, dst, bytes, proc, h)) {
  (void)h; /* the answer comes while somebody waits for it */
  ask(proc, kGet, src, 0, bytes, 0, 0);
  open[opened].target = proc;
  open[opened++].to = dst;
  return 0;
}
API(int, ARMCI_NbPutS, (STRIDES, int proc, handle_of_request* h), (STRIDES_PASSED, proc, h)) { (void)h; return PARMCI_PutS(STRIDES_PASSED, proc); }
API(int, ARMCI_NbGetS, (STRIDES, int proc, handle_of_request* h), (STRIDES_PASSED, proc, h)) { (void)h; return PARMCI_GetS(STRIDES_PASSED, proc); }
API(int, ARMCI_NbAccS, (int type, void* scale, STRIDES, int proc, handle_of_request* h), (type, scale, STRIDES_PASSED, proc, h)) {
  (void)h;
  return PARMCI_AccS(type, scale, STRIDES_PASSED, proc);
}
API(int, ARMCI_NbPutV, (vector* darr, int len, int proc, handle_of_request* h), (darr, len, proc, h)) { (void)h; return PARMCI_PutV(darr, len, proc); }
API(int, ARMCI_NbGetV, (vector* darr, int len, int proc, handle_of_request* h), (darr, len, proc, h)) { (void)h; return PARMCI_GetV(darr, len, proc); }
API(int, ARMCI_NbAccV, (int type, void* scale, vector* darr, int len, int proc, handle_of_request* h), (type, scale, darr, len, proc, h)) {
  (void)h;
  return PARMCI_AccV(type, scale, darr, len, proc);
}
API(int, ARMCI_Wait, (handle_of_request* h), (h)) { (void)h; finish_open(); return 0; }
API(int, ARMCI_Test, (handle_of_request* h), (h)) { (void)h; finish_open(); return 0; }
API(int, ARMCI_WaitProc, (int proc), (proc)) { (void)proc; finish_open(); return 0; }
API(int, ARMCI_WaitAll, (void), ()) { finish_open(); return 0; }
API(void, ARMCI_Fence, (int proc), (proc)) { (void)proc; progress(); }
API(void, ARMCI_AllFence, (void), ()) { progress(); }
API(int, ARMCI_Rmw, (int op, void* ploc, void* prem, int value, int proc), (op, ploc, prem, value, proc)) {
  const int bytes = op == kAddLong || op == kSwapLong ? 8 : 4;
  int given = op == kSwapLong ? (int)*(long*)ploc : op == kSwap ? *(int*)ploc : value;
  ask(proc, kRmw, prem, &given, bytes, op == kAdd || op == kAddLong, 0);
  receive(proc, ploc, bytes);
  return 0;
}
API(void, ARMCI_Barrier, (void), ()) { wait_for_all(all); }
API_SMALL(void, armci_msg_barrier, (void), ()) { wait_for_all(all); }

#ifdef COMEX
static MPI_Comm groups[16];
static int made = 1;
static MPI_Comm comm_of(const group_of_processes* group) { return *group == 0 ? all : groups[*group]; }
static void keep(group_of_processes* group, MPI_Comm comm) { groups[*group = made++] = comm; }
static void drop(group_of_processes* group) { MPI_Comm_free(&groups[*group]); }
static group_of_processes standard = 0;
void ARMCI_Group_get_world(group_of_processes* group) { *group = 0; }
#else
static MPI_Comm comm_of(const group_of_processes* group) { return group->comm; }
static void keep(group_of_processes* group, MPI_Comm comm) { memset(group, 0, sizeof *group); group->comm = comm; }
static void drop(group_of_processes* group) { MPI_Comm_free(&group->comm); }
static group_of_processes standard;
void ARMCI_Group_get_world(group_of_processes* group) { *group = ARMCI_GROUP_WORLD; }
#endif
void ARMCI_Group_set_default(group_of_processes* group) { standard = *group; }
void ARMCI_Group_get_default(group_of_processes* group) { *group = standard; }
void ARMCI_Group_size(group_of_processes* group, int* size) { MPI_Comm_size(comm_of(group), size); }
int ARMCI_Group_rank(group_of_processes* group, int* rank) { return MPI_Comm_rank(comm_of(group), rank); }
int ARMCI_Absolute_id(group_of_processes* group, int index) {
  MPI_Group here, there;
  int number;
  MPI_Comm_group(comm_of(group), &here);
  MPI_Comm_group(all, &there);
  MPI_Group_translate_ranks(here, 1, &index, there, &number);
  MPI_Group_free(&here);
  MPI_Group_free(&there);
  return number;
}
void ARMCI_Group_create(int size, int* pids, group_of_processes* group) {
  MPI_Group whole, part;
  MPI_Comm comm;
  MPI_Comm_group(all, &whole);
  MPI_Group_incl(whole, size, pids, &part);
  MPI_Comm_create_group(all, part, 7, &comm);
  MPI_Group_free(&whole);
  MPI_Group_free(&part);
  keep(group, comm);
}
void ARMCI_Group_create_child(int size, int* pids, group_of_processes* group, group_of_processes* parent) {
  (void)parent;
  ARMCI_Group_create(size, pids, group);
}
void ARMCI_Group_free(group_of_processes* group) { drop(group); }
API_SMALL(void, armci_msg_group_barrier, (group_of_processes* group), (group)) { wait_for_all(comm_of(group)); }

static int share(void** bases, long size, MPI_Comm comm) {
  long mine = (long)malloc(size > 0 ? (size_t)size : 1);
  memset((void*)mine, 0, (size_t)size);
  wait_for_all(comm);
  MPI_Allgather(&mine, 1, MPI_LONG, bases, 1, MPI_LONG, comm);
  return 0;
}
API(int, ARMCI_Malloc, (void** bases, long size), (bases, size)) { return share(bases, size, all); }
API(int, ARMCI_Malloc_memdev, (void** bases, long size, const char* device), (bases, size, device)) { (void)device; return share(bases, size, all); }
API(int, ARMCI_Free, (void* p), (p)) { wait_for_all(all); free(p); return 0; }
API(int, ARMCI_Free_memdev, (void* p), (p)) { wait_for_all(all); free(p); return 0; }
int ARMCI_Malloc_group(void** bases, long size, group_of_processes* group) { return share(bases, size, comm_of(group)); }
int ARMCI_Free_group(void* p, group_of_processes* group) { wait_for_all(comm_of(group)); free(p); return 0; }
API(void*, ARMCI_Malloc_local, (long size), (size)) { return malloc((size_t)size); }
API(int, ARMCI_Free_local, (void* p), (p)) { free(p); return 0; }
API(int, ARMCI_Create_mutexes, (int num), (num)) { wait_for_all(all); return num > kMutexes; }
API(int, ARMCI_Destroy_mutexes, (void), ()) { wait_for_all(all); return 0; }
API(void, ARMCI_Lock, (int mutex, int proc), (mutex, proc)) { ask(proc, kLock, 0, 0, 0, mutex, 0); receive(proc, 0, 0); }
API(void, ARMCI_Unlock, (int mutex, int proc), (mutex, proc)) { ask(proc, kUnlock, 0, 0, 0, mutex, 0); progress(); }

#ifdef COMEX
API(int, ARMCI_PutS_flag_dir, (STRIDES, int* f, int v, int proc), (STRIDES_PASSED, f, v, proc)) { return PARMCI_PutS_flag(STRIDES_PASSED, f, v, proc); }
API(void, ARMCI_GroupFence, (group_of_processes* group), (group)) { (void)group; progress(); }
API(void, ARMCI_Memget, (size_t size, void* info, int flag), (size, info, flag)) { (void)size; (void)info; (void)flag; }
API(void*, ARMCI_Memat, (void* info, long offset), (info, offset)) { return (char*)info + offset; }
API(void, ARMCI_Memctl, (void* info), (info)) { (void)info; }
API_SMALL(int, armci_notify, (int proc), (proc)) { ask(proc, kNotify, 0, 0, 0, 0, 0); return 0; }
API_SMALL(int, armci_notify_wait, (int proc, int* value), (proc, value)) {
  while (notified[proc] <= seen[proc]) progress();
  *value = ++seen[proc];
  return 0;
}
#else
API(int, ARMCI_NbAcc, (int type, void* scale, void* src, void* dst, int bytes, int proc, handle_of_request* h),
    (type, scale, src, dst, bytes, proc, h)) {
  (void)h;
  acc(type, scale, src, dst, bytes, proc);
  return 0;
}
API(int, ARMCI_Malloc_group_memdev, (void** bases, long size, group_of_processes* group, const char* device), (bases, size, group, device)) {
  (void)device;
  return share(bases, size, comm_of(group));
}
API(void, ARMCI_Access_begin, (void* p), (p)) { (void)p; }
API(void, ARMCI_Access_end, (void* p), (p)) { (void)p; }
#endif
