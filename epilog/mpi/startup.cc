#include "epilog/mpi/startup.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epilog/format/run_property_keys.h"
#include "epilog/mpi/call.h"
#include "epilog/mpi/exchange.h"
#include "epilog/mpi/imports.h"
#include "epilog/mpi/in_front.h"
#include "epilog/mpi/sessions.h"
#include "epilog/runtime/library_code.h"
#include "epilog/runtime/program_floats.h"
#include "epilog/runtime/run_properties.h"

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

// MPI's start came to this library, or to another copy of it.
bool seen_start = false;
bool came_here = false;
pid_t loaded_in = 0;

__attribute__((constructor)) void note_process() {
  loaded_in = getpid();
}

// MPI ran and we did not: that is said at the end, for nothing of ours was called before. Not by
// the children of a process, and not in programs that never start MPI.
__attribute__((destructor)) void say_if_passed_by() {
  int started = 0;
  if (seen_start || getpid() != loaded_in || !is_first_by_environment()) return;
  auto* const ask = reinterpret_cast<int (*)(int*)>(find_own_alone("MPI_Initialized"));
  if (ask == nullptr || ask(&started) != MPI_SUCCESS || started == 0) return;
  say_why_not(
      "nothing was recorded: MPI ran, but its start did not come to this library; the program "
      "takes MPI_Init from a handle (dlsym), or was opened with RTLD_DEEPBIND, or another library "
      "in front of this one keeps it to itself (name this one first in LD_PRELOAD)");
}

}  // namespace

// Every copy of this library has it: one linked into the program as an archive and one preloaded
// may meet.
extern "C" __attribute__((visibility("default"), used)) void elg_start_is_seen() {
  seen_start = true;
}

bool another_copy_measures() {
  return seen_start && !came_here;
}

void note_start() {
  seen_start = came_here = true;
  // The first one in the program's order of libraries, and the next behind us.
  for (void* const where : {RTLD_DEFAULT, RTLD_NEXT}) {
    auto* const tell = reinterpret_cast<void (*)()>(dlsym(where, "elg_start_is_seen"));
    if (tell != nullptr) tell();
  }
}

// Before any of its constants is used.
static bool is_known_mpi() {
  if (the_mpi.kind == TheMpi::Kind::kFound) return true;
  if (!is_first_by_environment()) return false;
  if (the_mpi.kind == TheMpi::Kind::kAbi) {
    say_why_not(
        "nothing is recorded: the program is built for the interface of MPI 5 (%s), which this "
        "measurement library does not know; the program runs on",
        the_mpi.file.name());
    return false;
  }
  const LoadedFile file = file_of(the_chain.next[args::Init::kFunction]);
  say_why_not(
      "nothing is recorded: MPI_Init is that of %s, which is no MPI that this measurement library "
      "knows; the program runs on",
      *file.name() != '\0' ? file.name() : "the program itself");
  return false;
}

bool prepare_startup() {
  Session& s = the_session;
  if (!is_known_mpi()) return false;
  note_library_code(the_chain.own[args::GetLibraryVersion::kFunction]);
  // Larger than any library's constant: this may be another one than ours.
  static char version[16384];
  int length = 0;
  mpi::Get_library_version(version, &length);
  snprintf(s.library, sizeof s.library, "%.240s", version);
  s.library[strcspn(s.library, ",\n")] = '\0';
  for (char& c : s.library) {
    if (c == '\t') c = ' ';
  }
  if (!fits(version) || !the_mpi.has_constants) {
    if (is_first_by_environment()) {
      say_why_not(
          "this measurement library is for %s, the program runs with %s; nothing is recorded, the "
          "program runs on",
          kBuiltFor, s.library);
    }
    return false;
  }
  start_clock();
  return true;
}

bool prepare_outside() {
  const void* const first = dlsym(RTLD_DEFAULT, "MPI_Init");
  const bool ours = first == nullptr || is_in_our_file(first);
  note_start();
  if (!ours) {
    the_session.run.records = false;
    const LoadedFile file = file_of(first);
    if (is_first_by_environment()) {
      if (*file.path == '\0') {
        say_why_not(
            "nothing is recorded: the program has an MPI_Init of its own, which stands in front "
            "of this library; the program runs on");
      } else {
        say_why_not(
            "nothing is recorded: %s is in front of this library; name this one first "
            "(LD_PRELOAD, or before it on the command line of the linker)",
            file.name());
      }
    }
  }
  return prepare_startup();
}

// The level that MPI_Init grants may come from the environment.
static const char* thread_level() {
  int level = MPI_THREAD_SINGLE;
  if (mpi::Query_thread(&level) != MPI_SUCCESS) return nullptr;
  the_session.multi_threaded = level == MPI_THREAD_MULTIPLE;
  the_session.one_caller = level <= MPI_THREAD_FUNNELED;
  return level == MPI_THREAD_MULTIPLE     ? "multiple"
         : level == MPI_THREAD_SERIALIZED ? "serialized"
         : level == MPI_THREAD_FUNNELED   ? "funneled"
                                          : "single";
}

// As many names as a string record holds.
static void note_libraries_between(Recorder& r) {
  char names[240] = "";
  constexpr std::size_t kForMore = sizeof " and 1000000000 more";
  std::size_t length = 0;
  for (unsigned i = 0; i < the_mpi.between_count; ++i) {
    const char* const name = the_mpi.between[i].name();
    const char* const comma = i == 0 ? "" : ", ";
    if (length + strlen(comma) + strlen(name) + kForMore > sizeof names && i != 0) {
      snprintf(names + length, sizeof names - length, " and %u more", the_mpi.between_count - i);
      break;
    }
    snprintf(names + length, sizeof names - length, "%s%s", comma, name);
    length = strlen(names);
  }
  if (r.trace == nullptr || names[0] == '\0') return;
  if (make_room_for(r, 8 * kMaxRecord)) define_property(r, run_property::kBetween, names);
}

static void note_threads(Recorder& r) {
  const char* const name = thread_level();
  if (r.trace == nullptr || name == nullptr) return;
  if (make_room_for(r, 4 * kMaxRecord)) define_property(r, run_property::kThreads, name);
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF before all else, the last one that was set
// first: one that is set before the program can set any is the last to go.
namespace {
bool ends_in_last_call = false;
bool joined = false;  // of the run, though nothing may be recorded here

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

int end_measurement(MPI_Comm, int, void*, void*) {
  Recorder& r = the_recorder;
  if (!joined || the_session.shut) return MPI_SUCCESS;
  if (r.frame != nullptr) left_behind(r, __builtin_frame_address(0));
  CallFrame* const last_call = r.frame;
  if (last_call != nullptr) last_call->in_call = false;
  begin_shutdown(r);
  if (last_call != nullptr) last_call->in_call = true;
  return MPI_SUCCESS;
}

void arrange_end() {
  int key = MPI_KEYVAL_INVALID;
  if (mpi::Comm_create_keyval(copy_nothing, end_measurement, &key, nullptr) != MPI_SUCCESS) return;
  ends_in_last_call = mpi::Comm_set_attr(MPI_COMM_SELF, key, nullptr) == MPI_SUCCESS;
  mpi::Comm_free_keyval(&key);
}
}  // namespace

void end_before_last_call(Recorder& r) {
  // Sessions have nothing to exchange, and no end yet.
  if (joined && !ends_in_last_call) begin_shutdown(r);
}

// A shim that passes the version on has handles of its own; its conversions show it.
static bool has_our_handles() {
#if defined(OPEN_MPI)
  return mpi::Comm_f2c(0) == MPI_COMM_WORLD;
#else
  return true;  // numbers, which mpi.h converts
#endif
}

void finish_startup(unsigned function, const void* caller, PlainCall* open) {
  const Ticks returned = ticks();
  const ProgramFloats floats;
  if (!has_our_handles()) {
    if (is_first_by_environment()) {
      say_why_not(
          "nothing is recorded: the handles of %s are not those of the MPI that it says it is "
          "(%s); the program runs on",
          the_mpi.file.name(), the_session.library);
    }
    return;
  }
  thread_level();
  begin_session([] {
    int rank = 0, size = 0;
    mpi::Comm_rank(MPI_COMM_WORLD, &rank);
    mpi::Comm_size(MPI_COMM_WORLD, &size);
    the_session.run.rank = static_cast<std::uint32_t>(rank);
    the_session.run.size = static_cast<std::uint32_t>(size);
    return true;
  });
  MPI_Comm parent = MPI_COMM_NULL;
  mpi::Comm_get_parent(&parent);
  if (!join_run(kMpiExchange, parent != MPI_COMM_NULL)) return;
  joined = true;
  arrange_end();
  if (!the_session.run.records) return;
  if (the_session.run.rank == 0) say_who_is_in_front();
  start_world_comms();
  begin_recording(
      function, returned, caller,
      [](Recorder& r) {
        note_threads(r);
        note_libraries_between(r);
        note_unrecorded_functions(r);
      },
      open);
}

void note_late_libraries(Recorder& r) {
  const Session& s = the_session;
  if (s.started && !s.stopped && !s.paused) note_unrecorded_functions(r);
}

}  // namespace kojak::measure
