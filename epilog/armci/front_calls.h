/* What the functions of the front share (front.c); generate.py makes those. */
#ifndef ELG_ARMCI_FRONT_CALLS_H
#define ELG_ARMCI_FRONT_CALLS_H

#include <stddef.h>

#include "epilog/armci/front.h"

#if defined(ELG_ARMCI_SHARED)
#define ELG_INNER __attribute__((visibility("hidden")))
#else
#define ELG_INNER
#endif

/* ARMCI_Group is an int in ComEx, a structure of 40 bytes in ARMCI-MPI. */
typedef union elg_armci_handle {
  void* aligned;
  char bytes[256];
} elg_armci_handle;

/* Null: nothing is recorded. */
ELG_INNER const elg_front_table* elg_armci_table(void);
ELG_INNER void elg_armci_arrived(const elg_front_table* table);
ELG_INNER unsigned long long elg_armci_vector_bytes(const void* darr, int len);
ELG_INNER const void* elg_armci_vector_dst(const void* darr, int len);
ELG_INNER const void* elg_armci_vector_src(const void* darr, int len);
ELG_INNER unsigned long long elg_armci_strided_bytes(const int* count, int levels);
ELG_INNER elg_front_group elg_armci_group(void* handle);
/* The group of calls that name none, or null: all processes. */
ELG_INNER const elg_front_group* elg_armci_default_group(elg_front_group* group, elg_armci_handle* room);
#if defined(ELG_ARMCI_SHARED)
ELG_INNER void* elg_armci_next(const char* name);
#endif

/* Begins a call of the table's function `number`, about process `proc`. */
#define ELG_BEGIN(table, call, number, proc) \
  ((table)->begin((call), (number), __builtin_dwarf_cfa(), __builtin_return_address(0), (proc)))

#endif
