#include "epilog/mpi/exchange.h"

#include "epilog/mpi/args.h"
#include "epilog/mpi/mpi.h"

namespace kojak::measure {
namespace {

constexpr int kTag = 1;

MPI_Comm between_nodes{};  // a private copy of MPI_COMM_WORLD
bool is_open = false;

bool gather(const void* mine, std::size_t bytes, void* all) {
  const int count = static_cast<int>(bytes);
  return mpi::Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD) == MPI_SUCCESS;
}

bool spread(void* data, std::size_t bytes) {
  return mpi::Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS;
}

bool open_exchange() {
  const bool good = mpi::Comm_dup(MPI_COMM_WORLD, &between_nodes) == MPI_SUCCESS;
  if (good) mpi::Comm_set_errhandler(between_nodes, MPI_ERRORS_RETURN);
  is_open = good;
  return good;
}

void close_exchange() {
  if (is_open) mpi::Comm_free(&between_nodes);
  is_open = false;
}

void send(double value, std::uint32_t to) {
  mpi::Send(&value, 1, MPI_DOUBLE, static_cast<int>(to), kTag, between_nodes);
}

double receive(std::uint32_t from) {
  double value = 0;
  mpi::Recv(&value, 1, MPI_DOUBLE, static_cast<int>(from), kTag, between_nodes, MPI_STATUS_IGNORE);
  return value;
}

}  // namespace

const Exchange kMpiExchange = {gather, spread, open_exchange, close_exchange, send, receive};

}  // namespace kojak::measure
