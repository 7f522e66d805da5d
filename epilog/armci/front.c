/* Finds the measurement library's table, and what several functions of the front share. */
#define _GNU_SOURCE
#include "epilog/armci/front_calls.h"

#include "epilog/armci/find_table.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#pragma weak elg_front

static const elg_front_table* the_table;
static int looked;

static const elg_front_table* look(void) {
  const elg_front_table* const table =
      elg_find_table((const void* (*)(void))elg_front, "elg_front", ELG_FRONT_VERSION,
                     "libelg_armci", "calls of ARMCI");
  __atomic_store_n(&the_table, table, __ATOMIC_RELAXED);
  __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
  return table;
}

const elg_front_table* elg_armci_table(void) {
  if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) return look();
  return the_table;
}

/* Of vectors: the number of segments and their bytes stand behind the two addresses, in either order. The product is
   right in both libraries. */
struct vector {
  void** src;
  void** dst;
  int some, others;
};
unsigned long long elg_armci_vector_bytes(const void* darr, int len) {
  const struct vector* const all = darr;
  unsigned long long bytes = 0;
  for (int i = 0; i < len; ++i) {
    if (all[i].some > 0 && all[i].others > 0)
      bytes += (unsigned long long)all[i].some * (unsigned long long)all[i].others;
  }
  return bytes;
}
static const void* first_of(void* const* addresses, const struct vector* all) {
  return addresses != 0 && all->some > 0 && all->others > 0 ? addresses[0] : 0;
}
const void* elg_armci_vector_dst(const void* darr, int len) {
  const struct vector* const all = darr;
  return len > 0 ? first_of(all->dst, all) : 0;
}
const void* elg_armci_vector_src(const void* darr, int len) {
  const struct vector* const all = darr;
  return len > 0 ? first_of(all->src, all) : 0;
}
unsigned long long elg_armci_strided_bytes(const int* count, int levels) {
  unsigned long long bytes = 1;
  for (int i = 0; i <= levels; ++i) bytes *= count[i] > 0 ? (unsigned long long)count[i] : 0u;
  return bytes;
}

#if defined(ELG_ARMCI_SHARED)
/* The program's ARMCI is a shared library, too. */
void* elg_armci_next(const char* name) {
  void* const next = dlsym(RTLD_NEXT, name);
  if (next == 0) {
    fprintf(stderr, "libelg_armci: the program's ARMCI has no function %s\n", name);
    abort();
  }
  return next;
}
#define FIND(type, name)                        \
  static __typeof__(type)* name##_found;         \
  if (name##_found == 0) *(void**)&name##_found = elg_armci_next(#name);
static int number(void) {
  FIND(int(void), armci_msg_me)
  return armci_msg_me_found();
}
static int numbers(void) {
  FIND(int(void), armci_msg_nproc)
  return armci_msg_nproc_found();
}
static void group_size(void* group, int* size) {
  FIND(void(void*, int*), ARMCI_Group_size)
  ARMCI_Group_size_found(group, size);
}
static int group_process(void* group, int index) {
  FIND(int(void*, int), ARMCI_Absolute_id)
  return ARMCI_Absolute_id_found(group, index);
}
static void get_default(void* group) {
  FIND(void(void*), ARMCI_Group_get_default)
  ARMCI_Group_get_default_found(group);
}
static const void* comex_world(void) { return dlsym(RTLD_DEFAULT, "ARMCI_COMM_WORLD"); }
static const void* armci_mpi_world(void) { return dlsym(RTLD_DEFAULT, "ARMCI_GROUP_WORLD"); }
#else
extern int armci_msg_me(void);
extern int armci_msg_nproc(void);
extern void ARMCI_Group_size(void* group, int* size);
extern int ARMCI_Absolute_id(void* group, int index);
extern void ARMCI_Group_get_default(void* group);
extern char ARMCI_COMM_WORLD __attribute__((weak));   /* ComEx's, an MPI_Comm */
extern char ARMCI_GROUP_WORLD __attribute__((weak));  /* ARMCI-MPI's; begins with an MPI_Comm */
static int number(void) { return armci_msg_me(); }
static int numbers(void) { return armci_msg_nproc(); }
static void group_size(void* group, int* size) { ARMCI_Group_size(group, size); }
static int group_process(void* group, int index) { return ARMCI_Absolute_id(group, index); }
static void get_default(void* group) { ARMCI_Group_get_default(group); }
static const void* comex_world(void) { return &ARMCI_COMM_WORLD; }
static const void* armci_mpi_world(void) { return &ARMCI_GROUP_WORLD; }
#endif

void elg_armci_arrived(const elg_front_table* table) {
  const void* const world = comex_world();
  table->arrived(number(), numbers(), world != 0 ? world : armci_mpi_world());
}
elg_front_group elg_armci_group(void* handle) {
  const elg_front_group group = {handle, group_size, group_process};
  return group;
}
/* ComEx's barriers and allocations are of the default group, those of ARMCI-MPI of all processes. */
const elg_front_group* elg_armci_default_group(elg_front_group* group, elg_armci_handle* room) {
  if (armci_mpi_world() != 0) return 0;
  get_default(room->bytes);
  *group = elg_armci_group(room->bytes);
  return group;
}
