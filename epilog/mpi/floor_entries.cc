// PMPI_Init, PMPI_Init_thread and PMPI_Finalize as the shared library has them (floor.h).
#include "epilog/mpi/floor.h"

namespace kojak::measure {

void mark_of_floor() {}

}  // namespace kojak::measure

#define KOJAK_WRAPPER extern "C" __attribute__((visibility("default"), used))

KOJAK_WRAPPER int kojak_PMPI_Init(int* argc, char*** argv) __asm__("PMPI_Init");
int kojak_PMPI_Init(int* argc, char*** argv) {
  return kojak::measure::pass_pmpi_init(argc, argv, __builtin_return_address(0));
}

KOJAK_WRAPPER int kojak_PMPI_Init_thread(int* argc, char*** argv, int required,
                                         int* provided) __asm__("PMPI_Init_thread");
int kojak_PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return kojak::measure::pass_pmpi_init_thread(argc, argv, required, provided,
                                               __builtin_return_address(0));
}

KOJAK_WRAPPER int kojak_PMPI_Finalize() __asm__("PMPI_Finalize");
int kojak_PMPI_Finalize() {
  return kojak::measure::pass_pmpi_finalize(__builtin_return_address(0));
}
