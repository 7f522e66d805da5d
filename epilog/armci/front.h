/* What the front of ARMCI (libelg_armci) and the measurement library tell each other.

   The front stands before an ARMCI library that is linked into the program, and has no runtime of its own: at the first
   call it asks for the measurement library's table of functions, by the weak symbol elg_front (linked in) or dlsym
   (preloaded). Without one, or with one of another version, it only passes calls on. C, so that the front needs no
   C++ runtime. What the functions record is docs/format.md's. */
#ifndef ELG_FRONT_H
#define ELG_FRONT_H

#ifdef __cplusplus
extern "C" {
#endif

enum { ELG_FRONT_VERSION = 2 };

/* A call in hand; the measurement library keeps its note of it here. On the stack of the front's function. */
typedef struct elg_front_call {
  void* room[24];
} elg_front_call;

/* Kinds of transfers. */
enum { ELG_FRONT_PUT = 1, ELG_FRONT_GET = 2, ELG_FRONT_NONBLOCKING = 4, ELG_FRONT_ATOMIC = 8 };
/* What a call completes: of gets and puts at this process alone; puts alone, at their targets; what was issued with
   any handle, not with one. */
enum { ELG_FRONT_LOCAL = 1, ELG_FRONT_PUTS = 4, ELG_FRONT_ANY_HANDLE = 8 };
enum { ELG_FRONT_NOBODY = -1 };

/* A group of processes, and the library's questions about it. Null in place of it: all processes. */
typedef struct elg_front_group {
  void* handle;
  void (*size)(void* handle, int* size);
  int (*process)(void* handle, int index);
} elg_front_group;

typedef struct elg_front_table {
  unsigned version;
  /* A call begins: `function` is its place in functions.table, `frame` is where the frame of the front's function ends,
     `proc` whom it is about. 0: it is not recorded, and none of the functions below is to be called for it. */
  int (*begin)(elg_front_call* call, unsigned function, const void* frame, const void* caller, int proc);
  /* It has returned: one of these. */
  void (*end)(elg_front_call* call);
  void (*transfer)(elg_front_call* call, int kind, const void* handle, const void* at, unsigned long long bytes, int proc);
  void (*put_flag)(elg_front_call* call, const void* at, unsigned long long bytes, const void* flag, int proc);
  void (*completed)(elg_front_call* call, int kind, const void* handle, int proc, const elg_front_group* group);
  void (*locked)(elg_front_call* call, int mutex, int proc);
  void (*unlocked)(elg_front_call* call, int mutex, int proc);
  /* All of a group have met. `completes`: what was put is at its targets, too. */
  void (*met)(elg_front_call* call, const elg_front_group* group, int completes);
  /* The same of memory that they have allocated, `bases` where the part of each begins; or freed, by its own part. */
  void (*allocated)(elg_front_call* call, const elg_front_group* group, void* const* bases);
  void (*freed)(elg_front_call* call, const elg_front_group* group, const void* own);
  void (*notified)(elg_front_call* call, int proc);
  void (*notification_found)(elg_front_call* call, int proc, int value);
  /* ARMCI has started: this process's number, how many there are, and where their MPI communicator lies, or null. Also
     where the call that started it was not recorded. */
  void (*arrived)(int me, int count, const void* world);
} elg_front_table;

const elg_front_table* elg_front(void);

#ifdef __cplusplus
}
#endif
#endif
