#include "expert/parallel/mpi/expert_mpi.h"

#include <mpi.h>
#include <time.h>

#include <algorithm>

namespace {

constexpr int kTag = 14;

int init(int* rank, int* size) {
  int is_there = 0, level = 0;
  MPI_Initialized(&is_there);
  if (is_there == 0) {
    const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
    if (error != MPI_SUCCESS) return error;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  return MPI_Comm_size(MPI_COMM_WORLD, size);
}

int send(int to, const void* data, std::size_t size) {
  return MPI_Send(data, static_cast<int>(size), MPI_BYTE, to, kTag, MPI_COMM_WORLD);
}

// A receive would wait in a loop, and take the processor from those who work.
int receive(int from, void* data, std::size_t size) {
  constexpr long kFirst = 50'000, kLongest = 20'000'000;  // ns
  for (long pause = kFirst;; pause = std::min(2 * pause, kLongest)) {
    int is_there = 0;
    const int error = MPI_Iprobe(from, kTag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
    if (is_there != 0) break;
    const timespec time{0, pause};
    nanosleep(&time, nullptr);
  }
  return MPI_Recv(data, static_cast<int>(size), MPI_BYTE, from, kTag, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE);
}

int finalize() {
  return MPI_Finalize();
}

void abort_all(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const kojak::parallel::ExpertMpi kojak_expert_mpi{
    kojak::parallel::kExpertMpiVersion, init, send, receive, finalize, abort_all};
