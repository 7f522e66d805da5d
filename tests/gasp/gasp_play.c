/* Stands in for a compiler of UPC: tells GASP the events of a script, each thread at its times.

     gasp_play [--ids gupc|bupc|own] [--exact] [--threads] SCRIPT

   A thread is a process (--threads: all are threads of one, which the first one ends
   as Berkeley's runtime does where all stand in COLLECTIVE_EXIT, else their starter). --exact: nobody sleeps, and the measurement takes its times from the script
   (100 seconds later: what starts before that may take long). A script has one line for each event, in order of their starts:

     START END THREAD EVENT LINE ARGUMENTS

   EVENT is GASP's name without GASP_; USER:NAME an event of the program's own; #NUMBER any number;
   CONTROL what gasp_control is given; KILL ends the process. END is = for what is told at once, and -
   for an end that is never told; START is - for an end without a beginning. LINE 0: there is no
   file. Arguments are GASP's, but for local addresses; a pointer-to-shared or a lock is
   THREAD:ADDRESS; what does not begin so is no event; flags are MYSYNC, or IN_MYSYNC|OUT_NOSYNC; results stand last. Above the events:
   `threads N`, `ids NAME`; and `leave TIME`, when all threads end together. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void* gasp_init(int model, int* argc, char*** argv);
void gasp_event_notify(void* context, unsigned tag, int type, const char* file, int line, int column, ...);
int gasp_control(void* context, int on);
unsigned gasp_create_event(void* context, const char* name, const char* desc);
enum { START, END, ATOMIC };

struct elg_gasp_id {
  const char* name;
  unsigned id;
};

/* As big as Berkeley's. */
typedef struct shared {
  uint64_t address;
  uint32_t thread, phase;
} shared;

enum { kMostThreads = 64, kMostEvents = 20000, kMostBytes = 8192 };
typedef struct event {
  double start, end; /* < 0: not told */
  int atomic, line, thread, open;
  char name[64];
  char words[10][48];
  int count;
} event;

static struct common {
  pthread_barrier_t barrier;
  char blocks[kMostThreads][kMostBytes];
}* all;

static event events[kMostEvents];
static int event_count, thread_count = 1, exact, threads;
static __thread int me, has_memory; /* Berkeley makes shared variables after gasp_init */
static double leave = -1;
static __thread double now;
static __thread struct timespec begun;
static const char* ids_name = "gupc";

static void fail(const char* what, const char* word) {
  fprintf(stderr, "gasp_play: %s: %s\n", what, word);
  exit(2);
}

/* ---- the five names of elg_gasp.upc */

static const char* const kNames[] = {
    "C_FUNC", "C_MALLOC", "C_REALLOC", "C_FREE", "UPC_COLLECTIVE_EXIT", "UPC_NONCOLLECTIVE_EXIT", "UPC_NOTIFY",
    "UPC_WAIT", "UPC_BARRIER", "UPC_FENCE", "UPC_FORALL", "UPC_GLOBAL_ALLOC", "UPC_ALL_ALLOC", "UPC_ALLOC", "UPC_FREE",
    "UPC_GLOBAL_LOCK_ALLOC", "UPC_ALL_LOCK_ALLOC", "UPC_LOCK_FREE", "UPC_LOCK", "UPC_LOCK_ATTEMPT", "UPC_UNLOCK",
    "UPC_MEMCPY", "UPC_MEMGET", "UPC_MEMPUT", "UPC_MEMSET", "UPC_GET", "UPC_PUT", "UPC_NB_GET_INIT", "UPC_NB_GET_DATA",
    "UPC_NB_PUT_INIT", "UPC_NB_PUT_DATA", "UPC_NB_SYNC", "UPC_CACHE_MISS", "UPC_CACHE_HIT", "UPC_CACHE_INVALIDATE",
    "UPC_ALL_BROADCAST", "UPC_ALL_SCATTER", "UPC_ALL_GATHER", "UPC_ALL_GATHER_ALL", "UPC_ALL_EXCHANGE",
    "UPC_ALL_PERMUTE", "UPC_ALL_REDUCE", "UPC_ALL_PREFIX_REDUCE", /* GNU UPC's order, from 1 on */
    "BUPC_NB_TRYSYNC", "BUPC_NB_MEMGET_INIT", "BUPC_NB_MEMPUT_INIT", "BUPC_NB_MEMCPY_INIT", "BUPC_STATIC_SHARED"};
enum { kCount = sizeof kNames / sizeof *kNames, kGnuCount = 43 };

static const struct elg_gasp_id kBerkeley[] = {
    {"UPC_ALLOC", 1000}, {"UPC_GLOBAL_ALLOC", 1001}, {"UPC_ALL_ALLOC", 1002}, {"UPC_FREE", 1003},
    {"UPC_GLOBAL_LOCK_ALLOC", 1010}, {"UPC_ALL_LOCK_ALLOC", 1011}, {"UPC_LOCK_FREE", 1012},
    {"UPC_LOCK_ATTEMPT", 1013}, {"UPC_LOCK", 1014}, {"UPC_UNLOCK", 1015}, {"C_MALLOC", 1020}, {"C_REALLOC", 1021},
    {"C_FREE", 1022}, {"C_FUNC", 1023}, {"UPC_MEMGET", 1030}, {"UPC_MEMPUT", 1031}, {"UPC_MEMCPY", 1032},
    {"UPC_MEMSET", 1033}, {"UPC_NOTIFY", 1100}, {"UPC_WAIT", 1101}, {"UPC_PUT", 1110}, {"UPC_GET", 1111},
    {"UPC_NB_GET_INIT", 1120}, {"UPC_NB_PUT_INIT", 1121}, {"UPC_NB_SYNC", 1122}, {"BUPC_NB_TRYSYNC", 1130},
    {"BUPC_NB_MEMGET_INIT", 1131}, {"BUPC_NB_MEMPUT_INIT", 1132}, {"BUPC_NB_MEMCPY_INIT", 1133},
    {"BUPC_STATIC_SHARED", 1140}, {"UPC_COLLECTIVE_EXIT", 1210}, {"UPC_NONCOLLECTIVE_EXIT", 1211},
    {"UPC_ALL_BROADCAST", 1300}, {"UPC_ALL_SCATTER", 1310}, {"UPC_ALL_GATHER", 1320}, {"UPC_ALL_GATHER_ALL", 1330},
    {"UPC_ALL_EXCHANGE", 1340}, {"UPC_ALL_PERMUTE", 1350}, {"UPC_ALL_REDUCE", 1400}, {"UPC_ALL_PREFIX_REDUCE", 1410}};

struct elg_gasp_id elg_gasp_ids[kCount + 16];
static unsigned id_count;

static void add_id(const char* name, unsigned id) {
  elg_gasp_ids[id_count].name = name;
  elg_gasp_ids[id_count++].id = id;
}

/* IN_NOSYNC, IN_MYSYNC, IN_ALLSYNC, OUT_ the same. */
static const char* const kFlags[] = {"UPC_IN_NOSYNC",  "UPC_IN_MYSYNC",  "UPC_IN_ALLSYNC",
                                     "UPC_OUT_NOSYNC", "UPC_OUT_MYSYNC", "UPC_OUT_ALLSYNC"};
static unsigned flag_value(int i) {
  static const unsigned kGnu[] = {1, 2, 0, 4, 8, 0}, kOther[] = {1, 2, 4, 8, 16, 32};
  return strcmp(ids_name, "gupc") == 0 ? kGnu[i] : kOther[i];
}

static void make_ids(void) {
  int i;
  const int own = strcmp(ids_name, "own") == 0, gnu = strcmp(ids_name, "gupc") == 0;
  if (!own && !gnu && strcmp(ids_name, "bupc") != 0) fail("no such numbers", ids_name);
  add_id("UPC_VERSION", gnu ? 40302 : own ? 7 : 0x020311);
  if (own)
    for (i = 0; i < kCount; ++i) add_id(kNames[i], 500 + 3 * (unsigned)i);
  else if (gnu)
    for (i = 0; i < kGnuCount; ++i) add_id(kNames[i], 1 + (unsigned)i);
  else
    for (i = 0; i < (int)(sizeof kBerkeley / sizeof *kBerkeley); ++i) add_id(kBerkeley[i].name, kBerkeley[i].id);
  add_id("UPC_USEREVT_START", gnu ? 1000 : own ? 10 : 100);
  add_id("UPC_USEREVT_END", gnu ? 1999 : own ? 12 : 999);
  for (i = 0; i < 6; ++i) add_id(kFlags[i], flag_value(i));
}

int elg_gasp_thread(void) { return me; }
int elg_gasp_threads(void) { return thread_count; }
void elg_gasp_place(const void* pts, int* thread, unsigned long long* address) {
  const shared* const pointer = pts;
  *thread = (int)pointer->thread;
  *address = pointer->address;
}
void elg_gasp_exchange(const void* mine, void* to, size_t bytes) {
  int i;
  if (strcmp(ids_name, "bupc") == 0 && !has_memory) fail("no shared variables yet", "elg_gasp_exchange");
  memcpy(all->blocks[me], mine, bytes);
  pthread_barrier_wait(&all->barrier);
  for (i = 0; i < thread_count; ++i) memcpy((char*)to + (size_t)i * bytes, all->blocks[i], bytes);
  pthread_barrier_wait(&all->barrier);
}
static uint64_t test_time(void) { return (uint64_t)(now * 1e9 + 0.5) + 100000000000u; }
uint64_t (*elg_gasp_test_time_of)(void) = test_time;

/* ---- reading */

static void read_script(const char* path) {
  FILE* const file = fopen(path, "r");
  char line[1024], *rest, *word;
  if (file == 0) fail("cannot be read", path);
  while (fgets(line, sizeof line, file) != 0) {
    char* words[20];
    int n = 0;
    rest = line;
    if ((word = strstr(line, " #")) != 0 && (word[2] < '0' || word[2] > '9')) *word = 0;
    if (line[0] == '#') continue;
    while ((word = strtok_r(rest, " \t\n", &rest)) != 0 && n < 20) words[n++] = word;
    if (n == 0) continue;
    if (strcmp(words[0], "threads") == 0) {
      thread_count = atoi(words[1]);
    } else if (strcmp(words[0], "ids") == 0) {
      ids_name = strdup(words[1]);
    } else if (strcmp(words[0], "leave") == 0) {
      leave = atof(words[1]);
    } else if (n >= 4 && (words[0][0] == '-' || (words[0][0] >= '0' && words[0][0] <= '9'))) {
      event* const e = &events[event_count++];
      int i;
      if (event_count == kMostEvents) fail("too long", path);
      e->start = strcmp(words[0], "-") == 0 ? -1 : atof(words[0]);
      e->atomic = strcmp(words[1], "=") == 0;
      e->end = e->atomic || strcmp(words[1], "-") == 0 ? -1 : atof(words[1]);
      e->thread = atoi(words[2]);
      snprintf(e->name, sizeof e->name, "%s", words[3]);
      e->line = n > 4 ? atoi(words[4]) : 0;
      for (i = 5; i < n && i < 15; ++i) snprintf(e->words[e->count++], sizeof e->words[0], "%s", words[i]);
    }
  }
  fclose(file);
}

/* ---- telling */

static shared pointer_of(const char* word) {
  shared pointer = {0, 0, 0};
  unsigned long long address = 0;
  if (sscanf(word, "%u:%llu", &pointer.thread, &address) != 2) fail("no pointer-to-shared", word);
  pointer.address = address;
  return pointer;
}
static int flags_of(const char* word) {
  unsigned flags = 0;
  char copy[48], *rest = copy, *part;
  snprintf(copy, sizeof copy, "%s", word);
  while ((part = strtok_r(rest, "|", &rest)) != 0) {
    const int both = strncmp(part, "IN_", 3) != 0 && strncmp(part, "OUT_", 4) != 0;
    int i;
    for (i = 0; i < 6; ++i)
      if (strcmp(kFlags[i] + (both ? (i < 3 ? 7 : 8) : 4), part) == 0) flags |= flag_value(i);
  }
  return (int)flags;
}
static void* handle_of(const char* word) {
  const long number = atol(word);
  return number > 0 ? (void*)(0x1000 + 16 * number) : (void*)number;
}
static int type_of(const char* word) {
  static const char* const kTypes[] = {"C", "UC", "S", "US", "I", "UI", "L", "UL", "F", "D", "LD"};
  int i;
  for (i = 0; i < 11; ++i)
    if (strcmp(kTypes[i], word) == 0) return i;
  fail("no type", word);
  return 0;
}

static unsigned tag_of(const event* e, void* context) {
  static __thread struct {
    char name[64];
    unsigned tag;
  } user[32];
  static __thread int users;
  const struct elg_gasp_id* id;
  if (e->name[0] == '#') return (unsigned)atoi(e->name + 1);
  if (strncmp(e->name, "USER:", 5) == 0) {
    int i;
    for (i = 0; i < users; ++i)
      if (strcmp(user[i].name, e->name) == 0) return user[i].tag;
    snprintf(user[users].name, sizeof user[0].name, "%s", e->name);
    user[users].tag = gasp_create_event(context, e->name + 5, 0);
    return user[users++].tag;
  }
  for (id = elg_gasp_ids; id->name != 0; ++id)
    if (strcmp(id->name, e->name) == 0) return id->id;
  if (strcmp(e->name, "KILL") == 0 || strcmp(e->name, "CONTROL") == 0) return 0;
  fail("this compiler does not tell", e->name);
  return 0;
}

#define WORD(i) ((i) < e->count ? e->words[i] : "0")
#define IS(text) (strcmp(e->name, text) == 0)
#define TELL(...) gasp_event_notify(context, tag, type, file, e->line, 0, ##__VA_ARGS__)

static void tell(void* context, const event* e, int type) {
  static char local[16];
  const char* const file = e->line > 0 ? "pi.upc" : 0;
  unsigned tag;
  if (strcmp(e->name, "KILL") == 0) raise(SIGKILL);
  if (strcmp(e->name, "CONTROL") == 0) {
    gasp_control(context, atoi(WORD(0)));
    return;
  }
  tag = tag_of(e, context);
#define SIZE(i) ((size_t)strtoull(WORD(i), 0, 10))
#define INT(i) atoi(WORD(i))
#define PTS(name, i) shared name = pointer_of(WORD(i))
  if (IS("UPC_NOTIFY") || IS("UPC_WAIT") || IS("UPC_BARRIER")) {
    TELL(INT(0), INT(1));
  } else if (IS("UPC_GET") || IS("UPC_NB_GET_INIT")) {
    PTS(src, 1);
    TELL(INT(0), local, &src, SIZE(2), handle_of(WORD(3)));
  } else if (IS("UPC_PUT") || IS("UPC_NB_PUT_INIT")) {
    PTS(dst, 1);
    TELL(INT(0), &dst, local, SIZE(2), handle_of(WORD(3)));
  } else if (IS("UPC_MEMGET") || IS("BUPC_NB_MEMGET_INIT")) {
    PTS(src, 0);
    TELL(local, &src, SIZE(1), handle_of(WORD(2)));
  } else if (IS("UPC_MEMPUT") || IS("BUPC_NB_MEMPUT_INIT")) {
    PTS(dst, 0);
    TELL(&dst, local, SIZE(1), handle_of(WORD(2)));
  } else if (IS("UPC_MEMCPY") || IS("BUPC_NB_MEMCPY_INIT")) {
    PTS(dst, 0);
    PTS(src, 1);
    TELL(&dst, &src, SIZE(2), handle_of(WORD(3)));
  } else if (IS("UPC_MEMSET")) {
    PTS(dst, 0);
    TELL(&dst, INT(1), SIZE(2));
  } else if (IS("UPC_NB_SYNC") || IS("BUPC_NB_TRYSYNC") || IS("UPC_NB_GET_DATA") || IS("UPC_NB_PUT_DATA")) {
    TELL(handle_of(WORD(0)), INT(1));
  } else if (IS("UPC_LOCK") || IS("UPC_UNLOCK") || IS("UPC_LOCK_ATTEMPT") || IS("UPC_FREE") || IS("UPC_LOCK_FREE")) {
    PTS(lock, 0);
    TELL(&lock, INT(1));
  } else if (IS("UPC_ALL_ALLOC") || IS("UPC_GLOBAL_ALLOC")) {
    PTS(made, 2);
    TELL(SIZE(0), SIZE(1), &made);
  } else if (IS("UPC_ALLOC")) {
    PTS(made, 1);
    TELL(SIZE(0), &made);
  } else if (IS("UPC_ALL_LOCK_ALLOC") || IS("UPC_GLOBAL_LOCK_ALLOC")) {
    PTS(made, 0);
    TELL(&made);
  } else if (IS("UPC_ALL_PERMUTE")) {
    PTS(dst, 0);
    PTS(src, 1);
    PTS(perm, 2);
    TELL(&dst, &src, &perm, SIZE(3), flags_of(WORD(4)));
  } else if (IS("UPC_ALL_REDUCE") || IS("UPC_ALL_PREFIX_REDUCE")) {
    PTS(dst, 0);
    PTS(src, 1);
    TELL(&dst, &src, INT(2), SIZE(3), SIZE(4), (void*)0, flags_of(WORD(5)), type_of(WORD(6)));
  } else if (strncmp(e->name, "UPC_ALL_", 8) == 0) {
    PTS(dst, 0);
    PTS(src, 1);
    TELL(&dst, &src, SIZE(2), flags_of(WORD(3)));
  } else if (IS("C_FUNC")) {
    TELL(e->words[0]);
  } else if (IS("UPC_COLLECTIVE_EXIT") || IS("UPC_NONCOLLECTIVE_EXIT")) {
    TELL(INT(0));
  } else {
    TELL((size_t)0, (size_t)0);
  }
}

static void wait_until(double when) {
  struct timespec until = begun;
  now = when;
  if (exact) return;
  until.tv_sec += (time_t)when;
  until.tv_nsec += (long)((when - (double)(time_t)when) * 1e9);
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    ++until.tv_sec;
  }
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0) != 0) {
  }
}

/* Ends what is open, the innermost first, up to that time. */
static void end_until(void* context, event** open, int* depth, double when) {
  for (;;) {
    int i = *depth - 1;
    while (i >= 0 && (open[i]->end < 0 || open[i]->end > when)) --i;
    if (i < 0) return;
    wait_until(open[i]->end);
    tell(context, open[i], END);
    memmove(open + i, open + i + 1, (size_t)(*depth - 1 - i) * sizeof *open);
    --*depth;
  }
}

static void play(void) {
  static __thread event* open[kMostEvents];
  void* const context = gasp_init(0, 0, 0);
  int i, depth = 0;
  has_memory = 1;
  pthread_barrier_wait(&all->barrier);
  clock_gettime(CLOCK_MONOTONIC, &begun);
  for (i = 0; i < event_count; ++i) {
    event* const e = &events[i];
    if (e->thread != me) continue;
    end_until(context, open, &depth, e->start < 0 ? e->end : e->start);
    wait_until(e->start < 0 ? e->end : e->start);
    tell(context, e, e->atomic ? ATOMIC : e->start < 0 ? END : START);
    if (strcmp(e->name, "UPC_NONCOLLECTIVE_EXIT") == 0) exit(INT(0));
    if (e->start >= 0 && !e->atomic) open[depth++] = e;
  }
  end_until(context, open, &depth, 1e9);
  pthread_barrier_wait(&all->barrier);
  if (leave >= 0) wait_until(leave);
  if (threads && strcmp(ids_name, "bupc") == 0 && depth > 0 && strcmp(open[depth - 1]->name, "UPC_COLLECTIVE_EXIT") == 0) {
    if (me == 0) exit(0);
    for (;;) pause();
  }
}

static void* play_thread(void* number) {
  me = (int)(long)number;
  play();
  return 0;
}

/* As a compiler's runtime has it that makes threads of one process. */
static int play_threads(void) {
  pthread_t made[kMostThreads];
  long i;
  for (i = 0; i < thread_count; ++i) pthread_create(&made[i], 0, play_thread, (void*)i);
  for (i = 0; i < thread_count; ++i) pthread_join(made[i], 0);
  return 0;
}

int main(int argc, char** argv) {
  int i, j, failed = 0;
  pid_t children[kMostThreads];
  pthread_barrierattr_t attributes;
  const char* script = 0;
  const char* ids = 0;
  for (i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--exact") == 0) exact = 1;
    else if (strcmp(argv[i], "--threads") == 0) threads = 1;
    else if (strcmp(argv[i], "--ids") == 0 && i + 1 < argc) ids = argv[++i];
    else script = argv[i];
  }
  if (script == 0) fail("usage", "gasp_play [--ids NAME] [--exact] SCRIPT");
  read_script(script);
  if (ids != 0) ids_name = ids;
  if (thread_count < 1 || thread_count > kMostThreads) fail("threads", "1 to 64");
  make_ids();
  for (i = 0; i < event_count; ++i)
    if (strncmp(events[i].name, "USER:", 5) != 0) tag_of(&events[i], 0);
  all = mmap(0, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&all->barrier, &attributes, (unsigned)thread_count);
  if (!exact) elg_gasp_test_time_of = 0;
  if (threads) return play_threads();
  for (i = 0; i < thread_count; ++i) {
    const pid_t child = children[i] = fork();
    if (child < 0) fail("cannot fork", "");
    if (child == 0) {
      me = i;
      play();
      exit(0);
    }
  }
  for (i = 0; i < thread_count; ++i) {
    int status = 0;
    /* As GNU UPC does: who ends the program alone ends it for all. */
    wait(&status);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      failed = 1;
      for (j = 0; j < thread_count; ++j) kill(children[j], SIGKILL);
    }
  }
  return failed;
}
