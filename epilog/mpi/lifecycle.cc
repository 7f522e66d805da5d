// MPI_Init, MPI_Init_thread, MPI_Finalize and MPI_Pcontrol: the wrappers that are not generated.
#include "epilog/mpi/hooks.h"
#include "epilog/mpi/startup.h"

#define KOJAK_WRAPPER extern "C" __attribute__((visibility("default"), used))

namespace kojak::measure {
namespace {

// Set while a PMPI initialisation runs, so that one function may be built on the other.
bool starting = false;

template <class F>
int initialise(unsigned function, const F& pmpi_init, const int* provided) {
  if (starting || is_live()) return pmpi_init();
  starting = true;
  const bool ours = prepare_startup();
  const int result = pmpi_init();
  starting = false;
  if (result == MPI_SUCCESS && ours)
    finish_startup(function, provided != nullptr ? *provided : MPI_THREAD_SINGLE);
  return result;
}

}  // namespace
}  // namespace kojak::measure

KOJAK_WRAPPER int kojak_MPI_Init(int* argc, char*** argv) __asm__("MPI_Init");
int kojak_MPI_Init(int* argc, char*** argv) {
  using namespace kojak::measure;
  return initialise(
      args::Init::kFunction, [&] { return PMPI_Init(argc, argv); }, nullptr);
}

KOJAK_WRAPPER int kojak_MPI_Init_thread(int* argc, char*** argv, int required,
                                        int* provided) __asm__("MPI_Init_thread");
int kojak_MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  using namespace kojak::measure;
  return initialise(
      args::InitThread::kFunction, [&] { return PMPI_Init_thread(argc, argv, required, provided); },
      provided);
}

KOJAK_WRAPPER int kojak_MPI_Finalize() __asm__("MPI_Finalize");
int kojak_MPI_Finalize() {
  using namespace kojak::measure;
  if (!is_live()) return PMPI_Finalize();
  begin_shutdown(the_recorder);
  const int result = measured(args::Finalize{});
  finish_shutdown();
  return result;
}

KOJAK_WRAPPER int kojak_MPI_Pcontrol(int level, ...) __asm__("MPI_Pcontrol");
int kojak_MPI_Pcontrol(int level, ...) {
  using namespace kojak::measure;
  if (is_live() && the_recorder.frame == nullptr) {
    if (level == 0) pause_recording(the_recorder);
    if (level == 1) resume_recording(the_recorder);
    if (level == 2) flush_now(the_recorder);
  }
  return PMPI_Pcontrol(level);
}
