#include "earl/state/gats.h"

#include <algorithm>
#include <limits>

namespace kojak::earl {
namespace {

using detail::kNone;

constexpr Seconds kForever{std::numeric_limits<double>::infinity()};
constexpr Seconds kLongAgo{-std::numeric_limits<double>::infinity()};

}  // namespace

Gats::Gats(detail::GroupTable& groups, const Trace& trace, Findings& findings)
    : groups_(groups),
      trace_(trace),
      findings_(findings),
      native_(trace.native()),
      open_access_(trace.process_count()),
      open_exposure_(trace.process_count()),
      live_access_(trace.process_count()),
      segments_(trace.process_count()),
      next_due_(kForever) {
  // The largest error that two clocks can have between them.
  Seconds first, second;
  trace.definitions().nodes.for_each([&](NodeId, const NodeDef& node) {
    if (!node.clock_error) return;
    if (first < *node.clock_error) {
      second = first;
      first = *node.clock_error;
    } else if (second < *node.clock_error) {
      second = *node.clock_error;
    }
  });
  max_delta_ = first + second;
}

Gats::Pair& Gats::pair(WindowId window, ProcessId origin, ProcessId target) {
  const detail::Key128 key{raw(window), std::uint64_t{raw(origin)} << 32 | raw(target)};
  std::uint32_t i = pair_index_.find(key);
  if (i == kNone) [[unlikely]] {
    i = pairs_.take();
    pairs_[i] = Pair{};
    pair_index_.insert(key, i);
    window_pairs_[window].push_back(key);
  }
  return pairs_[i];
}

// The ordinal of a classic trace begins anew with each recording segment.
std::uint64_t Gats::next(std::uint64_t& counter, ProcessId process) const {
  if (!native_) {
    counter = std::max(counter, std::uint64_t{segments_[raw(process)]} << 40);
  }
  return counter++;
}

std::uint32_t Gats::new_access(ProcessId origin, WindowId window) {
  const std::uint32_t i = accesses_.take();
  Access& a = accesses_[i];
  a.origin = origin;
  a.window = window;
  a.group = absent<CommId>();
  a.has_start = a.has_finish = a.complete = a.paused = false;
  a.targets.clear();
  a.partners.clear();
  a.exposures.clear();
  a.their_index.clear();
  a.info = nullptr;
  a.awaited = a.unclosed = a.refs = a.calls = a.hint = 0;
  a.segment = segments_[raw(origin)];
  a.first_rmaid = kAbsent;
  a.last_rmaid = 0;
  a.latest_post = kLongAgo;
  a.live = true;
  a.closed = a.ready = a.delivered = false;
  live_access_[raw(origin)].push_back(i);
  return i;
}

std::uint32_t Gats::new_exposure(ProcessId target, WindowId window) {
  const std::uint32_t i = exposures_.take();
  Exposure& e = exposures_[i];
  e.target = target;
  e.window = window;
  e.group = absent<CommId>();
  e.has_post = e.has_finish = e.complete = e.paused = false;
  e.origins.clear();
  e.partners.clear();
  e.accesses.clear();
  e.unclosed = e.refs = 0;
  e.segment = segments_[raw(target)];
  e.live = true;
  e.closed = e.ready = e.delivered = false;
  return i;
}

void Gats::add_target(std::uint32_t epoch, ProcessId target, std::uint64_t ordinal, Pair& p) {
  Access& a = accesses_[epoch];
  const auto index = static_cast<std::uint32_t>(a.targets.size());
  a.targets.push_back({target, ordinal, {}, nullptr});
  a.partners.push_back(Partner::kAwaited);
  a.exposures.push_back(kNone);
  a.their_index.push_back(0);
  ++a.awaited;
  ++a.unclosed;
  while (!p.exposure.empty() && p.exposure.front().ordinal < ordinal) {
    const Waiting w = p.exposure.front();
    p.exposure.pop();
    lose_access(w.epoch, w.index);
  }
  if (!p.exposure.empty() && p.exposure.front().ordinal == ordinal) {
    const Waiting w = p.exposure.front();
    p.exposure.pop();
    link(epoch, index, w.epoch, w.index);
  } else if (ordinal < p.exposure_next || !groups_.present(target)) {
    lose_exposure(epoch, index);
  } else {
    p.access.items.push_back({ordinal, epoch, index});
  }
}

void Gats::add_origin(std::uint32_t epoch, ProcessId origin, std::uint64_t ordinal, Pair& p) {
  Exposure& e = exposures_[epoch];
  const auto index = static_cast<std::uint32_t>(e.origins.size());
  e.origins.push_back({origin, ordinal, nullptr, 0});
  e.partners.push_back(Partner::kAwaited);
  e.accesses.push_back(kNone);
  ++e.unclosed;
  while (!p.access.empty() && p.access.front().ordinal < ordinal) {
    const Waiting w = p.access.front();
    p.access.pop();
    lose_exposure(w.epoch, w.index);
  }
  if (!p.access.empty() && p.access.front().ordinal == ordinal) {
    const Waiting w = p.access.front();
    p.access.pop();
    link(w.epoch, w.index, epoch, index);
  } else if (ordinal < p.access_next || !groups_.present(origin)) {
    lose_access(epoch, index);
  } else {
    p.exposure.items.push_back({ordinal, epoch, index});
  }
}

void Gats::name_targets(std::uint32_t epoch, CommId group, const Call& call) {
  Access& a = accesses_[epoch];
  a.group = group;
  a.info = groups_.find(group);
  if (a.info == nullptr) {
    findings_.add(Finding::kUnknownGroup, call.exit_pos, call.loc);
    return;
  }
  for (const std::uint32_t rank : a.info->def->ranks) {
    const auto target = static_cast<ProcessId>(rank);
    Pair& p = pair(a.window, a.origin, target);
    add_target(epoch, target, next(p.access_next, a.origin), p);
  }
}

void Gats::name_origins(std::uint32_t epoch, CommId group, const Call& call) {
  Exposure& e = exposures_[epoch];
  e.group = group;
  const detail::GroupInfo* info = groups_.find(group);
  if (info == nullptr) {
    findings_.add(Finding::kUnknownGroup, call.exit_pos, call.loc);
    return;
  }
  for (const std::uint32_t rank : info->def->ranks) {
    const auto origin = static_cast<ProcessId>(rank);
    Pair& p = pair(e.window, origin, e.target);
    add_origin(epoch, origin, next(p.exposure_next, e.target), p);
  }
}

void Gats::link(std::uint32_t ai, std::uint32_t target, std::uint32_t ei, std::uint32_t origin) {
  Access& a = accesses_[ai];
  Exposure& e = exposures_[ei];
  a.targets[target].exposure = &e;
  a.exposures[target] = ei;
  a.their_index[target] = origin;
  e.origins[origin].access = &a;
  e.origins[origin].target_index = target;
  e.accesses[origin] = ai;
  ++a.refs;
  ++e.refs;
  --a.awaited;
  if (e.has_post) a.latest_post = std::max(a.latest_post, e.post.enter);
  a.partners[target] = e.closed ? Partner::kClosed : Partner::kOpen;
  e.partners[origin] = a.closed ? Partner::kClosed : Partner::kOpen;
  if (e.closed) --a.unclosed;
  if (a.closed) --e.unclosed;
  check_access(ai);
  check_exposure(ei);
}

void Gats::lose_exposure(std::uint32_t epoch, std::uint32_t target) {
  Access& a = accesses_[epoch];
  a.partners[target] = Partner::kLost;
  --a.awaited;
  --a.unclosed;
  check_access(epoch);
}

void Gats::lose_access(std::uint32_t epoch, std::uint32_t origin) {
  Exposure& e = exposures_[epoch];
  e.partners[origin] = Partner::kLost;
  --e.unclosed;
  check_exposure(epoch);
}

void Gats::check_access(std::uint32_t epoch) {
  Access& a = accesses_[epoch];
  if (!a.closed || a.unclosed != 0 || a.ready) return;
  a.ready = true;
  ready_access_.push_back(epoch);
  any_ready_ = true;
}

void Gats::check_exposure(std::uint32_t epoch) {
  Exposure& e = exposures_[epoch];
  if (!e.closed || e.unclosed != 0 || e.ready) return;
  e.ready = true;
  ready_exposure_.push_back(epoch);
  any_ready_ = true;
}

std::uint32_t Gats::take_open(std::vector<OpenEpoch>& open, WindowId window) {
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (open[i].window == window) {
      const std::uint32_t epoch = open[i].epoch;
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
      return epoch;
    }
  }
  return kNone;
}

void Gats::start(const Call& call, WindowId window, CommId group) {
  std::vector<OpenEpoch>& open = open_access_[raw(call.process)];
  if (const std::uint32_t old = take_open(open, window); old != kNone) {
    findings_.add(Finding::kUnclosedEpoch, call.exit_pos, call.loc);
    close_access(old);
  }
  const std::uint32_t epoch = new_access(call.process, window);
  accesses_[epoch].start = call;
  accesses_[epoch].has_start = true;
  open.push_back({window, epoch});
  name_targets(epoch, group, call);
}

const AccessEpoch& Gats::complete(const Call& call, WindowId window, CommId group) {
  std::uint32_t epoch = take_open(open_access_[raw(call.process)], window);
  if (epoch == kNone) {
    findings_.add(Finding::kUnopenedEpoch, call.exit_pos, call.loc);
    epoch = new_access(call.process, window);
    name_targets(epoch, group, call);
  }
  Access& a = accesses_[epoch];
  a.finish = call;
  a.has_finish = true;
  close_access(epoch);
  return a;
}

void Gats::post(const Call& call, WindowId window, CommId group) {
  std::vector<OpenEpoch>& open = open_exposure_[raw(call.process)];
  if (const std::uint32_t old = take_open(open, window); old != kNone) {
    findings_.add(Finding::kUnclosedEpoch, call.exit_pos, call.loc);
    close_exposure(old);
  }
  const std::uint32_t epoch = new_exposure(call.process, window);
  exposures_[epoch].post = call;
  exposures_[epoch].has_post = true;
  open.push_back({window, epoch});
  name_origins(epoch, group, call);
}

void Gats::wait(const Call& call, WindowId window, CommId group) {
  std::uint32_t epoch = take_open(open_exposure_[raw(call.process)], window);
  if (epoch == kNone) {
    findings_.add(Finding::kUnopenedEpoch, call.exit_pos, call.loc);
    epoch = new_exposure(call.process, window);
    name_origins(epoch, group, call);
  }
  exposures_[epoch].finish = call;
  exposures_[epoch].has_finish = true;
  close_exposure(epoch);
}

void Gats::close_access(std::uint32_t epoch) {
  Access& a = accesses_[epoch];
  a.closed = true;
  a.paused = a.segment != segments_[raw(a.origin)];
  for (std::uint32_t i = 0; i < a.targets.size(); ++i) {
    if (a.exposures[i] == kNone) continue;
    Exposure& e = exposures_[a.exposures[i]];
    e.partners[a.their_index[i]] = Partner::kClosed;
    --e.unclosed;
    check_exposure(a.exposures[i]);
  }
  check_access(epoch);
}

void Gats::close_exposure(std::uint32_t epoch) {
  Exposure& e = exposures_[epoch];
  e.closed = true;
  e.paused = e.segment != segments_[raw(e.target)];
  for (std::uint32_t i = 0; i < e.origins.size(); ++i) {
    if (e.accesses[i] == kNone) continue;
    Access& a = accesses_[e.accesses[i]];
    a.partners[e.origins[i].target_index] = Partner::kClosed;
    --a.unclosed;
    check_access(e.accesses[i]);
  }
  check_exposure(epoch);
}

// Partners whose epochs with lower ordinals will never be seen.
void Gats::lose_before(Pair& p, std::uint64_t access, std::uint64_t exposure) {
  while (!p.exposure.empty() && p.exposure.front().ordinal < access) {
    const Waiting w = p.exposure.front();
    p.exposure.pop();
    lose_access(w.epoch, w.index);
  }
  while (!p.access.empty() && p.access.front().ordinal < exposure) {
    const Waiting w = p.access.front();
    p.access.pop();
    lose_exposure(w.epoch, w.index);
  }
}

void Gats::resume(ProcessId process, WindowId window, ProcessId peer, std::uint64_t access,
                  std::uint64_t exposure, std::uint64_t ops, std::uint8_t open, std::uint64_t pos) {
  const bool access_open = (open & 1) != 0, exposure_open = (open & 2) != 0;
  {
    Pair& p = pair(window, process, peer);
    std::vector<OpenEpoch>& list = open_access_[raw(process)];
    auto it = std::find_if(list.begin(), list.end(),
                           [&](const OpenEpoch& o) { return o.window == window; });
    bool named = false;
    if (it != list.end()) {
      Access& a = accesses_[it->epoch];
      const std::uint32_t i = target_index(a, peer);
      named = i != kNone && access_open && a.targets[i].ordinal + 1 == access;
      if (named) {
        TargetTransfers& t = a.targets[i].transfers;
        if (ops > t.ops) {
          t.unrecorded += ops - t.ops;
          t.ops = ops;
        }
      } else if (i != kNone) {  // it ended unseen
        findings_.add(Finding::kUnclosedEpoch, pos);
        const std::uint32_t old = it->epoch;
        list.erase(it);
        close_access(old);
      }
    }
    if (access > p.access_next) {
      findings_.add(Finding::kGap, pos);
      p.access_next = access;
      lose_before(p, access - (access_open ? 1 : 0), 0);
    }
    if (access_open && !named && access > 0) {
      it = std::find_if(list.begin(), list.end(),
                        [&](const OpenEpoch& o) { return o.window == window; });
      const std::uint32_t epoch = it != list.end() ? it->epoch : new_access(process, window);
      if (it == list.end()) list.push_back({window, epoch});
      add_target(epoch, peer, access - 1, p);
      TargetTransfers& t = accesses_[epoch].targets.back().transfers;
      t.ops = t.unrecorded = ops;
    }
  }
  Pair& p = pair(window, peer, process);
  std::vector<OpenEpoch>& list = open_exposure_[raw(process)];
  const auto find_open = [&] {
    return std::find_if(list.begin(), list.end(),
                        [&](const OpenEpoch& o) { return o.window == window; });
  };
  bool named = false;
  if (const auto it = find_open(); it != list.end()) {
    const Exposure& e = exposures_[it->epoch];
    const auto origin = std::find_if(e.origins.begin(), e.origins.end(),
                                     [&](const ExposureOrigin& o) { return o.origin == peer; });
    named = origin != e.origins.end() && exposure_open && origin->ordinal + 1 == exposure;
    if (!named && origin != e.origins.end()) {
      findings_.add(Finding::kUnclosedEpoch, pos);
      const std::uint32_t old = it->epoch;
      list.erase(it);
      close_exposure(old);
    }
  }
  if (exposure > p.exposure_next) {
    findings_.add(Finding::kGap, pos);
    p.exposure_next = exposure;
    lose_before(p, 0, exposure - (exposure_open ? 1 : 0));
  }
  if (exposure_open && !named && exposure > 0) {
    const auto it = find_open();
    const std::uint32_t epoch = it != list.end() ? it->epoch : new_exposure(process, window);
    if (it == list.end()) list.push_back({window, epoch});
    add_origin(epoch, peer, exposure - 1, p);
  }
}

void Gats::free(ProcessId process, WindowId window, std::uint64_t pos) {
  if (const std::uint32_t old = take_open(open_access_[raw(process)], window); old != kNone) {
    findings_.add(Finding::kUnclosedEpoch, pos);
    close_access(old);
  }
  if (const std::uint32_t old = take_open(open_exposure_[raw(process)], window); old != kNone) {
    findings_.add(Finding::kUnclosedEpoch, pos);
    close_exposure(old);
  }
}

void Gats::free_all(WindowId window) {
  const auto it = window_pairs_.find(window);
  if (it == window_pairs_.end()) return;
  for (const detail::Key128& key : it->second) {
    const std::uint32_t i = pair_index_.find(key);
    lose_before(pairs_[i], ~std::uint64_t{0}, ~std::uint64_t{0});
    pair_index_.erase(key);
    pairs_.give_back(i);
  }
  window_pairs_.erase(it);
}

std::uint32_t Gats::target_index(Access& a, ProcessId target) const {
  if (a.hint < a.targets.size() && a.targets[a.hint].target == target) [[likely]]
    return a.hint;
  if (a.info != nullptr) {
    const std::uint32_t rank = a.info->ranks.find(target);
    if (rank < a.targets.size() && a.targets[rank].target == target) return a.hint = rank;
  }
  for (std::uint32_t i = 0; i < a.targets.size(); ++i) {
    if (a.targets[i].target == target) return a.hint = i;
  }
  return kNone;
}

TransferSlot Gats::issue(ProcessId process, WindowId window, ProcessId target, RmaId rmaid) {
  for (const OpenEpoch& open : open_access_[raw(process)]) {
    if (open.window != window) continue;
    Access& a = accesses_[open.epoch];
    const std::uint32_t i = target_index(a, target);
    if (i == kNone) break;
    ++a.targets[i].transfers.ops;
    a.first_rmaid = std::min(a.first_rmaid, raw(rmaid));
    a.last_rmaid = std::max(a.last_rmaid, raw(rmaid));
    ++a.refs;
    return {open.epoch, i, 0, EpochKind::kAccess};
  }
  return {};
}

void Gats::leave_transfer(const TransferSlot& slot, const Call& call) {
  Access& a = accesses_[slot.epoch];
  Seconds& last = a.targets[slot.index].transfers.last_exit;
  last = std::max(last, call.exit);
  // Nothing can have blocked it unless a post came during the call, or may still turn out to have.
  if (a.latest_post > call.enter || a.awaited != 0) [[unlikely]]
    offer(call, slot.epoch);
  unref_access(slot.epoch);
}

// Is a target whose post is not known inside Win_post, entered during the call?
bool Gats::may_be_posting(const Access& a, const Call& call) const {
  if (a.awaited == 0) return false;
  for (const Posting& p : posting_) {
    if (p.enter <= call.enter || p.enter > call.exit + trace_.delta(call.index, p.index)) continue;
    for (std::uint32_t i = 0; i < a.targets.size(); ++i) {
      if (a.targets[i].target == p.process && a.partners[i] == Partner::kAwaited) return true;
    }
  }
  return false;
}

void Gats::offer(const Call& call, std::uint32_t epoch) {
  Access& a = accesses_[epoch];
  if (a.awaited != 0 && max_delta_.value > 0) {
    // A post may still be entered within the clocks' error.
    ++a.refs;
    ++a.calls;
    late_.push_back({call, epoch, call.exit + max_delta_});
    next_due_ = late_[late_head_].due;
  } else if (may_be_posting(a, call)) {
    ++a.refs;
    ++a.calls;
    pending_.push_back({call, epoch, {}});
  } else if (a.latest_post > call.enter) {
    ++a.refs;
    ready_calls_.push_back({call, epoch, {}});
    any_ready_ = true;
  }
}

void Gats::settle_late_calls(Seconds now) {
  while (late_head_ < late_.size() && late_[late_head_].due < now) {
    const WaitingCall w = std::move(late_[late_head_++]);
    Access& a = accesses_[w.epoch];
    if (may_be_posting(a, w.call)) {
      pending_.push_back(w);
      continue;
    }
    --a.calls;
    if (a.latest_post > w.call.enter) {
      ready_calls_.push_back(w);
      any_ready_ = true;
    } else {
      unref_access(w.epoch);
    }
  }
  if (late_head_ == late_.size()) {
    late_.clear();
    late_head_ = 0;
  } else if (late_head_ >= 64 && late_head_ * 2 >= late_.size()) {
    late_.erase(late_.begin(), late_.begin() + static_cast<std::ptrdiff_t>(late_head_));
    late_head_ = 0;
  }
  next_due_ = late_.empty() ? kForever : late_[late_head_].due;
}

void Gats::settle_pending() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    WaitingCall& w = pending_[i];
    Access& a = accesses_[w.epoch];
    if (may_be_posting(a, w.call)) {
      if (kept != i) pending_[kept] = std::move(w);
      ++kept;
      continue;
    }
    --a.calls;
    if (a.latest_post > w.call.enter) {
      ready_calls_.push_back(std::move(w));
      any_ready_ = true;
    } else {
      unref_access(w.epoch);
    }
  }
  pending_.resize(kept);
}

// Everything is known of the epoch's posts: its calls need not wait any longer.
void Gats::offer_all(std::uint32_t epoch) {
  if (accesses_[epoch].calls == 0) return;
  const auto move_out = [&](std::vector<WaitingCall>& list, std::size_t from) {
    for (std::size_t i = from; i < list.size(); ++i) {
      if (list[i].epoch == epoch) {
        --accesses_[epoch].calls;
        ready_calls_.push_back(list[i]);
      }
    }
    list.erase(std::remove_if(list.begin() + static_cast<std::ptrdiff_t>(from), list.end(),
                              [&](const WaitingCall& w) { return w.epoch == epoch; }),
               list.end());
  };
  move_out(late_, late_head_);
  move_out(pending_, 0);
  next_due_ = late_head_ < late_.size() ? late_[late_head_].due : kForever;
}

void Gats::leave_post(const OpenCall& call) {
  std::erase_if(posting_, [&](const Posting& p) { return p.index == call.index; });
  if (!pending_.empty()) settle_pending();
}

const AccessEpoch* Gats::mark(ProcessId origin, WindowId window, ProcessId target, RmaId rmaid) {
  for (const std::uint32_t epoch : live_access_[raw(origin)]) {
    Access& a = accesses_[epoch];
    if (a.window != window || raw(rmaid) < a.first_rmaid || raw(rmaid) > a.last_rmaid) continue;
    const std::uint32_t i = target_index(a, target);
    if (i == kNone || a.targets[i].transfers.marked >= a.targets[i].transfers.ops) continue;
    ++a.targets[i].transfers.marked;
    return &a;
  }
  return nullptr;
}

void Gats::free_access(std::uint32_t epoch) {
  Access& a = accesses_[epoch];
  a.live = false;
  std::erase(live_access_[raw(a.origin)], epoch);
  accesses_.give_back(epoch);
}

void Gats::unref_access(std::uint32_t epoch) {
  Access& a = accesses_[epoch];
  if (--a.refs == 0 && a.delivered) free_access(epoch);
}

void Gats::unref_exposure(std::uint32_t epoch) {
  Exposure& e = exposures_[epoch];
  if (--e.refs == 0 && e.delivered) {
    e.live = false;
    exposures_.give_back(epoch);
  }
}

// Says whether the transaction is whole, before it is handed out.
const AccessEpoch& Gats::finished_access(std::uint32_t epoch) {
  Access& a = accesses_[epoch];
  bool whole = a.has_start && a.has_finish && a.info != nullptr;
  for (std::uint32_t i = 0; whole && i < a.targets.size(); ++i) {
    const ExposureEpoch* e = a.targets[i].exposure;
    whole = e != nullptr && e->has_post && e->has_finish;
  }
  a.complete = whole;
  if (!whole) {
    const Call& call = a.has_finish ? a.finish : a.start;
    findings_.add(Finding::kIncompleteAccess, call.exit_pos, call.loc);
  }
  return a;
}

const ExposureEpoch& Gats::finished_exposure(std::uint32_t epoch) {
  Exposure& e = exposures_[epoch];
  bool whole = e.has_post && e.has_finish && groups_.find(e.group) != nullptr;
  for (std::uint32_t i = 0; whole && i < e.origins.size(); ++i) {
    const AccessEpoch* a = e.origins[i].access;
    whole = a != nullptr && a->has_start && a->has_finish;
  }
  e.complete = whole;
  if (!whole) {
    const Call& call = e.has_finish ? e.finish : e.post;
    findings_.add(Finding::kIncompleteExposure, call.exit_pos, call.loc);
  }
  return e;
}

void Gats::release_access(std::uint32_t epoch) {
  Access& a = accesses_[epoch];
  a.delivered = true;
  ++a.refs;  // not while its partners are let go
  for (std::uint32_t i = 0; i < a.targets.size(); ++i) {
    if (a.exposures[i] == kNone) continue;
    a.targets[i].exposure = nullptr;  // it may go before this epoch does
    unref_exposure(a.exposures[i]);
  }
  unref_access(epoch);
}

void Gats::release_exposure(std::uint32_t epoch) {
  Exposure& e = exposures_[epoch];
  e.delivered = true;
  ++e.refs;
  for (std::uint32_t i = 0; i < e.origins.size(); ++i) {
    if (e.accesses[i] == kNone) continue;
    e.origins[i].access = nullptr;
    unref_access(e.accesses[i]);
  }
  unref_exposure(epoch);
}

void Gats::finish() {
  posting_.clear();
  settle_pending();
  settle_late_calls(kForever);
  for (std::uint32_t i = 0; i < exposures_.capacity(); ++i) {
    Exposure& e = exposures_[i];
    if (!e.live || e.ready) continue;
    e.ready = true;
    ready_exposure_.push_back(i);
  }
  for (std::uint32_t i = 0; i < accesses_.capacity(); ++i) {
    Access& a = accesses_[i];
    if (!a.live || a.ready) continue;
    a.ready = true;
    ready_access_.push_back(i);
  }
  any_ready_ = true;
}

}  // namespace kojak::earl
