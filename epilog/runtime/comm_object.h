// What processes do collective calls on: an MPI communicator, an active set or team of SHMEM.
//
// It has members, an identity that all of them compute alike, and a number in this process's files;
// every thread's file that names it defines it (define_members). Whoever makes one owns it. Callers
// hold the bookkeeping lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "epilog/runtime/group.h"
#include "epilog/runtime/identity.h"
#include "epilog/runtime/object_name.h"
#include "epilog/runtime/recorder.h"

namespace kojak::measure {

struct CommObject {
  std::uint32_t id = 0;
  Group* group = nullptr;
  Group* remote = nullptr;  // of an intercommunicator
  Identity identity;
  std::uint64_t collectives = 0;  // blocking ones
  bool collectives_changed = false;
  bool count_lost =
      false;  // a collective call failed in its midst: nobody knows how many there were
  std::atomic<std::uint64_t> defined{0};
  ObjectName name;
};

KOJAK_INLINED inline bool defined_here(const Recorder& r,
                                       const std::atomic<std::uint64_t>& defined) {
  return (defined.load(std::memory_order_relaxed) & r.thread_bit) != 0;
}

enum class ObjectKind : std::uint64_t { kGroup, kGroupComm, kComm, kWindow, kLock };
// Whether this thread's file defines it. If not, who asks does it now, and says so by know_here().
bool known_here(Recorder& r, std::atomic<std::uint64_t>& defined, ObjectKind kind,
                std::uint32_t id);
void know_here(Recorder& r, ObjectKind kind, std::uint32_t id);

// Group, communicator, identity and remote group. Makes its own room. False: recording stopped.
bool define_members(Recorder& r, CommObject& comm);
// Defines the members where known_here() has said that they are not there yet, and more than that
// is to be written.
bool write_members(Recorder& r, CommObject& comm);
// The communicator object that stands for a group; its identifier goes to `as_comm`.
bool define_group_comm(Recorder& r, Group& group);
// Where this process stands in its collective operations, after a gap in the recording.
bool write_collectives(Recorder& r, CommObject& comm, Seconds time);

// A record of a definition, with room of its own. False: recording stopped.
template <class R>
bool write_definition(Recorder& r, const R& record) {
  if (!need_room(r, kMaxRecord)) return false;
  publish(r, put(r, r.cursor, record));
  return true;
}

}  // namespace kojak::measure
