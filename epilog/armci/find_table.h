/* How a front finds the measurement library's table: by a weak symbol (linked in), or dlsym
   (preloaded). Null: there is none, or it is of another version, which is said. */
#ifndef ELG_FIND_TABLE_H
#define ELG_FIND_TABLE_H

#include <dlfcn.h>
#include <stdio.h>

/* `linked`: the weak symbol's value. A table begins with its version. */
static const void* elg_find_table(const void* (*linked)(void), const char* symbol, unsigned version,
                                  const char* front, const char* calls) {
  const void* (*find)(void) = linked;
  const void* table;
  if (find == 0) *(void**)&find = dlsym(RTLD_DEFAULT, symbol);
  table = find != 0 ? find() : 0;
  if (table == 0 || *(const unsigned*)table == version) return table;
  fprintf(
      stderr,
      "%s: the measurement library is of another version (its table is %u, ours %u): %s are not "
      "recorded\n",
      front, *(const unsigned*)table, version, calls);
  return 0;
}

#endif
