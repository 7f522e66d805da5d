#include "epilog/mpi/sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "epilog/format/io/random_name.h"
#include "epilog/format/io/regular_file.h"
#include "epilog/mpi/args.h"
#include "epilog/mpi/call.h"
#include "epilog/mpi/imports.h"
#include "epilog/mpi/startup.h"
#include "epilog/mpi/state.h"
#include "epilog/runtime/node_clock.h"
#include "epilog/runtime/program_floats.h"

namespace kojak::measure {
namespace {

bool by_session = false;
unsigned sessions = 0;
bool own_open = false;
MPI_Session own_session;
MPI_Group own_world;

// What the first process of each node leaves in the run's directory, as session.<node>. The first
// of the run is node 0; its file makes the directory that of this run.
struct NodeFile {
  char magic[8];
  std::uint64_t run_hi, run_lo;
  std::uint64_t launch;  // equal in the processes that one launcher started
  std::uint64_t node;
  Ticks base;
  double scale;
};
constexpr char kMagic[8] = {'k', 'o', 'j', 'a', 'k', ' ', '0', '1'};
constexpr unsigned kMostNodes = 1u << 20;

std::uint64_t hash_text(std::uint64_t hash, const char* text) {
  for (; *text != '\0'; ++text) hash = mix(hash * 31 + static_cast<unsigned char>(*text));
  return hash;
}

// When a process began, in ticks of the kernel since it booted.
std::uint64_t start_of(pid_t pid) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  text[got > 0 ? got : 0] = '\0';
  const char* field = strrchr(text, ')');  // the name may hold blanks
  for (int i = 0; i < 20 && field != nullptr; ++i) field = strchr(field + 1, ' ');
  return field == nullptr ? 0 : strtoull(field, nullptr, 10);
}

// Names of one launch that reach all nodes; else the process that started us, which is the same for
// all of its node; else this process is alone.
std::uint64_t launch_key() {
  std::uint64_t key = 1;
  bool named = false;
  for (const char* name : {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID",
                           "PALS_APID", "FLUX_JOB_ID"}) {
    if (const char* value = getenv(name)) {
      key = hash_text(hash_text(key, name), value);
      named = true;
    }
  }
  if (named) return key;
  key = node_key();
  const bool launched = getenv("PMI_RANK") != nullptr || getenv("PMIX_RANK") != nullptr;
  const pid_t pid = launched ? getppid() : getpid();
  return mix(mix(key + static_cast<std::uint64_t>(pid)) + start_of(pid));
}

bool read_node_file(const char* path, NodeFile& file) {
  const int fd = open_regular_file(path);
  if (fd < 0) return false;
  const ssize_t got = read(fd, &file, sizeof file);
  close(fd);
  return got == static_cast<ssize_t>(sizeof file) && memcmp(file.magic, kMagic, sizeof kMagic) == 0;
}

// Complete from the moment at which it has its name; false if somebody else was first.
bool leave_node_file(const char* path, const NodeFile& file) {
  char temporary[sizeof the_session.directory + 64];
  int fd = -1;
  for (int attempt = 0; attempt < kNameAttempts && fd < 0; ++attempt) {
    snprintf(temporary, sizeof temporary, "%s.%s.new", path, RandomName().text);
    fd = open(temporary, O_WRONLY | kNewFile, 0666);
    if (fd < 0 && errno != EEXIST) break;
  }
  if (fd < 0) return false;
  const bool written = write(fd, &file, sizeof file) == static_cast<ssize_t>(sizeof file);
  close(fd);
  const bool first = written && link(temporary, path) == 0;
  const int reason = errno;
  unlink(temporary);
  errno = reason;
  return first;
}

// Takes part in the run that has this directory, if it is ours.
bool join_run_in(const char* directory) {
  const ProgramFloats floats;
  Session& s = the_session;
  char path[sizeof s.directory + 32];
  NodeFile mine{}, run{};
  memcpy(mine.magic, kMagic, sizeof kMagic);
  mine.launch = launch_key();
  mine.node = node_key();
  // Others of this node may have begun a little earlier than the one that is first here.
  const Ticks second = ticks_per_second();
  mine.base = s.init_time > second ? s.init_time - second : 0;
  mine.scale = the_clock.scale;
  std::uint64_t random[2];
  if (getrandom(random, sizeof random, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof random)) {
    random[0] = mix(monotonic_nanoseconds());
    random[1] = mix(static_cast<std::uint64_t>(getpid()) + ticks());
  }
  mine.run_hi = random[0];
  mine.run_lo = random[1];
  for (unsigned node = 0; node < kMostNodes; ++node) {
    NodeFile found{};
    snprintf(path, sizeof path, "%s/session.%u", directory, node);
    bool first = false;
    if (!read_node_file(path, found)) {
      // Traces without such a file are another run's; but its file may have come meanwhile.
      if (node == 0 && holds_traces(directory) && !read_node_file(path, found)) return false;
      if (found.launch == 0) {
        first = leave_node_file(path, mine);
        if (first) {
          found = mine;
        } else if (const int reason = errno; !read_node_file(path, found)) {
          errno = reason;
          return false;
        }
      }
    }
    if (node == 0) {
      run = found;
      mine.run_hi = run.run_hi;
      mine.run_lo = run.run_lo;
    }
    if (run.launch != mine.launch) return false;
    // A job may start several programs one after the other: then this one's trace is there.
    snprintf(path, sizeof path, "%s/%u.0.elg", directory, s.run.rank);
    if (access(path, F_OK) == 0) return false;
    if (found.node != mine.node) continue;
    s.run.run_hi = run.run_hi;
    s.run.run_lo = run.run_lo;
    s.run.node = node;
    s.run.nodes = node + 1;
    s.run.first_of_node = first;
    the_clock.base = found.base;
    the_clock.scale = found.scale;
    if (static_cast<std::int64_t>(s.init_time - the_clock.base) < 0) s.init_time = the_clock.base;
    return true;
  }
  return false;
}

// Rank and size in mpi://WORLD.
bool learn_world() {
  keep_own_session();
  int rank = 0, size = 0;
  if (!own_open || mpi::Group_rank(own_world, &rank) != MPI_SUCCESS ||
      mpi::Group_size(own_world, &size) != MPI_SUCCESS || rank < 0) {
    return false;
  }
  the_session.run.rank = static_cast<std::uint32_t>(rank);
  the_session.run.size = static_cast<std::uint32_t>(size);
  return true;
}

// The files of a program that has finalised all its sessions are closed when it ends.
__attribute__((destructor)) void end_at_exit() {
  if (!by_session || sessions != 0 || !is_live()) return;
  const OwnFrame own(the_recorder);
  const ProgramFloats floats;
  write_clock_rate(the_recorder);
  finish_shutdown();
}

}  // namespace

bool began_with_session() {
  return by_session;
}
unsigned open_sessions() {
  return sessions;
}
void note_session_opened() {
  ++sessions;
}
void note_session_closed() {
  if (sessions != 0) --sessions;
}

void keep_own_session() {
  if (own_open) return;
  MPI_Session session{};
  if (mpi::Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) return;
  if (mpi::Group_from_session_pset(session, "mpi://WORLD", &own_world) != MPI_SUCCESS) {
    mpi::Session_finalize(&session);
    return;
  }
  own_session = session;
  own_open = true;
  use_world_group(own_world);
}

void drop_own_session() {
  if (!own_open) return;
  own_open = false;
  use_world_group(MPI_GROUP_NULL);
  mpi::Group_free(&own_world);
  mpi::Session_finalize(&own_session);
}

void start_from_session(unsigned function, const void* caller) {
  const ProgramFloats floats;
  Session& s = the_session;
  const Ticks returned = ticks();
  sessions = 1;
  // Sessions may be given to several threads, each with its own level.
  s.multi_threaded = true;
  s.one_caller = false;
  if (!begin_session(learn_world)) {
    say_why_not(
        "the processes of mpi://WORLD are not known; nothing is recorded, the program runs on");
    return;
  }
  the_clock.scale = calibrate(s.clock_start, read_both_clocks());
  if (!join_run_directory(join_run_in)) return;
  s.run.offset_measured = false;
  by_session = true;
  make_world_group(s.run.size);
  the_session.write_mpi_state = write_state;
  begin_recording(function, returned, caller, note_unrecorded_functions);
}

void record_late_init(unsigned function, Ticks enter, Ticks exit, const void* caller) {
  {
    const BookkeepingLock lock;
    start_world_comms();
  }
  record_init(function, enter, exit, caller);
}

}  // namespace kojak::measure
