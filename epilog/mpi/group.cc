#include "epilog/mpi/group.h"

#include <cstring>

namespace kojak::measure {
namespace {

HashMap<Group*> groups_by_hash;
Vector<int> all_ranks, translated;
Vector<std::uint32_t> world_ranks;
MPI_Group world_group = MPI_GROUP_NULL;
std::uint32_t groups = 0;
std::uint32_t comms = 0;

std::uint64_t hash_of(const std::uint32_t* ranks, std::uint32_t count) {
  std::uint64_t hash = count;
  for (std::uint32_t i = 0; i < count; ++i) hash = mix(hash * 0x100000001B3u + ranks[i] + 1);
  return hash;
}

Group* group_of_translated(const int* ranks, int count) {
  if (!world_ranks.resize(static_cast<std::size_t>(count))) return nullptr;
  for (int i = 0; i < count; ++i) {
    world_ranks[static_cast<std::size_t>(i)] =
        ranks[i] == MPI_UNDEFINED ? kAbsent : static_cast<std::uint32_t>(ranks[i]);
  }
  return group_of_ranks(world_ranks.data(), static_cast<std::uint32_t>(count));
}

}  // namespace

std::uint32_t next_comm_id() {
  return comms++;
}

void use_world_group(MPI_Group world) {
  world_group = world;
}

Group* make_world_group(std::uint32_t size) {
  if (!world_ranks.resize(size)) return nullptr;
  for (std::uint32_t i = 0; i < size; ++i) world_ranks[i] = i;
  return group_of_ranks(world_ranks.data(), size);
}

Group* group_of_ranks(const std::uint32_t* ranks, std::uint32_t count) {
  const std::uint64_t hash = hash_of(ranks, count);
  Group** const found = groups_by_hash.find(hash);
  const std::size_t bytes = count * sizeof(std::uint32_t);
  for (Group* g = found == nullptr ? nullptr : *found; g != nullptr; g = g->same_hash) {
    if (g->count == count && (count == 0 || std::memcmp(g->ranks, ranks, bytes) == 0)) return g;
  }
  auto* group = create<Group>();
  if (group == nullptr) return nullptr;
  group->count = count;
  if (count != 0) {
    group->ranks = static_cast<std::uint32_t*>(allocate(bytes));
    if (group->ranks == nullptr) return destroy(group), nullptr;
    std::memcpy(group->ranks, ranks, bytes);
  }
  for (std::uint32_t i = 0; i < count; ++i) group->foreign |= ranks[i] == kAbsent;
  group->id = groups++;
  group->same_hash = found == nullptr ? nullptr : *found;
  groups_by_hash.set(hash, group);
  return group;
}

const int* ranks_in(MPI_Group group, MPI_Group other, int& count) {
  if (PMPI_Group_size(group, &count) != MPI_SUCCESS) return nullptr;
  const auto size = static_cast<std::size_t>(count);
  const std::size_t known = all_ranks.size();
  if (!all_ranks.resize(size > known ? size : known) || !translated.resize(size + 1))
    return nullptr;
  for (std::size_t i = known; i < size; ++i) all_ranks[i] = static_cast<int>(i);
  if (count != 0 && PMPI_Group_translate_ranks(group, count, all_ranks.data(), other,
                                               translated.data()) != MPI_SUCCESS) {
    return nullptr;
  }
  return translated.data();
}

Group* group_of(MPI_Group group) {
  int count = 0;
  if (world_group == MPI_GROUP_NULL) return nullptr;
  const int* ranks = ranks_in(group, world_group, count);
  return ranks == nullptr ? nullptr : group_of_translated(ranks, count);
}

Group* local_group_of(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return nullptr;
  Group* const found = group_of(group);
  PMPI_Group_free(&group);
  return found;
}

Group* remote_group_of(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  if (PMPI_Comm_remote_group(comm, &group) != MPI_SUCCESS) return nullptr;
  Group* const found = group_of(group);
  PMPI_Group_free(&group);
  return found;
}

}  // namespace kojak::measure
