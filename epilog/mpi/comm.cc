#include "epilog/mpi/comm.h"

#include "epilog/mpi/args.h"
#include "epilog/mpi/state.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/session.h"

namespace kojak::measure {

std::atomic<std::uint64_t> comm_serial{1};

namespace {

HashMap<Comm*> comms_by_handle;
HashMap<std::uint64_t> ordinals;  // of creation calls that only a part of the parent makes
Comm* live_comms = nullptr;
Vector<int> near_sources, near_destinations, near_weights;  // kept for their memory only
Vector<std::uint32_t> near_ranks;

std::uint32_t first_member(const Group* group) {
  return group == nullptr || group->count == 0 ? kAbsent : group->ranks[0];
}

// Neighbours by their ranks in the communicator; MPI_PROC_NULL becomes absent.
Group* neighbours_of(const Comm& comm, const Vector<int>& list) {
  if (!near_ranks.resize(list.size())) return nullptr;
  for (std::size_t i = 0; i < list.size(); ++i) near_ranks[i] = comm.peer(list[i]);
  return group_of_ranks(near_ranks.data(), static_cast<std::uint32_t>(near_ranks.size()));
}

// Neighbours are in MPI's order: in a Cartesian topology down and up in each dimension.
void learn_neighbours(MPI_Comm handle, Comm& comm) {
  int kind = MPI_UNDEFINED;
  if (mpi::Topo_test(handle, &kind) != MPI_SUCCESS || kind == MPI_UNDEFINED) return;
  Vector<int>& in = near_sources;
  Vector<int>& out = near_destinations;
  if (kind == MPI_CART) {
    int dimensions = 0;
    mpi::Cartdim_get(handle, &dimensions);
    if (!in.resize(2 * static_cast<std::size_t>(dimensions))) return;
    for (int d = 0; d < dimensions; ++d) {
      int* const pair = in.data() + 2 * d;
      if (mpi::Cart_shift(handle, d, 1, pair, pair + 1) != MPI_SUCCESS) return;
    }
  } else if (kind == MPI_GRAPH) {
    int count = 0;
    mpi::Graph_neighbors_count(handle, static_cast<int>(comm.my_rank), &count);
    if (!in.resize(static_cast<std::size_t>(count))) return;
    mpi::Graph_neighbors(handle, static_cast<int>(comm.my_rank), count, in.data());
  } else if (kind == MPI_DIST_GRAPH) {
    int sources = 0, destinations = 0, weighted = 0;
    mpi::Dist_graph_neighbors_count(handle, &sources, &destinations, &weighted);
    const auto n = static_cast<std::size_t>(sources), m = static_cast<std::size_t>(destinations);
    Vector<int>& weights = near_weights;
    if (!in.resize(n + 1) || !out.resize(m + 1) || !weights.resize(n + m + 2)) return;
    mpi::Dist_graph_neighbors(handle, sources, in.data(), weights.data(), destinations, out.data(),
                              weights.data() + n + 1);
    in.resize(n);
    out.resize(m);
    comm.destinations = neighbours_of(comm, out);
  } else {
    return;
  }
  comm.sources = neighbours_of(comm, in);
  if (kind != MPI_DIST_GRAPH) comm.destinations = comm.sources;
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
  mpi::Comm_rank(handle, &rank);
  comm->my_rank = static_cast<std::uint32_t>(rank);
  remember_comm(comm, handle);
  if (remote == nullptr) learn_neighbours(handle, *comm);
  comm->next = live_comms;
  if (live_comms != nullptr) live_comms->previous = comm;
  live_comms = comm;
  return comm;
}

}  // namespace

void start_world_comms() {
  IdentityHash world, self;
  world.add(1);
  self.add(2).add(the_session.run.rank);
  MPI_Group group = MPI_GROUP_NULL;
  mpi::Comm_group(MPI_COMM_WORLD, &group);
  use_world_group(group);
  const auto make = [](MPI_Comm handle, Group* members, const Identity& identity,
                       const char* name) {
    Comm* const comm = make_comm(handle, members, nullptr, identity);
    if (comm != nullptr) comm->name.set_constant(name);
  };
  make(MPI_COMM_WORLD, group_of(group), world.get(), "MPI_COMM_WORLD");
  make(MPI_COMM_SELF, group_of_ranks(&the_session.run.rank, 1), self.get(), "MPI_COMM_SELF");
  the_session.write_mpi_state = write_state;
}

namespace {

// No MPI is loaded for the question.
bool has_begun() {
  if (!chain_is_there.load(std::memory_order_acquire)) {
    if (on_own_stack([] { return find_own_alone("MPI_Initialized"); }) == nullptr) return false;
    make_chain();
  }
  int begun = 0;
  return mpi::Initialized(&begun) == MPI_SUCCESS && begun != 0;
}

}  // namespace

void join_mpi() {
  if (!mpi_is_over()) start_world_comms();
}

bool mpi_is_over() {
  if (!has_begun()) return true;
  int over = 0;
  return mpi::Finalized(&over) != MPI_SUCCESS || over != 0;
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
  return on_own_stack([&] {
    int inter = 0;
    mpi::Comm_test_inter(handle, &inter);
    return make_comm(handle, local_group_of(handle), inter != 0 ? remote_group_of(handle) : nullptr,
                     identity);
  });
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
  comm->name.clear();
  comm->messages.clear();
  comm->channels.clear();
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

std::uint64_t next_channel(Comm& comm, std::uint32_t peer, std::uint32_t tag, bool sends) {
  // A tag has 31 bits.
  const std::uint64_t key = std::uint64_t{peer} << 32 | tag << 1 | (sends ? 1u : 0u);
  std::uint64_t* const made = comm.channels.find(key);
  if (made != nullptr) return ++*made;
  comm.channels.set(key, 0);
  return 0;
}

Comm* first_comm() {
  return live_comms;
}

}  // namespace kojak::measure
