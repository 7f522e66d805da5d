// MPI_Init, MPI_Init_thread, MPI_Finalize and MPI_Pcontrol: the wrappers that are not generated.
#include "epilog/mpi/lifecycle.h"

#define KOJAK_WRAPPER extern "C" __attribute__((visibility("default"), used))

KOJAK_WRAPPER int kojak_MPI_Init(int* argc, char*** argv) __asm__("MPI_Init");
int kojak_MPI_Init(int* argc, char*** argv) {
  using namespace kojak::measure;
  return initialise(
      args::Init::kFunction, [&] { return PMPI_Init(argc, argv); }, nullptr,
      __builtin_return_address(0));
}

KOJAK_WRAPPER int kojak_MPI_Init_thread(int* argc, char*** argv, int required,
                                        int* provided) __asm__("MPI_Init_thread");
int kojak_MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  using namespace kojak::measure;
  return initialise(
      args::InitThread::kFunction, [&] { return PMPI_Init_thread(argc, argv, required, provided); },
      provided, __builtin_return_address(0));
}

KOJAK_WRAPPER int kojak_MPI_Finalize() __asm__("MPI_Finalize");
int kojak_MPI_Finalize() {
  using namespace kojak::measure;
  const void* const caller = __builtin_return_address(0);
  return finalise([] { return PMPI_Finalize(); },
                  [caller] { return measured(args::Finalize{}, caller); });
}

KOJAK_WRAPPER int kojak_MPI_Pcontrol(int level, ...) __asm__("MPI_Pcontrol");
int kojak_MPI_Pcontrol(int level, ...) {
  kojak::measure::obey_pcontrol(level);
  return PMPI_Pcontrol(level);
}
