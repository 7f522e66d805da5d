#include "merge/complete/placement.h"

#include <algorithm>

namespace kojak::merge {

Placement::Placement(Survey& survey, FileCache& files, std::span<const std::uint32_t> ranks,
                     std::size_t pool)
    : survey_(survey),
      held_(files, pool),
      recent_(ranks.size()),
      targets_(survey.processes.size()),
      location_ends_(ranks.size()),
      any_at_exit_(ranks.size()),
      first_stream_(survey.processes.size(), kAbsent),
      stream_count_(survey.processes.size(), 0),
      requests_(survey.processes.size()) {
  for (std::uint32_t stream = 0; stream < ranks.size(); ++stream) {
    const std::uint32_t rank = ranks[stream];
    location_ends_[stream].rank = rank;
    recent_[stream].epochs = survey.processes[rank].get();
    // Locations: thread 0 of each process first, then the other threads, by process.
    if (first_stream_[rank] == kAbsent) first_stream_[rank] = stream;
    ++stream_count_[rank];
  }
}

OpEpoch Placement::epoch_of(std::uint32_t stream, std::uint32_t target, std::uint32_t window_id) {
  WindowEpochs& w = window(stream, window_id);
  return w.classify(w.peer(target));
}

Mark Placement::begin_later(std::uint32_t stream, bool put, std::uint32_t target,
                            std::uint32_t window_id, const OpEpoch& epoch, const HeldEnd& end) {
  WindowEpochs& w = window(stream, window_id);
  const bool fence_get = !put && epoch.kind == EpochKind::kFence && epoch.named;
  return place(stream, put, target, window_id, w, fence_get ? nullptr : &w.peer(target), epoch,
               end);
}

Mark Placement::begin_in_context(std::uint32_t stream, bool put, std::uint32_t target,
                                 std::uint32_t context, std::uint64_t quiets_begun,
                                 const HeldEnd& end) {
  if (quiets_begun == kAllIssued) return begin(stream, put, target, context, end);
  WindowEpochs& w = window(stream, context);
  if (quiets_begun == w.completions) return begin(stream, put, target, context, end);
  return place(stream, put, target, context, w, &w.peer(target),
               {EpochKind::kLockAll, true, quiets_begun}, end);
}

// Each thread has a memo of its own.
ListMemo& Placement::memo_of(const Operation& op) {
  const int get = op.put ? 0 : 1;
  ListMemo& memo = op.peer != nullptr ? op.peer->memo[get] : op.window->fence_gets;
  if (memo.stream == op.stream) return memo;
  std::vector<ListMemo>& others =
      op.peer != nullptr ? op.peer->other_memos[get] : op.window->other_fence_gets;
  const auto mine = std::find_if(others.begin(), others.end(),
                                 [&](const ListMemo& m) { return m.stream == op.stream; });
  if (mine != others.end()) {
    std::swap(memo, *mine);
  } else {
    if (memo.stream != kAbsent) others.push_back(memo);
    memo = {};
    memo.stream = op.stream;
  }
  return memo;
}

Mark Placement::place(std::uint32_t stream, bool put, std::uint32_t target, std::uint32_t window_id,
                      WindowEpochs& window, PeerEpochs* peer, const OpEpoch& epoch,
                      const HeldEnd& end) {
  held_.prefetch_next();
  const Operation op{stream, target, window_id, &window, peer, put, end.rmaid, epoch};
  ListMemo& memo = memo_of(op);
  const Decision decision = decide(op);
  if (decision.basic) {
    memo.list = kNoList;
    memo.epoch_version = 0;
    return decision.mark;
  }
  ListInfo info;
  info.stream = stream;
  info.origin = location_ends_[stream].rank;
  info.target = peer != nullptr ? target : kAbsent;
  info.window = window_id;
  info.put = put;
  info.mark = decision.mark;
  info.place = decision.place;
  info.at_target = put && (decision.place == EndPlace::kTargetFence ||
                           decision.place == EndPlace::kTargetExposure ||
                           decision.place == EndPlace::kTargetFree ||
                           (decision.place == EndPlace::kNextExit && decision.stream != stream));
  // A flush takes all that there is; a quiet of one thread leaves what others issued behind it.
  const bool kept_apart = is_context(window_id) && recent_[stream].epochs->several_threads();
  info.ordinal = epoch.passive() && !kept_apart ? 0 : epoch.ordinal;
  const bool known = memo.list != kNoList && held_.serial(memo.list) == memo.serial;
  const bool same = known && held_.info(memo.list) == info;
  ListId list = memo.list;
  if (!same) {
    list = held_.open(info);
    give_to_releaser(op, decision, list);
  }
  held_.append(list, end);
  memo.list = list;
  memo.serial = held_.serial(list);
  memo.alone = decision.alone;
  memo.epoch_version = window.epoch_version;
  return Mark::kNone;
}

Placement::Decision Placement::decide(const Operation& op) {
  switch (op.epoch.kind) {
    case EpochKind::kLock:
    case EpochKind::kLockAll:
      return decide_passive(op);
    case EpochKind::kAccess:
      return decide_access(op);
    case EpochKind::kFence:
    case EpochKind::kNone:
      break;
  }
  return decide_fence(op);
}

WindowEpochs* Placement::find_target_window(std::uint32_t target, std::uint32_t window_id,
                                            Known& known) {
  ProcessEpochs* process = survey_.processes[target].get();
  WindowEpochs* window = process != nullptr ? process->find(window_id) : nullptr;
  if (window != nullptr) known = {window, window_id};
  return window;
}

// No completing record at either side: the basic place if it was only not recorded, else before the
// location's last exit.
Placement::Decision Placement::nowhere(const Operation& op) const {
  if (op.window->unseen_end) return {true, {}, Mark::kBothExitsLost, 0};
  return {false, EndPlace::kLastExit, Mark::kBothExitsLost, op.stream};
}

// The target had completed the operation before its start was read.
Placement::Decision Placement::late(const Operation& op, const WindowEpochs& target) {
  const std::uint32_t rank = op.target;
  std::uint32_t stream = target.last_stream;
  if (stream >= location_ends_.size() || location_ends_[stream].rank != rank ||
      location_ends_[stream].ended) {
    stream = first_stream_[rank];
    for (std::uint32_t i = 0; i < location_ends_.size() && stream_count_[rank] > 1; ++i) {
      if (location_ends_[i].rank == rank && !location_ends_[i].ended) {
        stream = i;
        break;
      }
    }
  }
  if (stream != kAbsent && !location_ends_[stream].ended) {
    return {false, EndPlace::kNextExit, Mark::kLateStart, stream};
  }
  return op.epoch.kind == EpochKind::kAccess ? origin_access(op, Mark::kLateStart)
                                             : origin_fence(op, Mark::kLateStart);
}

Placement::Decision Placement::decide_fence(const Operation& op) {
  const std::uint64_t k = op.epoch.ordinal;
  const Mark mark = op.epoch.named ? Mark::kNone : Mark::kNoEpoch;
  if (!op.put) return origin_fence(op, mark);
  if (const WindowEpochs* target = target_window(op)) {
    if (target->fences_recorded.contains(k)) {
      if (target->standing.fences >= k) return late(op, *target);
      return {false, EndPlace::kTargetFence, mark, 0};
    }
    if (target->free_recorded && k > target->last_fence) {
      if (target->freed) return late(op, *target);
      return {false, EndPlace::kTargetFree, mark, 0};
    }
  }
  return origin_fence(op, Mark::kTargetExitLost);
}

Placement::Decision Placement::origin_fence(const Operation& op, Mark mark) {
  const WindowEpochs& w = *op.window;
  const std::uint64_t k = op.epoch.ordinal;
  if (w.fences_recorded.contains(k)) {
    if (w.standing.fences < k) return {false, EndPlace::kOriginFence, mark, 0};
    return {false, EndPlace::kNextExit, Mark::kLateStart, op.stream};
  }
  if (k <= w.last_fence) return {true, {}, Mark::kBothExitsLost, 0};
  if (w.free_recorded && !w.freed) return {false, EndPlace::kOriginFree, mark, 0};
  return nowhere(op);
}

Placement::Decision Placement::decide_access(const Operation& op) {
  const std::uint64_t n = op.epoch.ordinal;
  if (!op.put) return origin_access(op, Mark::kNone);
  if (WindowEpochs* target = target_window(op)) {
    const PeerEpochs* us = target->find_peer(location_ends_[op.stream].rank);
    if (us != nullptr && us->exposure_ended.contains(n)) {
      if (us->exposures_ended >= n) return late(op, *target);
      return {false, EndPlace::kTargetExposure, Mark::kNone, 0};
    }
    if (target->free_recorded && (us == nullptr || n >= us->last_exposure) && !target->unseen_end) {
      if (target->freed) return late(op, *target);
      return {false, EndPlace::kTargetFree, Mark::kNone, 0};
    }
  }
  return origin_access(op, Mark::kTargetExitLost);
}

Placement::Decision Placement::origin_access(const Operation& op, Mark mark) {
  const WindowEpochs& w = *op.window;
  const PeerEpochs& peer = *op.peer;
  const std::uint64_t n = op.epoch.ordinal;
  if (peer.access_ended.contains(n)) {
    const bool open = peer.standing.accessed() && peer.standing.access == n;
    if (open) return {false, EndPlace::kOriginComplete, mark, 0};
    return {false, EndPlace::kNextExit, Mark::kLateStart, op.stream};
  }
  if (n < peer.last_access || n <= peer.lost_access) {
    return {true, {}, Mark::kBothExitsLost, 0};
  }
  if (w.free_recorded && !w.freed) return {false, EndPlace::kOriginFree, mark, 0};
  return nowhere(op);
}

Placement::Decision Placement::decide_passive(const Operation& op) {
  // The next one may have been issued under another count.
  const bool alone = op.epoch.ordinal != op.window->completions;
  switch (op.window->passive_fate(*op.peer, !op.put, op.epoch.ordinal, op.rmaid)) {
    case WindowEpochs::Fate::kCompleted:
      return {false, EndPlace::kPassive, Mark::kNone, 0, alone};
    case WindowEpochs::Fate::kByRequest:  // the next operation may fare otherwise
      return {false, EndPlace::kPassive, Mark::kNone, 0, true};
    case WindowEpochs::Fate::kLostInGap:
      return {true, {}, Mark::kBothExitsLost, 0};
    case WindowEpochs::Fate::kNever:
      break;
  }
  Decision decision = nowhere(op);
  decision.alone = alone || !op.put;  // the next get may be completed by its request
  return decision;
}

// Gives a new list to whoever will release it.
void Placement::give_to_releaser(const Operation& op, const Decision& decision, ListId list) {
  WindowEpochs& w = *op.window;
  const std::uint64_t ordinal = op.epoch.ordinal;
  switch (decision.place) {
    case EndPlace::kTargetFence:
      target_window(op)->fence_puts[ordinal].push_back(list);
      break;
    case EndPlace::kTargetExposure:
      expose(target_window(op)->peer(location_ends_[op.stream].rank), ordinal, list);
      break;
    case EndPlace::kTargetFree:
      target_window(op)->free_ends.push_back(list);
      break;
    case EndPlace::kOriginFence:
      w.fence_ends.push_back(list);
      break;
    case EndPlace::kOriginComplete:
      w.access_ends.push_back(list);
      break;
    case EndPlace::kOriginFree:
      w.free_ends.push_back(list);
      break;
    case EndPlace::kPassive:
      if (op.peer->passive[0].empty() && op.peer->passive[1].empty()) {
        w.passive_peers.push_back(op.peer->rank);
      }
      op.peer->passive[op.put ? 0 : 1].push_back(list);
      break;
    case EndPlace::kNextExit:
      location_ends_[decision.stream].next_exit.push_back(list);
      set_any_at_exit(decision.stream, true);
      break;
    case EndPlace::kLastExit:
      location_ends_[op.stream].last_exit.push_back(list);
      set_any_at_exit(op.stream, true);
      break;
    case EndPlace::kGrant:  // only starts go there
      break;
  }
}

void Placement::take(std::vector<ListId>& from, std::vector<ListId>& lists) {
  lists.insert(lists.end(), from.begin(), from.end());
  from.clear();
}

void Placement::take_passive(PeerEpochs& peer, bool gets_only, std::vector<ListId>& lists) {
  take(peer.passive[1], lists);
  if (!gets_only) take(peer.passive[0], lists);
}

void Placement::take_all_passive(WindowEpochs& window, bool gets_only, std::vector<ListId>& lists) {
  for (const std::uint32_t rank : window.passive_peers) {
    take_passive(window.peer(rank), gets_only, lists);
  }
  std::erase_if(window.passive_peers,
                [&](std::uint32_t rank) { return window.peer(rank).passive[0].empty(); });
}

void Placement::released_by_quiet(std::uint32_t stream, std::uint32_t context, std::uint64_t up_to,
                                  const ContextUse& quiet, std::vector<ListId>& lists) {
  WindowEpochs& w = window(stream, context);
  if (up_to == kAllIssued && quiet.whole()) return take_all_passive(w, false, lists);
  std::erase_if(w.passive_peers, [&](std::uint32_t rank) {
    if (quiet.target != kAbsent && quiet.target != rank) return false;
    PeerEpochs& peer = w.peer(rank);
    bool left = false;
    for (const bool get : {false, true}) {
      std::vector<ListId>& held = peer.passive[get];
      if (get ? !quiet.gets : !quiet.puts) {
        left = left || !held.empty();
        continue;
      }
      std::erase_if(held, [&](ListId list) {
        const bool due = held_.info(list).ordinal <= up_to;
        if (due) lists.push_back(list);
        return due;
      });
      left = left || !held.empty();
    }
    return !left;
  });
}

void Placement::expose(PeerEpochs& peer, std::uint64_t ordinal, ListId list) {
  auto& exposed = peer.exposed;
  const auto begin = exposed.begin() + static_cast<std::ptrdiff_t>(peer.exposed_begin);
  // Threads of one process may be told of in another order; as a rule it belongs at the end.
  auto at = exposed.end();
  while (at != begin && ordinal < std::prev(at)->first) --at;
  exposed.insert(at, {ordinal, list});
}

void Placement::take_exposed(PeerEpochs& peer, std::uint64_t up_to, std::vector<ListId>& lists) {
  auto& exposed = peer.exposed;
  std::size_t at = peer.exposed_begin;
  for (; at < exposed.size() && exposed[at].first <= up_to; ++at) {
    lists.push_back(exposed[at].second);
  }
  if (at == exposed.size()) {
    exposed.clear();
    at = 0;
  } else if (2 * at > exposed.size()) {
    exposed.erase(exposed.begin(), exposed.begin() + static_cast<std::ptrdiff_t>(at));
    at = 0;
  }
  peer.exposed_begin = at;
}

void Placement::collect(WindowEpochs& window, std::uint64_t up_to, Mail& mail) {
  if (window.mail.ordinal != 0 && window.mail.ordinal <= up_to) held_.collect(window.mail, mail);
  auto& others = window.other_mail;
  while (!others.empty() && others.begin()->first <= up_to) {
    held_.collect(others.begin()->second, mail);
    others.erase(others.begin());
  }
}

void Placement::take_fence_puts(WindowEpochs& window, std::uint64_t up_to,
                                std::vector<ListId>& lists) {
  auto& puts = window.fence_puts;
  while (!puts.empty() && puts.begin()->first <= up_to) {
    take(puts.begin()->second, lists);
    puts.erase(puts.begin());
  }
}

void Placement::released_by(std::uint32_t stream, const Sync& sync,
                            std::span<const std::uint32_t> members, std::vector<ListId>& lists,
                            Mail& mail, bool& closing) {
  WindowEpochs& w = window(stream, sync.window);
  switch (sync.kind) {
    case EpochMove::kFence: {
      const std::uint64_t k = w.standing.fences + 1;
      collect(w, k, mail);
      take_fence_puts(w, k, lists);
      take(w.fence_ends, lists);
      w.last_stream = stream;
      break;
    }
    case EpochMove::kComplete:
      take(w.access_ends, lists);
      break;
    case EpochMove::kWait:
      for (const std::uint32_t member : members.empty() ? w.exposure_members : members) {
        PeerEpochs& peer = w.peer(member);
        take_exposed(peer, peer.standing.exposure, lists);
        peer.exposures_ended = std::max(peer.exposures_ended, peer.standing.exposure);
      }
      w.last_stream = stream;
      break;
    case EpochMove::kFlush:
    case EpochMove::kUnlock:
      if (sync.target != kAbsent) {
        PeerEpochs& peer = w.peer(sync.target);
        take_passive(peer, sync.gets_only, lists);
        if (peer.passive[0].empty()) std::erase(w.passive_peers, sync.target);
        break;
      }
      [[fallthrough]];
    case EpochMove::kUnlockAll:
      take_all_passive(w, sync.gets_only, lists);
      break;
    case EpochMove::kFree:
      closing = true;
      collect(w, PeerEpochs::kNever, mail);
      take_fence_puts(w, PeerEpochs::kNever, lists);
      take(w.fence_ends, lists);
      take(w.access_ends, lists);
      take(w.free_ends, lists);
      take_all_passive(w, false, lists);
      for (PeerEpochs& peer : w.peers()) take_exposed(peer, PeerEpochs::kNever, lists);
      w.last_stream = stream;
      break;
    default:
      break;
  }
}

void Placement::note_request(std::uint32_t stream, bool put, std::uint32_t window_id,
                             std::uint32_t target, std::uint32_t rmaid) {
  std::unique_ptr<Request[]>& table = requests_[location_ends_[stream].rank];
  if (!table) table = std::make_unique<Request[]>(kRequests);
  table[rmaid % kRequests] = {rmaid, window_id, target, put};
}

std::optional<Placement::Completed> Placement::request_complete(std::uint32_t stream,
                                                                std::uint32_t window_id,
                                                                std::uint32_t rmaid) {
  if (window_id == kAbsent) return std::nullopt;
  WindowEpochs& w = window(stream, window_id);
  const auto from = [&](std::span<const ListId> lists) -> std::optional<Completed> {
    for (const ListId list : lists) {
      const ListInfo info = held_.info(list);
      if (info.put || info.window != window_id) continue;
      if (const auto end = held_.extract(list, rmaid)) return Completed{info, *end};
    }
    return std::nullopt;
  };
  const std::unique_ptr<Request[]>& table = requests_[location_ends_[stream].rank];
  if (table && table[rmaid % kRequests].rmaid == rmaid) {
    const Request& request = table[rmaid % kRequests];
    if (request.put) return std::nullopt;
    if (auto found = from(w.peer(request.target).passive[1])) return found;
  } else {
    for (const std::uint32_t rank : w.passive_peers) {
      if (auto found = from(w.peer(rank).passive[1])) return found;
    }
  }
  return std::nullopt;
}

}  // namespace kojak::merge
