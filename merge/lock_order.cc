#include "merge/lock_order.h"

#include <algorithm>
#include <cmath>

namespace kojak::merge {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

bool overlap(const LockEpoch& a, const LockEpoch& b) {
  return a.lock_enter <= b.unlock_exit && b.lock_enter <= a.unlock_exit;
}
bool conflict(const LockEpoch& a, const LockEpoch& b) {
  return a.origin != b.origin && (a.exclusive || b.exclusive);
}
// At equal times the lower rank's events come first in the file.
double not_before(double release, const LockEpoch& holder, const LockEpoch& next) {
  return holder.origin < next.origin ? release : std::nextafter(release, kForever);
}
double not_after(double proof, const LockEpoch& holder, const LockEpoch& next) {
  return holder.origin < next.origin ? proof : std::nextafter(proof, -kForever);
}

}  // namespace

// Whether `a` rather goes first, where both could.
bool LockOrder::rather(const LockEpoch& a, const LockEpoch& b) {
  if (a.unlock_enter <= b.lock_exit) return true;
  if (b.unlock_enter <= a.lock_exit) return false;
  return a.unlock_exit != b.unlock_exit ? a.unlock_exit < b.unlock_exit : a.origin < b.origin;
}

void LockOrder::close(const LockEpoch& epoch) {
  forget(epoch.lock_enter);
  Entry entry;
  entry.epoch = epoch;
  entries_.push_back(entry);
}

// Brings the entries into the order of holding: those that are settled stay where they are.
void LockOrder::sort(Result& result) {
  const std::size_t n = entries_.size();
  const auto first = static_cast<std::size_t>(
      std::find_if(entries_.begin(), entries_.end(), [](const Entry& e) { return !e.settled; }) -
      entries_.begin());
  // How many must go before each: it had not begun its unlock when they proved their locks.
  const auto must = [&](const Entry& a, const Entry& b) {
    return conflict(a.epoch, b.epoch) && overlap(a.epoch, b.epoch) &&
           b.epoch.unlock_enter > a.epoch.proof;
  };
  std::vector<std::uint32_t> waits(n, 0);
  for (std::size_t i = first; i < n; ++i) {
    for (std::size_t j = first; j < n; ++j) {
      if (i != j && must(entries_[i], entries_[j])) ++waits[j];
    }
  }
  // No exclusive holder may come between one whose unlock has not begun and one that has proved its
  // lock by then: those two hold it together.
  double held = -kForever;
  for (std::size_t i = 0; i < first; ++i) held = std::max(held, entries_[i].epoch.unlock_enter);
  for (std::size_t at = first; at < n; ++at) {
    std::size_t proof = at;  // the earliest that is left
    for (std::size_t i = at; i < n; ++i) {
      if (entries_[i].epoch.proof < entries_[proof].epoch.proof) proof = i;
    }
    std::size_t best = n;
    for (std::size_t i = at; i < n; ++i) {
      if (waits[i] != 0) continue;
      if (entries_[i].epoch.exclusive && i != proof && entries_[proof].epoch.proof < held) continue;
      if (best == n || rather(entries_[i].epoch, entries_[best].epoch)) best = i;
    }
    if (best == n) {  // a circle
      ++result.circular;
      best = at;
      for (std::size_t i = at + 1; i < n; ++i) {
        const LockEpoch& a = entries_[i].epoch;
        const LockEpoch& b = entries_[best].epoch;
        if (a.unlock_enter < b.unlock_enter ||
            (a.unlock_enter == b.unlock_enter && a.origin < b.origin)) {
          best = i;
        }
      }
    }
    for (std::size_t i = at; i < n; ++i) {
      if (i != best && must(entries_[best], entries_[i]) && waits[i] > 0) --waits[i];
    }
    held = std::max(held, entries_[best].epoch.unlock_enter);
    std::swap(entries_[at], entries_[best]);
    std::swap(waits[at], waits[best]);
  }
}

void LockOrder::settle(double calls, Result& result) {
  const double first_open = open_.empty() ? kForever : *open_.begin();
  const std::size_t n = entries_.size();
  const bool exclusive = std::any_of(entries_.begin(), entries_.end(),
                                     [](const Entry& e) { return e.epoch.exclusive; });
  if (exclusive) sort(result);
  const auto related = [&](std::size_t i, std::size_t j) {
    return exclusive && conflict(entries_[i].epoch, entries_[j].epoch) &&
           overlap(entries_[i].epoch, entries_[j].epoch);
  };
  // The latest that a lock was granted and released, as those after it have proved to hold it.
  for (std::size_t i = n; i-- > 0;) {
    Entry& entry = entries_[i];
    const LockEpoch& e = entry.epoch;
    if (entry.settled) continue;
    double release = e.unlock_exit;
    for (std::size_t j = i + 1; j < n; ++j) {
      if (related(i, j)) {
        release = std::min(release, not_after(entries_[j].latest, e, entries_[j].epoch));
      }
    }
    entry.release = std::max(e.unlock_enter, release);
    entry.latest = std::min(e.proof, entry.release);
  }
  for (std::size_t i = 0; i < n; ++i) {
    Entry& entry = entries_[i];
    const LockEpoch& e = entry.epoch;
    if (entry.settled) continue;
    double reach = e.unlock_exit, grant = e.lock_enter;
    bool final_before = true;
    for (std::size_t j = 0; j < n && exclusive; ++j) {
      const LockEpoch& other = entries_[j].epoch;
      if (overlap(e, other)) reach = std::max(reach, other.unlock_exit);
      if (j >= i || !related(i, j)) continue;
      grant = std::max(grant, not_before(entries_[j].release, other, e));
      final_before = final_before && entries_[j].settled;
    }
    entry.grant = std::min(grant, e.proof);
    entry.release = std::max(entry.grant, entry.release);
    if ((reach >= first_open || !final_before) && n < kMost) continue;
    entry.settled = true;
    result.settled.push_back({e, entry.grant, entry.release});
    for (std::size_t j = i + 1; j < n; ++j) {
      const LockEpoch& next = entries_[j].epoch;
      if (!conflict(e, next)) continue;
      result.followers.emplace_back(e, next);
      if (next.exclusive) break;  // who comes then comes after that one
    }
  }
  std::stable_partition(entries_.begin(), entries_.end(), [](const Entry& e) { return e.settled; });
  double needed = std::min(first_open, calls);
  for (const Entry& entry : entries_) {
    if (!entry.settled) needed = std::min(needed, entry.epoch.lock_enter);
  }
  if (n >= kMost) needed = kForever;
  std::erase_if(entries_, [&](const Entry& entry) {
    return entry.settled && entry.epoch.unlock_exit < needed;
  });
  next_ = 2 * entries_.size() + 32;
}

}  // namespace kojak::merge
