/* A library with the interface of PAPI that the measurement uses, whose counters a test drives:
 * FAKE_WORK and FAKE_OTHER are what the program's function fake_counter() says of the calling
 * thread. FAKE_OTHER is of a component of its own. FAKE_TAKEN exists and cannot be counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
  kOk = 0,
  kInvalid = -1,
  kNoEvent = -7,
  kConflict = -8,
  kNotRunning = -9,
  kIsRunning = -10,
  kNoSet = -11
};
enum {
  kVersion = 7 << 24 | 3 << 16 | 9,
  kWork = 0x40000001,
  kOther = 0x40000002,
  kTaken = 0x40000003
};

struct set {
  int used, running, count, codes[4];
  long long start[4];
};
static struct set sets[256];
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static long long (*source)(int);
static _Thread_local int running[2];

static long long now(int code) {
  return source == NULL ? 0 : source(code - kWork);
}
static int component(int code) {
  return code == kOther;
}

int PAPI_get_opt(int option, void* value) {
  (void)value;
  return option == 21 ? kVersion : kInvalid;
}
int PAPI_library_init(int version) {
  if (version != (int)(kVersion & 0xffff0000)) return kInvalid;
  void* found = dlsym(RTLD_DEFAULT, "fake_counter");
  memcpy(&source, &found, sizeof found);
  return version;
}
int PAPI_thread_init(unsigned long (*id)(void)) {
  return id() != 0 ? kOk : kInvalid;
}
int PAPI_register_thread(void) {
  return kOk;
}
int PAPI_unregister_thread(void) {
  return kOk;
}
int PAPI_event_name_to_code(const char* name, int* code) {
  if (strcmp(name, "FAKE_WORK") == 0) return *code = kWork, kOk;
  if (strcmp(name, "FAKE_OTHER") == 0) return *code = kOther, kOk;
  if (strcmp(name, "FAKE_TAKEN") == 0) return *code = kTaken, kOk;
  return kNoEvent;
}
int PAPI_get_event_component(int code) {
  return component(code);
}
int PAPI_create_eventset(int* number) {
  if (*number != -1) return kInvalid;
  pthread_mutex_lock(&guard);
  int i = 0;
  while (i < 256 && sets[i].used) ++i;
  if (i < 256) {
    sets[i] = (struct set){.used = 1};
    *number = i;
  }
  pthread_mutex_unlock(&guard);
  return i < 256 ? kOk : kNoSet;
}
int PAPI_add_event(int number, int code) {
  struct set* s = &sets[number];
  if (code == kTaken || s->count == 4) return kConflict;
  if (s->count != 0 && component(s->codes[0]) != component(code)) return kInvalid;
  s->codes[s->count++] = code;
  return kOk;
}
int PAPI_start(int number) {
  struct set* s = &sets[number];
  int* mine = &running[component(s->codes[0])];
  if (*mine) return kIsRunning; /* one of a component in each thread */
  *mine = s->running = 1;
  for (int i = 0; i < s->count; ++i) s->start[i] = now(s->codes[i]);
  return kOk;
}
int PAPI_read(int number, long long* values) {
  struct set* s = &sets[number];
  if (!s->running) return kNotRunning;
  for (int i = 0; i < s->count; ++i) values[i] = now(s->codes[i]) - s->start[i];
  return kOk;
}
int PAPI_stop(int number, long long* values) {
  struct set* s = &sets[number];
  if (!s->running) return kNotRunning;
  PAPI_read(number, values);
  running[component(s->codes[0])] = s->running = 0;
  return kOk;
}
int PAPI_cleanup_eventset(int number) {
  if (sets[number].running) return kIsRunning;
  sets[number].count = 0;
  return kOk;
}
int PAPI_destroy_eventset(int* number) {
  if (sets[*number].running || sets[*number].count != 0) abort(); /* PAPI refuses, too */
  sets[*number].used = 0;
  *number = -1;
  return kOk;
}
char* PAPI_strerror(int error) {
  static char conflict[] =
      "Event exists, but cannot be counted due to counter resource limitations",
              other[] = "fault";
  return error == kConflict ? conflict : other;
}
