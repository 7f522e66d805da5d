#include "epilog/mpi/group.h"

#include "epilog/mpi/args.h"

namespace kojak::measure {
namespace {

Vector<int> all_ranks, translated;
Vector<std::uint32_t> world_ranks;
MPI_Group world_group{};
bool knows_world = false;

Group* group_of_translated(const int* ranks, int count) {
  if (!world_ranks.resize(static_cast<std::size_t>(count))) return nullptr;
  for (int i = 0; i < count; ++i) {
    world_ranks[static_cast<std::size_t>(i)] =
        ranks[i] == MPI_UNDEFINED ? kAbsent : static_cast<std::uint32_t>(ranks[i]);
  }
  return group_of_ranks(world_ranks.data(), static_cast<std::uint32_t>(count));
}

}  // namespace

void use_world_group(MPI_Group world) {
  world_group = world;
  knows_world = world != MPI_GROUP_NULL;
}

const int* ranks_in(MPI_Group group, MPI_Group other, int& count) {
  if (mpi::Group_size(group, &count) != MPI_SUCCESS) return nullptr;
  const auto size = static_cast<std::size_t>(count);
  const std::size_t known = all_ranks.size();
  if (!all_ranks.resize(size > known ? size : known) || !translated.resize(size + 1))
    return nullptr;
  for (std::size_t i = known; i < size; ++i) all_ranks[i] = static_cast<int>(i);
  if (count != 0 && mpi::Group_translate_ranks(group, count, all_ranks.data(), other,
                                               translated.data()) != MPI_SUCCESS) {
    return nullptr;
  }
  return translated.data();
}

Group* group_of(MPI_Group group) {
  int count = 0;
  if (!knows_world) return nullptr;
  const int* ranks = ranks_in(group, world_group, count);
  return ranks == nullptr ? nullptr : group_of_translated(ranks, count);
}

Group* local_group_of(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  if (mpi::Comm_group(comm, &group) != MPI_SUCCESS) return nullptr;
  Group* const found = group_of(group);
  mpi::Group_free(&group);
  return found;
}

Group* remote_group_of(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  if (mpi::Comm_remote_group(comm, &group) != MPI_SUCCESS) return nullptr;
  Group* const found = group_of(group);
  mpi::Group_free(&group);
  return found;
}

}  // namespace kojak::measure
