// Where a process stands in a window's epochs, and which of them an operation belongs to: the one
// rule for the merge, EARL, elg_filter and the wrappers.
//
// A process has at most one fence epoch, one access epoch and one exposure epoch open on a window,
// and locks of peers or of all. Each move of MPI is one function here:
//
//   call                     what it does
//   fence                    ends the fence epoch and begins the next; with MPI_MODE_NOSUCCEED none
//   start, post              begin an access or exposure epoch, with each member of the group; one
//                            that is still open ends unseen
//   complete, wait, test     end it; a test that gives false ends nothing
//   lock, lock_all           open until unlock, unlock_all; flushes end operations, not epochs
//   free                     the user forgets the window
//   recording off            nothing is known of starts, posts and locks until WIN_STATE and
//                            EPOCH_STATE tell; counts go on from theirs
//
// A call that is never left moves nothing. Epochs are numbered from 1: the n-th access epoch of o
// that names t belongs to the n-th exposure epoch of t that names o.
// Value types. begin_epoch() and what calls it keep the memory of the caller's list of members;
// nothing else allocates. Nothing fails: what contradicts the state is taken as it comes.
// Source: docs/merge.md; docs/earl.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "epilog/format/record/types.h"

namespace kojak {

// What an operation can belong to.
enum class EpochKind : std::uint8_t { kNone, kFence, kAccess, kLock, kLockAll };

// The epoch that claims an operation: a lock of its target, else a lock of all, else the access
// epoch that names the target, else the fence epoch. Each is asked only if those before say no.
template <class Lock, class LockAll, class Access>
KOJAK_INLINED constexpr EpochKind claiming_epoch(Lock&& lock, LockAll&& lock_all, Access&& access) {
  if (lock()) return EpochKind::kLock;
  if (lock_all()) return EpochKind::kLockAll;
  if (access()) return EpochKind::kAccess;
  return EpochKind::kFence;
}

// What a state record says of an epoch or lock that was open before the gap, or was not.
struct Resumption {
  bool goes_on, ended, begun;  // `ended`, `begun`: unseen
};
// `known`: it was open; `same`: and the record counts no other since.
constexpr Resumption resumption(bool known, bool same, bool open) {
  const bool goes_on = known && same && open;
  return {goes_on, known && !goes_on, open && !goes_on};
}

enum class EpochSide : std::uint8_t { kAccess, kExposure };

// Towards one peer.
struct PeerStanding {
  std::uint64_t access = 0, exposure = 0;  // epochs begun that name the peer
  std::uint8_t open = 0;                   // as in EPOCH_STATE, but what a lock of all opens

  static constexpr std::uint8_t kLockBits = kOpenLock | kOpenNoCheck;
  bool accessed() const { return (open & kOpenAccess) != 0; }
  bool exposed() const { return (open & kOpenExposure) != 0; }
  bool locked() const { return (open & kOpenLock) != 0; }

  // The peer is a member of the epoch that begins, or of the one that ends.
  // `with`: kOpenNoCheck of an access epoch, or 0.
  void begin(EpochSide side, std::uint8_t with = 0) {
    ++(side == EpochSide::kAccess ? access : exposure);
    set(static_cast<std::uint8_t>(with | bit(side)));
  }
  void end(EpochSide side) {
    clear(side == EpochSide::kAccess ? kOpenAccess | kOpenNoCheck : kOpenExposure);
  }
  // kOpenShared or kOpenExclusive, and kOpenNoCheck.
  void lock(std::uint8_t flags) {
    clear(kLockBits);
    set(flags);
  }
  void unlock() { clear(kLockBits); }
  static constexpr std::uint8_t bit(EpochSide side) {
    return side == EpochSide::kAccess ? kOpenAccess : kOpenExposure;
  }

 private:
  void set(std::uint8_t bits) { open = static_cast<std::uint8_t>(open | bits); }
  void clear(std::uint8_t bits) { open = static_cast<std::uint8_t>(open & ~bits); }
};

struct WindowStanding {
  std::uint64_t fences = 0;  // left so far
  std::uint32_t locks = 0;   // peers that are locked alone
  bool fence_open = false, access_open = false, exposure_open = false;
  std::uint8_t all = 0;  // flags of a lock of all, kOpenLockAll among them

  EpochKind epoch_of(const PeerStanding& peer) const {
    return claiming_epoch([&] { return peer.locked(); }, [&] { return all != 0; },
                          [&] { return peer.accessed(); });
  }
  // What no lock and no access epoch claims belongs to a fence epoch: is one open, and nothing
  // else?
  bool names_fence() const { return fence_open && !access_open && locks == 0; }
  // Every operation belongs to the fence epoch that is open.
  bool only_fences() const { return names_fence() && all == 0; }
  // The bits of WIN_STATE.
  std::uint8_t open() const {
    return static_cast<std::uint8_t>((fence_open ? kOpenFence : 0) | all);
  }

  void fence(bool no_succeed) {
    ++fences;
    fence_open = !no_succeed;
  }
  // `members`: of the open epoch of that side, kept by the caller; at(member) gives a
  // PeerStanding&.
  template <class Members, class At>
  void end_epoch(EpochSide side, Members& members, At&& at) {
    for (const auto member : members) at(member).end(side);
    members.resize(0);
    is_open(side) = false;
  }
  void open_epoch(EpochSide side) { is_open(side) = true; }  // its members follow one by one
  template <class Members, class Group, class At>
  void begin_epoch(EpochSide side, Members& members, const Group& group, At&& at) {
    end_epoch(side, members, at);
    open_epoch(side);
    for (const auto member : group) {
      at(member).begin(side);
      members.push_back(member);
    }
  }
  void lock(PeerStanding& peer, std::uint8_t flags) {
    if (!peer.locked()) ++locks;
    peer.lock(flags);
  }
  void unlock(PeerStanding& peer) {
    if (peer.locked()) --locks;
    peer.unlock();
  }
  void lock_all(std::uint8_t flags) { all = static_cast<std::uint8_t>(flags | kOpenLockAll); }
  void unlock_all() { all = 0; }

  // WIN_STATE and EPOCH_STATE: what they say holds, however it came about.
  void told(std::uint64_t fence_count, std::uint8_t flags) {
    fences = std::max(fences, fence_count);
    fence_open = (flags & kOpenFence) != 0;
    all = (flags & kOpenLockAll) != 0 ? static_cast<std::uint8_t>(flags & ~kOpenFence)
                                      : std::uint8_t{0};
  }
  template <class Members, class Member>
  void told(PeerStanding& peer, Member member, std::uint64_t access, std::uint64_t exposure,
            std::uint8_t flags, Members& accessed, Members& exposed) {
    peer.access = std::max(peer.access, access);
    peer.exposure = std::max(peer.exposure, exposure);
    const bool by_all = (flags & kOpenLockAll) != 0;
    if (by_all) all = static_cast<std::uint8_t>(flags & (PeerStanding::kLockBits | kOpenLockAll));
    const bool was_locked = peer.locked();
    const auto keep = static_cast<std::uint8_t>(kOpenAccess | kOpenExposure |
                                                (by_all ? 0 : PeerStanding::kLockBits));
    const std::uint8_t before = peer.open;
    peer.open = flags & keep;
    locks += static_cast<std::uint32_t>(peer.locked()) - static_cast<std::uint32_t>(was_locked);
    told_of(EpochSide::kAccess, before, peer.open, member, accessed);
    told_of(EpochSide::kExposure, before, peer.open, member, exposed);
  }
  // Recording is switched off; call forget() for each peer, too.
  template <class Members>
  void forget_open(Members& accessed, Members& exposed) {
    access_open = exposure_open = false;
    all = 0;
    accessed.clear();
    exposed.clear();
  }
  void forget(PeerStanding& peer) {
    if (peer.locked()) --locks;
    peer.open = 0;
  }

 private:
  bool& is_open(EpochSide side) { return side == EpochSide::kAccess ? access_open : exposure_open; }
  template <class Members, class Member>
  void told_of(EpochSide side, std::uint8_t before, std::uint8_t now, Member member,
               Members& members) {
    const std::uint8_t bit = PeerStanding::bit(side);
    if (((before ^ now) & bit) == 0) return;
    if ((now & bit) != 0) {
      members.push_back(member);
      is_open(side) = true;
    } else {
      std::erase(members, member);
      if (members.empty()) is_open(side) = false;
    }
  }
};

}  // namespace kojak
