#include "earl/state/gats.h"

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

}  // namespace kojak::earl
