#include "epilog/mpi/node_clock.h"

#include "epilog/runtime/memory.h"
#include "epilog/runtime/session.h"

namespace kojak::measure {
namespace {

constexpr int kRoundTrips = 24;
constexpr int kTag = 1;

struct Offset {
  double time, offset, bound;
};

// The other side: answers each question with its own time.
void answer(MPI_Comm world, int leader) {
  for (int i = 0; i < kRoundTrips; ++i) {
    double time = 0;
    PMPI_Recv(&time, 1, MPI_DOUBLE, leader, kTag, world, MPI_STATUS_IGNORE);
    time = to_seconds(ticks()).value;
    PMPI_Send(&time, 1, MPI_DOUBLE, leader, kTag, world);
  }
}

Offset ask(MPI_Comm world) {
  Offset best{0, 0, 1e300};
  for (int i = 0; i < kRoundTrips; ++i) {
    double theirs = 0;
    const double before = to_seconds(ticks()).value;
    PMPI_Send(&theirs, 1, MPI_DOUBLE, 0, kTag, world);
    PMPI_Recv(&theirs, 1, MPI_DOUBLE, 0, kTag, world, MPI_STATUS_IGNORE);
    const double after = to_seconds(ticks()).value;
    const double half = (after - before) / 2;
    if (half < best.bound) best = {before + half, theirs - (before + half), half};
  }
  return best;
}

}  // namespace

bool share_node_clock(MPI_Comm world, MPI_Comm node) {
  Session& s = the_session;
  int node_rank = 0;
  PMPI_Comm_rank(node, &node_rank);
  s.run.first_of_node = node_rank == 0;

  std::uint64_t base = s.init_time;
  if (PMPI_Allreduce(&s.init_time, &base, 1, MPI_UINT64_T, MPI_MIN, node) != MPI_SUCCESS)
    return false;
  double scale = calibrate(s.clock_start, read_both_clocks());
  if (PMPI_Bcast(&scale, 1, MPI_DOUBLE, 0, node) != MPI_SUCCESS) return false;
  the_clock.base = base;
  the_clock.scale = scale;
  if (static_cast<int>(s.run.rank) == s.config.test_clock_rank) {
    the_clock.scale *= 1 + s.config.test_clock_ppm * 1e-6;
    the_clock.shift = s.config.test_clock_shift;
  }

  const std::uint32_t first = s.run.first_of_node ? 1 : 0;
  std::uint32_t before = 0;
  if (PMPI_Exscan(&first, &before, 1, MPI_UINT32_T, MPI_SUM, world) != MPI_SUCCESS) return false;
  s.run.node = s.run.rank == 0 ? 0 : before;  // MPI leaves rank 0's result undefined
  if (PMPI_Allreduce(&first, &s.run.nodes, 1, MPI_UINT32_T, MPI_SUM, world) != MPI_SUCCESS)
    return false;
  if (PMPI_Bcast(&s.run.node, 1, MPI_UINT32_T, 0, node) != MPI_SUCCESS) return false;
  measure_offset(world, node);
  return true;
}

void measure_offset(MPI_Comm world, MPI_Comm node) {
  Session& s = the_session;
  Offset offset{to_seconds(ticks()).value, 0, 0};
  if (s.run.nodes > 1) {
    const int first = s.run.first_of_node ? 1 : 0;
    if (s.run.rank == 0) {
      Vector<int> firsts;
      const bool memory = firsts.resize(s.run.size);
      PMPI_Gather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, 0, world);
      for (std::uint32_t rank = 1; memory && rank < s.run.size; ++rank) {
        if (firsts[rank] != 0) answer(world, static_cast<int>(rank));
      }
    } else {
      PMPI_Gather(&first, 1, MPI_INT, nullptr, 0, MPI_INT, 0, world);
      if (first != 0) offset = ask(world);
    }
    PMPI_Bcast(&offset, sizeof offset, MPI_BYTE, 0, node);
  }
  s.run.offset_time = Seconds{offset.time};
  s.run.clock_offset = offset.offset;
  s.run.clock_bound = offset.bound;
}

}  // namespace kojak::measure
