// An event of a merged trace as one flat value, and the questions that the event hierarchy answers.
//
// An Event owns nothing but copies of its numbers, except metv, which points into the trace's read
// buffer and dies with the next event. Attribute records (ATTR_*) are folded into the event that
// they precede. Attributes that a type does not have are absent or 0. Nothing here fails; any
// thread. Source: event model paper 2005, thesis chapter 4.
#pragma once

#include <cstdint>

#include "epilog/format/blocked.h"
#include "epilog/format/field_values.h"
#include "epilog/format/record/records.h"

namespace kojak::earl {

using EventType = RecordType;  // kEnter, kExit, kMpiSend, ... : types 100 and above

inline constexpr std::uint64_t kNoEvent = ~std::uint64_t{0};  // "null" in a pointer attribute

// Event > Flow (Enter, Exit > MPICExit, OMPCExit, MPIWExit, MPIWCExit), P2P (Send, Recv),
// RMA > (RMA_Comm > starts and ends, RMA_Sync > Wlock, Wunlock), Team (Fork, Join), Sync (Alock,
// Rlock). LOG_OFF, ENTER_TRACING enter and LOG_ON, EXIT_TRACING leave a region as well.
constexpr bool is_enter(EventType t) {
  return region_effect(t) == RegionEffect::kEnters;
}
constexpr bool is_mpi_coll_exit(EventType t) {
  return t == EventType::kMpiCollExit;
}
constexpr bool is_omp_coll_exit(EventType t) {
  return t == EventType::kOmpCollExit;
}
constexpr bool is_win_exit(EventType t) {
  return t == EventType::kMpiWinExit;
}
constexpr bool is_win_coll_exit(EventType t) {
  return t == EventType::kMpiWinCollExit;
}
constexpr bool is_shmem_coll_exit(EventType t) {
  return t == EventType::kCollExit;
}
constexpr bool is_exit(EventType t) {
  return region_effect(t) == RegionEffect::kLeaves;
}
constexpr bool is_flow(EventType t) {
  return is_enter(t) || is_exit(t);
}
constexpr bool is_send(EventType t) {
  return t == EventType::kMpiSend;
}
constexpr bool is_recv(EventType t) {
  return t == EventType::kMpiRecv;
}
constexpr bool is_p2p(EventType t) {
  return is_send(t) || is_recv(t);
}
constexpr bool is_put_start(EventType t) {
  return t == EventType::kMpiPut1ts || t == EventType::kPut1ts;
}
constexpr bool is_put_end(EventType t) {
  return t == EventType::kMpiPut1te || t == EventType::kPut1te;
}
constexpr bool is_get_origin(EventType t) {
  return t == EventType::kMpiGet1to;
}
// In traces merged with lock grants: where a put was issued whose start stands at the grant.
constexpr bool is_put_origin(EventType t) {
  return t == EventType::kMpiPut1to;
}
constexpr bool is_get_start(EventType t) {
  return t == EventType::kMpiGet1ts || t == EventType::kGet1ts;
}
constexpr bool is_get_end(EventType t) {
  return t == EventType::kMpiGet1te || t == EventType::kGet1te;
}
constexpr bool is_rma_start(EventType t) {
  return is_put_start(t) || is_get_start(t);
}
constexpr bool is_rma_end(EventType t) {
  return is_put_end(t) || is_get_end(t);
}
constexpr bool is_rma_comm(EventType t) {
  return is_rma_start(t) || is_rma_end(t) || is_get_origin(t);
}
constexpr bool is_win_lock(EventType t) {
  return t == EventType::kMpiWinLock || t == EventType::kMpiWinLockAll;
}
constexpr bool is_win_unlock(EventType t) {
  return t == EventType::kMpiWinUnlock || t == EventType::kMpiWinUnlockAll;
}
constexpr bool is_rma_sync(EventType t) {
  return is_win_lock(t) || is_win_unlock(t);
}
constexpr bool is_rma(EventType t) {
  return is_rma_comm(t) || is_rma_sync(t);
}
constexpr bool is_fork(EventType t) {
  return t == EventType::kOmpFork;
}
constexpr bool is_join(EventType t) {
  return t == EventType::kOmpJoin;
}
constexpr bool is_team(EventType t) {
  return is_fork(t) || is_join(t);
}
constexpr bool is_alock(EventType t) {
  return t == EventType::kOmpALock || t == EventType::kALock;
}
constexpr bool is_rlock(EventType t) {
  return t == EventType::kOmpRLock || t == EventType::kRLock;
}
constexpr bool is_sync(EventType t) {
  return is_alock(t) || is_rlock(t);
}

struct Event {
  std::uint64_t pos = 0;  // number of the event, from 0 in file order
  Seconds time;
  LocationId loc{};
  EventType type{};
  // WINEXIT synex, WIN_LOCK type, FLUSH local, RMA_MARK reason, open flags, SHMEM_PLACE flags,
  // SHMEM_WAIT comparison, MPI_ERROR error class
  std::uint8_t code = 0;
  std::uint8_t completes =
      0;  // REQUEST_COMPLETE: 1 collective, 2 I/O, 3 generalized; SHMEM_QUIET kind

  // ENTER: region entered. With enterptr (see earl/index/region_stacks.h): also the region left,
  // or that the event lies in.
  RegionId reg = absent<RegionId>();
  std::uint64_t enterptr = kNoEvent;        // filled in by sequence::RegionStacks
  CallSiteId csite = absent<CallSiteId>();  // ENTER_CS
  PeerId peer = absent<PeerId>();  // SEND, *_1TS dest; RECV, *_1TE src; COLLEXIT root; lock target
  CommId com = absent<CommId>();   // P2P, MPICExit; WINEXIT: the group
  WindowId win = absent<WindowId>();
  Tag tag = absent<Tag>();
  RmaId rmaid = absent<RmaId>();
  RequestId request = absent<RequestId>();  // of a non-blocking operation, also from its attribute
  LockId lock = absent<LockId>();
  std::uint32_t context = kAbsent;           // SHMEM_PLACE; SHMEM_QUIET, absent: all
  std::uint64_t offset = ~std::uint64_t{0};  // SHMEM_PLACE, SHMEM_WAIT: in symmetric memory
  Assertion assertion{};
  Bytes64 sent{};           // 64 bits also where the record has 32 (from the attribute)
  Bytes64 recvd{};          //
  bool has_length = false;  // false: classic traces tell no length at a transfer's or message's end
  // *_STATE: their counters, in the order of the record; SHMEM_WAIT: value; MPI_OPEN_CALL: ordinal;
  // MPI_ERROR: code
  std::uint64_t count[3] = {0, 0, 0};
  MetricValues metv;  // hardware counters of Flow events

  bool is(bool (*question)(EventType)) const { return question(type); }
};

// What a thread's kernel counts of it since it began.
struct ProcessorTimes {
  std::uint64_t ran = 0, wanted = 0;  // nanoseconds with a processor; ready to run, and without one
  std::uint64_t preempted = 0;        // how often a processor was taken from it
  // Not kNone: it ran for less than nine tenths of the time since the reading before, outside of
  // calls, and most of the rest that it did not want a processor in it was blocked by this.
  BlockedKind blocked = BlockedKind::kNone;

  bool wanted_known() const { return wanted != raw(kUnknown64); }
};

// What the attribute records before an event say.
struct Attributes {
  RequestId request = absent<RequestId>();
  Bytes64 sent{}, recvd{};
  bool from_any = false;              // a receive took the message of any source
  std::uint32_t allocation = 0;       // that was made in a collective call of ARMCI; 0: none
  std::uint8_t collective_flags = 0;  // how an operation of UPC synchronises (field_values.h)
  // A count of bytes, from the attribute where 32 bits did not hold it.
  static Bytes64 bytes(Bytes64 b, Bytes64) { return b; }
  static Bytes64 bytes(Bytes b, Bytes64 attribute) {
    return raw(b) == kAbsent ? attribute : static_cast<Bytes64>(raw(b));
  }
};

}  // namespace kojak::earl
