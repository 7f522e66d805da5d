#include "epilog/mpi/define.h"

#include <array>

#include "epilog/format/field_values.h"
#include "epilog/mpi/args.h"
#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/session.h"

namespace kojak::measure {
namespace {

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
    return write_definition(r, record);
  };
  for (std::uint32_t i = 0; i < list->count; ++i) {
    if (list->ranks[i] == kAbsent) continue;
    part[n++] = list->ranks[i];
    if (n == kMost && !flush()) return false;
  }
  return n == 0 && first != 0 ? true : flush();
}

bool write_comm(Recorder& r, Comm& comm) {
  const auto cid = static_cast<CommId>(comm.id);
  return write_members(r, comm) &&
         (comm.sources == nullptr || define_neighbours(r, cid, 1, comm.sources)) &&
         (comm.destinations == nullptr || define_neighbours(r, cid, 2, comm.destinations));
}

}  // namespace

bool define_comm(Recorder& r, Comm& comm) {
  if (known_here(r, comm.defined, ObjectKind::kComm, comm.id)) return true;
  return on_own_stack([&] {
    know_here(r, ObjectKind::kComm, comm.id);
    if (only_renamed(r, comm.name)) return write_name(r, CommId{comm.id}, comm.name);
    return write_comm(r, comm);
  });
}

namespace {

bool write_topology(Recorder& r, const Comm& comm, MPI_Comm handle) {
  constexpr int kMost = 16;
  static std::uint32_t topologies = 0;
  int dimensions = 0;
  std::array<int, kMost> sizes{}, periodic{}, position{};
  if (mpi::Cartdim_get(handle, &dimensions) != MPI_SUCCESS || dimensions < 1 || dimensions > kMost)
    return true;
  if (mpi::Cart_get(handle, kMost, sizes.data(), periodic.data(), position.data()) != MPI_SUCCESS)
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
  return write_definition(
             r, CartTopology{id, static_cast<CommId>(comm.id), ndims, u4(sizes),
                             ByteArray(reinterpret_cast<const std::byte*>(periods.data()), count,
                                       false),
                             absent<StringId>(), u4(unnamed)}) &&
         write_definition(r, CartCoords{id, r.lid, ndims, u4(position)});
}

bool write_window(Recorder& r, Window& window) {
  const bool members =
      window.comm != nullptr ? define_comm(r, *window.comm) : define_group_comm(r, *window.group);
  const std::uint32_t cid = window.comm != nullptr ? window.comm->id : window.group->as_comm;
  const auto wid = static_cast<WindowId>(window.id);
  return members && write_definition(r, MpiWin{wid, static_cast<CommId>(cid)}) &&
         write_definition(
             r, WinIdentity{wid, Hash64{window.identity.hi}, Hash64{window.identity.lo},
                            static_cast<Flags>(window.identity.known ? 0u : kIdentityUnknown),
                            Byte{window.flavour}, Byte{window.model}}) &&
         (window.unit == 0 ||
          write_definition(r, MpiWinPart{wid, Count64{window.base}, Count64{window.size},
                                         Count64{window.unit}})) &&
         write_name(r, wid, window.name);
}

}  // namespace

bool define_topology(Recorder& r, const Comm& comm, MPI_Comm handle) {
  return on_own_stack([&] { return write_topology(r, comm, handle); });
}

namespace {

// `id` is that of the object. It is defined by whoever uses it next, but for a thread that keeps a
// list of what its file defines: who comes here is told at once.
template <class Object, class Id>
bool define_new_name(Recorder& r, Object& object, ObjectKind kind, Id id) {
  if (r.thread_bit != 0) {
    const std::uint64_t renamed = object.name.renamed.load(std::memory_order_relaxed);
    return (renamed & r.thread_bit) == 0 || define_object(r, object);
  }
  if (!known_here(r, object.defined, kind, raw(id))) return true;
  return on_own_stack([&] { return write_name(r, id, object.name); });
}

}  // namespace

bool define_name(Recorder& r, Comm& comm) {
  return define_new_name(r, comm, ObjectKind::kComm, CommId{comm.id});
}
bool define_name(Recorder& r, Window& window) {
  return define_new_name(r, window, ObjectKind::kWindow, WindowId{window.id});
}

bool define_window(Recorder& r, Window& window) {
  if (known_here(r, window.defined, ObjectKind::kWindow, window.id)) return true;
  return on_own_stack([&] {
    know_here(r, ObjectKind::kWindow, window.id);
    if (only_renamed(r, window.name)) return write_name(r, WindowId{window.id}, window.name);
    return write_window(r, window);
  });
}

}  // namespace kojak::measure
