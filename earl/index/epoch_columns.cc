// Epochs as rows of a column, each written once when nothing needs it any more; and what there is
// after an event, read from those rows.
//
// Partners of a regular epoch are the processes of its group, named when it was made; and two
// regular epochs belong together if they name each other by the same ordinal. So they take no
// bytes, and their ordinals one number if they are all the same. Where an EPOCH_STATE named
// partners, each is written with the event that named it and the one that made its epoch.
#include <algorithm>
#include <tuple>

#include "earl/index/epochs.h"

namespace kojak::earl::sequence {

namespace {

// The row's second number has flags below the window, its first one the mode below the process.
constexpr unsigned kModeBits = 3, kFlagBits = 5;
constexpr std::uint64_t kUnopened = 1, kUnclosed = 2;
constexpr std::uint64_t kAtOnce = 4;  // it was over, and complete, with the event before the end
constexpr std::uint64_t kOperations = 8;  // there are some
constexpr std::uint64_t kSpecial = 16;    // a lock: exclusive; others: not regular

// 0 for "none"; of others one more than how far they are before `end`.
std::uint64_t back(std::uint64_t pos, std::uint64_t end) {
  return pos == kNoEvent ? 0 : end - pos + 1;
}
std::uint64_t forth(std::uint64_t distance, std::uint64_t end) {
  return distance == 0 ? kNoEvent : end - distance + 1;
}

// Identifiers, of which absent ones become 0.
template <class Id>
std::uint32_t one_more(Id id) {
  return raw(id) + 1;
}
template <class Id>
void get_one_more(NumberReader& in, Id& id) {
  id = static_cast<Id>(static_cast<std::uint32_t>(in.number()) - 1);
}

bool sided(const Epoch& e) {
  return e.mode == EpochMode::kAccess || e.mode == EpochMode::kExposure;
}

void put_partners(NumberWriter& out, const Epoch& e) {
  const auto other = [&](const Epoch::Partner& p) { return p.ordinal != e.partners[0].ordinal; };
  const bool uniform = e.regular && std::none_of(e.partners.begin(), e.partners.end(), other);
  out.number(e.partners.size() << 1 | (uniform ? 1 : 0));
  if (uniform && !e.partners.empty()) out.number(e.partners[0].ordinal);
  std::uint64_t process = 0, ordinal = 0, linked = e.made;
  for (const Epoch::Partner& p : e.partners) {
    if (!uniform) out.step(ordinal, p.ordinal);
    if (e.regular) continue;
    out.step(process, raw(p.process));
    out.numbers(p.named - e.made, p.linked == kNoEvent ? 0 : 1);
    if (p.linked != kNoEvent) out.step(linked, p.linked);
  }
}

// Those that were named up to the event `pos`; `group`: of a regular epoch that has any.
void get_partners(NumberReader& in, std::uint64_t pos, const detail::GroupInfo* group, Epoch& to) {
  const std::uint64_t head = in.number();
  const bool uniform = (head & 1) != 0;
  std::uint64_t process = 0, ordinal = 0, linked = to.made;
  if (uniform && head > 1) in.get(ordinal);
  for (std::uint64_t i = 0; i < head >> 1 && in.ok(); ++i) {
    Epoch::Partner p;
    p.ordinal = uniform ? ordinal : in.step(ordinal);
    p.named = to.made;
    if (to.regular) {
      p.process = static_cast<ProcessId>(group->def->ranks[i]);
    } else {
      p.process = static_cast<ProcessId>(in.step(process));
      p.named += in.number();
      if (in.number() != 0) p.linked = in.step(linked);
    }
    if (p.named <= pos) to.partners.push_back(p);
  }
}

void put_operations(NumberWriter& out, const Epoch& e) {
  out.number(e.operations.size());
  std::uint64_t before = e.made;  // starts ascend
  for (const Operation& o : e.operations) {
    out.numbers(o.start - before, o.end == kNoEvent ? 0 : o.end - o.start + 1, raw(o.target),
                std::uint64_t{o.issued_before} << 2 | o.get << 1 | o.marked);
    before = o.start;
  }
}

// Those that were issued up to the event `pos`, as far as they were complete then.
void get_operations(NumberReader& in, std::uint64_t pos, Epoch& to) {
  std::uint64_t before = to.made;
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    Operation o;
    std::uint64_t end = 0, bits = 0;
    in.numbers(o.start, end, o.target, bits);
    o.start = before += o.start;
    if (o.start > pos) return;
    o.issued_before = (bits >> 2) & 0x3FFFFFFFu;
    o.get = bits >> 1 & 1;
    if (end != 0 && o.start + end - 1 <= pos) {
      o.end = o.start + end - 1;
      o.marked = bits & 1;
    }
    to.operations.push_back(o);
  }
}

}  // namespace

void Epochs::log(const Epoch& e, std::uint64_t end) {
  const bool is_lock = e.mode == EpochMode::kLock || e.mode == EpochMode::kLockAll;
  const bool at_once = e.left == end - 1 && e.done == e.left && e.done_as == 0;
  contents_.clear();
  {
    NumberWriter out(contents_);
    out.numbers(std::uint64_t{raw(e.process)} << kModeBits | static_cast<std::uint64_t>(e.mode),
                std::uint64_t{raw(e.window)} << kFlagBits | (e.opened == kNoEvent ? kUnopened : 0) |
                    (e.closed == kNoEvent ? kUnclosed : 0) | (at_once ? kAtOnce : 0) |
                    (e.operations.empty() ? 0 : kOperations) |
                    ((is_lock ? e.exclusive : !e.regular) ? kSpecial : 0));
    if (!at_once) out.numbers(back(e.left, end), back(e.done, end));
    if (!at_once && e.done != kNoEvent) out.number(e.done_as);
    if (e.mode == EpochMode::kFence) out.number(e.ordinal);
    if (e.mode == EpochMode::kLock) out.number(one_more(e.target));
    if (sided(e)) {
      out.number(one_more(e.group));
      put_partners(out, e);
    }
    if (!e.operations.empty()) put_operations(out, e);
  }
  log_->add(e.made, end, contents_);
}

void Epochs::end_record(std::uint64_t end) {
  for (std::uint32_t i = 0; i < epochs_.capacity(); ++i) {
    if (epochs_[i].live) log(epochs_[i], end);
  }
}

void Epochs::read(const IntervalColumn::Row& row, std::uint64_t pos, Epoch& e) {
  NumberReader in(row.contents);
  const std::uint64_t who = in.number(), flags = in.number();
  e.mode = static_cast<EpochMode>(who & ((1u << kModeBits) - 1));
  e.process = static_cast<ProcessId>(who >> kModeBits);
  e.window = static_cast<WindowId>(flags >> kFlagBits);
  const bool special = (flags & kSpecial) != 0;
  e.regular = !sided(e) || !special;
  e.exclusive = !sided(e) && special;
  e.live = true;
  e.made = row.begin;
  if ((flags & kUnopened) == 0) e.opened = e.made;
  std::uint64_t left = row.end - 1, done = row.end - 1;
  if ((flags & kAtOnce) == 0) {
    left = forth(in.number(), row.end);
    done = forth(in.number(), row.end);
    if (done != kNoEvent) in.get(e.done_as);
  }
  e.is_closed = left <= pos;
  if (e.is_closed) e.left = left;
  if (e.is_closed && (flags & kUnclosed) == 0) e.closed = left;
  e.ready = done <= pos;
  e.delivered = done < pos;
  if (e.ready) e.done = done;
  if (e.mode == EpochMode::kFence) {
    in.get(e.ordinal);
    if (e.closed == kNoEvent) e.ordinal = 0;  // nothing has given it one
  }
  if (e.mode == EpochMode::kLock) get_one_more(in, e.target);
  if (e.mode == EpochMode::kLockAll) e.target = absent<ProcessId>();
  if (sided(e)) {
    get_one_more(in, e.group);
    get_partners(in, pos, groups_.find(e.group), e);
  }
  if ((flags & kOperations) != 0) get_operations(in, pos, e);
}

void Epochs::couple(std::uint32_t a, std::uint32_t in_a, std::uint32_t b, std::uint32_t in_b) {
  Epoch::Partner& mine = epochs_[a].partners[in_a];
  Epoch::Partner& theirs = epochs_[b].partners[in_b];
  mine.epoch = b;
  mine.index = in_b;
  theirs.epoch = a;
  theirs.index = in_a;
}

// Finds which of these epochs belong together.
void Epochs::join(std::span<const std::uint32_t> epochs) {
  // Partners by window, origin, target and ordinal; and epochs by what made them.
  struct Named {
    std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t> key;
    std::uint32_t epoch, index;
  };
  std::vector<Named> targets;
  std::map<std::pair<std::uint64_t, EpochMode>, std::uint32_t> by_made;
  const auto key = [&](const Epoch& e, const Epoch::Partner& p) {
    const bool access = e.mode == EpochMode::kAccess;
    return std::tuple(raw(e.window), raw(access ? e.process : p.process),
                      raw(access ? p.process : e.process), p.ordinal);
  };
  bool all_regular = true;
  for (const std::uint32_t i : epochs) {
    const Epoch& e = epochs_[i];
    all_regular = all_regular && e.regular;
    if (e.mode != EpochMode::kAccess || !e.regular) continue;
    for (std::uint32_t k = 0; k < e.partners.size(); ++k) {
      targets.push_back({key(e, e.partners[k]), i, k});
    }
  }
  const auto less = [](const Named& a, const Named& b) { return a.key < b.key; };
  std::sort(targets.begin(), targets.end(), less);
  for (const std::uint32_t i : epochs) {
    const Epoch& e = epochs_[i];
    if (e.mode != EpochMode::kExposure || !e.regular) continue;
    for (std::uint32_t k = 0; k < e.partners.size(); ++k) {
      const Named named{key(e, e.partners[k]), i, k};
      const auto it = std::lower_bound(targets.begin(), targets.end(), named, less);
      if (it != targets.end() && it->key == named.key) couple(it->epoch, it->index, i, k);
    }
  }
  if (all_regular) return;
  for (const std::uint32_t i : epochs) by_made[{epochs_[i].made, epochs_[i].mode}] = i;
  for (const std::uint32_t i : epochs) {
    const Epoch& e = epochs_[i];
    if (e.regular) continue;
    const EpochMode there =
        e.mode == EpochMode::kAccess ? EpochMode::kExposure : EpochMode::kAccess;
    for (std::uint32_t k = 0; k < e.partners.size(); ++k) {
      const Epoch::Partner& p = e.partners[k];
      const auto found = p.linked == kNoEvent ? by_made.end() : by_made.find({p.linked, there});
      if (found == by_made.end()) continue;
      const std::vector<Epoch::Partner>& theirs = epochs_[found->second].partners;
      for (std::uint32_t m = 0; m < theirs.size(); ++m) {
        const bool free = theirs[m].epoch == kNone || theirs[m].epoch == i;
        if (theirs[m].process == e.process && theirs[m].ordinal == p.ordinal && free) {
          couple(i, k, found->second, m);
          break;
        }
      }
    }
  }
}

void Epochs::restore(const IntervalColumn& log, std::uint64_t pos) {
  std::vector<std::uint32_t> all, with_partners;
  log.at(pos, [&](const IntervalColumn::Row& row) {
    const std::uint32_t i = epochs_.take();
    read(row, pos, epochs_[i]);
    all.push_back(i);
  });
  for (const std::uint32_t i : all) {
    const Epoch& e = epochs_[i];
    if (sided(e)) with_partners.push_back(i);
    if (!e.is_closed) open_[raw(e.process)].push_back(i);
    if (e.done == pos) completed_.push_back(i);
    if (sided(e) && e.closed == pos) closed_ = i;
  }
  std::sort(completed_.begin(), completed_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return epochs_[a].done_as < epochs_[b].done_as;
  });
  join(with_partners);
}

}  // namespace kojak::earl::sequence
