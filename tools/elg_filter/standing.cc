#include "tools/elg_filter/standing.h"

#include <algorithm>

namespace kojak::filter {
namespace {

constexpr std::uint8_t kLocks = kOpenLock | kOpenNoCheck;

}  // namespace

Standing::Process& Standing::at(ProcessId process) {
  if (Process* known = processes_.find(process)) return *known;
  return processes_.set(process, {});
}

void Standing::collective(ProcessId process, CommId comm, bool kept) {
  Process& p = at(process);
  Comm& c = p.comms[comm];
  ++c.count;
  if (!kept) change(p, c);
}

void Standing::fence(ProcessId process, WindowId window, std::uint32_t assertion, bool kept) {
  Process& p = at(process);
  Window& w = p.windows[window];
  ++w.fences;
  w.fence_open = (assertion & kAssertNoSucceed) == 0;
  if (!kept) change(p, w);
}

void Standing::free(ProcessId process, WindowId window) {
  at(process).windows.erase(window);
}

void Standing::epoch(ProcessId process, MpiRole role, WindowId window, CommId group, bool kept) {
  Process& p = at(process);
  Window& w = p.windows[window];
  const bool access = role == MpiRole::kWinStart || role == MpiRole::kWinComplete;
  const bool begins = role == MpiRole::kWinStart || role == MpiRole::kWinPost;
  const std::uint8_t bit = access ? kOpenAccess : kOpenExposure;
  std::vector<PeerId>& open = access ? w.access : w.exposure;
  for (const PeerId peer : open) {  // it ends, or is followed by another without having ended
    Peer& s = w.peers[peer];
    s.open &= static_cast<std::uint8_t>(~bit);
    if (access) {
      s.operations = 0;
      s.in_access = false;
    }
    if (!kept) change(p, s);
  }
  open.clear();
  const CommDef* comm = definitions_.comms.find(group);
  if (!begins || comm == nullptr) return;
  for (const std::uint32_t rank : comm->ranks) {
    Peer& s = w.peers[static_cast<PeerId>(rank)];
    ++(access ? s.access : s.exposure);
    if (kept) s.open |= bit;
    if (access) {
      s.operations = 0;
      s.in_access = true;
    }
    if (!kept) change(p, s);
    open.push_back(static_cast<PeerId>(rank));
  }
}

void Standing::lock(ProcessId process, WindowId window, PeerId target, std::uint8_t flags,
                    bool shown, bool kept) {
  Process& p = at(process);
  Peer& s = p.windows[window].peers[target];
  s.operations = 0;
  if (!shown) return;
  s.open = static_cast<std::uint8_t>((s.open & ~kLocks) | flags);
  if (!kept) change(p, s);
}

bool Standing::unlock(ProcessId process, WindowId window, PeerId target) {
  Peer& s = at(process).windows[window].peers[target];
  const bool shown = (s.open & kLocks) != 0;
  s.open &= static_cast<std::uint8_t>(~kLocks);
  s.operations = 0;
  return shown;
}

void Standing::lock_all(ProcessId process, WindowId window, std::uint8_t flags, bool shown,
                        bool kept) {
  Process& p = at(process);
  Window& w = p.windows[window];
  for (auto& [peer, s] : w.peers) s.operations = 0;
  w.lock_all = shown ? flags : 0;
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

bool Standing::unlock_all(ProcessId process, WindowId window) {
  Window& w = at(process).windows[window];
  const bool shown = w.lock_all != 0;
  w.lock_all = 0;
  for (auto& [peer, s] : w.peers) s.operations = 0;
  return shown;
}

void Standing::operation(ProcessId process, WindowId window, PeerId target, bool kept) {
  Process& p = at(process);
  Window& w = p.windows[window];
  Peer& s = w.peers[target];
  if (!s.in_access && (s.open & kLocks) == 0 && w.lock_all == 0) return;
  ++s.operations;
  if (!kept) change(p, s);
}

void Standing::state(ProcessId process, const WinState& record) {
  Process& p = at(process);
  Window& w = p.windows[record.wid];
  w.fences = std::max(w.fences, raw(record.fences));
  w.fence_open = (raw(record.open) & kOpenFence) != 0;
  if ((raw(record.open) & ~1) == 0) w.lock_all = 0;
  change(p, w);
}

void Standing::state(ProcessId process, const EpochState& record) {
  Process& p = at(process);
  Window& w = p.windows[record.wid];
  Peer& s = w.peers[record.plid];
  s.access = std::max(s.access, raw(record.access));
  s.exposure = std::max(s.exposure, raw(record.exposure));
  s.operations = raw(record.ops);
  // Of locks it can only tell that they have been released unseen.
  std::uint8_t open = raw(record.open) & (kOpenAccess | kOpenExposure);
  if ((raw(record.open) & kLocks) != 0) open |= s.open & kLocks;
  s.open = open;
  s.in_access = (open & kOpenAccess) != 0;
  const auto follow = [&](std::vector<PeerId>& list, std::uint8_t bit) {
    std::erase(list, record.plid);
    if ((open & bit) != 0) list.push_back(record.plid);
  };
  follow(w.access, kOpenAccess);
  follow(w.exposure, kOpenExposure);
  change(p, s);
}

void Standing::state(ProcessId process, const CollState& record) {
  Process& p = at(process);
  Comm& c = p.comms[record.cid];
  c.count = std::max(c.count, raw(record.count));
  change(p, c);
}

}  // namespace kojak::filter
