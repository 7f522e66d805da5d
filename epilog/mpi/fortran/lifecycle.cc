// mpi_init, mpi_init_thread, mpi_finalize, mpi_session_init, mpi_session_finalize and mpi_pcontrol:
// the Fortran entry points that are not generated.
#include "epilog/mpi/lifecycle.h"

#include "epilog/mpi/fortran/convert.h"
#include "epilog/mpi/fortran/entry.h"

#define KOJAK_FORTRAN extern "C" __attribute__((visibility("default"), used))
// An entry point in the spellings of all compilers.
#define KOJAK_SPELLINGS(name, NAME, parameters)                             \
  KOJAK_FORTRAN void name##__ parameters __attribute__((alias(#name "_"))); \
  KOJAK_FORTRAN void name parameters __attribute__((alias(#name "_")));     \
  KOJAK_FORTRAN void NAME parameters __attribute__((alias(#name "_")));

namespace kojak::measure::fortran {
namespace {

void init(Entry& entry, const void* caller, void* ierror) {
  auto* const forward = entry.get<void(void*)>(caller);
  if (forward == nullptr) return say_missing(ierror, "init");
  MPI_Fint error = MPI_SUCCESS;
  initialise(
      args::Init::kFunction,
      [&] {
        forward(&error);
        return error;
      },
      entry.goes_to_another() || goes_through(args::Init::kFunction), caller);
  give_error(ierror, error);
}

void init_thread(Entry& entry, const void* caller, void* required, void* provided, void* ierror) {
  auto* const forward = entry.get<void(void*, void*, void*)>(caller);
  if (forward == nullptr) return say_missing(ierror, "init_thread");
  MPI_Fint error = MPI_SUCCESS;
  initialise(
      args::InitThread::kFunction,
      [&] {
        forward(required, provided, &error);
        return error;
      },
      entry.goes_to_another() || goes_through(args::InitThread::kFunction), caller);
  give_error(ierror, error);
}

void finalize(Entry& entry, const void* caller, void* ierror) {
  auto* const forward = entry.get<void(void*)>(caller);
  if (forward == nullptr) return say_missing(ierror, "finalize");
  MPI_Fint error = MPI_SUCCESS;
  const auto call = [&] {
    forward(&error);
    return error;
  };
  finalise(call, [&] {
    return measured_in_fortran(entry, caller, args::Finalize{}, [&](args::Finalize&) {
      if (!floor_is_there()) end_before_last_call(the_recorder);
      return call();
    });
  });
  give_error(ierror, error);
}

void session_init(Entry& entry, const void* caller, void* info, void* errhandler, void* session,
                  void* ierror) {
  auto* const forward = entry.get<void(void*, void*, void*, void*)>(caller);
  if (forward == nullptr) return say_missing(ierror, "session_init");
  MPI_Fint error = MPI_SUCCESS;
  const auto call = [&] {
    forward(info, errhandler, session, &error);
    return error;
  };
  initialise_session(
      call,
      [&] {
        return measured_in_fortran(entry, caller, args::SessionInit{},
                                   [&](args::SessionInit&) { return call(); });
      },
      caller);
  give_error(ierror, error);
}

void session_finalize(Entry& entry, const void* caller, void* session, void* ierror) {
  auto* const forward = entry.get<void(void*, void*)>(caller);
  if (forward == nullptr) return say_missing(ierror, "session_finalize");
  MPI_Fint error = MPI_SUCCESS;
  const auto call = [&] {
    forward(session, &error);
    return error;
  };
  finalise_session(call, [&] {
    return measured_in_fortran(entry, caller, args::SessionFinalize{},
                               [&](args::SessionFinalize&) { return call(); });
  });
  give_error(ierror, error);
}

// The standard gives MPI_PCONTROL no ierror, but MPICH does.
void pcontrol(Entry& entry, const void* caller, void* level, void* ierror) {
  auto* const forward = entry.get<void(void*, void*)>(caller);
  if (forward == nullptr) return say_missing(ierror, "pcontrol");
  obey_pcontrol(*static_cast<const MPI_Fint*>(level), caller);
  const Passage passage(the_recorder, args::Pcontrol::kFunction, entry.library());
  forward(level, ierror);
}

}  // namespace

#define KOJAK_CALLER __builtin_return_address(0)
#define KOJAK_LIFECYCLE(suffix, SUFFIX, interface)                                              \
  KOJAK_FORTRAN void mpi_init##suffix##_(void* ierror) {                                        \
    static constinit Entry entry{"mpi_init", interface};                                        \
    init(entry, KOJAK_CALLER, ierror);                                                          \
  }                                                                                             \
  KOJAK_SPELLINGS(mpi_init##suffix, MPI_INIT##SUFFIX, (void* ierror))                           \
  KOJAK_FORTRAN void mpi_init_thread##suffix##_(void* required, void* provided, void* ierror) { \
    static constinit Entry entry{"mpi_init_thread", interface};                                 \
    init_thread(entry, KOJAK_CALLER, required, provided, ierror);                               \
  }                                                                                             \
  KOJAK_SPELLINGS(mpi_init_thread##suffix, MPI_INIT_THREAD##SUFFIX,                             \
                  (void* required, void* provided, void* ierror))                               \
  KOJAK_FORTRAN void mpi_finalize##suffix##_(void* ierror) {                                    \
    static constinit Entry entry{"mpi_finalize", interface};                                    \
    finalize(entry, KOJAK_CALLER, ierror);                                                      \
  }                                                                                             \
  KOJAK_SPELLINGS(mpi_finalize##suffix, MPI_FINALIZE##SUFFIX, (void* ierror))                   \
  KOJAK_FORTRAN void mpi_session_init##suffix##_(void* info, void* errhandler, void* session,   \
                                                 void* ierror) {                                \
    static constinit Entry entry{"mpi_session_init", interface};                                \
    session_init(entry, KOJAK_CALLER, info, errhandler, session, ierror);                       \
  }                                                                                             \
  KOJAK_SPELLINGS(mpi_session_init##suffix, MPI_SESSION_INIT##SUFFIX,                           \
                  (void* info, void* errhandler, void* session, void* ierror))                  \
  KOJAK_FORTRAN void mpi_session_finalize##suffix##_(void* session, void* ierror) {             \
    static constinit Entry entry{"mpi_session_finalize", interface};                            \
    session_finalize(entry, KOJAK_CALLER, session, ierror);                                     \
  }                                                                                             \
  KOJAK_SPELLINGS(mpi_session_finalize##suffix, MPI_SESSION_FINALIZE##SUFFIX,                   \
                  (void* session, void* ierror))                                                \
  KOJAK_FORTRAN void mpi_pcontrol##suffix##_(void* level, void* ierror) {                       \
    static constinit Entry entry{"mpi_pcontrol", interface};                                    \
    pcontrol(entry, KOJAK_CALLER, level, ierror);                                               \
  }                                                                                             \
  KOJAK_SPELLINGS(mpi_pcontrol##suffix, MPI_PCONTROL##SUFFIX, (void* level, void* ierror))

KOJAK_LIFECYCLE(, , Interface::kMpifH)
KOJAK_LIFECYCLE(_f08, _F08, Interface::kF08)

}  // namespace kojak::measure::fortran
