// Which access epoch corresponds to which exposure epoch, also after gaps in the recording, and
// when an epoch is over. Like the functions of the same names in earl/state/gats_pairs.cc.
#include <algorithm>
#include <utility>

#include "earl/sequence/epochs.h"

namespace kojak::earl::sequence {

using detail::kNone;

Epochs::Pair& Epochs::pair(WindowId window, ProcessId origin, ProcessId target) {
  const detail::Key128 key{raw(window), std::uint64_t{raw(origin)} << 32 | raw(target)};
  std::uint32_t i = pair_index_.find(key);
  if (i == kNone) [[unlikely]] {
    i = pairs_.take();
    pairs_[i] = Pair{};
    pairs_[i].key = key;
    pair_index_.insert(key, i);
  }
  return pairs_[i];
}

// The ordinal of a classic trace begins anew with each recording segment.
std::uint64_t Epochs::next(std::uint64_t& counter, ProcessId process) const {
  if (!native_) counter = std::max(counter, std::uint64_t{segments_[raw(process)]} << 40);
  return counter++;
}

void Epochs::name_partners(std::uint32_t epoch, CommId group) {
  Epoch& e = epochs_[epoch];
  e.group = group;
  const detail::GroupInfo* info = groups_.find(group);
  if (info == nullptr) return;
  for (const std::uint32_t rank : info->def->ranks) {
    const auto partner = static_cast<ProcessId>(rank);
    if (e.mode == EpochMode::kAccess) {
      Pair& p = pair(e.window, e.process, partner);
      add_target(epoch, partner, next(p.access_next, e.process), p);
    } else {
      Pair& p = pair(e.window, partner, e.process);
      add_origin(epoch, partner, next(p.exposure_next, e.process), p);
    }
  }
}

void Epochs::add_target(std::uint32_t epoch, ProcessId target, std::uint64_t ordinal, Pair& p) {
  Epoch& a = epochs_[epoch];
  const auto index = static_cast<std::uint32_t>(a.partners.size());
  a.partners.push_back({target, ordinal});
  ++a.unclosed;
  while (!p.exposure.empty() && p.exposure.front().ordinal < ordinal) {
    const Waiting w = p.exposure.front();
    p.exposure.pop();
    lose(w.epoch, w.index);
  }
  if (!p.exposure.empty() && p.exposure.front().ordinal == ordinal) {
    const Waiting w = p.exposure.front();
    p.exposure.pop();
    link(epoch, index, w.epoch, w.index);
  } else if (ordinal < p.exposure_next || !groups_.present(target)) {
    lose(epoch, index);
  } else {
    p.access.push({ordinal, epoch, index});
  }
}

void Epochs::add_origin(std::uint32_t epoch, ProcessId origin, std::uint64_t ordinal, Pair& p) {
  Epoch& e = epochs_[epoch];
  const auto index = static_cast<std::uint32_t>(e.partners.size());
  e.partners.push_back({origin, ordinal});
  ++e.unclosed;
  while (!p.access.empty() && p.access.front().ordinal < ordinal) {
    const Waiting w = p.access.front();
    p.access.pop();
    lose(w.epoch, w.index);
  }
  if (!p.access.empty() && p.access.front().ordinal == ordinal) {
    const Waiting w = p.access.front();
    p.access.pop();
    link(w.epoch, w.index, epoch, index);
  } else if (ordinal < p.access_next || !groups_.present(origin)) {
    lose(epoch, index);
  } else {
    p.exposure.push({ordinal, epoch, index});
  }
}

void Epochs::link(std::uint32_t ai, std::uint32_t target, std::uint32_t ei, std::uint32_t origin) {
  Epoch& a = epochs_[ai];
  Epoch& e = epochs_[ei];
  a.partners[target].epoch = ei;
  a.partners[target].index = origin;
  e.partners[origin].epoch = ai;
  e.partners[origin].index = target;
  ++a.refs;
  ++e.refs;
  if (e.is_closed) --a.unclosed;
  if (a.is_closed) --e.unclosed;
  check(ai);
  check(ei);
}

// The partner's epoch will never be seen.
void Epochs::lose(std::uint32_t epoch, std::uint32_t partner) {
  Epoch& e = epochs_[epoch];
  e.partners[partner].lost = true;
  --e.unclosed;
  check(epoch);
}

// Partners whose epochs with lower ordinals will never be seen.
void Epochs::lose_before(Pair& p, std::uint64_t access, std::uint64_t exposure) {
  while (!p.exposure.empty() && p.exposure.front().ordinal < access) {
    const Waiting w = p.exposure.front();
    p.exposure.pop();
    lose(w.epoch, w.index);
  }
  while (!p.access.empty() && p.access.front().ordinal < exposure) {
    const Waiting w = p.access.front();
    p.access.pop();
    lose(w.epoch, w.index);
  }
}

void Epochs::close(std::uint32_t epoch) {
  Epoch& e = epochs_[epoch];
  e.is_closed = true;
  for (const Epoch::Partner& p : e.partners) {
    if (p.epoch == kNone) continue;
    --epochs_[p.epoch].unclosed;
    check(p.epoch);
  }
  check(epoch);
}

// Is it over, with all that belongs to it?
void Epochs::check(std::uint32_t epoch) {
  Epoch& e = epochs_[epoch];
  const bool sided = e.mode == EpochMode::kAccess || e.mode == EpochMode::kExposure;
  if (!e.is_closed || e.ready || (sided ? e.unclosed : e.unended) != 0) return;
  e.ready = true;
  completed_.push_back(epoch);
}

void Epochs::release_completed() {
  closed_ = kNone;
  for (const std::uint32_t epoch : completed_) {
    Epoch& e = epochs_[epoch];
    e.delivered = true;
    ++e.refs;  // not while its partners are let go
    for (Epoch::Partner& p : e.partners) {
      if (p.epoch != kNone) unref(std::exchange(p.epoch, kNone));
    }
    unref(epoch);
  }
  completed_.clear();
}

void Epochs::unref(std::uint32_t epoch) {
  Epoch& e = epochs_[epoch];
  if (--e.refs != 0 || !e.delivered) return;
  e.live = false;
  epochs_.give_back(epoch);
}

void Epochs::resume_all(const Event& e, ProcessId here) {
  const std::uint32_t held = find_open(here, EpochMode::kLockAll, e.win);
  const bool is_open = (e.code & kOpenLockAll) != 0;
  if (held != kNone && !is_open) {  // it ended unseen
    std::erase(open_[raw(here)], held);
    close(held);
  } else if (held == kNone && is_open) {
    const std::uint32_t i = make(EpochMode::kLockAll, here, e.win, kNoEvent);
    epochs_[i].target = absent<ProcessId>();
    open_[raw(here)].push_back(i);
  }
}

void Epochs::resume(const Event& e, ProcessId here) {
  const ProcessId peer = process(raw(e.peer));
  if (is_absent(peer)) return;
  const std::uint64_t access = e.count[0], exposure = e.count[1];
  const bool locked = (e.code & kOpenLock) != 0, by_all = (e.code & kOpenLockAll) != 0;
  const std::uint32_t held = find_lock(here, e.win, peer);
  if (held != kNone && !locked) {  // it ended unseen
    std::erase(open_[raw(here)], held);
    close(held);
  } else if (locked && held == kNone &&
             (!by_all || find_open(here, EpochMode::kLockAll, e.win) == kNone)) {
    const std::uint32_t i =
        make(by_all ? EpochMode::kLockAll : EpochMode::kLock, here, e.win, kNoEvent);
    epochs_[i].target = by_all ? absent<ProcessId>() : peer;
    epochs_[i].exclusive = (e.code & kOpenExclusive) != 0;
    open_[raw(here)].push_back(i);
  }
  for (const bool origin : {true, false}) {
    const EpochMode mode = origin ? EpochMode::kAccess : EpochMode::kExposure;
    const std::uint64_t count = origin ? access : exposure;
    const bool is_open = (e.code & (origin ? 1 : 2)) != 0;
    Pair& p = origin ? pair(e.win, here, peer) : pair(e.win, peer, here);
    std::uint32_t open = find_open(here, mode, e.win);
    bool named = false;
    if (open != kNone) {
      for (const Epoch::Partner& partner : epochs_[open].partners) {
        if (partner.process != peer) continue;
        named = is_open && partner.ordinal + 1 == count;
        if (named) break;
        close(take_open(here, mode, e.win));  // it ended unseen
        open = kNone;
        break;
      }
    }
    std::uint64_t& next = origin ? p.access_next : p.exposure_next;
    if (count > next) {
      next = count;
      const std::uint64_t before = count - (is_open ? 1 : 0);
      lose_before(p, origin ? before : 0, origin ? 0 : before);
    }
    if (!is_open || named || count == 0) continue;
    if (open == kNone) {
      open = make(mode, here, e.win, kNoEvent);
      open_[raw(here)].push_back(open);
    }
    if (origin) {
      add_target(open, peer, count - 1, p);
    } else {
      add_origin(open, peer, count - 1, p);
    }
  }
}

}  // namespace kojak::earl::sequence
