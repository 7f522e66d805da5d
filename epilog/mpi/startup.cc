#include "epilog/mpi/startup.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "epilog/format/mpi_functions.h"
#include "epilog/mpi/call.h"
#include "epilog/mpi/imports.h"
#include "epilog/mpi/node_clock.h"
#include "epilog/mpi/sessions.h"
#include "epilog/mpi/state.h"

namespace kojak::measure {
namespace {

// What libraries with the binary interface that this one was built for call themselves: handles and
// statuses are the same. MPICH's relatives agreed upon it (MPICH ABI Compatibility Initiative).
#if defined(OPEN_MPI)
constexpr char kBuiltFor[] = "Open MPI";
constexpr const char* kFitting[] = {"Open MPI"};
#elif defined(MPICH_VERSION) || defined(MPICH_NAME) || defined(I_MPI_VERSION) || \
    defined(MVAPICH_VERSION)
constexpr char kBuiltFor[] = "MPICH";
constexpr const char* kFitting[] = {"MPICH", "MVAPICH", "Intel(R) MPI Library",
                                    "MPI VERSION    : CRAY MPICH"};
#else
#error "The identification string of this MPI library is not known: add it here"
#endif

bool fits(const char* version) {
  for (const char* name : kFitting) {
    if (strncmp(version, name, strlen(name)) == 0) return true;
  }
  return false;
}

// The rank as launchers tell it before MPI may be asked; 0 if none does.
bool is_first_by_environment() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* rank = getenv(name)) return strcmp(rank, "0") == 0;
  }
  return true;
}

void name_program() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  const char* slash = strrchr(path, '/');
  snprintf(the_session.program, sizeof the_session.program, "%.200s",
           slash != nullptr && slash[1] != '\0' ? slash + 1 : "program");
  if (gethostname(the_session.node_name, sizeof the_session.node_name - 1) != 0) {
    snprintf(the_session.node_name, sizeof the_session.node_name, "node");
  }
}

struct Announcement {
  std::uint64_t run_hi, run_lo;
  char directory[sizeof the_session.directory];
};

// Rank 0 chooses where the traces go and what the run is called. False if there is nowhere to go.
bool agree_on_run() {
  Session& s = the_session;
  static Announcement announcement;
  if (s.run.rank == 0) {
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    make_run_directory(parent != MPI_COMM_NULL);
    // Without the kernel's random numbers the clock and the process id must do.
    std::uint64_t random[2];
    if (getrandom(random, sizeof random, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof random)) {
      random[0] = mix(monotonic_nanoseconds());
      random[1] = mix(static_cast<std::uint64_t>(getpid()) + ticks());
    }
    announcement.run_hi = random[0];
    announcement.run_lo = random[1];
    memcpy(announcement.directory, s.directory, sizeof s.directory);
  }
  if (PMPI_Bcast(&announcement, sizeof announcement, MPI_BYTE, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
    return false;
  memcpy(s.directory, announcement.directory, sizeof s.directory);
  s.run.run_hi = announcement.run_hi;
  s.run.run_lo = announcement.run_lo;
  return s.directory[0] != '\0';
}

bool records_init() {
  return (the_session.functions.load(std::memory_order_relaxed) &
          carries_time(static_cast<unsigned>(MpiFamily::kInit))) != 0;
}

// The measurement's own start, behind the first call.
void record_start(Ticks returned) {
  Recorder& r = the_recorder;
  if (!records_init() || r.trace == nullptr || !make_room_for(r, 2 * kMaxRecord)) return;
  std::byte* const p = put(r.cursor, EnterTracing{r.lid, to_seconds(returned)});
  r.last = ticks();
  publish(r, put(p, ExitTracing{r.lid, to_seconds(r.last)}));
}

// MPI's start came to this library, or to another copy of it.
bool seen_start = false;
pid_t loaded_in = 0;

__attribute__((constructor)) void note_process() {
  loaded_in = getpid();
}

// MPI ran and we did not: that is said at the end, for nothing of ours was called before. Not by
// the children of a process, and not in programs that never start MPI.
__attribute__((destructor)) void say_if_passed_by() {
  int started = 0;
  if (seen_start || getpid() != loaded_in || PMPI_Initialized(&started) != MPI_SUCCESS ||
      started == 0 || !is_first_by_environment()) {
    return;
  }
  say("nothing was recorded: MPI ran, but its start did not come to this library; the program "
      "takes "
      "MPI_Init from a handle (dlsym), or another library in front of this one keeps it to itself "
      "(name this one first in LD_PRELOAD)");
}

}  // namespace

// Every copy of this library has it: one linked into the program as an archive and one preloaded
// may meet.
extern "C" __attribute__((visibility("default"), used)) void elg_start_is_seen() {
  seen_start = true;
}

void note_start() {
  seen_start = true;
  // The first one in the program's order of libraries, and the next behind us.
  for (void* const where : {RTLD_DEFAULT, RTLD_NEXT}) {
    auto* const tell = reinterpret_cast<void (*)()>(dlsym(where, "elg_start_is_seen"));
    if (tell != nullptr) tell();
  }
}

void record_init(unsigned function, Ticks enter, Ticks exit, const void* caller) {
  Recorder& r = the_recorder;
  RegionId region{};
  if (!records_init() || !ready(r, function, caller, __builtin_frame_address(0), region)) return;
  r.last = exit;
  publish(r, put(put(r.cursor, Enter{r.lid, to_seconds(enter), region}),
                 Exit{r.lid, to_seconds(exit)}));
}

bool prepare_startup() {
  Session& s = the_session;
  // Larger than any library's constant: this may be another one than ours.
  static char version[16384];
  int length = 0;
  PMPI_Get_library_version(version, &length);
  snprintf(s.library, sizeof s.library, "%.240s", version);
  s.library[strcspn(s.library, ",\n")] = '\0';
  for (char& c : s.library) {
    if (c == '\t') c = ' ';
  }
  if (!fits(version)) {
    if (is_first_by_environment()) {
      say("this measurement library is for %s, the program runs with %s; nothing is recorded, the "
          "program runs on",
          kBuiltFor, s.library);
    }
    return false;
  }
  choose_clock();
  s.clock_start = read_both_clocks();
  s.init_time = ticks();
  return true;
}

bool begin_session(bool (*learn_world)()) {
  the_session.config = read_config();
  the_session.write_state = write_state;
  name_program();
  return learn_world();
}

void finish_startup(unsigned function, int thread_level, const void* caller) {
  Session& s = the_session;
  const Ticks returned = ticks();
  s.multi_threaded = thread_level == MPI_THREAD_MULTIPLE;
  begin_session([] {
    int rank = 0, size = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    the_session.run.rank = static_cast<std::uint32_t>(rank);
    the_session.run.size = static_cast<std::uint32_t>(size);
    return true;
  });
  if (!share_node_clock() || !agree_on_run()) {
    forget_nodes();
    return;
  }
  start_groups();
  start_world_comms();
  begin_recording(function, returned, caller);
}

void begin_recording(unsigned function, Ticks returned, const void* caller) {
  Session& s = the_session;
  if (s.config.test_clock_rank >= static_cast<int>(s.run.size)) {
    complain(s.config, "ELG_TEST_CLOCK names rank %d of %d", s.config.test_clock_rank,
             static_cast<int>(s.run.size));
  }
  if (s.config.complaints[0] != '\0' && s.run.rank == 0) say("%s", s.config.complaints);
  s.live = true;
  if (!enter_run_directory()) {
    stop_recording("cannot be made", s.directory, errno);
    return;
  }
  start_recording();
  note_unrecorded_functions(the_recorder);
  record_init(function, s.init_time, returned, caller);
  record_start(returned);
  if (s.config.verbose && s.run.rank == 0) say("traces go to %s", s.directory);
}

void note_late_libraries(Recorder& r) {
  const Session& s = the_session;
  if (s.started && !s.stopped && !s.paused) note_unrecorded_functions(r);
}

void write_clock_rate(Recorder& r) {
  Session& s = the_session;
  if (!s.started || s.stopped || r.trace == nullptr || !s.run.first_of_node) return;
  if (!make_room_for(r, kMaxRecord)) return;
  const double factor = calibrate(s.clock_start, read_both_clocks()) / the_clock.scale;
  publish(r, put(r.cursor, ClockRate{Seconds{0}, Seconds{factor}}));
}

void begin_shutdown(Recorder& r) {
  Session& s = the_session;
  if (began_with_session()) return;  // there is nothing to exchange, and no end yet
  // Up to the partner's answer it is the program that waits, not the measurement.
  const Ticks begin = measure_offset();
  forget_nodes();
  const bool inside = r.open_region != 0;  // then there is room for a call's records
  if (!s.started || s.stopped || r.trace == nullptr) return;
  if (inside) settle_note(r);
  if (!s.paused && !inside && !make_room(r)) return;
  std::byte* p = r.cursor;
  if (!s.paused) p = put(p, EnterTracing{r.lid, to_seconds(begin)});
  if (s.run.first_of_node) {  // it speaks for its node
    p = put(p, Offset{s.run.offset_time, Seconds{s.run.clock_offset}});
    if (static_cast<int>(s.run.rank) != s.config.test_clock_rank) {
      const double factor = calibrate(s.clock_start, read_both_clocks()) / the_clock.scale;
      p = put(p, ClockRate{Seconds{0}, Seconds{factor}});
    }
  }
  if (!s.paused) {
    r.last = ticks();
    p = put(p, ExitTracing{r.lid, to_seconds(r.last)});
  }
  publish(r, p);
}

void finish_shutdown() {
  finish_recording();
  leave_session();
}

}  // namespace kojak::measure
