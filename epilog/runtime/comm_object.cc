#include "epilog/runtime/comm_object.h"

#include "epilog/format/field_values.h"
#include "epilog/format/record/continuation.h"
#include "epilog/runtime/local_trace.h"
#include "epilog/runtime/own_stack.h"

namespace kojak::measure {
namespace {

bool define_group(Recorder& r, Group& group) {
  if (known_here(r, group.defined, ObjectKind::kGroup, group.id)) return true;
  const bool world = group.id == 0;
  bool good = true;
  emit_group(static_cast<GroupId>(group.id), world ? 1 : 0, group.ranks, group.count,
             [&](const auto& record) { good = good && write_definition(r, record); });
  return good;
}

bool identity(Recorder& r, std::uint32_t cid, const Identity& id, unsigned flags) {
  return write_definition(
      r, CommIdentity{static_cast<CommId>(cid), Hash64{id.hi}, Hash64{id.lo},
                      static_cast<Flags>(flags | (id.known ? 0u : kIdentityUnknown))});
}

std::uint64_t key_of(ObjectKind kind, std::uint32_t id) {
  return static_cast<std::uint64_t>(kind) << 32 | id;
}

}  // namespace

bool known_here(Recorder& r, std::atomic<std::uint64_t>& defined, ObjectKind kind,
                std::uint32_t id) {
  if (r.thread_bit != 0)
    return (defined.fetch_or(r.thread_bit, std::memory_order_relaxed) & r.thread_bit) != 0;
  return r.trace->defined.find(key_of(kind, id)) != nullptr;
}
void know_here(Recorder& r, ObjectKind kind, std::uint32_t id) {
  if (r.thread_bit == 0) r.trace->defined.set(key_of(kind, id), true);
}

bool define_group_comm(Recorder& r, Group& group) {
  if (group.as_comm == kAbsent) group.as_comm = next_comm_id();
  if (known_here(r, group.defined_as_comm, ObjectKind::kGroupComm, group.id)) return true;
  return on_own_stack([&] {
    know_here(r, ObjectKind::kGroupComm, group.id);
    const auto cid = static_cast<CommId>(group.as_comm);
    return define_group(r, group) &&
           write_definition(r, MpiCommRef{cid, static_cast<GroupId>(group.id)}) &&
           identity(r, group.as_comm, Identity{0, 0, true},
                    kStandsForGroup | (group.foreign ? kForeignMembers : 0u));
  });
}

bool write_members(Recorder& r, CommObject& comm) {
  const auto cid = static_cast<CommId>(comm.id);
  const bool foreign = comm.group->foreign || (comm.remote != nullptr && comm.remote->foreign);
  const unsigned flags =
      (comm.remote != nullptr ? kIntercommunicator : 0u) | (foreign ? kForeignMembers : 0u);
  bool good = define_group(r, *comm.group) &&
              write_definition(r, MpiCommRef{cid, static_cast<GroupId>(comm.group->id)}) &&
              identity(r, comm.id, comm.identity, flags);
  if (comm.remote != nullptr) {
    good = good && define_group(r, *comm.remote) &&
           write_definition(r, CommRemote{cid, static_cast<GroupId>(comm.remote->id)});
  }
  return good && write_name(r, cid, comm.name);
}

bool define_members(Recorder& r, CommObject& comm) {
  if (known_here(r, comm.defined, ObjectKind::kComm, comm.id)) return true;
  return on_own_stack([&] {
    know_here(r, ObjectKind::kComm, comm.id);
    return write_members(r, comm);
  });
}

bool write_collectives(Recorder& r, CommObject& comm, Seconds time) {
  comm.collectives_changed = false;
  return write_definition(
      r, CollState{r.lid, time, static_cast<CommId>(comm.id), Count64{comm.collectives}});
}

}  // namespace kojak::measure
