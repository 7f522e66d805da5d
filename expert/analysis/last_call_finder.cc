// Long because every kind of call that can wait stands here, in a few lines each.
#include "expert/analysis/last_call_finder.h"

#include <algorithm>

#include "epilog/format/awaited.h"
#include "epilog/format/mpi_roles.h"

namespace kojak::expert {
namespace {

Byte kind_of(Awaited awaited) {
  return Byte{static_cast<std::uint8_t>(awaited)};
}
std::string tagged(Tag tag) {
  return is_absent(tag) ? std::string() : " (tag " + std::to_string(raw(tag)) + ")";
}

// "rank 3", "ranks 1, 2 and 5", "ranks 1, 2, 3, 4 and 60 more".
std::string rank_words(const std::set<std::uint32_t>& ranks, const char* last_word = "and") {
  constexpr std::size_t kNamed = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  std::size_t named = 0;
  for (const std::uint32_t rank : ranks) {
    if (named == kNamed && ranks.size() > kNamed + 1) {
      return text + ' ' + last_word + ' ' + std::to_string(ranks.size() - named) + " more";
    }
    if (named != 0) text += named + 1 == ranks.size() ? std::string(" ") + last_word + " " : ", ";
    text += std::to_string(rank);
    ++named;
  }
  return text;
}

void wait_for(LastCall& call, std::string what, const std::set<std::uint32_t>& ranks) {
  call.awaits = std::move(what);
  call.ranks.assign(ranks.begin(), ranks.end());
}

bool is_send(MpiRole role) {
  return role == MpiRole::kSend || role == MpiRole::kSsend || role == MpiRole::kRsend ||
         role == MpiRole::kBsend || role == MpiRole::kSendrecv;
}
bool begins_send(MpiRole role) {
  return role == MpiRole::kIsend || role == MpiRole::kIbsend || role == MpiRole::kIssend ||
         role == MpiRole::kIrsend || role == MpiRole::kIsendrecv;
}
bool is_receive(MpiRole role) {
  return role == MpiRole::kRecv || role == MpiRole::kSendrecv || role == MpiRole::kProbe ||
         role == MpiRole::kMprobe;
}
bool fits(Tag wanted, Tag tag) {
  return is_absent(wanted) || is_absent(tag) || wanted == tag;
}

}  // namespace

// ---- from the replay

void LastCallFinder::on_open_call(const earl::OpenCall& call, const MpiOpenCall& note) {
  OpenCallState& s = open_calls_[call.index] = {};
  s.call = call;
  s.shmem = shmem_of(call);
  s.note = note;
  s.noted = true;
  s.since = s.until = call.enter;
}

void LastCallFinder::on_awaits(const earl::OpenCall& call, const MpiAwaits& awaited) {
  const auto it = open_calls_.find(call.index);
  if (it != open_calls_.end()) it->second.awaits.push_back(awaited);
}

void LastCallFinder::on_process_end(const earl::OpenCall& call, Seconds last, Seconds time) {
  OpenCallState& s = open_calls_[call.index];
  const bool same = s.noted && !s.closed && s.call.enter_pos == call.enter_pos;
  if (!same) s = {};
  s.call = call;
  s.shmem = shmem_of(call);
  s.ended = true;
  s.since = s.outside() ? last : call.enter;
  s.until = time;
}

// A call that is closed with all others at once was closed by the end of its process.
void LastCallFinder::on_exit(const earl::Call& call) {
  const auto it = open_calls_.find(call.index);
  if (it == open_calls_.end() || it->second.ended) return;
  OpenCallState& s = it->second;
  if (!s.closed) {
    s.closed = true;
    s.until = call.exit;
  } else if (s.until < call.exit) {
    open_calls_.erase(it);
  }
}

void LastCallFinder::on_collective(const earl::CollectiveInstance& instance) {
  OpenOperation open{raw(instance.com), instance.ordinal, instance.role(), {}};
  for (const earl::CollectiveMember& m : instance.members) open.left.insert(raw(m.call.process));
  collectives_.push_back(std::move(open));
}
void LastCallFinder::on_collective_unbegun(const earl::CollectiveInstance& instance) {
  for (const earl::CollectiveMember& m : instance.members) {
    begun_[raw(instance.com)].insert(raw(m.call.process));
  }
}
void LastCallFinder::on_window_collective(const earl::WindowInstance& instance) {
  OpenOperation open{raw(instance.window), instance.ordinal, instance.role, {}};
  for (const earl::WindowMember& m : instance.members) open.left.insert(raw(m.call.process));
  windows_.push_back(std::move(open));
}
void LastCallFinder::on_access_transaction(const earl::AccessEpoch& epoch) {
  OpenEpoch open{raw(epoch.origin), epoch.window, epoch.has_finish, {}, {}};
  for (const earl::AccessTarget& target : epoch.targets) {
    const bool posted = target.exposure != nullptr && target.exposure->has_post;
    (posted ? open.there : open.missing).insert(raw(target.target));
  }
  accesses_.push_back(std::move(open));
}
void LastCallFinder::on_exposure_transaction(const earl::ExposureEpoch& epoch) {
  OpenEpoch open{raw(epoch.target), epoch.window, epoch.has_finish, {}, {}};
  for (const earl::ExposureOrigin& origin : epoch.origins) {
    const bool completed = origin.access != nullptr && origin.access->has_finish;
    (completed ? open.there : open.missing).insert(raw(origin.origin));
  }
  exposures_.push_back(std::move(open));
}
void LastCallFinder::on_passive_epoch(const earl::PassiveEpoch& epoch) {
  if (epoch.has_unlock || epoch.nocheck) return;
  locks_.push_back(
      {raw(epoch.origin), raw(epoch.target), epoch.window, epoch.all, epoch.exclusive});
}
void LastCallFinder::on_symmetric_lock(const earl::SymmetricLock& lock) {
  holders_[raw(lock.lock)] = lock.acquired ? raw(lock.call->process) : kAbsent;
}
void LastCallFinder::on_unreceived(const earl::Message& m) {
  unreceived_.push_back({raw(m.source), raw(m.destination), m.com, m.tag});
}
void LastCallFinder::on_unmet_receive(ProcessId process, ProcessId source, CommId com, Tag tag) {
  unmet_.push_back({raw(source), raw(process), com, tag});
}

// ---- who is where

const ShmemFunction* LastCallFinder::shmem_of(const earl::OpenCall& call) const {
  const ShmemFunction* const f = definitions_.shmem(call.region);
  return f != nullptr && f->may_block ? f : nullptr;
}

// Whose calls the processes could wait in.
std::string LastCallFinder::library() const {
  bool mpi = false, shmem = false;
  definitions_.regions.for_each([&](RegionId, const RegionDef& region) {
    mpi = mpi || region.function != nullptr;
    shmem = shmem || region.shmem != nullptr;
  });
  return !shmem ? "MPI" : mpi ? "MPI and SHMEM" : "SHMEM";
}

const LastCallFinder::OpenCallState* LastCallFinder::of_process(Rank process) const {
  const OpenCallState* found = nullptr;
  for (const auto& [location, s] : open_calls_) {
    if (s.process() != process) continue;
    if (found == nullptr || found->outside()) found = &s;
  }
  return found;
}

LastCallFinder::Ranks LastCallFinder::members_of(CommId com) const {
  const CommDef* const def = definitions_.comms.find(com);
  if (def == nullptr) return {};
  Ranks ranks(def->ranks.begin(), def->ranks.end());
  ranks.insert(def->remote.begin(), def->remote.end());
  ranks.erase(kAbsent);
  return ranks;
}
LastCallFinder::Ranks LastCallFinder::members_of(WindowId window) const {
  const WindowDef* const def = definitions_.windows.find(window);
  return def == nullptr ? Ranks{} : members_of(def->comm);
}

// A message is there, or on its way by a call that has not returned.
bool LastCallFinder::sent(Rank source, Rank destination, CommId com, Tag tag) const {
  for (const Envelope& m : unreceived_) {
    if (m.destination == destination && m.com == com && fits(tag, m.tag) &&
        (source == kAbsent || m.source == source)) {
      return true;
    }
  }
  for (const auto& [location, s] : open_calls_) {
    if ((!is_send(s.role()) && !begins_send(s.role())) || !s.noted || s.note.cid != com) continue;
    if (raw(s.note.dlid) != destination || (source != kAbsent && s.process() != source)) continue;
    if (s.role() == MpiRole::kSendrecv || s.role() == MpiRole::kIsendrecv || fits(tag, s.note.tag))
      return true;
  }
  return false;
}

// A receive is there for a message.
bool LastCallFinder::taken(Rank source, Rank destination, CommId com, Tag tag) const {
  for (const Envelope& r : unmet_) {
    if (r.destination == destination && fits(r.tag, tag) && (is_absent(com) || r.com == com) &&
        (r.source == source || r.source == kAbsent)) {
      return true;
    }
  }
  for (const auto& [location, s] : open_calls_) {
    if (!is_receive(s.role()) || !s.noted || s.process() != destination) continue;
    if (!is_absent(com) && s.note.cid != com) continue;
    if (raw(s.note.slid) != source && !is_absent(s.note.slid)) continue;
    if (fits(s.note.tag, tag)) return true;
  }
  return false;
}

// ---- for whom a call waits

void LastCallFinder::for_messages(const OpenCallState& s, LastCall& call) const {
  const Rank me = s.process();
  const MpiOpenCall& note = s.note;
  if (is_receive(s.role())) {
    const Rank source = raw(note.slid);
    if (sent(source, me, note.cid, note.tag)) {
      if (!is_send(s.role()))
        call.awaits = "a message" + tagged(note.tag) + ", which is on its way";
    } else if (source != kAbsent) {
      return wait_for(call, "a message of rank " + std::to_string(source) + tagged(note.tag),
                      {source});
    } else {
      Ranks others = members_of(note.cid);
      others.erase(me);
      call.any = true;
      return wait_for(call, "a message of any other process" + tagged(note.tag), others);
    }
  }
  if (!is_send(s.role()) || is_absent(note.dlid)) return;
  const Rank target = raw(note.dlid);
  const Tag tag = s.role() == MpiRole::kSendrecv ? absent<Tag>() : note.tag;
  if (taken(me, target, note.cid, tag)) {
    call.awaits = "a receive of rank " + std::to_string(target) + ", which is there";
  } else {
    wait_for(call, "a receive of rank " + std::to_string(target) + tagged(tag), {target});
  }
}

void LastCallFinder::for_requests(const OpenCallState& s, LastCall& call) const {
  const Rank me = s.process();
  std::vector<MpiAwaits> all = s.awaits;
  if (raw(s.note.awaited) > all.size()) {  // the rest was not noted: whatever is open
    for (const Envelope& r : unmet_) {
      if (r.destination != me) continue;
      all.push_back({.kind = kind_of(Awaited::kReceive),
                     .plid = PeerId{r.source},
                     .cid = r.com,
                     .tag = r.tag});
    }
    for (const Envelope& m : unreceived_) {
      if (m.source != me) continue;
      all.push_back({.kind = kind_of(Awaited::kSend),
                     .plid = PeerId{m.destination},
                     .cid = m.com,
                     .tag = m.tag});
    }
  }
  Ranks senders, receivers, members, targets, givers, takers, kept;
  Tag first_tag = absent<Tag>();
  bool from_anyone = false, ready = false;
  for (const MpiAwaits& one : all) {
    const Rank peer = raw(one.plid);
    const auto missing = [&] {
      return senders.size() + receivers.size() + members.size() + givers.size() + takers.size() +
             kept.size();
    };
    const std::size_t before = missing();
    switch (static_cast<Awaited>(raw(one.kind))) {
      case Awaited::kReceive:
        if (sent(peer, me, one.cid, one.tag)) {
        } else if (peer == kAbsent) {
          from_anyone = true;
          for (const Rank rank : members_of(one.cid)) {
            if (rank != me) senders.insert(rank);
          }
        } else {
          if (senders.empty()) first_tag = one.tag;
          senders.insert(peer);
        }
        break;
      case Awaited::kSend: {
        const bool received = std::none_of(
            unreceived_.begin(), unreceived_.end(),
            [&](const Envelope& m) { return m.source == me && m.destination == peer; });
        if (!received && !taken(me, peer, one.cid, one.tag)) receivers.insert(peer);
        break;
      }
      case Awaited::kCollective: {
        const auto begun = begun_.find(raw(one.cid));
        if (begun == begun_.end() || !begun->second.contains(me)) break;
        for (const Rank rank : members_of(one.cid)) {
          if (!begun->second.contains(rank)) members.insert(rank);
        }
        break;
      }
      case Awaited::kTransfer:
        if (peer != kAbsent) targets.insert(peer);
        break;
      case Awaited::kPartsReceived:
        if (peer != kAbsent) givers.insert(peer);
        break;
      case Awaited::kPartsSent:
        if (peer != kAbsent) takers.insert(peer);
        break;
      case Awaited::kPartsKept:
        if (peer != kAbsent) kept.insert(peer);
        break;
      default:
        break;
    }
    ready = ready || before == missing();
  }
  const bool one_is_enough = first_one_ends(s.role());
  if (one_is_enough && ready && targets.empty()) return;
  Ranks everyone;
  std::string words;
  const auto add = [&](const Ranks& ranks, const std::string& what) {
    if (ranks.empty()) return;
    everyone.insert(ranks.begin(), ranks.end());
    words += (words.empty() ? "" : one_is_enough ? " or " : " and ") + what;
  };
  if (from_anyone) {
    add(senders, "a message of any other process");
  } else if (senders.size() == 1) {
    add(senders, "a message of " + rank_words(senders) + tagged(first_tag));
  } else {
    add(senders, "messages of " + rank_words(senders));
  }
  add(receivers, "a receive of " + rank_words(receivers));
  add(members, rank_words(members) + " to begin the same collective operation");
  add(givers, "all parts of a message of " + rank_words(givers));
  add(takers, rank_words(takers) + " to receive all parts of its message");
  if (everyone.empty()) add(targets, "an operation at " + rank_words(targets));
  if (!kept.empty()) {  // itself
    words += (words.empty()   ? ""
              : one_is_enough ? " or "
                              : " and ") +
             std::string("its own MPI_Pready for a message to ") + rank_words(kept);
  }
  call.any = one_is_enough || (from_anyone && everyone.size() == senders.size());
  wait_for(call, words, everyone);
}

// Of the members those that neither stand in the same call nor have left it.
void LastCallFinder::not_there(const OpenCallState& s, const Ranks& members, const Ranks& left,
                               LastCall& call) const {
  Ranks missing, strangers;
  std::string other;
  const bool by_window = is_absent(s.note.cid);
  for (const Rank rank : members) {
    if (rank == s.process() || left.contains(rank)) continue;
    bool there = false;
    for (const auto& [location, q] : open_calls_) {
      if (q.process() != rank || !q.noted || q.call.function == nullptr) continue;
      const bool same_object = by_window ? q.note.wid == s.note.wid : q.note.cid == s.note.cid;
      if (!same_object || q.call.function->cls == MpiClass::kPointToPoint) continue;
      if (q.role() != s.role() && q.call.function->cls != s.call.function->cls) continue;
      if (q.note.ordinal != s.note.ordinal) continue;
      there = q.call.function == s.call.function;
      if (!there) {
        strangers.insert(rank);
        other = q.call.function->name;
      }
    }
    if (!there) missing.insert(rank);
  }
  if (missing.empty()) return;
  const std::string name(s.call.function->name);
  if (strangers == missing) {
    return wait_for(call, name + " of " + rank_words(missing) + ", in " + other + " instead",
                    missing);
  }
  const auto root = raw(s.note.dlid);
  if (s.role() == MpiRole::kOneToAll && root != s.process() && missing.contains(root)) {
    return wait_for(call, name + " of rank " + std::to_string(root) + ", the root", {root});
  }
  wait_for(call, name + " of " + rank_words(missing), missing);
}

void LastCallFinder::for_collective(const OpenCallState& s, LastCall& call) const {
  Ranks left;
  std::uint64_t ordinal = raw(s.note.ordinal);
  if (s.call.function->cls == MpiClass::kIo) ordinal &= (std::uint64_t{1} << kFileCallBits) - 1;
  for (const OpenOperation& open : collectives_) {
    if (open.object == raw(s.note.cid) && open.ordinal == ordinal && open.role == s.role()) {
      left.insert(open.left.begin(), open.left.end());
    }
  }
  Ranks members = members_of(s.note.cid);
  if (s.role() == MpiRole::kNeighbor) {
    const CommDef* const def = definitions_.comms.find(s.note.cid);
    const auto own = def->neighbours.find(s.process());
    if (own != def->neighbours.end())
      members = Ranks(own->second.sources.begin(), own->second.sources.end());
  }
  not_there(s, members, left, call);
}

void LastCallFinder::for_window_members(const OpenCallState& s, LastCall& call) const {
  Ranks left;
  for (const OpenOperation& open : windows_) {
    if (open.object == raw(s.note.wid) && open.role == s.role() &&
        (open.role != MpiRole::kWinFence || open.ordinal == raw(s.note.ordinal))) {
      left.insert(open.left.begin(), open.left.end());
    }
  }
  not_there(s, members_of(s.note.wid), left, call);
}

void LastCallFinder::for_start(const OpenCallState& s, LastCall& call) const {
  Ranks missing;
  for (const MpiAwaits& member : s.awaits) {
    if (member.kind != kind_of(Awaited::kMember) || is_absent(member.plid)) continue;
    const Rank target = raw(member.plid);
    const bool posted = std::any_of(exposures_.begin(), exposures_.end(), [&](const OpenEpoch& e) {
      return e.process == target && e.window == s.note.wid && e.missing.contains(s.process());
    });
    if (!posted) missing.insert(target);
  }
  if (!missing.empty()) wait_for(call, "MPI_Win_post of " + rank_words(missing), missing);
}

void LastCallFinder::for_complete(const OpenCallState& s, LastCall& call) const {
  for (const OpenEpoch& e : accesses_) {
    if (e.process != s.process() || e.window != s.note.wid || e.finished) continue;
    if (!e.missing.empty()) {
      return wait_for(call, "MPI_Win_post of " + rank_words(e.missing), e.missing);
    }
    if (!e.there.empty()) {
      return wait_for(call, "progress at " + rank_words(e.there) + ", its target", e.there);
    }
  }
}

void LastCallFinder::for_wait(const OpenCallState& s, LastCall& call) const {
  for (const OpenEpoch& e : exposures_) {
    if (e.process != s.process() || e.window != s.note.wid || e.finished || e.missing.empty())
      continue;
    return wait_for(call, "MPI_Win_complete of " + rank_words(e.missing), e.missing);
  }
}

void LastCallFinder::for_lock(const OpenCallState& s, LastCall& call) const {
  const Rank me = s.process(), target = raw(s.note.dlid);
  bool shared = false;  // it holds, or wants, no more than that
  Ranks own_targets;
  for (const Lock& lock : locks_) {
    if (lock.origin != me || lock.window != s.note.wid) continue;
    if (!lock.all) own_targets.insert(lock.target);
    if (lock.all || lock.target == target) shared = !lock.exclusive;
  }
  if (s.role() == MpiRole::kWinLockAll) shared = true;
  Ranks exclusive, others;
  for (const Lock& lock : locks_) {
    if (lock.origin == me || lock.window != s.note.wid) continue;
    const bool here = target == kAbsent || lock.all || lock.target == target;
    if (here) (lock.exclusive ? exclusive : others).insert(lock.origin);
  }
  const Ranks& holders = shared || !exclusive.empty() ? exclusive : others;
  const std::string place = target == kAbsent ? "" : " at rank " + std::to_string(target);
  if (!holders.empty()) {
    return wait_for(call, "MPI_Win_unlock of " + rank_words(holders) + ", with the lock" + place,
                    holders);
  }
  if (target != kAbsent && target != me) {
    return wait_for(call, "progress at rank " + std::to_string(target) + ", its target", {target});
  }
}

// A transfer: in an epoch with a lock, between start and complete, or between fences.
void LastCallFinder::for_transfer(const OpenCallState& s, LastCall& call) const {
  const Rank me = s.process(), target = raw(s.note.dlid);
  if (target == kAbsent) return;
  const bool locked = std::any_of(locks_.begin(), locks_.end(), [&](const Lock& lock) {
    return lock.origin == me && lock.window == s.note.wid && (lock.all || lock.target == target);
  });
  if (locked) return for_lock(s, call);
  for (const OpenEpoch& e : accesses_) {
    if (e.process != me || e.window != s.note.wid || e.finished) continue;
    if (e.missing.contains(target)) {
      return wait_for(call, "MPI_Win_post of rank " + std::to_string(target), {target});
    }
    if (!e.missing.empty()) {
      return wait_for(call, "MPI_Win_post of " + rank_words(e.missing), e.missing);
    }
  }
  for (const OpenOperation& open : windows_) {
    const bool mine = open.object == raw(s.note.wid) && open.role == MpiRole::kWinFence &&
                      open.ordinal + 1 == raw(s.note.ordinal) && open.left.contains(me);
    if (!mine || open.left.contains(target)) continue;
    const bool there = std::any_of(open_calls_.begin(), open_calls_.end(), [&](const auto& entry) {
      const OpenCallState& q = entry.second;
      return q.process() == target && q.noted && q.role() == MpiRole::kWinFence &&
             q.note.wid == s.note.wid && raw(q.note.ordinal) == open.ordinal;
    });
    if (!there) return wait_for(call, "MPI_Win_fence of rank " + std::to_string(target), {target});
  }
  if (target == me) return;
  wait_for(call, "progress at rank " + std::to_string(target) + ", its target", {target});
}

// A call that begins something, and is not meant to wait: whom it has to do with.
void LastCallFinder::for_begun(const OpenCallState& s, LastCall& call) const {
  const MpiRole role = s.role();
  const Rank me = s.process();
  Ranks receivers;
  if (begins_send(role) && !is_absent(s.note.dlid)) receivers.insert(raw(s.note.dlid));
  if (role == MpiRole::kStart || role == MpiRole::kStartall || role == MpiRole::kPready) {
    for (const MpiAwaits& one : s.awaits) {
      const auto kind = static_cast<Awaited>(raw(one.kind));
      const bool sends =
          kind == Awaited::kSend || kind == Awaited::kPartsSent || kind == Awaited::kPartsKept;
      if (sends && !is_absent(one.plid)) receivers.insert(raw(one.plid));
    }
  }
  receivers.erase(me);
  if (!receivers.empty()) {
    return wait_for(call, "progress at " + rank_words(receivers) + ", to which it sends",
                    receivers);
  }
  if (role != MpiRole::kNonblockingCollective && role != MpiRole::kCommCreate) return;
  Ranks others = members_of(s.note.cid);  // which of them would help is not known
  others.erase(me);
  if (others.empty()) return;
  call.awaits = "progress of the operation that it begins with " + rank_words(others);
}

// Whose trace does not end in an open call has passed MPI_Finalize.
void LastCallFinder::for_finalize(const OpenCallState& s, LastCall& call) const {
  Ranks missing;
  for (const auto& [location, q] : open_calls_) {
    if (q.process() != s.process() && q.role() != MpiRole::kFinalize) missing.insert(q.process());
  }
  if (!missing.empty()) wait_for(call, "MPI_Finalize of " + rank_words(missing), missing);
}

// ---- SHMEM

// Those of the active set that have neither come nor been there.
void LastCallFinder::for_shmem_members(const OpenCallState& s, LastCall& call) const {
  Ranks missing = members_of(s.note.cid);
  missing.erase(s.process());
  for (const OpenOperation& open : collectives_) {
    if (open.object != raw(s.note.cid) || open.ordinal != raw(s.note.ordinal)) continue;
    for (const Rank rank : open.left) missing.erase(rank);
  }
  for (const auto& [location, q] : open_calls_) {
    const bool same = q.noted && q.shmem == s.shmem && q.note.cid == s.note.cid &&
                      q.note.ordinal == s.note.ordinal;
    if (same) missing.erase(q.process());
  }
  if (missing.empty()) return;
  const std::string name(s.shmem->name);
  const Rank root = raw(s.note.dlid);
  if (root != s.process() && missing.contains(root)) {
    return wait_for(call, name + " of rank " + std::to_string(root) + ", the root", {root});
  }
  wait_for(call, name + " of " + rank_words(missing), missing);
}

void LastCallFinder::for_shmem(const OpenCallState& s, LastCall& call) const {
  if (!s.noted) return;
  if (!is_absent(s.note.cid)) return for_shmem_members(s, call);
  switch (s.shmem->role) {
    case ShmemRole::kWait:
    case ShmemRole::kWaitUntil: {
      Ranks others;
      definitions_.locations.for_each(
          [&](LocationId, const LocationDef& location) { others.insert(raw(location.process)); });
      others.erase(s.process());
      call.any = true;
      return wait_for(call, "a write of any other process to its variable", others);
    }
    case ShmemRole::kSetLock: {
      const auto holder = holders_.find(static_cast<std::uint32_t>(raw(s.note.ordinal)));
      if (holder == holders_.end() || holder->second == kAbsent) return;
      if (holder->second == s.process()) return;
      return wait_for(call, "shmem_clear_lock of rank " + std::to_string(holder->second),
                      {holder->second});
    }
    default: {
      const Rank target = raw(s.note.dlid);
      if (target == kAbsent || target == s.process()) return;
      return wait_for(call, "progress at rank " + std::to_string(target) + ", its target",
                      {target});
    }
  }
}

void LastCallFinder::resolve(const OpenCallState& s, LastCall& call) const {
  const MpiRole role = s.role();
  if (role == MpiRole::kFinalize) return for_finalize(s, call);
  if (s.shmem != nullptr) return for_shmem(s, call);
  // In damaged traces such notes stand beside other functions than those of MPI.
  if (!s.noted || s.call.function == nullptr) return;
  if (is_wait(role)) return for_requests(s, call);
  if (s.call.function->cls == MpiClass::kRmaCommunication) return for_transfer(s, call);
  if (!s.call.function->may_block) return for_begun(s, call);
  if (is_send(role) || is_receive(role)) return for_messages(s, call);
  if (is_blocking_collective(role)) return for_collective(s, call);
  switch (role) {
    case MpiRole::kCommCreate:
    case MpiRole::kWinCreate:
      return for_collective(s, call);
    case MpiRole::kWinFence:
    case MpiRole::kWinFree:
      return for_window_members(s, call);
    case MpiRole::kWinStart:
      return for_start(s, call);
    case MpiRole::kWinComplete:
      return for_complete(s, call);
    case MpiRole::kWinWait:
      return for_wait(s, call);
    case MpiRole::kWinLock:
    case MpiRole::kWinLockAll:
    case MpiRole::kWinUnlock:
    case MpiRole::kWinUnlockAll:
    case MpiRole::kWinFlush:
    case MpiRole::kWinFlushAll:
    case MpiRole::kWinFlushLocal:
    case MpiRole::kWinFlushLocalAll:
      return for_lock(s, call);
    default:
      if (s.call.function->cls == MpiClass::kIo && !is_absent(s.note.cid)) for_collective(s, call);
      return;
  }
}

// ---- circles

// A process can go on once all that it waits for can, or one of them where that is enough; whoever
// stands in no call that waits can. The rest is stuck for good.
std::vector<std::vector<std::uint32_t>> LastCallFinder::find_deadlocks(
    const std::vector<LastCall>& calls) const {
  std::map<Rank, const LastCall*> waits;
  for (const LastCall& call : calls) {
    if (!call.ranks.empty()) waits.try_emplace(call.process, &call);
  }
  for (const LastCall& call : calls) {  // another of its threads may go on
    const bool in_call = call.function != nullptr || call.shmem != nullptr;
    if (call.ranks.empty() && in_call) waits.erase(call.process);
  }
  const auto stuck = [&](Rank rank) { return waits.contains(rank); };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = waits.begin(); it != waits.end();) {
      const std::vector<Rank>& ranks = it->second->ranks;
      const bool goes_on = it->second->any ? !std::all_of(ranks.begin(), ranks.end(), stuck)
                                           : std::none_of(ranks.begin(), ranks.end(), stuck);
      changed = changed || goes_on;
      it = goes_on ? waits.erase(it) : std::next(it);
    }
  }
  std::vector<std::vector<Rank>> circles;
  Ranks seen;
  for (const auto& [first, call] : waits) {
    std::vector<Rank> path;
    for (Rank at = first; !seen.contains(at);) {
      seen.insert(at);
      path.push_back(at);
      const std::vector<Rank>& ranks = waits.at(at)->ranks;
      at = *std::find_if(ranks.begin(), ranks.end(), stuck);
      const auto again = std::find(path.begin(), path.end(), at);
      if (again != path.end()) circles.emplace_back(again, path.end());
    }
  }
  return circles;
}

LastCalls LastCallFinder::finish() {
  LastCalls found;
  std::erase_if(open_calls_,
                [](const auto& entry) { return !entry.second.ended && !entry.second.closed; });
  for (const auto& [location, s] : open_calls_) {
    LastCall call;
    call.location = location;
    call.call_path = raw(s.call.cnode);
    call.process = s.process();
    call.function = s.call.function;
    call.shmem = s.shmem;
    call.since = s.since;
    call.until = s.until;
    if (s.outside() && of_process(call.process) != &s) continue;
    resolve(s, call);
    found.calls.push_back(std::move(call));
  }
  if (!found.calls.empty()) found.library = library();
  found.deadlocks = find_deadlocks(found.calls);
  return found;
}

}  // namespace kojak::expert
