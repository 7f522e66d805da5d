/* libelg_user: what Fortran programs with regions of their own are linked with, so that they also
   run without the measurement library. Preloaded, that one comes first. */
#include <stddef.h>

#include "epilog/runtime/elg_user.h"

void elg_region_begin(const struct elg_region* region) {
  (void)region;
}
const char* elg_region_begin_named(const char* name, const char* file, int line) {
  (void)name;
  (void)file;
  (void)line;
  return 0;
}
void elg_region_end(const char* name) {
  (void)name;
}

/* In the spellings of all compilers; the upper case ones are macros in C. */
#undef ELG_USER_START
#undef ELG_USER_END
#define KOJAK_NOTHING(name)                    \
  void name(const char* text, size_t length);  \
  void name(const char* text, size_t length) { \
    (void)text;                                \
    (void)length;                              \
  }
KOJAK_NOTHING(elg_user_start)
KOJAK_NOTHING(elg_user_start_)
KOJAK_NOTHING(elg_user_start__)
KOJAK_NOTHING(ELG_USER_START)
KOJAK_NOTHING(elg_user_end)
KOJAK_NOTHING(elg_user_end_)
KOJAK_NOTHING(elg_user_end__)
KOJAK_NOTHING(ELG_USER_END)
