/* GASP's five functions: they pass on what they are told. */
#define _GNU_SOURCE
#include "epilog/gasp/front.h"

#include "epilog/armci/find_table.h"

#pragma weak elg_gasp

/* In elg_gasp.upc. */
extern const struct elg_gasp_id elg_gasp_ids[];
extern int elg_gasp_thread(void);
extern int elg_gasp_threads(void);
extern void elg_gasp_place(const void* pts, int* thread, unsigned long long* address);
extern void elg_gasp_exchange(const void* mine, void* all, size_t bytes);

static const elg_gasp_language the_language = {elg_gasp_ids, elg_gasp_thread, elg_gasp_threads,
                                               elg_gasp_place, elg_gasp_exchange};
static const elg_gasp_table* the_table; /* a thread's context is null where there is none */

/* kojak run knows by this that a program has the front. */
__attribute__((used)) const char elg_gasp_front[] = "elg_gasp_front";

void* gasp_init(int model, int* argc, char*** argv) {
  const elg_gasp_table* table = __atomic_load_n(&the_table, __ATOMIC_ACQUIRE);
  (void)argc;
  (void)argv;
  if (table == 0) {
    table = elg_find_table((const void* (*)(void))elg_gasp, "elg_gasp", ELG_GASP_VERSION,
                           "libelg_gasp", "events of GASP");
    __atomic_store_n(&the_table, table, __ATOMIC_RELEASE);
  }
  return table != 0 ? table->begin(model, &the_language) : 0;
}

void gasp_event_notifyVA(void* context, unsigned tag, int type, const char* file, int line,
                         int column, va_list arguments) {
  va_list own;
  (void)column;
  if (context == 0) return;
  va_copy(own, arguments);
  the_table->event(context, tag, type, file, line, &own);
  va_end(own);
}

void gasp_event_notify(void* context, unsigned tag, int type, const char* file, int line, int column,
                       ...) {
  va_list arguments;
  (void)column;
  if (context == 0) return;
  va_start(arguments, column);
  the_table->event(context, tag, type, file, line, &arguments);
  va_end(arguments);
}

int gasp_control(void* context, int on) {
  return context != 0 ? the_table->control(context, on) : 0;
}

/* The numbers that the compiler has for the program's own events, one after the other; the last one
   stands for all that are more. */
unsigned gasp_create_event(void* context, const char* name, const char* desc) {
  static unsigned used;
  unsigned first = 0, last = 0, number;
  const struct elg_gasp_id* id;
  (void)desc;
  for (id = elg_gasp_ids; id->name != 0; ++id) {
    if (__builtin_strcmp(id->name, "UPC_USEREVT_START") == 0) first = id->id;
    if (__builtin_strcmp(id->name, "UPC_USEREVT_END") == 0) last = id->id;
  }
  number = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
  number = number < last - first ? first + number : last;
  if (context != 0) the_table->created(number, name);
  return number;
}
