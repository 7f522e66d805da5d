// MPI_Init, MPI_Init_thread, MPI_Finalize, MPI_Session_init, MPI_Session_finalize and MPI_Pcontrol:
// the wrappers that are not generated.
#include "epilog/mpi/lifecycle.h"

#include "epilog/mpi/args.h"

namespace kojak::measure {
namespace {

struct LastCall : args::Finalize {
  int call() const {
    if (!floor_is_there()) end_before_last_call(the_recorder);
    return go_on_finalize();
  }
};

}  // namespace

template <>
struct Hook<LastCall> : Hook<args::Finalize> {};

}  // namespace kojak::measure

#define KOJAK_WRAPPER extern "C" __attribute__((visibility("default"), used))

KOJAK_WRAPPER int kojak_MPI_Init(int* argc, char*** argv) __asm__("MPI_Init");
int kojak_MPI_Init(int* argc, char*** argv) {
  using namespace kojak::measure;
  need_chain();
  return initialise(
      args::Init::kFunction, [&] { return go_on_init(argc, argv); },
      goes_through(args::Init::kFunction), __builtin_return_address(0));
}

KOJAK_WRAPPER int kojak_MPI_Init_thread(int* argc, char*** argv, int required,
                                        int* provided) __asm__("MPI_Init_thread");
int kojak_MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  using namespace kojak::measure;
  need_chain();
  return initialise(
      args::InitThread::kFunction,
      [&] { return go_on_init_thread(argc, argv, required, provided); },
      goes_through(args::InitThread::kFunction), __builtin_return_address(0));
}

KOJAK_WRAPPER int kojak_MPI_Finalize() __asm__("MPI_Finalize");
int kojak_MPI_Finalize() {
  using namespace kojak::measure;
  need_chain();
  const void* const caller = __builtin_return_address(0);
  return finalise([] { return go_on_finalize(); },
                  [caller] { return measured(LastCall{}, caller); });
}

KOJAK_WRAPPER int kojak_MPI_Session_init(
    kojak::measure::Word info, kojak::measure::Word errhandler,
    kojak::measure::MPI_Session* session) __asm__("MPI_Session_init");
int kojak_MPI_Session_init(kojak::measure::Word info, kojak::measure::Word errhandler,
                           kojak::measure::MPI_Session* session) {
  using namespace kojak::measure;
  need_chain();
  const void* const caller = __builtin_return_address(0);
  return initialise_session(
      [=] { return next_MPI_Session_init(info, errhandler, session); },
      [=] {
        return measured(
            args::SessionInit{handle<MPI_Info>(info), handle<MPI_Errhandler>(errhandler), session},
            caller);
      },
      caller);
}

KOJAK_WRAPPER int kojak_MPI_Session_finalize(kojak::measure::MPI_Session* session) __asm__(
    "MPI_Session_finalize");
int kojak_MPI_Session_finalize(kojak::measure::MPI_Session* session) {
  using namespace kojak::measure;
  need_chain();
  const void* const caller = __builtin_return_address(0);
  return finalise_session([=] { return next_MPI_Session_finalize(session); },
                          [=] { return measured(args::SessionFinalize{session}, caller); });
}

// Further arguments are for who stands behind us: what lies in the registers, given or not.
#if defined(__x86_64__)
#define KOJAK_MORE_WORDS(X) X(a) X(b) X(c) X(d) X(e)
#else
#define KOJAK_MORE_WORDS(X) X(a) X(b) X(c) X(d) X(e) X(f) X(g)
#endif
#define KOJAK_DECLARED(name) , kojak::measure::Word name
#define KOJAK_PASSED(name) , name

KOJAK_WRAPPER int kojak_MPI_Pcontrol(int level KOJAK_MORE_WORDS(KOJAK_DECLARED)) __asm__(
    "MPI_Pcontrol");
int kojak_MPI_Pcontrol(int level KOJAK_MORE_WORDS(KOJAK_DECLARED)) {
  using namespace kojak::measure;
  need_chain();
  obey_pcontrol(level, __builtin_return_address(0));
  return reinterpret_cast<int (*)(int, ...)>(the_chain.next[args::Pcontrol::kFunction])(
      level KOJAK_MORE_WORDS(KOJAK_PASSED));
}
