#include "epilog/mpi/floor.h"

#include "epilog/mpi/args.h"
#include "epilog/mpi/hooks.h"

namespace kojak::measure {

Start* start_in_hand = nullptr;
bool end_in_hand = false;
bool program_has_ended = false;

namespace {

bool past_end = false;

bool is_between(unsigned slot) {
  return the_chain.next[slot] != the_chain.own[slot];
}
// It has a PMPI_X itself, and takes the MPI's by dlsym.
bool is_below_floor(unsigned slot) {
  return the_below[slot].load(std::memory_order_relaxed) != the_chain.own[slot];
}

}  // namespace

bool goes_through(unsigned function) {
  return is_between(function) && !(floor_is_there() && is_below_floor(function));
}

namespace {

bool passing = false;

// All processes that pass call this.
template <class F>
int pass_init(const F& real) {
  if (passing || is_live() || another_copy_measures()) return real();
  Start alone{kNoFunction, nullptr};
  Start* start = start_in_hand;
  if (start == nullptr) {
    alone.prepared = prepare_outside();
    start = &alone;
  }
  if (!start->prepared) return real();
  passing = true;
  const int result = real();
  passing = false;
  if (result != MPI_SUCCESS) return result;
  start->passed = true;
  finish_startup(start->function, start->caller, start->between ? &start->call : nullptr);
  return result;
}

int finalize_below(const void* caller) {
  return reinterpret_cast<int (*)()>(below(args::Finalize::kFunction, caller))();
}

template <class F>
int pass_finalize(const F& real) {
  if (passing || another_copy_measures()) return real();
  passing = true;
  end_before_last_call(the_recorder);
  const int result = real();
  passing = false;
  past_end = past_end || result == MPI_SUCCESS;
  return result;
}

}  // namespace

// MPI_Finalize of a process that stays in MPI_Init to its end.
struct LastCallBelow : args::Finalize {
  const void* caller;
  int call() const {
    return pass_finalize([this] { return finalize_below(caller); });
  }
};
template <>
struct Hook<LastCallBelow> : Hook<args::Finalize> {};

namespace {

// Out of MPI_Init, or long after MPI_Finalize.
int finalize_outside(const void* caller) {
  Recorder& r = the_recorder;
  while (r.frame != nullptr) drop_innermost(r, ticks());
  LastCallBelow last_call{{}, caller};
  const int result = program_has_ended ? last_call.call() : measured(last_call, caller);
  if (result != MPI_SUCCESS || !is_live()) return result;
  const OwnFrame own(r);
  note_late_libraries(r);
  finish_shutdown();
  return result;
}

}  // namespace

int go_on_init(int* argc, char*** argv) {
  const auto go_on = [&] { return next_MPI_Init(argc, argv); };
  return !floor_is_there() || goes_through(args::Init::kFunction) ? go_on() : pass_init(go_on);
}

int go_on_init_thread(int* argc, char*** argv, int required, int* provided) {
  const auto go_on = [&] { return next_MPI_Init_thread(argc, argv, required, provided); };
  return !floor_is_there() || goes_through(args::InitThread::kFunction) ? go_on()
                                                                        : pass_init(go_on);
}

int go_on_finalize() {
  const auto go_on = [] { return next_MPI_Finalize(); };
  return !floor_is_there() || goes_through(args::Finalize::kFunction) ? go_on()
                                                                      : pass_finalize(go_on);
}

int pass_pmpi_init(int* argc, char*** argv, const void* caller) {
  need_chain();
  return pass_init([&] {
    void* const next = below(args::Init::kFunction, caller);
    return reinterpret_cast<int (*)(int*, char***)>(next)(argc, argv);
  });
}

int pass_pmpi_init_thread(int* argc, char*** argv, int required, int* provided,
                          const void* caller) {
  need_chain();
  return pass_init([&] {
    void* const next = below(args::InitThread::kFunction, caller);
    return reinterpret_cast<int (*)(int*, char***, int, int*)>(next)(argc, argv, required,
                                                                     provided);
  });
}

int pass_pmpi_finalize(const void* caller) {
  need_chain();
  if (passing || end_in_hand || !is_live() || another_copy_measures()) {
    return pass_finalize([caller] { return finalize_below(caller); });
  }
  return finalize_outside(caller);
}

bool can_begin() {
  if (floor_is_there() || the_mpi.between_count == 0) return true;
  if (is_first_by_environment()) {
    say_why_not(
        "nothing is recorded: %s stands between the program and MPI; link libelg_mpi.so "
        "(elg_config --libs) or preload it, not the archive; the program runs on",
        the_mpi.between[0].name());
  }
  return false;
}

void arrive(Start& start) {
  if (start.passed) {
    if (start.call.measured && is_live()) end_call(start.call);
    return;
  }
  if (!start.prepared) return;
  if (start.between) {
    if (is_first_by_environment()) {
      say_why_not(
          "nothing is recorded: %s calls the MPI in a way that cannot be seen; the program "
          "runs on",
          file_of(the_chain.next[start.function]).name());
    }
    return;
  }
  const OwnFrame own(the_recorder);
  finish_startup(start.function, start.caller, nullptr);
}

bool is_past_end() {
  return past_end || the_session.shut || !goes_through(args::Finalize::kFunction);
}

}  // namespace kojak::measure
