// What one process of a soak run has called, counted by the program itself.
//
// Each process keeps a Ledger in a file that it maps, so that the counts survive it however it
// ends. A count is raised before a call (`begun`) and after it (`done`): what a trace holds of a
// process that was killed lies between the two. Each thread has a page of its own, so nothing is
// locked. soak.py reads the file; its `struct` formats must say what stands here.
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// clang-format off
#define SOAK_FUNCTIONS(X) \
  X(MPI_Send) X(MPI_Ssend) X(MPI_Bsend) X(MPI_Isend) X(MPI_Recv) X(MPI_Irecv) X(MPI_Sendrecv) \
  X(MPI_Probe) X(MPI_Wait) X(MPI_Test) X(MPI_Waitall) X(MPI_Send_init) X(MPI_Recv_init) \
  X(MPI_Start) X(MPI_Request_free) X(MPI_Barrier) X(MPI_Bcast) X(MPI_Reduce) X(MPI_Allreduce) \
  X(MPI_Alltoall) X(MPI_Gather) X(MPI_Scan) X(MPI_Ibarrier) X(MPI_Iallreduce) X(MPI_Comm_dup) \
  X(MPI_Comm_split) X(MPI_Comm_free) X(MPI_Win_create) X(MPI_Win_allocate) X(MPI_Win_free) \
  X(MPI_Win_fence) X(MPI_Win_post) X(MPI_Win_start) X(MPI_Win_complete) X(MPI_Win_wait) \
  X(MPI_Win_test) X(MPI_Win_lock) X(MPI_Win_unlock) X(MPI_Win_lock_all) X(MPI_Win_unlock_all) \
  X(MPI_Win_flush) X(MPI_Win_flush_all) X(MPI_Put) X(MPI_Get) X(MPI_Accumulate) X(MPI_Rput) \
  X(MPI_Rget) X(MPI_Fetch_and_op) X(MPI_Compare_and_swap) X(MPI_Get_accumulate)
// clang-format on

enum Function {
#define SOAK_NUMBER(name) k_##name,
  SOAK_FUNCTIONS(SOAK_NUMBER)
#undef SOAK_NUMBER
      kFunctions
};

enum { kThreads = 4, kRanks = 8, kFlows = 4 };
enum FlowKind { kSent, kReceived, kPutBytes, kGotBytes };

struct Count {
  volatile uint64_t begun, done;
};
struct Flow {  // towards one peer
  struct Count operations, bytes;
};
struct Page {
  struct Count calls[kFunctions];
  struct Flow flows[kFlows][kRanks];
};
struct Ledger {
  uint64_t functions, threads, ranks, flows;
  char names[kFunctions][32];
  struct Page pages[kThreads];
};

static struct Ledger* ledger;
static volatile int counting = 1;  // 0 while this process's recording is switched off
static __thread struct Page* page;

// Before MPI_Init there is no rank: the file gets its final name behind it.
static inline void ledger_open(const char* directory, int rank) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d.ledger", directory, rank);
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || ftruncate(fd, sizeof(struct Ledger)) != 0) exit(99);
  ledger = mmap(NULL, sizeof(struct Ledger), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (ledger == MAP_FAILED) exit(99);
  close(fd);
  ledger->functions = kFunctions;
  ledger->threads = kThreads;
  ledger->ranks = kRanks;
  ledger->flows = kFlows;
#define SOAK_NAME(name) snprintf(ledger->names[k_##name], sizeof ledger->names[0], "%s", #name);
  SOAK_FUNCTIONS(SOAK_NAME)
#undef SOAK_NAME
  page = &ledger->pages[0];
}

static inline void began(enum Function f) {
  if (counting) page->calls[f].begun++;
  __asm__ volatile("" ::: "memory");
}
static inline void ended(enum Function f) {
  __asm__ volatile("" ::: "memory");
  if (counting) page->calls[f].done++;
}

// CALL(Send, ...) counts and calls MPI_Send(...).
#define CALL(name, ...)            \
  do {                             \
    began(k_MPI_##name);           \
    (void)MPI_##name(__VA_ARGS__); \
    ended(k_MPI_##name);           \
  } while (0)

static inline void flow_begins(enum FlowKind kind, int peer, uint64_t bytes) {
  if (!counting) return;
  page->flows[kind][peer].operations.begun++;
  page->flows[kind][peer].bytes.begun += bytes;
  __asm__ volatile("" ::: "memory");
}
static inline void flow_ends(enum FlowKind kind, int peer, uint64_t bytes) {
  __asm__ volatile("" ::: "memory");
  if (!counting) return;
  page->flows[kind][peer].operations.done++;
  page->flows[kind][peer].bytes.done += bytes;
}
