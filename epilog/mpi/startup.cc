#include "epilog/mpi/startup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "epilog/format/mpi_functions.h"
#include "epilog/mpi/call.h"
#include "epilog/mpi/node_clock.h"
#include "epilog/mpi/state.h"

namespace kojak::measure {
namespace {

#if defined(OPEN_MPI)
constexpr char kBuiltFor[] = "Open MPI";
#elif defined(MPICH_VERSION)
constexpr char kBuiltFor[] = "MPICH";
#else
#error "The identification string of this MPI library is not known: add it here"
#endif

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

// The first records: MPI_Init, and the measurement's own start after it.
void record_init(unsigned function, Ticks returned, const void* caller) {
  Recorder& r = the_recorder;
  RegionId region{};
  if ((the_session.functions.load(std::memory_order_relaxed) &
       carries_time(static_cast<unsigned>(MpiFamily::kInit))) == 0 ||
      !ready(r, function, caller, __builtin_frame_address(0), region)) {
    return;
  }
  std::byte* p = put(r.cursor, Enter{r.lid, to_seconds(the_session.init_time), region});
  p = put(p, Exit{r.lid, to_seconds(returned)});
  p = put(p, EnterTracing{r.lid, to_seconds(returned)});
  r.last = ticks();
  publish(r, put(p, ExitTracing{r.lid, to_seconds(r.last)}));
}

}  // namespace

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
  if (strncmp(version, kBuiltFor, sizeof kBuiltFor - 1) != 0) {
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

void finish_startup(unsigned function, int thread_level, const void* caller) {
  Session& s = the_session;
  const Ticks returned = ticks();
  s.config = read_config();
  s.multi_threaded = thread_level == MPI_THREAD_MULTIPLE;
  s.write_state = write_state;
  name_program();
  int rank = 0, size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  s.run.rank = static_cast<std::uint32_t>(rank);
  s.run.size = static_cast<std::uint32_t>(size);
  if (!share_node_clock() || !agree_on_run()) {
    forget_nodes();
    return;
  }
  if (s.config.complaint != nullptr && s.config.verbose && s.run.rank == 0) {
    say("%s is not understood; its default is used", s.config.complaint);
  }
  start_comms();
  s.live = true;
  if (!enter_run_directory()) {
    stop_recording("cannot be made", s.directory, errno);
    return;
  }
  start_recording();
  record_init(function, returned, caller);
  if (s.config.verbose && s.run.rank == 0) say("traces go to %s", s.directory);
}

void begin_shutdown(Recorder& r) {
  Session& s = the_session;
  // Up to the partner's answer it is the program that waits, not the measurement.
  const Ticks begin = measure_offset();
  forget_nodes();
  const bool inside = r.open_region != 0;  // then there is room for a call's records
  if (!s.started || s.stopped || r.trace == nullptr) return;
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
