#include "earl/filter/epoch_states.h"

#include <algorithm>

namespace kojak::filter {
EpochStates::Process& EpochStates::at(ProcessId process) {
  if (Process* known = processes_.find(process)) return *known;
  return processes_.set(process, {});
}

void EpochStates::collective(ProcessId process, CommId comm, bool kept) {
  Process& p = at(process);
  Comm& c = p.comms[comm];
  ++c.count;
  if (!kept) change(p, c);
}

void EpochStates::fence(ProcessId process, WindowId window, std::uint32_t assertion, bool kept) {
  Process& p = at(process);
  Window& w = p.windows[window];
  w.standing.fence((assertion & kAssertNoSucceed) != 0);
  if (!kept) change(p, w);
}

void EpochStates::free(ProcessId process, WindowId window) {
  at(process).windows.erase(window);
}

void EpochStates::epoch(ProcessId process, EpochMove move, WindowId window, CommId group,
                        bool kept) {
  Process& p = at(process);
  Window& w = p.windows[window];
  const bool access = move == EpochMove::kStart || move == EpochMove::kComplete;
  const EpochSide side = access ? EpochSide::kAccess : EpochSide::kExposure;
  std::vector<std::uint32_t>& members = access ? w.access : w.exposure;
  const auto peer = [&](std::uint32_t rank) -> Peer& { return w.peers[static_cast<PeerId>(rank)]; };
  const auto moved = [&] {
    for (const std::uint32_t rank : members) {
      Peer& s = peer(rank);
      if (access) s.operations = 0;
      if (!kept) change(p, s);
    }
  };
  const auto standing = [&](std::uint32_t rank) -> PeerStanding& { return peer(rank).standing; };
  moved();  // what ends, or is followed by another without having ended
  w.standing.end_epoch(side, members, standing);
  const CommDef* comm = definitions_.comms.find(group);
  if ((move != EpochMove::kStart && move != EpochMove::kPost) || comm == nullptr) return;
  w.standing.begin_epoch(side, members, comm->ranks, standing);
  for (const std::uint32_t rank : members)
    peer(rank).show(access ? kOpenAccess : kOpenExposure, kept);
  moved();
}

void EpochStates::lock(ProcessId process, WindowId window, PeerId target, std::uint8_t flags,
                       bool shown, bool kept) {
  Process& p = at(process);
  Window& w = p.windows[window];
  Peer& s = w.peers[target];
  s.operations = 0;
  w.standing.lock(s.standing, flags);
  s.show(PeerStanding::kLockBits, shown);
  if (shown && !kept) change(p, s);
}

bool EpochStates::unlock(ProcessId process, WindowId window, PeerId target) {
  Window& w = at(process).windows[window];
  Peer& s = w.peers[target];
  const bool shown = (s.standing.open & s.shown & kOpenLock) != 0;
  w.standing.unlock(s.standing);
  s.show(PeerStanding::kLockBits, false);
  s.operations = 0;
  return shown;
}

void EpochStates::lock_all(ProcessId process, WindowId window, std::uint8_t flags, bool shown,
                           bool kept) {
  Process& p = at(process);
  Window& w = p.windows[window];
  for (auto& [peer, s] : w.peers) s.operations = 0;
  w.standing.lock_all(flags);
  w.all_shown = shown;
  if (shown && !kept) {
    change(p, w);
    // Readers learn of the lock from the state towards its peers.
    const WindowDef* definition = definitions_.windows.find(window);
    const CommDef* comm =
        definition == nullptr ? nullptr : definitions_.comms.find(definition->comm);
    if (comm != nullptr && !comm->ranks.empty()) {
      change(p, w.peers[static_cast<PeerId>(comm->ranks.front())]);
    }
  }
}

bool EpochStates::unlock_all(ProcessId process, WindowId window) {
  Window& w = at(process).windows[window];
  const bool shown = w.all_shown;
  w.standing.unlock_all();
  w.all_shown = false;
  for (auto& [peer, s] : w.peers) s.operations = 0;
  return shown;
}

// Operations of fence epochs and of locks that the cut does not have are not told of.
void EpochStates::operation(ProcessId process, WindowId window, PeerId target, bool kept) {
  Process& p = at(process);
  Window& w = p.windows[window];
  Peer& s = w.peers[target];
  const EpochKind kind = w.standing.epoch_of(s.standing);
  if (kind == EpochKind::kFence || (kind == EpochKind::kLockAll && !w.all_shown) ||
      (kind == EpochKind::kLock && (s.shown & kOpenLock) == 0)) {
    return;
  }
  ++s.operations;
  if (!kept) change(p, s);
}

// In the file the next holder's ALOCK may stand before the RLOCK of the one before.
void EpochStates::symmetric_lock(ProcessId process, LockId id, PeerId granted_by, bool acquired,
                                 bool kept) {
  SymmetricLock& lock = symmetric_locks_[id];
  const auto move = [&](ProcessId& who) {
    if (acquired) {
      who = process;
    } else if (who == process) {
      who = absent<ProcessId>();
    }
  };
  lock.granted_by = granted_by;
  move(lock.holder);
  if (kept) {
    move(lock.shown);
  } else {
    at(process).changed = true;
  }
}

void EpochStates::off(ProcessId process) {
  for (auto& [id, lock] : symmetric_locks_) {
    if (lock.holder != process) continue;
    lock.holder = absent<ProcessId>();
    at(process).changed = true;
  }
}

void EpochStates::state(ProcessId process, const WinState& record) {
  Process& p = at(process);
  Window& w = p.windows[record.wid];
  w.standing.told(raw(record.fences), raw(record.open));
  if (w.standing.all == 0) w.all_shown = false;
  change(p, w);
}

void EpochStates::state(ProcessId process, const EpochState& record) {
  Process& p = at(process);
  Window& w = p.windows[record.wid];
  Peer& s = w.peers[record.plid];
  w.standing.told(s.standing, raw(record.plid), raw(record.access), raw(record.exposure),
                  raw(record.open), w.access, w.exposure);
  s.operations = raw(record.ops);
  s.show(kOpenAccess | kOpenExposure, true);
  // Of locks it can only tell that they have been released unseen.
  if (!s.standing.locked()) s.show(PeerStanding::kLockBits, false);
  change(p, s);
}

void EpochStates::state(ProcessId process, const CollState& record) {
  Process& p = at(process);
  Comm& c = p.comms[record.cid];
  c.count = std::max(c.count, raw(record.count));
  change(p, c);
}

}  // namespace kojak::filter
