// What the epochs answer, and how they are saved and loaded.
#include <algorithm>

#include "earl/sequence/epochs.h"

namespace kojak::earl::sequence {

using detail::kNone;

namespace {

void add_epoch(const Epoch& e, std::vector<std::uint64_t>& to) {
  if (e.opened != kNoEvent) to.push_back(e.opened);
  if (e.closed != kNoEvent) to.push_back(e.closed);
}

// The transfers of an access epoch to one target.
void add_operations(const Epoch& access, ProcessId target, std::vector<std::uint64_t>& to) {
  for (const Operation& o : access.operations) {
    if (o.target != target) continue;
    if (o.issued() != o.start) to.push_back(o.issued());
    to.push_back(o.start);
    if (o.end != kNoEvent) to.push_back(o.end);
  }
}

void sort_unique(std::vector<std::uint64_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

std::vector<std::uint64_t> EpochPair::events() const {
  std::vector<std::uint64_t> result;
  add_epoch(*access, result);
  add_epoch(*exposure, result);
  add_operations(*access, exposure->process, result);
  sort_unique(result);
  return result;
}

bool Transaction::whole() const {
  return root->complete() && std::all_of(partners.begin(), partners.end(), [](const Epoch* e) {
           return e != nullptr && e->complete();
         });
}

std::vector<std::uint64_t> Transaction::events() const {
  std::vector<std::uint64_t> result;
  add_epoch(*root, result);
  for (std::size_t i = 0; i < partners.size(); ++i) {
    if (partners[i] != nullptr) add_epoch(*partners[i], result);
    if (root->mode == EpochMode::kAccess) {
      add_operations(*root, root->partners[i].process, result);
    } else if (partners[i] != nullptr) {
      add_operations(*partners[i], root->process, result);
    }
  }
  sort_unique(result);
  return result;
}

const Epoch* Epochs::access(ProcessId process, WindowId window) const {
  const std::uint32_t i = find_open(process, EpochMode::kAccess, window);
  return i == kNone ? nullptr : &epochs_[i];
}
const Epoch* Epochs::exposure(ProcessId process, WindowId window) const {
  const std::uint32_t i = find_open(process, EpochMode::kExposure, window);
  return i == kNone ? nullptr : &epochs_[i];
}
const Epoch* Epochs::fence(ProcessId process, WindowId window) const {
  const std::uint32_t i = find_open(process, EpochMode::kFence, window);
  return i == kNone ? nullptr : &epochs_[i];
}
const Epoch* Epochs::lock(ProcessId process, WindowId window, ProcessId target) const {
  const std::uint32_t i = find_lock(process, window, target);
  return i == kNone ? nullptr : &epochs_[i];
}
const Epoch* Epochs::lock_all(ProcessId process, WindowId window) const {
  const std::uint32_t i = find_open(process, EpochMode::kLockAll, window);
  return i == kNone ? nullptr : &epochs_[i];
}

std::optional<EpochPair> Epochs::pair_of(const Epoch& epoch, const Epoch::Partner& partner) const {
  if (partner.epoch == kNone || !epochs_[partner.epoch].is_closed) return std::nullopt;
  const Epoch* other = &epochs_[partner.epoch];
  const bool origin = epoch.mode == EpochMode::kAccess;
  return EpochPair{origin ? &epoch : other, origin ? other : &epoch};
}

std::optional<EpochPair> Epochs::epoch_pair(ProcessId partner) const {
  if (closed_ == kNone) return std::nullopt;
  for (const Epoch::Partner& p : epochs_[closed_].partners) {
    if (p.process == partner) return pair_of(epochs_[closed_], p);
  }
  return std::nullopt;
}

std::vector<EpochPair> Epochs::epoch_pairs() const {
  std::vector<EpochPair> result;
  if (closed_ == kNone) return result;
  for (const Epoch::Partner& p : epochs_[closed_].partners) {
    if (const auto pair = pair_of(epochs_[closed_], p)) result.push_back(*pair);
  }
  return result;
}

std::vector<Transaction> Epochs::completed(EpochMode mode) const {
  std::vector<Transaction> result;
  for (const std::uint32_t i : completed_) {
    if (epochs_[i].mode != mode) continue;
    Transaction t{&epochs_[i], {}};
    for (const Epoch::Partner& p : epochs_[i].partners) {
      t.partners.push_back(p.epoch == kNone ? nullptr : &epochs_[p.epoch]);
    }
    result.push_back(std::move(t));
  }
  return result;
}

std::vector<const Epoch*> Epochs::finished() const {
  std::vector<const Epoch*> result;
  for (const std::uint32_t i : completed_) {
    const EpochMode mode = epochs_[i].mode;
    if (mode != EpochMode::kAccess && mode != EpochMode::kExposure) result.push_back(&epochs_[i]);
  }
  return result;
}

void Epochs::save(BlobWriter& out) const {
  std::size_t live = 0;
  for (std::uint32_t i = 0; i < epochs_.capacity(); ++i) live += epochs_[i].live ? 1 : 0;
  out.number(live);
  for (std::uint32_t i = 0; i < epochs_.capacity(); ++i) {
    const Epoch& e = epochs_[i];
    if (!e.live) continue;
    out.numbers(i, e.mode, raw(e.process), raw(e.window), raw(e.group), e.opened + 1, e.closed + 1,
                raw(e.target), e.exclusive, e.ordinal, e.unclosed, e.unended, e.refs, e.is_closed,
                e.ready, e.delivered);
    out.numbers(e.partners.size(), e.operations.size());
    for (const Epoch::Partner& p : e.partners) {
      out.numbers(raw(p.process), p.ordinal, p.epoch, p.index, p.lost);
    }
    std::uint64_t base = 0;  // starts ascend
    for (const Operation& o : e.operations) {
      out.numbers(o.start - base, o.end == kNoEvent ? 0 : o.end - o.start + 1, raw(o.target),
                  std::uint64_t{o.issued_before} << 2 | o.get << 1 | o.marked);
      base = o.start;
    }
  }
  for (const std::vector<std::uint32_t>& list : open_) {
    out.number(list.size());
    for (const std::uint32_t i : list) out.number(i);
  }
  out.number(partners_.size());
  partners_.for_each([&](const EpochPartners::Pair& p) {
    out.numbers(p.key.a, p.key.b >> 32, p.key.b & 0xFFFFFFFFu);
    for (const EpochPartners::Side& side : p.sides) {
      out.numbers(side.next, side.waiting.size());
      for (const auto& w : side.waiting.items()) out.numbers(w.ordinal, w.epoch, w.index);
    }
  });
  out.number(transfers_.size());
  std::uint64_t id = 0, operation = 0;
  transfers_.for_each([&](ProcessId origin, const Transfer& t) {
    out.numbers(raw(origin), t.epoch);
    out.step(id, t.id);
    out.step(operation, t.operation);
  });
  origins_.save(out);
  out.number(freed_.size());
  for (const auto& [window, n] : freed_) out.numbers(raw(window), n);
  out.number(fences_.size());
  for (const auto& [key, n] : fences_) out.numbers(raw(key.first), raw(key.second), n);
  for (const std::uint32_t n : partners_.segments().numbers()) out.number(n);
  for (const std::uint32_t n : pauses_) out.number(n);
  out.number(completed_.size());
  for (const std::uint32_t i : completed_) out.number(i);
  out.numbers(closed_, marked_);
}

// Into an object that nothing has been applied to.
void Epochs::load(BlobReader& in) {
  std::vector<std::uint32_t> renamed;  // epochs by their former numbers
  const auto name = [&](std::uint32_t former) {
    return former < renamed.size() ? renamed[former] : kNone;
  };
  std::vector<std::uint32_t> made;
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    std::uint32_t former = 0;
    Epoch e;
    in.numbers(former, e.mode, e.process, e.window, e.group, e.opened, e.closed, e.target,
               e.exclusive, e.ordinal, e.unclosed, e.unended, e.refs, e.is_closed, e.ready,
               e.delivered);
    --e.opened;
    --e.closed;
    e.live = true;
    e.partners.resize(in.count());
    e.operations.resize(in.count());
    for (Epoch::Partner& p : e.partners) {
      in.numbers(p.process, p.ordinal, p.epoch, p.index, p.lost);
    }
    std::uint64_t base = 0;
    for (Operation& o : e.operations) {
      std::uint64_t end = 0, bits = 0;
      in.numbers(o.start, end, o.target, bits);
      o.start = base += o.start;
      o.end = end == 0 ? kNoEvent : o.start + end - 1;
      o.issued_before = (bits >> 2) & 0x3FFFFFFFu;
      o.get = bits >> 1 & 1;
      o.marked = bits & 1;
    }
    if (!in.ok() || former > (1u << 30)) return;
    const std::uint32_t i = epochs_.take();
    epochs_[i] = std::move(e);
    if (former >= renamed.size()) renamed.resize(former + 1, kNone);
    renamed[former] = i;
    made.push_back(i);
  }
  for (const std::uint32_t i : made) {
    for (Epoch::Partner& p : epochs_[i].partners) p.epoch = name(p.epoch);
  }
  for (std::vector<std::uint32_t>& list : open_) {
    list.resize(in.count());
    for (std::uint32_t& i : list) i = name(static_cast<std::uint32_t>(in.number()));
  }
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    WindowId window{};
    ProcessId origin{}, target{};
    in.numbers(window, origin, target);
    for (EpochPartners::Side& side :
         partners_.pair(EpochSide::kAccess, window, origin, target).sides) {
      in.get(side.next);
      for (std::size_t i = in.count(); i > 0; --i) {
        EpochPartners::Waiting w;
        in.numbers(w.ordinal, w.epoch, w.index);
        w.epoch = name(w.epoch);
        side.waiting.push(w);
      }
    }
  }
  std::uint64_t id = 0, operation = 0;
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    ProcessId origin{};
    std::uint32_t former = 0;
    in.numbers(origin, former);
    const auto rmaid = static_cast<RmaId>(in.step(id));
    in.step(operation);
    if (name(former) == kNone) return;
    Transfer& t = transfers_.get(origin, rmaid);
    t.epoch = name(former);
    t.operation = static_cast<std::uint32_t>(operation);
  }
  origins_.load(in);
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    WindowId window{};
    std::uint32_t count = 0;
    in.numbers(window, count);
    freed_[window] = count;
  }
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    WindowId window{};
    ProcessId process{};
    std::uint64_t count = 0;
    in.numbers(window, process, count);
    fences_[{window, process}] = count;
  }
  for (std::uint32_t& n : partners_.segments().numbers()) in.get(n);
  for (std::uint32_t& n : pauses_) in.get(n);
  completed_.resize(in.count());
  for (std::uint32_t& i : completed_) i = name(static_cast<std::uint32_t>(in.number()));
  in.get(closed_);
  closed_ = name(closed_);
  in.get(marked_);
}

}  // namespace kojak::earl::sequence
