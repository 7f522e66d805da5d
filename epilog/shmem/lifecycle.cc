// shmem_init, shmem_init_thread, start_pes, shmem_finalize and what else is not generated: contexts
// and teams, shmem_pcontrol.
//
// Whichever library the program starts first begins the session: a program that has begun MPI
// already is recorded by MPI's start, and SHMEM joins it. What libraries between may do with these
// calls is in chain.h. Recording ends with shmem_finalize, or at
// the program's exit where it does not call that; where MPI goes on, with MPI_Finalize.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <string_view>

#include "epilog/format/shmem_functions.h"
#include "epilog/runtime/program_floats.h"
#include "epilog/runtime/startup.h"
#include "epilog/shmem/call.h"
#include "epilog/shmem/constants.h"
#include "epilog/shmem/exchange.h"
#include "epilog/shmem/forwards.h"

namespace kojak::measure {

// What the part for MPI has to do, where it is in this library, too (epilog/mpi/comm.h).
[[gnu::weak]] void join_mpi();
[[gnu::weak]] bool mpi_is_over();
[[gnu::weak]] void note_unrecorded_functions(Recorder& r);

void missing_shmem_function(const char* name) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    say("the SHMEM library has no function %s; the call does nothing", name);
}

namespace {

bool starting = false, joined = false, ended = false;

// What the library calls itself; empty where it does not tell.
struct LibraryName {
  char text[512] = "";
  LibraryName() {
    if (void* const get_name = shmem_library_function("shmem_info_get_name"))
      reinterpret_cast<void (*)(char*)>(get_name)(text);
  }
};

void name_library() {
  Session& s = the_session;
  int major = 0, minor = 0;
  const LibraryName name;
  if (void* const get_version = shmem_library_function("shmem_info_get_version"))
    reinterpret_cast<void (*)(int*, int*)>(get_version)(&major, &minor);
  // "Sandia OpenSHMEM 1.5", "Other SHMEM (OpenSHMEM 1.4)", "libsma.so.1 (OpenSHMEM)"
  const char* const text = *name.text != '\0' ? name.text : shmem_library().name();
  constexpr std::string_view kStandard = "OpenSHMEM";
  const bool says_standard = std::string_view(text).ends_with(kStandard);
  char version[32] = "";
  if (major != 0) snprintf(version, sizeof version, " %d.%d", major, minor);
  snprintf(s.library, sizeof s.library, says_standard ? "%.200s%s" : "%.200s (OpenSHMEM%s)", text,
           version);
  for (char* c = s.library; *c != '\0'; ++c) {
    if (*c == '\t' || *c == '\n') *c = ' ';
  }
}

bool learn_world() {
  const int pe = kojak_pshmem_my_pe(), pes = kojak_pshmem_n_pes();
  the_session.run.rank = static_cast<std::uint32_t>(pe);
  the_session.run.size = static_cast<std::uint32_t>(pes);
  return pe >= 0 && pes > pe;
}

// SHMEM is there: its groups and the places of symmetric memory. The block is given back before the
// program asks for one.
void join_shmem() {
  joined = true;
  choose_constants(LibraryName().text, shmem_library().name());
  the_session.shmem_functions = shmem_functions().data();
  the_session.write_shmem_state = write_set_states;
  void* const first = kojak_pshmem_malloc(8);
  start_places(first);
  if (first != nullptr) kojak_pshmem_free(first);
}

// The program ends without shmem_finalize, which it need not call. Nothing is asked of the others,
// which may be gone.
void end_at_exit() {
  if (ended || !is_live()) return;
  if (mpi_is_over != nullptr && !mpi_is_over() && the_session.write_mpi_state != nullptr && !joined)
    return;
  ended = true;
  const OwnFrame own(the_recorder);
  const ProgramFloats floats;
  write_clock_rate(the_recorder);
  finish_shutdown();
}

// A call that starts SHMEM, in hand.
struct Start {
  const ShmemEntry* entry;
  const void* caller;
  bool between = false;  // another library's shmem_init stands before pshmem_init
  bool passed = false;   // that has been called
  PlainCall call;        // its region, while it stays open behind pshmem_init
};
Start* start_in_hand = nullptr;
bool end_in_hand = false;

void begin_here(const ShmemEntry& entry, const int* provided, const void* caller, PlainCall* open) {
  const Ticks returned = ticks();
  const ProgramFloats floats;
  the_session.multi_threaded = provided != nullptr && is_thread_multiple(*provided);
  if (!begin_session(learn_world)) return;
  name_library();
  if (!join_run(kShmemExchange, false)) return;
  join_shmem();
  if (join_mpi != nullptr) join_mpi();
  begin_recording(entry.function, returned, caller, note_unrecorded_functions, open);
  atexit(end_at_exit);
}

// SHMEM's own start is the call.
template <class F>
void start_session(const ShmemEntry& entry, const char* name, const F& call, const int* provided,
                   const void* caller) {
  if (void (*const tell)() = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "elg_start_is_seen")))
    tell();
  start_clock();
  Start start{&entry, caller, shmem_floor_is_there && goes_to_another_shmem(name)};
  start_in_hand = &start;
  call();
  start_in_hand = nullptr;
  if (start.passed) {
    if (start.call.measured && is_live()) end_call(start.call);
    return;
  }
  const OwnFrame own(the_recorder);
  begin_here(entry, provided, caller, nullptr);
}

template <class F>
void initialise(const ShmemEntry& entry, const char* name, const F& call, const int* provided,
                const void* caller) {
  if (starting || joined || ended) return call();
  starting = true;
  if (!is_live()) {
    start_session(entry, name, call, provided, caller);
  } else {
    const int pes = static_cast<int>(the_session.run.size);
    the_session.shmem_functions = shmem_functions().data();
    ShmemCall measured(entry, caller);
    call();
    measured.end();
    const OwnFrame own(the_recorder);
    const auto same_rank = static_cast<std::uint32_t>(kojak_pshmem_my_pe()) == the_session.run.rank;
    if (kojak_pshmem_n_pes() == pes && same_rank) {
      join_shmem();
      if (provided != nullptr && is_thread_multiple(*provided)) the_session.multi_threaded = true;
      atexit(end_at_exit);
    } else if (the_session.run.rank == 0) {
      say("PEs of SHMEM have other numbers than processes of MPI_COMM_WORLD; what SHMEM does is "
          "recorded as if they had not");
    }
  }
  starting = false;
}

template <class F>
void finalise(const void* caller, const F& go_on) {
  if (ended || !is_live()) return go_on();
  ended = true;
  {
    ShmemCall call(kShmemFinalize, caller);
    if (call.measured() && !shmem_floor_is_there) begin_shutdown(the_recorder);
    call.about_set(AllMembers{}, -1);
    end_in_hand = true;
    go_on();
    end_in_hand = false;
    call.finalized();
  }
  if (mpi_is_over == nullptr || mpi_is_over()) {
    const OwnFrame own(the_recorder);
    finish_shutdown();
  }
}

// Collective over the parent; `adopt` takes note of what was made of it.
template <class F, class G>
int make_teams(const ShmemEntry& entry, Team parent, const void* caller, const F& made,
               const G& adopt) {
  ShmemCall call(entry, caller);
  const int result = made();
  if (call.measured()) {
    const BookkeepingLock lock;
    CommObject* const of = find_team(parent);
    if (of != nullptr && result == 0) adopt(of, next_team_ordinal(of));
  }
  call.collective(TeamMembers{parent}, -1, Shape::kNone, 0, false);
  return result;
}

template <class F>
void pass_init(const int* provided, const F& real) {
  Start* const start = start_in_hand;
  real();
  if (start == nullptr || start->passed || is_live()) return;
  start->passed = true;
  begin_here(*start->entry, provided, start->caller, start->between ? &start->call : nullptr);
}

}  // namespace

void pass_shmem_init() {
  auto* const real = reinterpret_cast<void (*)()>(shmem_library_function("shmem_init"));
  pass_init(nullptr, real);
}

int pass_shmem_init_thread(int requested, int* provided) {
  auto* const real =
      reinterpret_cast<int (*)(int, int*)>(shmem_library_function("shmem_init_thread"));
  int result = 0;
  pass_init(provided, [&] { result = real(requested, provided); });
  return result;
}

void pass_shmem_finalize(const void* caller) {
  auto* const real = reinterpret_cast<void (*)()>(shmem_library_function("shmem_finalize"));
  Recorder& r = the_recorder;
  const auto end_measurement_and_shmem = [&] {
    if (is_live() && joined) begin_shutdown(r);
    real();
  };
  if (end_in_hand || ended || !is_live()) return end_measurement_and_shmem();
  // Out of shmem_init, where a server stays to its end.
  while (r.frame != nullptr) drop_innermost(r, ticks());
  finalise(caller, end_measurement_and_shmem);
}

}  // namespace kojak::measure

#define KOJAK_WRAPPER extern "C" __attribute__((visibility("default"), used))
using namespace kojak::measure;

KOJAK_WRAPPER void kojak_shmem_init() __asm__("shmem_init");
void kojak_shmem_init() {
  initialise(
      kShmemInit, "shmem_init", [] { next_shmem_init(); }, nullptr, __builtin_return_address(0));
}

KOJAK_WRAPPER int kojak_shmem_init_thread(int requested,
                                          int* provided) __asm__("shmem_init_thread");
int kojak_shmem_init_thread(int requested, int* provided) {
  int result = 0;
  initialise(
      kShmemInitThread, "shmem_init_thread",
      [&] { result = next_shmem_init_thread(requested, provided); }, provided,
      __builtin_return_address(0));
  return result;
}

KOJAK_WRAPPER void kojak_start_pes(int npes) __asm__("start_pes");
void kojak_start_pes(int npes) {
  initialise(
      kStartPes, "start_pes", [=] { next_start_pes(npes); }, nullptr, __builtin_return_address(0));
}

KOJAK_WRAPPER void kojak_shmem_finalize() __asm__("shmem_finalize");
void kojak_shmem_finalize() {
  finalise(__builtin_return_address(0), [] { next_shmem_finalize(); });
}

KOJAK_WRAPPER void kojak_shmem_pcontrol(int level, ...) __asm__("shmem_pcontrol");
void kojak_shmem_pcontrol(int level, ...) {
  if (is_live() && the_recorder.frame == nullptr) {
    const OwnFrame own(the_recorder);
    if (level == 0) pause_recording(the_recorder);
    if (level == 1) resume_recording(the_recorder);
    if (level == 2) flush_now(the_recorder);
  }
  if (void* const own = shmem_library_function("shmem_pcontrol"))
    reinterpret_cast<void (*)(int, ...)>(own)(level);
}

KOJAK_WRAPPER int kojak_shmem_ctx_create(long options, void* ctx) __asm__("shmem_ctx_create");
int kojak_shmem_ctx_create(long options, void* ctx) {
  if (!is_live()) return next_shmem_ctx_create(options, ctx);
  ShmemCall call(kShmemCtxCreate, __builtin_return_address(0));
  const int result = next_shmem_ctx_create(options, ctx);
  if (result == 0) {
    const BookkeepingLock lock;
    adopt_context(*static_cast<Context*>(ctx), nullptr);
  }
  call.end();
  return result;
}

KOJAK_WRAPPER void kojak_shmem_ctx_destroy(Context ctx) __asm__("shmem_ctx_destroy");
void kojak_shmem_ctx_destroy(Context ctx) {
  if (!is_live()) return next_shmem_ctx_destroy(ctx);
  std::uint32_t number = 0;
  {
    const BookkeepingLock lock;
    number = context_number(ctx);
    forget_context(ctx);  // another thread may be given the same handle at once
  }
  ShmemCall call(kShmemCtxDestroy, __builtin_return_address(0));
  next_shmem_ctx_destroy(ctx);
  call.context_ended(number);
}

KOJAK_WRAPPER int kojak_shmem_team_create_ctx(Team team, long options,
                                              void* ctx) __asm__("shmem_team_create_ctx");
int kojak_shmem_team_create_ctx(Team team, long options, void* ctx) {
  if (!is_live()) return next_shmem_team_create_ctx(team, options, ctx);
  ShmemCall call(kShmemTeamCreateCtx, __builtin_return_address(0));
  const int result = next_shmem_team_create_ctx(team, options, ctx);
  if (result == 0) {
    const BookkeepingLock lock;
    adopt_context(*static_cast<Context*>(ctx), find_team(team));
  }
  call.end();
  return result;
}

KOJAK_WRAPPER int kojak_shmem_team_split_strided(
    Team team, int start, int stride, int size, const void* config, long config_mask,
    void* new_team) __asm__("shmem_team_split_strided");
int kojak_shmem_team_split_strided(Team team, int start, int stride, int size, const void* config,
                                   long config_mask, void* new_team) {
  const auto made = [=] {
    return next_shmem_team_split_strided(team, start, stride, size, config, config_mask, new_team);
  };
  if (!is_live()) return made();
  return make_teams(
      kShmemTeamSplitStrided, team, __builtin_return_address(0), made,
      [=](CommObject* parent, std::uint64_t ordinal) {
        const std::uint32_t me = place_in(*parent);
        const int at = static_cast<int>(me) - start;
        const bool member =
            me != kojak::kAbsent &&
            (stride == 0 ? at == 0 : at % stride == 0 && at / stride >= 0 && at / stride < size);
        if (member) adopt_team(*static_cast<Team*>(new_team), parent, start, stride, size, ordinal);
      });
}

KOJAK_WRAPPER int kojak_shmem_team_split_2d(Team team, int xrange, const void* xaxis_config,
                                            long xaxis_mask, void* xaxis_team,
                                            const void* yaxis_config, long yaxis_mask,
                                            void* yaxis_team) __asm__("shmem_team_split_2d");
int kojak_shmem_team_split_2d(Team team, int xrange, const void* xaxis_config, long xaxis_mask,
                              void* xaxis_team, const void* yaxis_config, long yaxis_mask,
                              void* yaxis_team) {
  const auto made = [=] {
    return next_shmem_team_split_2d(team, xrange, xaxis_config, xaxis_mask, xaxis_team,
                                    yaxis_config, yaxis_mask, yaxis_team);
  };
  if (!is_live()) return made();
  return make_teams(kShmemTeamSplit2d, team, __builtin_return_address(0), made,
                    [=](CommObject* parent, std::uint64_t ordinal) {
                      const int me = static_cast<int>(place_in(*parent));
                      const int all = static_cast<int>(parent->group->count);
                      const int width = xrange < all ? xrange : all;
                      if (me < 0 || width <= 0) return;
                      const int row = me / width, column = me % width;
                      const int in_row = row * width + width <= all ? width : all - row * width;
                      const int in_column = (all - column + width - 1) / width;
                      adopt_team(*static_cast<Team*>(xaxis_team), parent, row * width, 1, in_row,
                                 2 * ordinal);
                      adopt_team(*static_cast<Team*>(yaxis_team), parent, column, width, in_column,
                                 2 * ordinal + 1);
                    });
}

KOJAK_WRAPPER void kojak_shmem_team_destroy(Team team) __asm__("shmem_team_destroy");
void kojak_shmem_team_destroy(Team team) {
  if (!is_live()) return next_shmem_team_destroy(team);
  ShmemCall call(kShmemTeamDestroy, __builtin_return_address(0));
  CommObject* set = nullptr;
  {
    const BookkeepingLock lock;
    set = find_team(team);
    forget_team(team);
  }
  struct Known {
    CommObject* set;
    CommObject* find() const { return set; }
  };
  next_shmem_team_destroy(team);
  call.collective(Known{set}, -1, Shape::kNone, 0, false);
}
