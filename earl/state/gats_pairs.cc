// Which access epoch belongs to which exposure epoch, also after gaps in the recording.
#include <algorithm>

#include "earl/state/gats.h"

namespace kojak::earl {

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
    std::vector<OpenEpoch>& list = open_access_[raw(process)];
    auto it = std::find_if(list.begin(), list.end(),
                           [&](const OpenEpoch& o) { return o.window == window; });
    Resumption told = resumption(false, false, access_open);
    if (it != list.end()) {
      Access& a = accesses_[it->epoch];
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
        const std::uint32_t old = it->epoch;
        list.erase(it);
        close_access(old);
      }
    }
    if (partners_.resume(*this, p, EpochSide::kAccess, access, access_open)) {
      findings_.add(Finding::kGap, pos);
    }
    if (told.begun && access > 0) {
      it = std::find_if(list.begin(), list.end(),
                        [&](const OpenEpoch& o) { return o.window == window; });
      const std::uint32_t epoch = it != list.end() ? it->epoch : new_access(process, window);
      if (it == list.end()) list.push_back({window, epoch});
      add_target(epoch, peer, access - 1, p);
      TargetTransfers& t = accesses_[epoch].targets.back().transfers;
      t.ops = t.unrecorded = ops;
    }
  }
  EpochPartners::Pair& p = partners_.pair(EpochSide::kExposure, window, process, peer);
  std::vector<OpenEpoch>& list = open_exposure_[raw(process)];
  const auto find_open = [&] {
    return std::find_if(list.begin(), list.end(),
                        [&](const OpenEpoch& o) { return o.window == window; });
  };
  Resumption told = resumption(false, false, exposure_open);
  if (const auto it = find_open(); it != list.end()) {
    const Exposure& e = exposures_[it->epoch];
    const auto origin = std::find_if(e.origins.begin(), e.origins.end(),
                                     [&](const ExposureOrigin& o) { return o.origin == peer; });
    const bool known = origin != e.origins.end();
    told = resumption(known, known && origin->ordinal + 1 == exposure, exposure_open);
    if (told.ended) {
      findings_.add(Finding::kUnclosedEpoch, pos);
      const std::uint32_t old = it->epoch;
      list.erase(it);
      close_exposure(old);
    }
  }
  if (partners_.resume(*this, p, EpochSide::kExposure, exposure, exposure_open)) {
    findings_.add(Finding::kGap, pos);
  }
  if (told.begun && exposure > 0) {
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

}  // namespace kojak::earl
