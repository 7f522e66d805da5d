#include "epilog/mpi/define.h"

#include <array>

#include "epilog/format/continuation.h"
#include "epilog/runtime/local_trace.h"

namespace kojak::measure {
namespace {

// Bits of COMM_IDENTITY.flags and WIN_IDENTITY.flags.
constexpr std::uint8_t kUnknownIdentity = 1, kIntercommunicator = 2, kForeignMembers = 4,
                       kStandsForGroup = 8;

enum class Kind : std::uint64_t { kGroup, kGroupComm, kComm, kWindow };

bool known_here(Recorder& r, std::atomic<std::uint64_t>& defined, Kind kind, std::uint32_t id) {
  if (r.thread_bit != 0)
    return (defined.fetch_or(r.thread_bit, std::memory_order_relaxed) & r.thread_bit) != 0;
  const std::uint64_t key = static_cast<std::uint64_t>(kind) << 32 | id;
  if (r.trace->defined.find(key) != nullptr) return true;
  r.trace->defined.set(key, true);
  return false;
}

template <class R>
bool write(Recorder& r, const R& record) {
  if (!need_room(r, kMaxRecord)) return false;
  publish(r, put(r.cursor, record));
  return true;
}

bool define_group(Recorder& r, Group& group) {
  if (known_here(r, group.defined, Kind::kGroup, group.id)) return true;
  const bool world = group.id == 0;
  bool good = true;
  emit_group(static_cast<GroupId>(group.id), world ? 1 : 0, group.ranks, group.count,
             [&](const auto& record) { good = good && write(r, record); });
  return good;
}

bool identity(Recorder& r, std::uint32_t cid, const Identity& id, unsigned flags) {
  return write(r, CommIdentity{static_cast<CommId>(cid), Hash64{id.hi}, Hash64{id.lo},
                               static_cast<Flags>(flags | (id.known ? 0u : kUnknownIdentity))});
}

bool define_neighbours(Recorder& r, CommId cid, std::uint8_t kind, const Group* list) {
  constexpr std::uint32_t kMost = 60;
  std::array<std::uint32_t, kMost> part{};
  std::uint32_t first = 0, n = 0;
  const auto flush = [&] {
    const U4Array ranks(reinterpret_cast<const std::byte*>(part.data()), n, false);
    const GraphNeighbours record{cid, static_cast<ProcessId>(the_session.run.rank), Byte{kind},
                                 Count{first}, ranks};
    first += n;
    n = 0;
    return write(r, record);
  };
  for (std::uint32_t i = 0; i < list->count; ++i) {
    if (list->ranks[i] == kAbsent) continue;
    part[n++] = list->ranks[i];
    if (n == kMost && !flush()) return false;
  }
  return n == 0 && first != 0 ? true : flush();
}

}  // namespace

bool define_group_comm(Recorder& r, Group& group) {
  if (group.as_comm == kAbsent) group.as_comm = next_comm_id();
  if (known_here(r, group.defined_as_comm, Kind::kGroupComm, group.id)) return true;
  const auto cid = static_cast<CommId>(group.as_comm);
  return define_group(r, group) && write(r, MpiCommRef{cid, static_cast<GroupId>(group.id)}) &&
         identity(r, group.as_comm, Identity{0, 0, true},
                  kStandsForGroup | (group.foreign ? kForeignMembers : 0u));
}

bool define_comm(Recorder& r, Comm& comm) {
  if (known_here(r, comm.defined, Kind::kComm, comm.id)) return true;
  const auto cid = static_cast<CommId>(comm.id);
  const bool foreign = comm.group->foreign || (comm.remote != nullptr && comm.remote->foreign);
  const unsigned flags =
      (comm.remote != nullptr ? kIntercommunicator : 0u) | (foreign ? kForeignMembers : 0u);
  bool good = define_group(r, *comm.group) &&
              write(r, MpiCommRef{cid, static_cast<GroupId>(comm.group->id)}) &&
              identity(r, comm.id, comm.identity, flags);
  if (comm.remote != nullptr) {
    good = good && define_group(r, *comm.remote) &&
           write(r, CommRemote{cid, static_cast<GroupId>(comm.remote->id)});
  }
  if (comm.sources != nullptr) good = good && define_neighbours(r, cid, 1, comm.sources);
  if (comm.destinations != nullptr) good = good && define_neighbours(r, cid, 2, comm.destinations);
  return good;
}

bool define_topology(Recorder& r, const Comm& comm, MPI_Comm handle) {
  constexpr int kMost = 16;
  static std::uint32_t topologies = 0;
  int dimensions = 0;
  std::array<int, kMost> sizes{}, periodic{}, position{};
  if (PMPI_Cartdim_get(handle, &dimensions) != MPI_SUCCESS || dimensions < 1 || dimensions > kMost)
    return true;
  if (PMPI_Cart_get(handle, kMost, sizes.data(), periodic.data(), position.data()) != MPI_SUCCESS)
    return true;
  std::array<std::uint8_t, kMost> periods{};
  std::array<std::uint32_t, kMost> unnamed{};
  unnamed.fill(kAbsent);
  for (std::size_t i = 0; i < kMost; ++i) periods[i] = periodic[i] != 0 ? 1 : 0;
  const auto count = static_cast<std::uint32_t>(dimensions);
  const auto u4 = [count](const auto& values) {
    return U4Array(reinterpret_cast<const std::byte*>(values.data()), count, false);
  };
  const auto id = static_cast<TopologyId>(topologies++);
  const auto ndims = static_cast<Byte>(dimensions);
  return write(r, CartTopology{id, static_cast<CommId>(comm.id), ndims, u4(sizes),
                               ByteArray(reinterpret_cast<const std::byte*>(periods.data()), count,
                                         false),
                               absent<StringId>(), u4(unnamed)}) &&
         write(r, CartCoords{id, r.lid, ndims, u4(position)});
}

bool define_window(Recorder& r, Window& window) {
  if (known_here(r, window.defined, Kind::kWindow, window.id)) return true;
  const bool members =
      window.comm != nullptr ? define_comm(r, *window.comm) : define_group_comm(r, *window.group);
  const std::uint32_t cid = window.comm != nullptr ? window.comm->id : window.group->as_comm;
  const auto wid = static_cast<WindowId>(window.id);
  return members && write(r, MpiWin{wid, static_cast<CommId>(cid)}) &&
         write(r, WinIdentity{wid, Hash64{window.identity.hi}, Hash64{window.identity.lo},
                              static_cast<Flags>(window.identity.known ? 0u : kUnknownIdentity),
                              Byte{window.flavour}, Byte{window.model}});
}

}  // namespace kojak::measure
