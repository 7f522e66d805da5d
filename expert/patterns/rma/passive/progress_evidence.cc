#include "expert/patterns/rma/passive/progress_evidence.h"

namespace kojak::expert {

// Transfers, locks and local flushes may return early: they stand or fall with the calls that
// complete. But that data need nobody says nothing of locks where lock calls wait for their target.
bool ProgressEvidence::is_void(ProgressKind kind, bool same_node) const {
  if (kind == ProgressKind::kLock) {
    return is_void(ProgressKind::kPassiveTransfer, same_node) && !locks_wait(same_node);
  }
  return stays_void(kind, same_node);
}

bool ProgressEvidence::stays_void(ProgressKind kind, bool same_node) const {
  const auto seen = [&](ProgressKind k) { return asynchronous_[index(k)][same_node] != 0; };
  switch (kind) {
    case ProgressKind::kAccessTransfer:
      return seen(ProgressKind::kComplete);
    case ProgressKind::kLock:
      return seen(ProgressKind::kLock) && stays_void(ProgressKind::kPassiveTransfer, same_node);
    case ProgressKind::kPassiveTransfer:
    case ProgressKind::kFlushLocal:
      return seen(ProgressKind::kFlush) || seen(ProgressKind::kUnlock) ||
             seen(ProgressKind::kGetWait) || seen(ProgressKind::kPoll);
    case ProgressKind::kFlush:
      return seen(ProgressKind::kFlush) || seen(ProgressKind::kPoll);
    case ProgressKind::kPoll:
      return stays_void(ProgressKind::kPassiveTransfer, same_node);
    case ProgressKind::kShmemPut:
      return seen(ProgressKind::kShmemGet) || seen(ProgressKind::kShmemQuiet);
    case ProgressKind::kShmemAtomic:
      return seen(ProgressKind::kShmemFetch);
    case ProgressKind::kShmemLock:  // of UPC, which has no such operations, by the locks themselves
      return seen(ProgressKind::kShmemFetch) || seen(ProgressKind::kShmemLock);
    default:
      return seen(kind);
  }
}

bool ProgressEvidence::is_sure(ProgressKind kind, bool same_node) const {
  if (is_idle(kind)) return confirmations(kind, same_node) != 0;
  for (std::size_t k = 0; k < kProgressKinds; ++k) {
    const auto other = static_cast<ProgressKind>(k);
    if (!is_idle(other) && confirmations(other, same_node) != 0) return true;
  }
  return false;
}

bool ProgressEvidence::locks_wait(bool same_node) const {
  constexpr std::size_t kLock = index(ProgressKind::kLock);
  return confirmed_[kLock][same_node] != 0 && asynchronous_[kLock][same_node] == 0;
}

// Locks confirm something only where nothing else tells of them. Where no one is asked that nothing
// is outstanding to, a call did not end after its return but by chance.
std::uint64_t ProgressEvidence::confirmations(ProgressKind kind, bool same_node) const {
  if (is_idle(kind) && is_void(kind, same_node)) return 0;
  if (kind == ProgressKind::kLock &&
      !(is_void(ProgressKind::kPassiveTransfer, same_node) && locks_wait(same_node)))
    return 0;
  return confirmed_[index(kind)][same_node];
}

unsigned ProgressEvidence::rule() const {
  const auto needed = [&](bool same_node) {
    return !is_void(ProgressKind::kLock, same_node) &&
           !is_void(ProgressKind::kShmemLock, same_node);
  };
  return (needed(true) ? 1u : 0u) | (needed(false) ? 2u : 0u);
}

unsigned ProgressEvidence::open_rule() const {
  const auto open = [&](bool same_node) {
    return !stays_void(ProgressKind::kLock, same_node) &&
           !stays_void(ProgressKind::kShmemLock, same_node);
  };
  return (open(true) ? 1u : 0u) | (open(false) ? 2u : 0u);
}

bool ProgressEvidence::is_claimed(ProgressKind kind) const {
  const unsigned open = open_rule();
  for (unsigned rule = 0; rule < kGrantRules; ++rule) {
    if ((rule & ~open) == 0 && !is_claimed(kind, rule)) return false;
  }
  return true;
}

std::uint64_t ProgressEvidence::voided(bool known) const {
  const unsigned rule_of_run = known ? rule() : 0u;
  std::uint64_t count = 0;
  for (std::size_t k = 0; k < kProgressKinds; ++k) {
    const auto kind = static_cast<ProgressKind>(k);
    if (is_idle(kind)) continue;  // that nobody asks is the rule
    count += is_claimed(kind, rule_of_run) && (is_void(kind, true) || is_void(kind, false));
  }
  return count;
}

void ProgressEvidence::add(const ProgressEvidence& other) {
  for (std::size_t k = 0; k < kProgressKinds; ++k) {
    for (const bool same_node : {false, true}) {
      asynchronous_[k][same_node] += other.asynchronous_[k][same_node];
      confirmed_[k][same_node] += other.confirmed_[k][same_node];
    }
    claimed_[k] = static_cast<std::uint8_t>(claimed_[k] | other.claimed_[k]);
  }
}

}  // namespace kojak::expert
