// A random MPI program that keeps its own books, and dies as it is told.
//
//   soak_program LEDGERS SEED STEPS THREADS [FAULT RANK WHEN]
//
// All processes draw the same steps from SEED: messages, collectives, one-sided epochs of every
// kind, threads, communicators, pauses of the recording, a fork. Each counts what it calls
// (ledger.h) and checks what it received. At the end rank 0 prints one line that SEED alone
// determines. Faults, at step WHEN of the rank, or WHEN microseconds after its start where the name
// ends in "-at": kill, term, segv, abort, exit, _exit, return.
// Long because it is one program: each kind of step that a process can take stands here, one after
// the other.
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "ledger.h"

enum { kSlots = 64, kLongest = 40000, kBuffered = 2000 };

static int rank, size, threads_allowed;
static uint64_t seed_state;
static const char* fault = "";
static int fault_rank = -1;
static long fault_when;

// ---- chance: the same on all processes

static uint64_t draw(void) {
  seed_state ^= seed_state << 13;
  seed_state ^= seed_state >> 7;
  seed_state ^= seed_state << 17;
  return seed_state * 0x2545F4914F6CDD1Dull;
}
static int below(int n) {
  return (int)((draw() >> 33) % (uint64_t)n);
}
static int chance(int percent) {
  return below(100) < percent;
}
// Mostly small, now and then beyond what a library sends eagerly; sometimes nothing.
static int some_length(void) {
  const int kind = below(10);
  return kind == 0 ? 0 : kind < 8 ? 1 + below(200) : 1 + below(kLongest - 1);
}

static void wrong(const char* what) {
  fprintf(stderr, "soak: rank %d: wrong data in %s\n", rank, what);
  exit(98);
}
static void nap(int most_microseconds) {
  const int time = below(most_microseconds + 1);
  if (below(size) == rank) usleep((useconds_t)time);
}

// Between two tests, longer and longer: on a busy machine there would be millions of them.
static void poll_later(int* times) {
  if (++*times > 20) usleep(*times < 200 ? (useconds_t)*times * 50 : 10000);
}

// ---- faults

static void die(void) {
  if (strncmp(fault, "kill", 4) == 0) kill(getpid(), SIGKILL);
  if (strncmp(fault, "term", 4) == 0) kill(getpid(), SIGTERM);
  if (strncmp(fault, "segv", 4) == 0) kill(getpid(), SIGSEGV);
  if (strcmp(fault, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (strcmp(fault, "exit") == 0) exit(5);
  if (strcmp(fault, "_exit") == 0) _exit(6);
}
static void* die_later(void* unused) {
  (void)unused;
  usleep((useconds_t)fault_when);
  die();
  return NULL;
}
static int timed(void) {
  const size_t n = strlen(fault);
  return n > 3 && strcmp(fault + n - 3, "-at") == 0;
}

// ---- messages

struct Buffers {
  unsigned char out[kLongest], in[kLongest], attached[16 << 20];
};
static struct Buffers buffers;

static void fill(unsigned char* data, int n, int key) {
  for (int i = 0; i < n; ++i) data[i] = (unsigned char)(i + key);
}
static void check(const unsigned char* data, int n, int key, const char* what) {
  for (int i = 0; i < n; ++i) {
    if (data[i] != (unsigned char)(i + key)) wrong(what);
  }
}
static void got(const MPI_Status* status, int expected) {
  int n;
  PMPI_Get_count(status, MPI_BYTE, &n);
  if (n != expected) wrong("a length");
  flow_begins(kReceived, status->MPI_SOURCE, (uint64_t)n);
  flow_ends(kReceived, status->MPI_SOURCE, (uint64_t)n);
}

static void send_one(int how, int n, int to, int tag, MPI_Comm comm) {
  MPI_Request request;
  if (how == 2 && n > kBuffered) how = 1;  // many can be on their way
  flow_begins(kSent, to, (uint64_t)n);
  switch (how) {
    case 0:
      CALL(Send, buffers.out, n, MPI_BYTE, to, tag, comm);
      break;
    case 1:
      CALL(Ssend, buffers.out, n, MPI_BYTE, to, tag, comm);
      break;
    case 2:
      CALL(Bsend, buffers.out, n, MPI_BYTE, to, tag, comm);
      break;
    case 3:
      CALL(Isend, buffers.out, n, MPI_BYTE, to, tag, comm, &request);
      CALL(Wait, &request, MPI_STATUS_IGNORE);
      break;
    default:
      CALL(Send_init, buffers.out, n, MPI_BYTE, to, tag, comm, &request);
      CALL(Start, &request);
      CALL(Wait, &request, MPI_STATUS_IGNORE);
      CALL(Request_free, &request);
  }
  flow_ends(kSent, to, (uint64_t)n);
}

static void receive_one(int how, int n, int from, int any, int tag, MPI_Comm comm) {
  MPI_Request request;
  MPI_Status status;
  const int source = any ? MPI_ANY_SOURCE : from;
  int done = 0;
  switch (how) {
    case 0:
      CALL(Recv, buffers.in, kLongest, MPI_BYTE, source, tag, comm, &status);
      break;
    case 1:
      CALL(Probe, source, tag, comm, &status);
      CALL(Recv, buffers.in, kLongest, MPI_BYTE, status.MPI_SOURCE, tag, comm, &status);
      break;
    case 2:
      CALL(Irecv, buffers.in, kLongest, MPI_BYTE, source, tag, comm, &request);
      CALL(Wait, &request, &status);
      break;
    case 3:
      CALL(Irecv, buffers.in, kLongest, MPI_BYTE, source, tag, comm, &request);
      for (int times = 0; !done; poll_later(&times)) CALL(Test, &request, &done, &status);
      break;
    default:
      CALL(Recv_init, buffers.in, kLongest, MPI_BYTE, source, tag, comm, &request);
      CALL(Start, &request);
      CALL(Wait, &request, &status);
      CALL(Request_free, &request);
  }
  if (status.MPI_SOURCE != from) wrong("a source");
  got(&status, n);
  check(buffers.in, n, from + tag, "a message");
}

static void messages(MPI_Comm comm) {
  const int tag = below(1000), from = below(size), to = (from + 1 + below(size - 1)) % size;
  const int count = 1 + below(chance(10) ? 300 : 8);
  for (int i = 0; i < count; ++i) {
    const int n = some_length(), how = below(5), how_received = below(5), any = chance(30);
    nap(200);
    if (rank == from) {
      fill(buffers.out, n, from + tag);
      send_one(how, n, to, tag, comm);
    } else if (rank == to) {
      receive_one(how_received, n, from, any, tag, comm);
    }
  }
}

// Everybody to everybody, by one Waitall.
static void exchange(MPI_Comm comm) {
  MPI_Request requests[2 * kRanks];
  MPI_Status statuses[2 * kRanks];
  const int n = some_length() % (kLongest / kRanks), tag = below(1000);
  unsigned char* in = buffers.in;
  int count = 0;
  fill(buffers.out, n, rank + tag);
  nap(300);
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    CALL(Irecv, in + peer * n, n, MPI_BYTE, peer, tag, comm, &requests[count++]);
  }
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    flow_begins(kSent, peer, (uint64_t)n);
    CALL(Isend, buffers.out, n, MPI_BYTE, peer, tag, comm, &requests[count++]);
    flow_ends(kSent, peer, (uint64_t)n);
  }
  CALL(Waitall, count, requests, statuses);
  for (int i = 0; i < size - 1; ++i) got(&statuses[i], n);
  for (int peer = 0; peer < size; ++peer) {
    if (peer != rank) check(in + peer * n, n, peer + tag, "an exchange");
  }
}

static void around(MPI_Comm comm) {
  MPI_Status status;
  const int n = some_length(), tag = below(1000), next = (rank + 1) % size,
            last = (rank + size - 1) % size;
  fill(buffers.out, n, rank + tag);
  flow_begins(kSent, next, (uint64_t)n);
  CALL(Sendrecv, buffers.out, n, MPI_BYTE, next, tag, buffers.in, kLongest, MPI_BYTE, last, tag,
       comm, &status);
  flow_ends(kSent, next, (uint64_t)n);
  got(&status, n);
  check(buffers.in, n, last + tag, "a ring");
}

// ---- collectives

static void collective(MPI_Comm comm) {
  static long mine[1024], all[1024];
  const int kind = below(9), root = below(size), n = 1 + below(100);
  MPI_Request request;
  nap(500);
  for (int i = 0; i < 1024; ++i) mine[i] = rank + i;
  switch (kind) {
    case 0:
      CALL(Barrier, comm);
      break;
    case 1:
      CALL(Bcast, mine, n, MPI_LONG, root, comm);
      if (mine[n - 1] != root + n - 1) wrong("a broadcast");
      break;
    case 2:
      CALL(Reduce, mine, all, n, MPI_LONG, MPI_SUM, root, comm);
      if (rank == root && all[0] != (long)size * (size - 1) / 2) wrong("a reduction");
      break;
    case 3:
      CALL(Allreduce, mine, all, n, MPI_LONG, MPI_MAX, comm);
      if (all[0] != size - 1) wrong("a reduction to all");
      break;
    case 4:
      CALL(Alltoall, mine, n, MPI_LONG, all, n, MPI_LONG, comm);
      for (int i = 0; i < size; ++i) {
        if (all[i * n] != i + (long)rank * n) wrong("an exchange of all");
      }
      break;
    case 5:
      CALL(Gather, mine, n, MPI_LONG, all, n, MPI_LONG, root, comm);
      if (rank == root && all[(size - 1) * n] != size - 1) wrong("a gather");
      break;
    case 6:
      CALL(Scan, mine, all, n, MPI_LONG, MPI_SUM, comm);
      if (all[0] != (long)rank * (rank + 1) / 2) wrong("a scan");
      break;
    case 7:
      CALL(Ibarrier, comm, &request);
      CALL(Wait, &request, MPI_STATUS_IGNORE);
      break;
    default:
      CALL(Iallreduce, mine, all, n, MPI_LONG, MPI_MIN, comm, &request);
      for (int done = 0, times = 0; !done; poll_later(&times)) {
        CALL(Test, &request, &done, MPI_STATUS_IGNORE);
      }
      if (all[0] != 0) wrong("a non-blocking reduction");
  }
}

// ---- one-sided communication: `kSlots` ints of each origin at each target

struct Window {
  MPI_Win win;
  int* memory;
  int allocated;
};

static void open_window(struct Window* w, MPI_Comm comm) {
  const MPI_Aint bytes = (MPI_Aint)sizeof(int) * kSlots * size;
  w->allocated = chance(50);
  if (w->allocated) {
    CALL(Win_allocate, bytes, sizeof(int), MPI_INFO_NULL, comm, &w->memory, &w->win);
  } else {
    w->memory = malloc((size_t)bytes);
    CALL(Win_create, w->memory, bytes, sizeof(int), MPI_INFO_NULL, comm, &w->win);
  }
  memset(w->memory, 0, (size_t)bytes);
  PMPI_Barrier(comm);
}
static void close_window(struct Window* w) {
  int* memory = w->allocated ? NULL : w->memory;
  CALL(Win_free, &w->win);
  free(memory);
}

static int operands[kSlots], results[kSlots];

// One operation of this process; `count` ints at its own slots of the target.
static void operate(struct Window* w, int kind, int target, int count) {
  const MPI_Aint at = (MPI_Aint)rank * kSlots;
  const uint64_t bytes = sizeof(int) * (uint64_t)count;
  MPI_Request request = MPI_REQUEST_NULL;
  for (int i = 0; i < count; ++i) operands[i] = rank + 1;
  const int puts = kind != 1 && kind != 4, gets = kind == 1 || kind >= 4;
  const int atomic = kind >= 5 && kind < 7;  // of one element
  const uint64_t put_bytes = atomic ? sizeof(int) : bytes, got_bytes = put_bytes;
  if (puts) flow_begins(kPutBytes, target, put_bytes);
  if (gets) flow_begins(kGotBytes, target, got_bytes);
  switch (kind) {
    case 0:
      CALL(Put, operands, count, MPI_INT, target, at, count, MPI_INT, w->win);
      break;
    case 1:
      CALL(Get, results, count, MPI_INT, target, at, count, MPI_INT, w->win);
      break;
    case 2:
      CALL(Accumulate, operands, count, MPI_INT, target, at, count, MPI_INT, MPI_SUM, w->win);
      break;
    case 3:
      CALL(Rput, operands, count, MPI_INT, target, at, count, MPI_INT, w->win, &request);
      break;
    case 4:
      CALL(Rget, results, count, MPI_INT, target, at, count, MPI_INT, w->win, &request);
      break;
    case 5:
      CALL(Fetch_and_op, operands, results, MPI_INT, target, at, MPI_SUM, w->win);
      break;
    case 6:
      CALL(Compare_and_swap, operands, operands, results, MPI_INT, target, at, w->win);
      break;
    default:
      CALL(Get_accumulate, operands, count, MPI_INT, results, count, MPI_INT, target, at, count,
           MPI_INT, MPI_SUM, w->win);
  }
  if (puts) flow_ends(kPutBytes, target, put_bytes);
  if (gets) flow_ends(kGotBytes, target, got_bytes);
  if (request != MPI_REQUEST_NULL) CALL(Wait, &request, MPI_STATUS_IGNORE);
}

// Operations of all origins that `origin_mask` names towards the targets of `target_mask`; all
// processes draw all of them. Requests need a passive epoch.
static void operations(struct Window* w, unsigned origin_mask, unsigned target_mask, int passive,
                       int most) {
  const int count = below(most + 1);
  for (int i = 0; i < count; ++i) {
    const int origin = below(size), target = below(size), n = 1 + below(kSlots), kind = below(8);
    const int usable = passive || (kind != 3 && kind != 4);
    if (!usable || (origin_mask >> origin & 1) == 0 || (target_mask >> target & 1) == 0) continue;
    if (origin == rank) operate(w, kind, target, n);
  }
}

static void fences(struct Window* w) {
  const int count = 1 + below(4), many = chance(10) ? 400 : 12;
  CALL(Win_fence, chance(50) ? MPI_MODE_NOPRECEDE : 0, w->win);
  for (int i = 0; i < count; ++i) {
    operations(w, ~0u, ~0u, 0, many);
    nap(300);
    CALL(Win_fence, i + 1 == count ? MPI_MODE_NOSUCCEED : 0, w->win);
  }
}

static MPI_Group group_of(unsigned mask, MPI_Comm comm) {
  MPI_Group all, some;
  int members[kRanks], n = 0;
  for (int i = 0; i < size; ++i) {
    if (mask >> i & 1) members[n++] = i;
  }
  PMPI_Comm_group(comm, &all);
  PMPI_Group_incl(all, n, members, &some);
  PMPI_Group_free(&all);
  return some;
}

// Some processes are origins, the others targets.
static void general_active(struct Window* w, MPI_Comm comm) {
  const unsigned everybody = (1u << size) - 1;
  unsigned origins = (unsigned)below((int)everybody - 1) + 1;
  const unsigned targets = everybody & ~origins;
  const int is_origin = origins >> rank & 1, by_test = chance(30);
  // MPICH 4.0.2 hangs now and then in an MPI_Win_start while another process still holds a lock.
  PMPI_Barrier(comm);
  MPI_Group group = group_of(is_origin ? targets : origins, comm);
  if (is_origin) {
    nap(300);
    CALL(Win_start, group, 0, w->win);
  } else {
    nap(300);
    CALL(Win_post, group, 0, w->win);
  }
  // Draws must be the same on all sides, so both sides walk through the same operations.
  operations(w, origins, targets, 0, 12);
  if (is_origin) {
    CALL(Win_complete, w->win);
  } else if (by_test) {
    for (int done = 0, times = 0; !done; poll_later(&times)) CALL(Win_test, w->win, &done);
  } else {
    CALL(Win_wait, w->win);
  }
  PMPI_Group_free(&group);
}

static void passive(struct Window* w) {
  const int turns = 1 + below(3);
  for (int i = 0; i < turns; ++i) {
    const int all = chance(30), flush = below(3), exclusive = chance(50),
              most = chance(10) ? 300 : 10;
    const int target = below(size), origin = below(size), everybody = chance(40);
    const int takes_part = everybody || origin == rank;
    nap(300);
    if (takes_part && all) CALL(Win_lock_all, 0, w->win);
    if (takes_part && !all) {
      CALL(Win_lock, exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, w->win);
    }
    operations(w, everybody ? ~0u : 1u << origin, all ? ~0u : 1u << target, 1, most);
    if (takes_part && flush == 0) CALL(Win_flush, target, w->win);
    if (takes_part && flush == 1) CALL(Win_flush_all, w->win);
    if (takes_part && all) CALL(Win_unlock_all, w->win);
    if (takes_part && !all) CALL(Win_unlock, target, w->win);
  }
}

// ---- threads: each has a communicator of its own and sends around the ring

struct Worker {
  pthread_t thread;
  int number, rounds, length;
  MPI_Comm comm;
};

static void* work(void* argument) {
  struct Worker* w = argument;
  unsigned char out[256], in[256];
  MPI_Status status;
  page = &ledger->pages[w->number + 1];
  for (int i = 0; i < w->rounds; ++i) {
    const int next = (rank + 1) % size, last = (rank + size - 1) % size;
    fill(out, w->length, rank + i);
    flow_begins(kSent, next, (uint64_t)w->length);
    CALL(Sendrecv, out, w->length, MPI_BYTE, next, w->number, in, sizeof in, MPI_BYTE, last,
         w->number, w->comm, &status);
    flow_ends(kSent, next, (uint64_t)w->length);
    got(&status, w->length);
    check(in, w->length, last + i, "a thread's ring");
  }
  return NULL;
}
static void threads(MPI_Comm comm) {
  struct Worker workers[kThreads - 1];
  const int count = 1 + below(kThreads - 1), rounds = 1 + below(chance(10) ? 400 : 20);
  const int length = below(256);
  if (!threads_allowed) return;
  for (int i = 0; i < count; ++i) {
    workers[i].number = i;
    workers[i].rounds = rounds;
    workers[i].length = length;
    CALL(Comm_dup, comm, &workers[i].comm);
  }
  for (int i = 0; i < count; ++i) pthread_create(&workers[i].thread, NULL, work, &workers[i]);
  for (int i = 0; i < count; ++i) pthread_join(workers[i].thread, NULL);
  for (int i = 0; i < count; ++i) CALL(Comm_free, &workers[i].comm);
}

// ---- the rest

static void child(void) {
  const int how = below(4), who = below(size);
  if (who != rank) return;
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) {
    if (how == 0) execl("/bin/true", "true", (char*)NULL);
    if (how == 1) kill(getpid(), SIGKILL);
    if (how == 2) exit(0);
    _exit(0);
  }
  int status;
  waitpid(pid, &status, 0);
}

static void pause_recording(void) {
  const int who = below(size + 1);  // `size`: everybody
  if (who != size && who != rank) return;
  if (counting) {
    MPI_Pcontrol(0);
    counting = 0;
  } else {
    MPI_Pcontrol(1);
    counting = 1;
  }
}

// A smaller world: the odd or the even ranks, or all in reverse order.
static void parts(MPI_Comm comm) {
  MPI_Comm part;
  const int reverse = chance(50);
  long sum = 1, total = 0;
  CALL(Comm_split, comm, reverse ? 0 : rank % 2, size - rank, &part);
  CALL(Allreduce, &sum, &total, 1, MPI_LONG, MPI_SUM, part);
  CALL(Barrier, part);
  CALL(Comm_free, &part);
}

static void step(struct Window* windows, int count, MPI_Comm comm, int pauses, int forks) {
  struct Window* w = &windows[below(count)];
  switch (below(14)) {
    case 0:
    case 1:
      return messages(comm);
    case 2:
      return exchange(comm);
    case 3:
      return around(comm);
    case 4:
    case 5:
      return collective(comm);
    case 6:
      return fences(w);
    case 7:
      return general_active(w, comm);
    case 8:
    case 9:
      return passive(w);
    case 10:
      return threads(comm);
    case 11:
      return parts(comm);
    case 12:
      if (forks) child();
      return;
    default:
      if (pauses) pause_recording();
  }
}

int main(int argc, char** argv) {
  if (argc < 5) return 97;
  const uint64_t seed = strtoull(argv[2], NULL, 10);
  const int steps = atoi(argv[3]);
  seed_state = seed * 2654435761u + 88172645463325252ull;
  for (int i = 0; i < 8; ++i) draw();
  if (argc >= 8) {
    fault = argv[5];
    fault_rank = atoi(argv[6]);
    fault_when = atol(argv[7]);
  }
  int provided;
  const int wants_threads = atoi(argv[4]);  // 1: MPI_THREAD_MULTIPLE is asked for
  MPI_Init_thread(&argc, &argv, wants_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  threads_allowed = wants_threads && provided == MPI_THREAD_MULTIPLE;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > kRanks || size < 2) return 97;
  ledger_open(argv[1], rank);
  const int dies = fault_rank == rank;
  pthread_t killer;
  if (dies && timed()) pthread_create(&killer, NULL, die_later, NULL);
  MPI_Buffer_attach(buffers.attached, (int)sizeof buffers.attached);

  const int pauses = chance(25), forks = chance(25), count = 1 + below(2);
  struct Window windows[2];
  MPI_Comm comm;
  CALL(Comm_dup, MPI_COMM_WORLD, &comm);
  for (int i = 0; i < count; ++i) open_window(&windows[i], comm);
  for (int i = 0; i < steps; ++i) {
    if (dies && !timed() && i == fault_when) die();
    step(windows, count, comm, pauses, forks);
  }
  if (dies && strcmp(fault, "return") == 0) return 0;
  for (int i = 0; i < count; ++i) close_window(&windows[i]);
  CALL(Comm_free, &comm);
  void* detached;
  int bytes;
  MPI_Buffer_detach(&detached, &bytes);
  MPI_Finalize();
  if (rank == 0)
    printf("soak %llu: %llx\n", (unsigned long long)seed, (unsigned long long)seed_state);
  return 0;
}
