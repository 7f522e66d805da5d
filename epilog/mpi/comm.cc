#include "epilog/mpi/comm.h"

#include "epilog/runtime/session.h"

namespace kojak::measure {

std::atomic<std::uint64_t> comm_serial{1};

namespace {

HashMap<Comm*> comms_by_handle;
HashMap<std::uint64_t> ordinals;  // of creation calls that only a part of the parent makes
Comm* live_comms = nullptr;

std::uint32_t first_member(const Group* group) {
  return group == nullptr || group->count == 0 ? kAbsent : group->ranks[0];
}

Comm* make_comm(MPI_Comm handle, Group* group, Group* remote, const Identity& identity) {
  if (group == nullptr) return nullptr;
  auto* comm = create<Comm>();
  if (comm == nullptr) return nullptr;
  comm->id = next_comm_id();
  comm->group = group;
  comm->remote = remote;
  comm->identity = identity;
  int rank = 0;
  PMPI_Comm_rank(handle, &rank);
  comm->my_rank = static_cast<std::uint32_t>(rank);
  remember_comm(comm, handle);
  comm->next = live_comms;
  if (live_comms != nullptr) live_comms->previous = comm;
  live_comms = comm;
  return comm;
}

}  // namespace

void start_comms() {
  IdentityHash world, self;
  world.add(1);
  self.add(2).add(the_session.run.rank);
  Group* const all = make_world_group(the_session.run.size);
  make_comm(MPI_COMM_WORLD, all, nullptr, world.get());
  make_comm(MPI_COMM_SELF, group_of_ranks(&the_session.run.rank, 1), nullptr, self.get());
}

Comm* find_comm(MPI_Comm comm) {
  Comm** const found = comms_by_handle.find(word(comm));
  return found == nullptr ? nullptr : *found;
}

Comm* comm_of(MPI_Comm comm) {
  Comm* const found = find_comm(comm);
  return found != nullptr ? found : adopt_comm(comm, Identity{});
}

Comm* adopt_comm(MPI_Comm handle, const Identity& identity) {
  int inter = 0;
  PMPI_Comm_test_inter(handle, &inter);
  return make_comm(handle, local_group_of(handle), inter != 0 ? remote_group_of(handle) : nullptr,
                   identity);
}

Comm* forget_comm(MPI_Comm handle) {
  Comm* const comm = find_comm(handle);
  if (comm == nullptr) return nullptr;
  comms_by_handle.erase(word(handle));
  comm_serial.fetch_add(1, std::memory_order_relaxed);
  return comm;
}

void remember_comm(Comm* comm, MPI_Comm handle) {
  comm->key = word(handle);
  comms_by_handle.set(comm->key, comm);
  comm_serial.fetch_add(1, std::memory_order_relaxed);
}

void keep_comm(Comm* comm) {
  ++comm->references;
}

void drop_comm(Comm* comm) {
  if (--comm->references != 0) return;
  (comm->previous != nullptr ? comm->previous->next : live_comms) = comm->next;
  if (comm->next != nullptr) comm->next->previous = comm->previous;
  comm->messages.clear();
  comm->changed_messages.clear();
  destroy(comm);
}

Identity created_identity(const Identity& parent, unsigned function, std::uint64_t ordinal,
                          const Group* group, const Group* remote) {
  if (!parent.known) return {};
  std::uint32_t first = first_member(group);
  if (remote != nullptr && first_member(remote) < first) first = first_member(remote);
  IdentityHash hash;
  return hash.add(parent).add(function + 16).add(ordinal).add(first).get();
}

std::uint64_t next_ordinal_of(const Identity& key) {
  // The 64 bits stand for the 128: a collision among one process's keys would only number two of
  // them jointly.
  const std::uint64_t word = key.hi ^ mix(key.lo);
  std::uint64_t* const found = ordinals.find(word);
  if (found != nullptr) return ++*found;
  ordinals.set(word, 0);
  return 0;
}

void count_message(Comm& comm, std::uint32_t peer, std::uint32_t tag, bool received) {
  const std::uint64_t key = std::uint64_t{peer} << 32 | tag;
  MessageCount* count = comm.messages.find(key);
  if (count == nullptr) count = comm.messages.set(key, {0, 0, false});
  if (count == nullptr) return;
  ++(received ? count->received : count->sent);
  if (!count->changed) count->changed = comm.changed_messages.push_back(key);
}

Comm* first_comm() {
  return live_comms;
}

}  // namespace kojak::measure
