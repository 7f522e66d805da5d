#include "earl/aspects/gats.h"

#include <algorithm>
#include <limits>

namespace kojak::earl {
namespace {

constexpr Seconds kLongAgo{-std::numeric_limits<double>::infinity()};

}  // namespace

Gats::Gats(detail::GroupTable& groups, const Trace& trace, Findings& findings)
    : groups_(groups),
      trace_(trace),
      findings_(findings),
      partners_(trace.process_count(), trace.native()),
      open_access_(trace.process_count()),
      open_exposure_(trace.process_count()),
      live_access_(trace.process_count(), kNone),
      next_due_(kNever) {}

std::uint32_t Gats::new_access(ProcessId origin, WindowId window) {
  const std::uint32_t i = accesses_.take();
  Access& a = accesses_[i];
  a.origin = origin;
  a.window = window;
  a.group = absent<CommId>();
  a.has_start = a.has_finish = a.complete = a.paused = a.over = false;
  a.targets.clear();
  a.partners.clear();
  a.exposures.clear();
  a.their_index.clear();
  a.info = nullptr;
  a.awaited = a.unclosed = a.refs = a.calls = a.hint = 0;
  a.segment = partners_.segment(origin);
  a.first_rmaid = kAbsent;
  a.last_rmaid = 0;
  a.latest_post = kLongAgo;
  a.offered = kNoEvent;
  a.live = true;
  a.closed = a.ready = a.delivered = false;
  std::uint32_t& latest = live_access_[raw(origin)];
  a.older = latest;
  a.newer = kNone;
  if (latest != kNone) accesses_[latest].newer = i;
  latest = i;
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
  e.segment = partners_.segment(target);
  e.live = true;
  e.closed = e.ready = e.delivered = false;
  return i;
}

std::uint32_t Gats::find_open(EpochSide side, ProcessId process, WindowId window) {
  const std::vector<OpenEpoch>& open = opens(side, process);
  if (ManyOpen::knows(open.size())) [[unlikely]]
    return many_.find(key(side, process, window));
  for (const OpenEpoch& o : open) {
    if (o.window == window) return o.epoch;
  }
  return kNone;
}

std::uint32_t Gats::take_open(EpochSide side, ProcessId process, WindowId window) {
  const std::uint32_t epoch = find_open(side, process, window);
  if (epoch == kNone) return kNone;
  std::vector<OpenEpoch>& open = opens(side, process);
  // The last one takes its place: a process has one of a window at most, so the order says nothing.
  const std::uint32_t hole = place(side, epoch);
  open[hole] = open.back();
  place(side, open[hole].epoch) = hole;
  open.pop_back();
  many_.removed(open, key(side, process, window), [&](const OpenEpoch& o) {
    return std::pair(key(side, process, o.window), o.epoch);
  });
  return epoch;
}

void Gats::add_open(EpochSide side, ProcessId process, WindowId window, std::uint32_t epoch) {
  std::vector<OpenEpoch>& open = opens(side, process);
  place(side, epoch) = static_cast<std::uint32_t>(open.size());
  open.push_back({window, epoch});
  many_.added(open,
              [&](const OpenEpoch& o) { return std::pair(key(side, process, o.window), o.epoch); });
}

void Gats::start(const Call& call, WindowId window, CommId group) {
  const auto side = EpochSide::kAccess;
  if (const std::uint32_t old = take_open(side, call.process, window); old != kNone) {
    findings_.add(Finding::kUnclosedEpoch, call.exit_pos, call.loc);
    close_access(old);
  }
  const std::uint32_t epoch = new_access(call.process, window);
  accesses_[epoch].start = call;
  accesses_[epoch].has_start = true;
  add_open(side, call.process, window, epoch);
  name_targets(epoch, group, call);
}

const AccessEpoch& Gats::complete(const Call& call, WindowId window, CommId group) {
  std::uint32_t epoch = take_open(EpochSide::kAccess, call.process, window);
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
  const auto side = EpochSide::kExposure;
  if (const std::uint32_t old = take_open(side, call.process, window); old != kNone) {
    findings_.add(Finding::kUnclosedEpoch, call.exit_pos, call.loc);
    close_exposure(old);
  }
  const std::uint32_t epoch = new_exposure(call.process, window);
  exposures_[epoch].post = call;
  exposures_[epoch].has_post = true;
  add_open(side, call.process, window, epoch);
  name_origins(epoch, group, call);
}

void Gats::wait(const Call& call, WindowId window, CommId group) {
  std::uint32_t epoch = take_open(EpochSide::kExposure, call.process, window);
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
  a.paused = a.segment != partners_.segment(a.origin);
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
  e.paused = e.segment != partners_.segment(e.target);
  for (std::uint32_t i = 0; i < e.origins.size(); ++i) {
    if (e.accesses[i] == kNone) continue;
    Access& a = accesses_[e.accesses[i]];
    a.partners[e.origins[i].target_index] = Partner::kClosed;
    --a.unclosed;
    check_access(e.accesses[i]);
  }
  check_exposure(epoch);
}

void Gats::free_access(std::uint32_t epoch) {
  Access& a = accesses_[epoch];
  for (const std::uint32_t exposure : a.exposures) {
    if (exposure != kNone) unref_exposure(exposure);
  }
  a.live = false;
  if (a.older != kNone) accesses_[a.older].newer = a.newer;
  (a.newer != kNone ? accesses_[a.newer].older : live_access_[raw(a.origin)]) = a.older;
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
  // Exposure epochs that are told of later still look at it and its other partners.
  Access& a = accesses_[epoch];
  a.delivered = a.over = true;
  if (a.refs == 0) free_access(epoch);
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
  settle_late_calls(kNever);
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

// ---- Which access epoch belongs to which exposure epoch, also after gaps in the recording

void Gats::add_target(std::uint32_t epoch, ProcessId target, std::uint64_t ordinal,
                      EpochPartners::Pair& pair) {
  Access& a = accesses_[epoch];
  const auto index = static_cast<std::uint32_t>(a.targets.size());
  a.targets.push_back({target, ordinal, {}, nullptr});
  a.partners.push_back(Partner::kAwaited);
  a.exposures.push_back(kNone);
  a.their_index.push_back(0);
  ++a.awaited;
  ++a.unclosed;
  partners_.name(*this, pair, EpochSide::kAccess, {ordinal, epoch, index}, groups_.present(target));
}

void Gats::add_origin(std::uint32_t epoch, ProcessId origin, std::uint64_t ordinal,
                      EpochPartners::Pair& pair) {
  Exposure& e = exposures_[epoch];
  const auto index = static_cast<std::uint32_t>(e.origins.size());
  e.origins.push_back({origin, ordinal, nullptr, 0});
  e.partners.push_back(Partner::kAwaited);
  e.accesses.push_back(kNone);
  ++e.unclosed;
  partners_.name(*this, pair, EpochSide::kExposure, {ordinal, epoch, index},
                 groups_.present(origin));
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
    EpochPartners::Pair& p = partners_.pair(EpochSide::kAccess, a.window, a.origin, target);
    add_target(epoch, target, partners_.take_ordinal(p, EpochSide::kAccess, a.origin), p);
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
    EpochPartners::Pair& p = partners_.pair(EpochSide::kExposure, e.window, e.target, origin);
    add_origin(epoch, origin, partners_.take_ordinal(p, EpochSide::kExposure, e.target), p);
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

void Gats::lose(EpochSide side, std::uint32_t epoch, std::uint32_t partner) {
  if (side == EpochSide::kAccess) {
    Access& a = accesses_[epoch];
    a.partners[partner] = Partner::kLost;
    --a.awaited;
    --a.unclosed;
    check_access(epoch);
  } else {
    Exposure& e = exposures_[epoch];
    e.partners[partner] = Partner::kLost;
    --e.unclosed;
    check_exposure(epoch);
  }
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

void Gats::resume(ProcessId process, WindowId window, ProcessId peer, std::uint64_t access,
                  std::uint64_t exposure, std::uint64_t ops, std::uint8_t open, std::uint64_t pos) {
  const bool access_open = (open & kOpenAccess) != 0;
  const bool exposure_open = (open & kOpenExposure) != 0;
  {
    EpochPartners::Pair& p = partners_.pair(EpochSide::kAccess, window, process, peer);
    const auto side = EpochSide::kAccess;
    std::uint32_t known_epoch = find_open(side, process, window);
    Resumption told = resumption(false, false, access_open);
    if (known_epoch != kNone) {
      Access& a = accesses_[known_epoch];
      const std::uint32_t i = target_index(a, peer);
      const bool known = i != kNone;
      told = resumption(known, known && a.targets[i].ordinal + 1 == access, access_open);
      if (told.goes_on) {
        TargetTransfers& t = a.targets[i].transfers;
        if (ops > t.ops) {
          t.unrecorded += ops - t.ops;
          t.ops = ops;
        }
      } else if (told.ended) {
        findings_.add(Finding::kUnclosedEpoch, pos);
        close_access(take_open(side, process, window));
      }
    }
    if (partners_.resume(*this, p, EpochSide::kAccess, access, access_open)) {
      findings_.add(Finding::kGap, pos);
    }
    if (told.begun && access > 0) {
      known_epoch = find_open(side, process, window);
      const std::uint32_t epoch = known_epoch != kNone ? known_epoch : new_access(process, window);
      if (known_epoch == kNone) add_open(side, process, window, epoch);
      add_target(epoch, peer, access - 1, p);
      TargetTransfers& t = accesses_[epoch].targets.back().transfers;
      t.ops = t.unrecorded = ops;
    }
  }
  EpochPartners::Pair& p = partners_.pair(EpochSide::kExposure, window, process, peer);
  const auto side = EpochSide::kExposure;
  Resumption told = resumption(false, false, exposure_open);
  if (const std::uint32_t open_epoch = find_open(side, process, window); open_epoch != kNone) {
    const Exposure& e = exposures_[open_epoch];
    const auto origin = std::find_if(e.origins.begin(), e.origins.end(),
                                     [&](const ExposureOrigin& o) { return o.origin == peer; });
    const bool known = origin != e.origins.end();
    told = resumption(known, known && origin->ordinal + 1 == exposure, exposure_open);
    if (told.ended) {
      findings_.add(Finding::kUnclosedEpoch, pos);
      close_exposure(take_open(side, process, window));
    }
  }
  if (partners_.resume(*this, p, EpochSide::kExposure, exposure, exposure_open)) {
    findings_.add(Finding::kGap, pos);
  }
  if (told.begun && exposure > 0) {
    const std::uint32_t open_epoch = find_open(side, process, window);
    const std::uint32_t epoch = open_epoch != kNone ? open_epoch : new_exposure(process, window);
    if (open_epoch == kNone) add_open(side, process, window, epoch);
    add_origin(epoch, peer, exposure - 1, p);
  }
}

void Gats::free(ProcessId process, WindowId window, std::uint64_t pos) {
  if (const std::uint32_t old = take_open(EpochSide::kAccess, process, window); old != kNone) {
    findings_.add(Finding::kUnclosedEpoch, pos);
    close_access(old);
  }
  if (const std::uint32_t old = take_open(EpochSide::kExposure, process, window); old != kNone) {
    findings_.add(Finding::kUnclosedEpoch, pos);
    close_exposure(old);
  }
}

}  // namespace kojak::earl
