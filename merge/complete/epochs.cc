#include "merge/complete/epochs.h"

#include <algorithm>

namespace kojak::merge {
namespace {

constexpr std::uint64_t kNever = PeerEpochs::kNever;

// The later of two counts of which either may be "never".
std::uint64_t later(std::uint64_t a, std::uint64_t b) {
  if (a == kNever) return b;
  if (b == kNever) return a;
  return std::max(a, b);
}

}  // namespace

std::size_t WindowEpochs::slot(std::uint32_t rank) const {
  const std::size_t mask = index_.size() - 1;
  std::size_t i = (rank * 0x9E3779B1u) >> 7 & mask;
  while (index_[i] != nullptr && index_[i]->rank != rank) i = (i + 1) & mask;
  return i;
}

PeerEpochs* WindowEpochs::find_peer(std::uint32_t rank) {
  if (index_.empty()) return nullptr;
  return index_[slot(rank)];
}

PeerEpochs* WindowEpochs::find_or_add(std::uint32_t rank) {
  if (!index_.empty()) {
    if (PeerEpochs* known = index_[slot(rank)]) return known;
  }
  if (index_.size() < 2 * (peers_.size() + 1)) {
    index_.assign(std::max<std::size_t>(8, 2 * index_.size()), nullptr);
    for (PeerEpochs& peer : peers_) index_[slot(peer.rank)] = &peer;
  }
  PeerEpochs& added = peers_.emplace_back(rank, surveyed_ ? kNever : completions);
  index_[slot(rank)] = &added;
  return &added;
}

bool WindowEpochs::done_by_request(std::uint64_t to, std::uint32_t rmaid) const {
  for (const auto& [count, done] : requests_kept) {
    if (count == to) return done.contains(rmaid);
  }
  return false;
}

WindowEpochs::Fate WindowEpochs::passive_fate(const PeerEpochs& peer, bool get, std::uint64_t count,
                                              std::uint32_t rmaid) const {
  const auto in_gap = [&](const LostOperations& lost) {
    return get && done_by_request(lost.to, rmaid) ? Fate::kByRequest : Fate::kLostInGap;
  };
  for (const LostOperations& lost : peer.lost) {
    if (lost.contains(get, count)) return in_gap(lost);
  }
  for (const LostOperations& lost : lost_by_all) {
    if (peer.born > lost.to && lost.contains(get, count)) return in_gap(lost);
  }
  const std::uint64_t last = later(last_complete_all[get], peer.last_complete[get]);
  if (last != kNever && count <= last) return Fate::kCompleted;
  return get && done_by_request(kNever, rmaid) ? Fate::kByRequest : Fate::kNever;
}

void WindowEpochs::request_done(std::uint32_t rmaid) {
  constexpr std::size_t kMostIntervals = 32 * 1024;
  requests.add(rmaid);
  requests.limit(kMostIntervals);
}

void WindowEpochs::keep_requests() {
  if (requests.empty()) return;
  requests_kept.emplace_back(completions, requests);
}

void WindowEpochs::begin(EpochSide side, std::span<const std::uint32_t> members) {
  standing.begin_epoch(
      side, side == EpochSide::kAccess ? access_members : exposure_members, members,
      [&](std::uint32_t member) -> PeerStanding& { return peer(member).standing; });
}

void WindowEpochs::end(EpochSide side) {
  standing.end_epoch(side, side == EpochSide::kAccess ? access_members : exposure_members,
                     [&](std::uint32_t member) -> PeerStanding& { return peer(member).standing; });
}

void WindowEpochs::fence(bool survey, bool no_succeed) {
  ++epoch_version;
  standing.fence(no_succeed);
  if (survey) {
    fences_recorded.add(standing.fences);
    last_fence = std::max(last_fence, standing.fences);
  }
}

void WindowEpochs::start(std::span<const std::uint32_t> members) {
  ++epoch_version;
  begin(EpochSide::kAccess, members);
  if (surveyed_) return;
  for (const std::uint32_t member : members) {
    PeerEpochs& p = peer(member);
    p.last_access = std::max(p.last_access, p.standing.access);
  }
}

void WindowEpochs::post(std::span<const std::uint32_t> members) {
  begin(EpochSide::kExposure, members);
  if (surveyed_) return;
  for (const std::uint32_t member : members) {
    PeerEpochs& p = peer(member);
    p.last_exposure = std::max(p.last_exposure, p.standing.exposure);
  }
}

void WindowEpochs::complete(bool survey, std::span<const std::uint32_t> members) {
  ++epoch_version;
  if (survey) {
    for (const std::uint32_t member : members.empty() ? access_members : members) {
      PeerEpochs& p = peer(member);
      p.access_ended.add(p.standing.access);
    }
  }
  end(EpochSide::kAccess);
}

void WindowEpochs::wait(bool survey, std::span<const std::uint32_t> members) {
  if (survey) {
    for (const std::uint32_t member : members.empty() ? exposure_members : members) {
      PeerEpochs& p = peer(member);
      p.exposure_ended.add(p.standing.exposure);
    }
  }
  end(EpochSide::kExposure);
}

void WindowEpochs::lock(std::uint32_t target, std::uint8_t flags) {
  ++epoch_version;
  PeerEpochs& p = peer(target);
  lose(p.candidate, p.lost);  // it was not held on, or it could not be taken
  standing.lock(p.standing, flags);
}

void WindowEpochs::lock_all() {
  ++epoch_version;
  lose_candidates();
  standing.lock_all(kOpenShared);
}

void WindowEpochs::lose_candidates() {
  for (PeerEpochs& p : peers_) lose(p.candidate, p.lost);
  lose(candidate_by_all, lost_by_all);
}

void WindowEpochs::completion(bool survey, std::uint32_t target, bool gets_only) {
  if (survey) {
    std::uint64_t* last = target == kAbsent ? last_complete_all : peer(target).last_complete;
    last[1] = completions;
    if (!gets_only) last[0] = completions;
    if (target == kAbsent) requests.clear();
  }
  ++completions;
  ++epoch_version;
}

void WindowEpochs::quiet(bool survey, std::uint64_t up_to, std::uint32_t target, bool puts,
                         bool gets) {
  const bool all = up_to == kAllIssued;
  if (survey) {
    std::uint64_t* const last = target == kAbsent ? last_complete_all : peer(target).last_complete;
    for (const bool get : {false, true}) {
      if (get ? gets : puts) last[get] = all ? completions : later(last[get], up_to);
    }
    if (all && target == kAbsent && puts) requests.clear();
  }
  if (!all) return;
  ++completions;
  ++epoch_version;
}

void WindowEpochs::unlock(std::uint32_t target) {
  ++epoch_version;
  standing.unlock(peer(target).standing);
  if (standing.locks == 0 && standing.all == 0) requests.clear();
}

void WindowEpochs::unlock_all() {
  ++epoch_version;
  standing.unlock_all();
}

void WindowEpochs::free(bool survey) {
  completion(survey, kAbsent, false);
  freed = true;
  if (survey) free_recorded = true;
}

void WindowEpochs::state(std::uint64_t fence_count, std::uint8_t open) {
  ++epoch_version;
  standing.told(fence_count, open);
  if (standing.all != 0) keep_lock_all();
  if (!surveyed_) last_fence = std::max(last_fence, standing.fences);
}

void WindowEpochs::peer_state(std::uint32_t target, std::uint64_t access, std::uint64_t exposure,
                              std::uint8_t open) {
  ++epoch_version;
  PeerEpochs& p = peer(target);
  standing.told(p.standing, target, access, exposure, open, access_members, exposure_members);
  if (!surveyed_) {
    p.last_access = std::max(p.last_access, access);
    p.last_exposure = std::max(p.last_exposure, exposure);
    if (!p.standing.accessed() && !p.access_ended.contains(access)) {
      p.lost_access = std::max(p.lost_access, access);
    }
  }
  if ((open & kOpenLockAll) != 0) {
    keep_lock_all();
  } else if (p.standing.locked()) {
    p.candidate = {};  // the lock was held all the time
  } else {
    lose(p.candidate, p.lost);
  }
}

void WindowEpochs::lose(LostOperations& candidate, std::vector<LostOperations>& lost) {
  if (!candidate.none()) lost.push_back(candidate);
  candidate = {};
}

void WindowEpochs::forget_open(bool survey, std::uint32_t new_gap) {
  gap = new_gap;
  ++epoch_version;
  const auto open_since = [&](const std::uint64_t* last_complete) {
    LostOperations open;
    for (const int get : {0, 1}) {
      const std::uint64_t last = later(last_complete_all[get], last_complete[get]);
      open.from[get] = last == kNever ? 0 : last + 1;
    }
    open.to = completions;
    return open;
  };
  if (survey) keep_requests();
  const bool all = standing.all != 0;
  if (survey && all) {
    lose(candidate_by_all, lost_by_all);
    candidate_by_all = open_since(last_complete_all);
  }
  for (PeerEpochs& p : peers_) {
    if (survey && (all || p.standing.locked())) {
      lose(p.candidate, p.lost);
      p.candidate = open_since(p.last_complete);
    }
    standing.forget(p.standing);
  }
  standing.forget_open(access_members, exposure_members);
  ++completions;  // what comes now belongs to other epochs
}

void WindowEpochs::keep_lock_all() {
  candidate_by_all = {};
  for (PeerEpochs& p : peers_) p.candidate = {};
}

void WindowEpochs::end_of_survey(std::uint32_t gaps) {
  unseen_end = gap != gaps;
  if (unseen_end) forget_open(true, gaps);
  lose_candidates();
  if (!requests.empty()) requests_kept.emplace_back(kNever, std::move(requests));
  requests.clear();
  surveyed_ = true;
}

bool WindowEpochs::open_mail(std::uint64_t ordinal) {
  if (!fences_recorded.contains(ordinal) || standing.fences >= ordinal) return false;
  const auto known = other_mail.find(ordinal);
  const Mailbox found = known != other_mail.end() ? known->second : Mailbox{.ordinal = ordinal};
  if (known != other_mail.end()) other_mail.erase(known);
  if (mail.ordinal != 0) other_mail.emplace(mail.ordinal, mail);
  mail = found;
  return true;
}

void WindowEpochs::restart() {
  standing = {};
  completions = 0;
  epoch_version = 1;
  gap = kUntouched;
  freed = false;
  access_members.clear();
  exposure_members.clear();
  mail = {};
  other_mail.clear();
  fence_gets = {};
  other_fence_gets.clear();
  fence_puts.clear();
  fence_ends.clear();
  access_ends.clear();
  free_ends.clear();
  passive_peers.clear();
  last_stream = 0;
  for (PeerEpochs& p : peers_) {
    p.standing = {};
    for (const int get : {0, 1}) {
      p.memo[get] = {};
      p.other_memos[get].clear();
      p.passive[get].clear();
    }
    p.exposed.clear();
    p.exposed_begin = 0;
    p.exposures_ended = 0;
  }
}

WindowEpochs& ProcessEpochs::raw_window(std::uint32_t id) {
  std::unique_ptr<WindowEpochs>& w = windows_[id];
  if (!w) w = std::make_unique<WindowEpochs>();
  return *w;
}

void ProcessEpochs::number_windows(std::span<const std::uint32_t> numbers) {
  decltype(windows_) numbered;
  for (auto& [id, w] : windows_) numbered.emplace(is_context(id) ? id : numbers[id], std::move(w));
  windows_ = std::move(numbered);
}

std::uint64_t ProcessEpochs::begin_quiet() {
  if (!several_threads_) return kAllIssued;
  ++quiets_begun_;
  for (auto& [id, w] : windows_) {
    if (!is_context(id)) continue;
    w->completions = quiets_begun_;
    ++w->epoch_version;
  }
  return quiets_begun_ - 1;
}

void ProcessEpochs::end_of_survey() {
  for (auto& [id, w] : windows_) w->end_of_survey(gap_);
}

void ProcessEpochs::restart() {
  for (auto& [id, w] : windows_) w->restart();
  gap_ = 0;
  quiets_begun_ = 0;
}

}  // namespace kojak::merge
