/* A small SHMEM library for tests, all of OpenSHMEM 1.5 in C: its processes share one file
 * (launch.c), in which each has its heap and, put there when it starts, the variables of its
 * program. All moves of data are copies, so no PE needs another's help.
 */
#define _GNU_SOURCE
#include "state.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kMeetings = 4096, kFirstTeam = 2048, kMostBlocks = 4096 };
static const size_t kHead = 1 << 20, kData = 32 << 20, kPart = 64 << 20, kPage = 4096;

struct Shared {
  int ended; /* 256 + status, by shmem_global_exit */
  int next_team;
  long mail[kMostPes];
  unsigned long came[kMeetings][kMostPes];
};

int small_me, small_pes;
shmem_ctx_t SHMEM_CTX_DEFAULT;
shmem_team_t SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED;

static struct SmallContext default_context;
static struct SmallTeam world, shared_team;
static struct Shared* shared;
static char *parts, *data_begin, *data_end, *heap;
static struct { size_t begin, size; } blocks[kMostBlocks];
static int block_count, level;

static char* part(int pe) {
  return parts + (size_t)pe * kPart;
}

void* small_at(const volatile void* address, int pe) {
  const char* const at = (const char*)(uintptr_t)address;
  if (at >= data_begin && at < data_end) return part(pe) + (at - data_begin);
  if (at >= heap && at < heap + (kPart - kData)) return part(pe) + kData + (at - heap);
  fprintf(stderr, "PE %d: %p is not symmetric\n", small_me, (const void*)at);
  abort();
}

int small_pe(shmem_ctx_t ctx, int pe) {
  return ctx == NULL || ctx->team == NULL ? pe : ctx->team->pes[pe];
}

long* small_mail(int pe) {
  return &shared->mail[pe];
}

/* By system calls, since a tool may count what the C library's functions do. */
void small_pause(void) {
  static int turn;
  const struct timespec moment = {0, 20000};
  const int ended = __atomic_load_n(&shared->ended, __ATOMIC_ACQUIRE);
  if (ended != 0) _exit(ended & 255);
  if (++turn % 4 == 0) {
    syscall(SYS_nanosleep, &moment, NULL);
  } else {
    syscall(SYS_sched_yield);
  }
}

void small_meet(const struct SmallTeam* team) {
  unsigned long* const came = shared->came[team->meeting];
  const unsigned long mine = __atomic_add_fetch(&came[small_me], 1, __ATOMIC_ACQ_REL);
  for (int i = 0; i < team->count; ++i) {
    while (__atomic_load_n(&came[team->pes[i]], __ATOMIC_ACQUIRE) < mine) small_pause();
  }
}

struct SmallTeam small_active_set(int start, int log_stride, int size) {
  struct SmallTeam set = {-1, size, start << 7 | log_stride << 5 | size, {0}};
  for (int i = 0; i < size; ++i) {
    set.pes[i] = start + (i << log_stride);
    if (set.pes[i] == small_me) set.me = i;
  }
  return set;
}

/* Start and end */

static int find_data(struct dl_phdr_info* info, size_t size, void* unused) {
  uintptr_t begin = UINTPTR_MAX, end = 0, kept = 0;
  (void)size, (void)unused;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const p = &info->dlpi_phdr[i];
    const uintptr_t at = info->dlpi_addr + p->p_vaddr;
    if (p->p_type == PT_GNU_RELRO) kept = at + p->p_memsz;
    if (p->p_type != PT_LOAD || (p->p_flags & PF_W) == 0) continue;
    if (at < begin) begin = at;
    if (at + p->p_memsz > end) end = at + p->p_memsz;
  }
  begin &= ~(kPage - 1);
  kept = (kept + kPage - 1) & ~(kPage - 1);
  data_begin = (char*)(kept > begin ? kept : begin);
  data_end = (char*)((end + kPage - 1) & ~(kPage - 1));
  return 1; /* the first file is the program */
}

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static void start(void) {
  char path[4096] = "";
  const char* const told = getenv("SMALL_SHMEM");
  int fd;
  if (shared != NULL) return;
  small_pes = 1;
  if (told != NULL && sscanf(told, "%d %d %4095s", &small_me, &small_pes, path) != 3) exit(1);
  fd = told != NULL ? open(path, O_RDWR | O_CLOEXEC) : memfd_create("small", MFD_CLOEXEC);
  if (fd < 0 || small_pes > kMostPes) fail("the shared file");
  const size_t all = kHead + (size_t)small_pes * kPart;
  if (ftruncate(fd, (off_t)all) != 0) fail("the shared file's size");
  shared = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared == MAP_FAILED) fail("mapping the shared file");
  parts = (char*)shared + kHead;
  heap = part(small_me) + kData;
  dl_iterate_phdr(find_data, NULL);
  const size_t bytes = (size_t)(data_end - data_begin);
  if (bytes > kData) fail("the program's variables");
  memcpy(part(small_me), data_begin, bytes);
  if (bytes != 0 && mmap(data_begin, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                         (off_t)(kHead + (size_t)small_me * kPart)) != data_begin)
    fail("mapping the program's variables");
  close(fd);
  world = small_active_set(0, 0, small_pes);
  /* As if every two were a node. */
  shared_team = small_active_set(small_me & ~1, 0, (small_me | 1) < small_pes ? 2 : 1);
  default_context.team = &world;
  SHMEM_CTX_DEFAULT = &default_context;
  SHMEM_TEAM_WORLD = &world;
  SHMEM_TEAM_SHARED = &shared_team;
  small_meet(&world);
}

SMALL_DEFINE(void, shmem_init, (void)) {
  start();
}
SMALL_DEFINE(int, shmem_init_thread, (int requested, int* provided)) {
  start();
  *provided = level = requested;
  return 0;
}
SMALL_DEFINE(void, start_pes, (int npes)) {
  (void)npes;
  start();
}
SMALL_DEFINE(void, shmem_finalize, (void)) {
  small_meet(&world);
}
SMALL_DEFINE(void, shmem_global_exit, (int status)) {
  __atomic_store_n(&shared->ended, 256 + status, __ATOMIC_RELEASE);
  exit(status);
}
SMALL_DEFINE(void, shmem_query_thread, (int* provided)) {
  *provided = level;
}
SMALL_DEFINE(void, shmem_pcontrol, (int how, ...)) {
  (void)how;
}

/* Questions */

SMALL_DEFINE(int, shmem_my_pe, (void)) {
  return small_me;
}
SMALL_DEFINE(int, shmem_n_pes, (void)) {
  return small_pes;
}
SMALL_DEFINE(int, shmem_pe_accessible, (int pe)) {
  return pe >= 0 && pe < small_pes;
}
SMALL_DEFINE(int, shmem_addr_accessible, (const void* addr, int pe)) {
  return addr != NULL && pe >= 0 && pe < small_pes;
}
SMALL_DEFINE(void*, shmem_ptr, (const void* dest, int pe)) {
  return small_at(dest, pe);
}
#ifdef SMALL_NAME
SMALL_DEFINE(void, shmem_info_get_version, (int* major, int* minor)) {
  *major = SHMEM_MAJOR_VERSION;
  *minor = SHMEM_MINOR_VERSION;
}
SMALL_DEFINE(void, shmem_info_get_name, (char* name)) {
  const char* const other = getenv("SMALL_SHMEM_NAME");
  strcpy(name, other != NULL ? other : SMALL_NAME);
}
#endif

/* Symmetric memory: one block behind the other; what was given out last can be given back. */

static void* take(size_t alignment, size_t size) {
  size_t begin =
      block_count == 0 ? 0 : blocks[block_count - 1].begin + blocks[block_count - 1].size;
  begin = (begin + alignment - 1) & ~(alignment - 1);
  if (size == 0 || block_count == kMostBlocks || begin + size > kPart - kData) return NULL;
  blocks[block_count].begin = begin;
  blocks[block_count++].size = size;
  return heap + begin;
}
static int find_block(const void* at) {
  int i = block_count - 1;
  while (i >= 0 && heap + blocks[i].begin != at) --i;
  return i;
}
static void give_back(void* at) {
  if (block_count > 0 && find_block(at) == block_count - 1) --block_count;
}
SMALL_DEFINE(void*, shmem_malloc, (size_t size)) {
  void* const at = take(16, size);
  small_meet(&world);
  return at;
}
SMALL_DEFINE(void*, shmem_malloc_with_hints, (size_t size, long hints)) {
  void* const at = take(16, size);
  (void)hints;
  small_meet(&world);
  return at;
}
SMALL_DEFINE(void*, shmem_calloc, (size_t count, size_t size)) {
  void* const at = take(16, count * size);
  if (at != NULL) memset(at, 0, count * size);
  small_meet(&world);
  return at;
}
SMALL_DEFINE(void*, shmem_align, (size_t alignment, size_t size)) {
  void* const at = take(alignment, size);
  small_meet(&world);
  return at;
}
SMALL_DEFINE(void*, shmem_realloc, (void* ptr, size_t size)) {
  const int block = find_block(ptr);
  void* at = NULL;
  small_meet(&world);
  if (block >= 0 && block == block_count - 1) {
    blocks[block].size = size;
    at = ptr;
  } else if ((at = take(16, size)) != NULL && block >= 0) {
    memcpy(at, ptr, blocks[block].size < size ? blocks[block].size : size);
  }
  small_meet(&world);
  return at;
}
SMALL_DEFINE(void, shmem_free, (void* ptr)) {
  small_meet(&world);
  give_back(ptr);
}

/* Teams and contexts */

SMALL_DEFINE(int, shmem_team_my_pe, (shmem_team_t team)) {
  return team == NULL ? -1 : team->me;
}
SMALL_DEFINE(int, shmem_team_n_pes, (shmem_team_t team)) {
  return team == NULL ? -1 : team->count;
}
SMALL_DEFINE(int, shmem_team_get_config,
             (shmem_team_t team, long config_mask, shmem_team_config_t* config)) {
  if (team == NULL) return 1;
  if (config_mask != 0) config->num_contexts = 0;
  return 0;
}
SMALL_DEFINE(int, shmem_team_translate_pe,
             (shmem_team_t src_team, int src_pe, shmem_team_t dest_team)) {
  if (src_team == NULL || dest_team == NULL || src_pe < 0 || src_pe >= src_team->count) return -1;
  for (int i = 0; i < dest_team->count; ++i) {
    if (dest_team->pes[i] == src_team->pes[src_pe]) return i;
  }
  return -1;
}

/* Its first member numbers a new team; all of the parent call this. */
static shmem_team_t make_team(shmem_team_t parent, int first, int stride, int size) {
  struct SmallTeam made = {-1, size, 0, {0}};
  shmem_team_t team = NULL;
  for (int i = 0; i < size; ++i) {
    made.pes[i] = parent->pes[first + i * stride];
    if (made.pes[i] == small_me) made.me = i;
  }
  if (made.me == 0) {
    *small_mail(small_me) =
        kFirstTeam + __atomic_fetch_add(&shared->next_team, 1, __ATOMIC_RELAXED);
  }
  small_meet(parent);
  made.meeting = (int)*small_mail(made.pes[0]);
  if (made.me >= 0 && (team = malloc(sizeof made)) != NULL) *team = made;
  small_meet(parent);
  return team;
}
SMALL_DEFINE(int, shmem_team_split_strided,
             (shmem_team_t parent, int first, int stride, int size,
              const shmem_team_config_t* config, long config_mask, shmem_team_t* new_team)) {
  (void)config, (void)config_mask;
  *new_team = make_team(parent, first, stride, size);
  return 0;
}
SMALL_DEFINE(int, shmem_team_split_2d,
             (shmem_team_t parent, int xrange, const shmem_team_config_t* xaxis_config,
              long xaxis_mask, shmem_team_t* xaxis_team, const shmem_team_config_t* yaxis_config,
              long yaxis_mask, shmem_team_t* yaxis_team)) {
  const int all = parent->count, width = xrange < all ? xrange : all;
  const int row = parent->me / width, column = parent->me % width;
  const int in_row = row * width + width <= all ? width : all - row * width;
  (void)xaxis_config, (void)xaxis_mask, (void)yaxis_config, (void)yaxis_mask;
  *xaxis_team = make_team(parent, row * width, 1, in_row);
  *yaxis_team = make_team(parent, column, width, (all - column + width - 1) / width);
  return 0;
}
SMALL_DEFINE(void, shmem_team_destroy, (shmem_team_t team)) {
  if (team == NULL) return;
  small_meet(team);
  free(team);
}
static int make_context(shmem_team_t team, shmem_ctx_t* ctx) {
  if (team == NULL || (*ctx = malloc(sizeof **ctx)) == NULL) return 1;
  (*ctx)->team = team;
  return 0;
}
SMALL_DEFINE(int, shmem_team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t* ctx)) {
  (void)options;
  return make_context(team, ctx);
}
SMALL_DEFINE(int, shmem_ctx_create, (long options, shmem_ctx_t* ctx)) {
  (void)options;
  return make_context(&world, ctx);
}
SMALL_DEFINE(void, shmem_ctx_destroy, (shmem_ctx_t ctx)) {
  free(ctx);
}
SMALL_DEFINE(int, shmem_ctx_get_team, (shmem_ctx_t ctx, shmem_team_t* team)) {
  *team = ctx->team;
  return 0;
}
