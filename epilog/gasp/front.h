/* What the front of GASP (libelg_gasp) and the measurement library tell each other.

   The front has the five functions by which a compiler's runtime tells a tool of its events (GASP
   1.5), and no runtime of its own: it finds the measurement library's table as the front of ARMCI
   does. What only the language knows comes from elg_gasp.upc, which the user's compiler compiles.
   C, so that the front needs no C++ runtime. What the events become is docs/format.md's. */
#ifndef ELG_GASP_FRONT_H
#define ELG_GASP_FRONT_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ELG_GASP_VERSION = 1 };

/* GASP's own. */
enum { ELG_GASP_START = 0, ELG_GASP_END = 1, ELG_GASP_ATOMIC = 2 };
enum { ELG_GASP_UPC = 0 };

struct elg_gasp_id {
  const char* name;
  unsigned id;
};
typedef struct elg_gasp_language {
  const struct elg_gasp_id* ids; /* up to a null name */
  int (*thread)(void);
  int (*threads)(void);
  void (*place)(const void* pts, int* thread, unsigned long long* address);
  void (*exchange)(const void* mine, void* all, size_t bytes);
} elg_gasp_language;

typedef struct elg_gasp_table {
  unsigned version;
  /* A thread of the language begins; what it is called from now on. 0: it is not recorded, and none
     of the functions below is to be called for it. */
  void* (*begin)(int model, const elg_gasp_language* language);
  void (*event)(void* thread, unsigned tag, int type, const char* file, int line,
                va_list* arguments);
  int (*control)(void* thread, int on);
  /* The program has named an event of its own. */
  void (*created)(unsigned tag, const char* name);
} elg_gasp_table;

const elg_gasp_table* elg_gasp(void);

#ifdef __cplusplus
}
#endif
#endif
