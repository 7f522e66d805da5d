#include "epilog/shmem/sets.h"

#include "epilog/runtime/session.h"
#include "epilog/shmem/constants.h"
#include "epilog/shmem/forwards.h"

namespace kojak::measure {
namespace {

// They keep identities from those of others.
constexpr std::uint64_t kActiveSet = 0x53484D454Du, kSharedTeam = 0x534841524544u;

struct Set : CommObject {
  int start = 0, log_stride = 0, size = 0;
  std::uint64_t teams = 0;  // made of it
  Set* same_key = nullptr;
  Set* next = nullptr;
};
struct ContextEntry {
  std::uint32_t number;
  CommObject* team;
};

HashMap<Set*> active_sets;
HashMap<Set*> teams;
HashMap<ContextEntry> contexts;
Set* first_set = nullptr;
std::uint32_t next_context = 1;
Vector<std::uint32_t> members;

std::uint64_t word_of(const void* handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

Set* make_set(const Identity& identity) {
  Group* const group = group_of_ranks(members.data(), static_cast<std::uint32_t>(members.size()));
  Set* const set = group == nullptr ? nullptr : create<Set>();
  if (set == nullptr) return nullptr;
  set->id = next_comm_id();
  set->group = group;
  set->identity = identity;
  set->next = first_set;
  first_set = set;
  return set;
}

}  // namespace

CommObject* find_active_set(int start, int log_stride, int size) {
  if (size == 1) log_stride = 0;
  const std::uint64_t key =
      mix(mix(static_cast<std::uint64_t>(start) << 32 | static_cast<std::uint32_t>(size)) +
          static_cast<std::uint64_t>(log_stride));
  Set** const found = active_sets.find(key);
  for (Set* set = found == nullptr ? nullptr : *found; set != nullptr; set = set->same_key) {
    if (set->start == start && set->log_stride == log_stride && set->size == size) return set;
  }
  const auto count = static_cast<std::uint32_t>(the_session.run.size);
  const bool wrong = start < 0 || size <= 0 || log_stride < 0 || log_stride > 30;
  if (wrong || !members.resize(static_cast<std::size_t>(size))) return nullptr;
  for (int i = 0; i < size; ++i) {
    const auto rank =
        static_cast<std::uint64_t>(start) + (static_cast<std::uint64_t>(i) << log_stride);
    if (rank >= count) return nullptr;
    members[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(rank);
  }
  IdentityHash hash;
  hash.add(kActiveSet).add(static_cast<std::uint64_t>(start));
  hash.add(static_cast<std::uint64_t>(log_stride)).add(static_cast<std::uint64_t>(size));
  Set* const set = make_set(hash.get());
  if (set == nullptr) return nullptr;
  set->start = start;
  set->log_stride = log_stride;
  set->size = size;
  if (start == 0 && log_stride == 0 && members.size() == count)
    set->name.set_constant("SHMEM_TEAM_WORLD");
  set->same_key = found == nullptr ? nullptr : *found;
  active_sets.set(key, set);
  return set;
}

CommObject* find_team(Team team) {
  if (Set** const found = teams.find(word_of(team))) return *found;
  // One of those that are there from the start.
  const int size = kojak_pshmem_team_n_pes(team);
  if (size == static_cast<int>(the_session.run.size)) return find_active_set(0, 0, size);
  if (size <= 0 || !members.resize(static_cast<std::size_t>(size))) return nullptr;
  for (int i = 0; i < size; ++i) {
    const int pe = kojak_pshmem_team_translate_pe(team, i, world_team());
    if (pe < 0) return nullptr;
    members[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(pe);
  }
  // Each process is in one such team only.
  const bool shared = is_shared_team(team);
  IdentityHash hash;
  hash.add(kActiveSet).add(kSharedTeam).add(members[0]);
  Set* const set = make_set(shared ? hash.get() : Identity{});
  if (set == nullptr) return nullptr;
  if (shared) set->name.set_constant("SHMEM_TEAM_SHARED");
  teams.set(word_of(team), set);
  return set;
}

void adopt_team(Team team, CommObject* parent, int start, int stride, int size,
                std::uint64_t ordinal) {
  if (parent == nullptr || size <= 0 || !members.resize(static_cast<std::size_t>(size))) return;
  for (int i = 0; i < size; ++i) {
    const int index = start + i * stride;
    const bool there = index >= 0 && static_cast<std::uint32_t>(index) < parent->group->count;
    if (!there) return;
    members[static_cast<std::size_t>(i)] = parent->group->ranks[index];
  }
  IdentityHash hash;
  hash.add(kActiveSet).add(parent->identity).add(ordinal).add(members[0]);
  Set* const set = make_set(parent->identity.known ? hash.get() : Identity{});
  if (set != nullptr) teams.set(word_of(team), set);
}

void forget_team(Team team) {
  teams.erase(word_of(team));
}

std::uint64_t next_team_ordinal(CommObject* parent) {
  return parent == nullptr ? 0 : static_cast<Set*>(parent)->teams++;
}

std::uint32_t place_in(const CommObject& set) {
  for (std::uint32_t i = 0; i < set.group->count; ++i) {
    if (set.group->ranks[i] == the_session.run.rank) return i;
  }
  return kAbsent;
}

std::uint32_t context_number(Context ctx) {
  if (ctx == nullptr || is_default_context(ctx)) return 0;
  if (const ContextEntry* const found = contexts.find(word_of(ctx))) return found->number;
  contexts.set(word_of(ctx), {next_context, nullptr});
  return next_context++;
}

void adopt_context(Context ctx, CommObject* team) {
  contexts.set(word_of(ctx), {next_context++, team});
}

void forget_context(Context ctx) {
  contexts.erase(word_of(ctx));
}

std::uint32_t peer_of(Context ctx, int pe) {
  const auto rank = static_cast<std::uint32_t>(pe);
  if (ctx == nullptr) return rank;
  const ContextEntry* const found = contexts.find(word_of(ctx));
  if (found == nullptr || found->team == nullptr) return rank;
  return rank < found->team->group->count ? found->team->group->ranks[rank] : kAbsent;
}

void write_set_states(Recorder& r, bool all) {
  const BookkeepingLock lock;
  const Seconds time = record_time(ticks());
  for (Set* set = first_set; set != nullptr; set = set->next) {
    if (all ? set->collectives == 0 : !set->collectives_changed) continue;
    if (define_members(r, *set)) write_collectives(r, *set, time);
  }
}

}  // namespace kojak::measure
