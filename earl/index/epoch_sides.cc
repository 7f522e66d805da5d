// Access and exposure epochs: their partners, also after gaps in the recording, and when an epoch
// is over. Which epochs correspond is said in earl/aspects/epoch_partners.h.
#include <algorithm>
#include <utility>

#include "earl/index/epochs.h"

namespace kojak::earl::sequence {

namespace {

EpochSide side_of(const Epoch& e) {
  return e.mode == EpochMode::kAccess ? EpochSide::kAccess : EpochSide::kExposure;
}

}  // namespace

void Epochs::name_partners(std::uint32_t epoch, CommId group) {
  Epoch& e = epochs_[epoch];
  e.group = group;
  const detail::GroupInfo* info = groups_.find(group);
  if (info == nullptr) return;
  for (const std::uint32_t rank : info->def->ranks) {
    const auto partner = static_cast<ProcessId>(rank);
    EpochPartners::Pair& pair = partners_.pair(side_of(e), e.window, e.process, partner);
    add_partner(epoch, partner, partners_.take_ordinal(pair, side_of(e), e.process), pair);
  }
}

void Epochs::add_partner(std::uint32_t epoch, ProcessId partner, std::uint64_t ordinal,
                         EpochPartners::Pair& pair) {
  Epoch& e = epochs_[epoch];
  const auto index = static_cast<std::uint32_t>(e.partners.size());
  e.partners.push_back({partner, ordinal, kNone, 0, now_});
  ++e.unclosed;
  partners_.name(*this, pair, side_of(e), {ordinal, epoch, index}, groups_.present(partner));
}

void Epochs::link(std::uint32_t ai, std::uint32_t target, std::uint32_t ei, std::uint32_t origin) {
  Epoch& a = epochs_[ai];
  Epoch& e = epochs_[ei];
  a.partners[target].epoch = ei;
  a.partners[target].index = origin;
  e.partners[origin].epoch = ai;
  e.partners[origin].index = target;
  a.partners[target].linked = e.made;
  e.partners[origin].linked = a.made;
  ++a.refs;
  ++e.refs;
  if (e.is_closed) --a.unclosed;
  if (a.is_closed) --e.unclosed;
  check(ai);
  check(ei);
}

// The partner's epoch will never be seen.
void Epochs::lose(EpochSide, std::uint32_t epoch, std::uint32_t) {
  --epochs_[epoch].unclosed;
  check(epoch);
}

void Epochs::close(std::uint32_t epoch) {
  Epoch& e = epochs_[epoch];
  e.is_closed = true;
  e.left = now_;
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
  e.done = now_;
  e.done_as = static_cast<std::uint32_t>(completed_.size());
  completed_.push_back(epoch);
}

void Epochs::release_completed(std::uint64_t now) {
  now_ = now;
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
  if (log_ != nullptr) log(e, now_);
  epochs_.give_back(epoch);
}

void Epochs::resume_window(const Event& e, ProcessId here) {
  std::uint64_t& fences = fences_[{e.win, here}];
  const bool same = e.count[0] <= fences;
  fences = std::max(fences, e.count[0]);
  const auto resume = [&](EpochMode mode, bool same_one, bool is_open) {
    const std::uint32_t held = find_open(here, mode, e.win);
    const Resumption told = resumption(held != kNone, same_one, is_open);
    if (told.ended) {
      std::erase(open_[raw(here)], held);
      close(held);
    }
    if (!told.begun) return;
    const std::uint32_t i = make(mode, here, e.win, kNoEvent);
    if (mode == EpochMode::kLockAll) epochs_[i].target = absent<ProcessId>();
    open_[raw(here)].push_back(i);
  };
  resume(EpochMode::kFence, same, (e.code & kOpenFence) != 0);
  resume(EpochMode::kLockAll, true, (e.code & kOpenLockAll) != 0);
}

void Epochs::resume(const Event& e, ProcessId here) {
  const ProcessId peer = process(raw(e.peer));
  if (is_absent(peer)) return;
  const bool locked = (e.code & kOpenLock) != 0, by_all = (e.code & kOpenLockAll) != 0;
  const std::uint32_t held = find_lock(here, e.win, peer);
  const Resumption lock = resumption(held != kNone, true, locked);
  if (lock.ended) {
    std::erase(open_[raw(here)], held);
    close(held);
  } else if (lock.begun && (!by_all || find_open(here, EpochMode::kLockAll, e.win) == kNone)) {
    const std::uint32_t i =
        make(by_all ? EpochMode::kLockAll : EpochMode::kLock, here, e.win, kNoEvent);
    epochs_[i].target = by_all ? absent<ProcessId>() : peer;
    epochs_[i].exclusive = (e.code & kOpenExclusive) != 0;
    open_[raw(here)].push_back(i);
  }
  for (const EpochSide side : {EpochSide::kAccess, EpochSide::kExposure}) {
    const bool origin = side == EpochSide::kAccess;
    const EpochMode mode = origin ? EpochMode::kAccess : EpochMode::kExposure;
    const std::uint64_t count = e.count[origin ? 0 : 1];
    const bool is_open = (e.code & (origin ? kOpenAccess : kOpenExposure)) != 0;
    EpochPartners::Pair& pair = partners_.pair(side, e.win, here, peer);
    std::uint32_t open = find_open(here, mode, e.win);
    Resumption told = resumption(false, false, is_open);
    if (open != kNone) {
      const std::vector<Epoch::Partner>& partners = epochs_[open].partners;
      const auto it =
          std::find_if(partners.begin(), partners.end(),
                       [&](const Epoch::Partner& partner) { return partner.process == peer; });
      const bool known = it != partners.end();
      told = resumption(known, known && it->ordinal + 1 == count, is_open);
      if (told.ended) {
        close(take_open(here, mode, e.win));
        open = kNone;
      }
    }
    partners_.resume(*this, pair, side, count, is_open);
    if (!told.begun || count == 0) continue;
    if (open == kNone) {
      open = make(mode, here, e.win, kNoEvent);
      open_[raw(here)].push_back(open);
    }
    epochs_[open].regular = false;
    add_partner(open, peer, count - 1, pair);
  }
}

}  // namespace kojak::earl::sequence
