#include "epilog/runtime/group.h"

#include <cstring>

namespace kojak::measure {
namespace {

HashMap<Group*> groups_by_hash;
std::uint32_t groups = 0;
std::uint32_t comms = 0;

std::uint64_t hash_of(const std::uint32_t* ranks, std::uint32_t count) {
  std::uint64_t hash = count;
  for (std::uint32_t i = 0; i < count; ++i) hash = mix(hash * 0x100000001B3u + ranks[i] + 1);
  return hash;
}

}  // namespace

std::uint32_t next_comm_id() {
  return comms++;
}

Group* make_world_group(std::uint32_t size) {
  Vector<std::uint32_t> ranks;
  if (!ranks.resize(size)) return nullptr;
  for (std::uint32_t i = 0; i < size; ++i) ranks[i] = i;
  Group* const world = group_of_ranks(ranks.data(), size);
  ranks.clear();
  return world;
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

}  // namespace kojak::measure
