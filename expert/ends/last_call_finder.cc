// Long because every kind of call of MPI that can wait stands here, in a few lines each.
#include "expert/ends/last_call_finder.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "epilog/format/awaited.h"
#include "epilog/format/mpi_roles.h"
#include "expert/ends/awaited_words.h"
#include "expert/ends/deadlocks.h"
#include "expert/metrics/switched_off.h"
#include "expert/metrics/time_class.h"
#include "expert/sums/samples.h"

namespace kojak::expert {
namespace {

Byte kind_of(Awaited awaited) {
  return Byte{static_cast<std::uint8_t>(awaited)};
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
// A call of SHMEM that asks for a variable or a lock, and returns at once.
bool is_test(ShmemRole role) {
  return (asks_for_variable(role) && !waits_for_variable(role)) || role == ShmemRole::kTestLock;
}
bool is_poll(MpiRole role) {
  switch (role) {
    case MpiRole::kTest:
    case MpiRole::kTestall:
    case MpiRole::kTestany:
    case MpiRole::kTestsome:
    case MpiRole::kRequestGetStatus:
    case MpiRole::kParrived:
    case MpiRole::kIprobe:
    case MpiRole::kImprobe:
    case MpiRole::kWinTest:
      return true;
    default:
      return false;
  }
}
std::optional<std::uint32_t> if_present(std::uint32_t number) {
  return number == kAbsent ? std::nullopt : std::optional(number);
}

}  // namespace

LastCallFinder::LastCallFinder(const Setting& setting)
    : definitions_(setting.definitions()),
      process_word_(process_word(definitions_)),
      pausing_(setting.trace.pausing_region()),
      lately_(setting.locations()) {
  constexpr std::size_t kMostRegions = 1 << 20;  // damaged traces may have any number
  definitions_.regions.for_each([&](RegionId id, const RegionDef& region) {
    if (raw(id) >= kMostRegions) return;
    const bool polls =
        region.function != nullptr ? is_poll(region.function->role) : is_test(region.shmem_role());
    if (region.function == nullptr && region.shmem == nullptr) return;
    if (raw(id) >= kinds_.size()) kinds_.resize(raw(id) + 1, Kind::kOther);
    kinds_[raw(id)] = polls ? Kind::kPoll : Kind::kLibrary;
  });
  if (raw(pausing_) < kMostRegions) {
    if (raw(pausing_) >= kinds_.size()) kinds_.resize(raw(pausing_) + 1, Kind::kOther);
    kinds_[raw(pausing_)] = Kind::kPause;
  }
  unrecorded_ = processes_with_unrecorded_calls(definitions_);
}

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
  s.paused = call.region == pausing_;
  s.since = s.outside() ? last : call.enter;
  s.until = time;
}

// A call that is closed with all others at once was closed by the end of its process. (Calls within
// the noted one, by functions that MPI called back, say nothing of it.)
void LastCallFinder::note_exit(const earl::Call& call) {
  const auto it = open_calls_.find(call.index);
  if (it == open_calls_.end() || it->second.ended) return;
  OpenCallState& s = it->second;
  if (!s.closed) {
    if (call.enter_pos != s.call.enter_pos) return;
    s.closed = true;
    s.until = call.exit;
  } else if (s.until < call.exit) {
    open_calls_.erase(it);
  }
}

void LastCallFinder::on_collective(const earl::CollectiveInstance& instance) {
  if (instance.complete || !any()) return;
  Ranks& left = collectives_[{raw(instance.com), instance.ordinal, instance.role()}];
  for (const earl::CollectiveMember& m : instance.members) left.insert(raw(m.call.process));
}
void LastCallFinder::on_collective_unbegun(const earl::CollectiveInstance& instance) {
  if (!any()) return;
  Ranks& begun = begun_[raw(instance.com)];
  for (const earl::CollectiveMember& m : instance.members) {
    begun.insert(raw(m.call.process));
    if (m.call.function != nullptr) continue;  // who has notified has come to the barrier
    collectives_[{raw(instance.com), instance.ordinal, MpiRole{}}].insert(raw(m.call.process));
  }
}
void LastCallFinder::on_window_collective(const earl::WindowInstance& instance) {
  if (instance.complete || !any()) return;
  const std::uint64_t ordinal = instance.role == MpiRole::kWinFence ? instance.ordinal : 0;
  Ranks& left = windows_[{raw(instance.window), ordinal, instance.role}];
  for (const earl::WindowMember& m : instance.members) left.insert(raw(m.call.process));
}
void LastCallFinder::on_access_transaction(const earl::AccessEpoch& epoch) {
  if (epoch.complete || epoch.has_finish || !any()) return;
  OpenEpoch open;
  for (const earl::AccessTarget& target : epoch.targets) {
    const bool posted = target.exposure != nullptr && target.exposure->has_post;
    (posted ? open.there : open.missing).insert(raw(target.target));
  }
  const Epoch place{raw(epoch.origin), epoch.window};
  if (!open.missing.empty()) unposted_.try_emplace(place, open.missing);
  if (!epoch.targets.empty()) accesses_.try_emplace(place, std::move(open));
}
void LastCallFinder::on_exposure_transaction(const earl::ExposureEpoch& epoch) {
  if (epoch.complete || !any()) return;
  Ranks missing;
  for (const earl::ExposureOrigin& origin : epoch.origins) {
    const bool completed = origin.access != nullptr && origin.access->has_finish;
    if (completed) continue;
    missing.insert(raw(origin.origin));
    posted_.emplace(raw(epoch.target), epoch.window, raw(origin.origin));
  }
  if (epoch.has_finish || missing.empty()) return;
  uncompleted_.try_emplace({raw(epoch.target), epoch.window}, std::move(missing));
}
void LastCallFinder::on_passive_epoch(const earl::PassiveEpoch& epoch) {
  if (epoch.has_unlock || epoch.nocheck || !any()) return;
  const Rank origin = raw(epoch.origin), target = epoch.all ? kAll : raw(epoch.target);
  for (const Rank place : {target, kAny}) {
    Holders& holders = locked_[{epoch.window, place}];
    (epoch.exclusive ? holders.exclusive : holders.shared).insert(origin);
    if (Seconds{0} < epoch.proof) holders.proven.insert(origin);
  }
  own_locks_[{epoch.window, origin, target}] = {++lock_count_, epoch.exclusive};
}
void LastCallFinder::on_symmetric_lock(const earl::SymmetricLock& lock) {
  holders_[raw(lock.lock)] = lock.acquired ? raw(lock.call->process) : kAbsent;
}
void LastCallFinder::on_unreceived(const earl::Message& m) {
  if (!any()) return;
  const Envelope message{raw(m.source), raw(m.destination), m.com, m.tag};
  sent_.add(message);
  unreceived_[message.source].push_back(message);
  unreceived_pairs_.emplace(message.source, message.destination);
  if (!is_absent(m.send_request)) {
    open_requests_[{message.source, m.send_request}] =
        "the receive of its message to rank " + std::to_string(message.destination) + tagged(m.tag);
  }
}
void LastCallFinder::on_unmet_receive(ProcessId process, ProcessId source, CommId com, Tag tag,
                                      RequestId request) {
  if (!any()) return;
  const Envelope receive{raw(source), raw(process), com, tag};
  received_.add(receive);
  unmet_[receive.destination].push_back(receive);
  open_requests_[{receive.destination, request}] = message_words(source, tag);
}

// ---- who is where

// Whose calls the processes could wait in.
std::string LastCallFinder::library() const {
  bool mpi = false, shmem = false, upc = false;
  definitions_.regions.for_each([&](RegionId, const RegionDef& region) {
    mpi = mpi || region.function != nullptr;
    if (region.shmem == nullptr) return;
    (region.shmem->model == PgasModel::kUpc ? upc : shmem) = true;
  });
  std::string names = mpi || !(shmem || upc) ? "MPI" : "";
  if (shmem) names += names.empty() ? "SHMEM" : upc ? ", SHMEM" : " and SHMEM";
  if (upc) names += names.empty() ? "UPC" : " and UPC";
  return names;
}

// What is asked of all calls that are open.
void LastCallFinder::index_open_calls() {
  for (const auto& [location, s] : open_calls_) {
    const Rank me = s.process();
    const OpenCallState*& known = of_process_[me];
    if (known == nullptr || known->outside()) known = &s;
    if (s.role() != MpiRole::kFinalize) not_finalizing_.insert(me);
    if (!s.noted) continue;
    // A message may be sent, or a receive be there, by a call that has not returned.
    if (is_send(s.role()) || begins_send(s.role())) {
      const bool other_tag = s.role() == MpiRole::kSendrecv || s.role() == MpiRole::kIsendrecv;
      sent_.add({me, raw(s.note.dlid), s.note.cid, other_tag ? absent<Tag>() : s.note.tag});
    }
    if (is_receive(s.role())) received_.add({raw(s.note.slid), me, s.note.cid, s.note.tag});
    if (s.call.function != nullptr) {
      meetings_[{true, raw(s.note.wid), raw(s.note.ordinal)}].push_back(&s);
      if (!is_absent(s.note.cid)) {
        meetings_[{false, raw(s.note.cid), raw(s.note.ordinal)}].push_back(&s);
      }
    }
    if (s.role() == MpiRole::kWinFence) fencing_.emplace(me, s.note.wid, raw(s.note.ordinal));
    if (s.shmem != nullptr) {
      shmem_meetings_[{s.shmem, s.note.cid, raw(s.note.ordinal)}].there.insert(me);
    }
  }
  sent_.seal();
  received_.seal();
  definitions_.locations.for_each(
      [&](LocationId, const LocationDef& location) { everybody_.insert(raw(location.process)); });
}

// Who is at the place where a call wants to meet others, found once for all who stand there.
LastCallFinder::Attendance& LastCallFinder::attendance(const OpenCallState& s) {
  const bool by_window = is_absent(s.note.cid);
  const Meeting meeting{by_window, by_window ? raw(s.note.wid) : raw(s.note.cid),
                        raw(s.note.ordinal)};
  const auto [it, fresh] = attendances_.try_emplace({meeting, s.call.function});
  Attendance& found = it->second;
  if (!fresh) return found;
  for (const OpenCallState* q : meetings_[meeting]) {
    const MpiFunction& function = *q->call.function;
    if (function.cls == MpiClass::kPointToPoint) continue;
    if (q->role() != s.role() && function.cls != s.call.function->cls) continue;
    if (&function == s.call.function) {
      found.there.insert(q->process());
    } else {
      found.elsewhere.insert_or_assign(q->process(), &function);
    }
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

// Who can send on it to that process: of an intercommunicator the other group.
LastCallFinder::Ranks LastCallFinder::possible_senders(CommId com, Rank to) const {
  const CommDef* const def = definitions_.comms.find(com);
  if (def == nullptr) return {};
  if (!def->intercommunicator) {
    Ranks ranks = members_of(com);
    if (ranks.size() > 1) ranks.erase(to);  // alone it could only have sent before
    return ranks;
  }
  const auto& local = def->ranks;
  const bool here = std::find(local.begin(), local.end(), to) != local.end();
  const auto& other = here ? def->remote : def->ranks;
  Ranks ranks(other.begin(), other.end());
  ranks.erase(kAbsent);
  return ranks;
}
bool LastCallFinder::foreign(CommId com) const {
  const CommDef* const def = definitions_.comms.find(com);
  return def != nullptr && def->foreign_members;
}
bool LastCallFinder::foreign(WindowId window) const {
  const WindowDef* const def = definitions_.windows.find(window);
  return def != nullptr && foreign(def->comm);
}
// Whether processes of another world can have to do with what all members take part in.
bool LastCallFinder::in_other_worlds(const OpenCallState& s) const {
  if (s.role() == MpiRole::kFinalize) {
    bool any = false;
    definitions_.comms.for_each(
        [&](CommId, const CommDef& def) { any = any || def.foreign_members; });
    return any;
  }
  if (!s.noted || s.call.function == nullptr) return false;
  if (!is_absent(s.note.wid)) return foreign(s.note.wid);
  return s.call.function->cls != MpiClass::kPointToPoint && foreign(s.note.cid);
}

// A message is there, or on its way by a call that has not returned.
bool LastCallFinder::sent(Rank source, Rank destination, CommId com, Tag tag) const {
  return sent_.any(destination, if_present(source), com,
                   is_absent(tag) ? std::nullopt : std::optional(tag));
}

// A receive is there for a message.
bool LastCallFinder::taken(Rank source, Rank destination, CommId com, Tag tag) const {
  return received_.any(destination, source, is_absent(com) ? std::nullopt : std::optional(com),
                       is_absent(tag) ? std::nullopt : std::optional(tag));
}

// Whether a process holds a lock of a target.
bool LastCallFinder::locks(Rank origin, WindowId window, Rank target) const {
  return own_locks_.contains({window, origin, target}) ||
         own_locks_.contains({window, origin, kAll});
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
      return wait_for(call, AwaitedThing::kMessage,
                      "a message from rank " + std::to_string(source) + tagged(note.tag), {source});
    } else {
      const Ranks others = possible_senders(note.cid, me);
      call.any = true;
      call.other_world = foreign(note.cid);
      const std::string of = !call.other_world ? "any other process"
                             : others.empty()  ? "a process of another world"
                                               : "any process, also of another world";
      return wait_for(call, others.empty() ? AwaitedThing::kNothing : AwaitedThing::kMessage,
                      "a message from " + of + tagged(note.tag), others);
    }
  }
  if (!is_send(s.role())) return;
  if (is_absent(note.dlid)) {  // MPI_PROC_NULL waits for nobody
    call.other_world = foreign(note.cid);
    if (call.other_world) call.awaits = "a receive of a process of another world";
    return;
  }
  const Rank target = raw(note.dlid);
  const Tag tag = s.role() == MpiRole::kSendrecv ? absent<Tag>() : note.tag;
  if (taken(me, target, note.cid, tag)) {
    call.awaits = "a receive of rank " + std::to_string(target) + ", which is there";
  } else {
    wait_for(call, AwaitedThing::kReceive,
             "a receive of rank " + std::to_string(target) + tagged(tag), {target});
  }
}

void LastCallFinder::for_requests(const OpenCallState& s, LastCall& call) const {
  const Rank me = s.process();
  std::vector<MpiAwaits> all = s.awaits;
  if (raw(s.note.awaited) > all.size()) {  // the rest was not noted: whatever is open
    if (const auto receives = unmet_.find(me); receives != unmet_.end()) {
      for (const Envelope& r : receives->second) {
        all.push_back({.kind = kind_of(Awaited::kReceive),
                       .plid = PeerId{r.source},
                       .cid = r.com,
                       .tag = r.tag});
      }
    }
    if (const auto messages = unreceived_.find(me); messages != unreceived_.end()) {
      for (const Envelope& m : messages->second) {
        all.push_back({.kind = kind_of(Awaited::kSend),
                       .plid = PeerId{m.destination},
                       .cid = m.com,
                       .tag = m.tag});
      }
    }
  }
  Ranks senders, receivers, members, targets, givers, takers, kept;
  Ranks from, collective;  // communicators whose members are taken in already
  Tag first_tag = absent<Tag>();
  bool from_anyone = false, ready = false;
  for (const MpiAwaits& one : all) {
    const Rank peer = raw(one.plid);
    bool open = false;
    switch (static_cast<Awaited>(raw(one.kind))) {
      case Awaited::kReceive:
        if (sent(peer, me, one.cid, one.tag)) {
        } else if (peer == kAbsent) {
          open = from_anyone = true;
          if (!from.insert(raw(one.cid)).second) break;
          call.other_world = call.other_world || foreign(one.cid);
          for (const Rank rank : possible_senders(one.cid, me)) senders.insert(rank);
        } else {
          if (senders.empty()) first_tag = one.tag;
          senders.insert(peer);
          open = true;
        }
        break;
      case Awaited::kSend:
        open = unreceived_pairs_.contains({me, peer}) && !taken(me, peer, one.cid, one.tag);
        if (open) receivers.insert(peer);
        if (peer == kAbsent && foreign(one.cid)) open = call.other_world = true;
        break;
      case Awaited::kCollective: {
        call.other_world = call.other_world || foreign(one.cid);
        const auto begun = begun_.find(raw(one.cid));
        if (begun == begun_.end() || !begun->second.contains(me)) break;
        open = true;
        if (!collective.insert(raw(one.cid)).second) break;
        for (const Rank rank : members_of(one.cid)) {
          if (!begun->second.contains(rank)) members.insert(rank);
        }
        break;
      }
      case Awaited::kTransfer:
        if (peer != kAbsent) targets.insert(peer);
        break;
      case Awaited::kPartsReceived:
        open = peer != kAbsent;
        if (open) givers.insert(peer);
        break;
      case Awaited::kPartsSent:
        open = peer != kAbsent;
        if (open) takers.insert(peer);
        break;
      case Awaited::kPartsKept:
        open = peer != kAbsent;
        if (open) kept.insert(peer);
        break;
      default:
        break;
    }
    ready = ready || !open;
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
    add(senders, "a message from any other process");
  } else if (senders.size() == 1) {
    add(senders, "a message from " + rank_words(senders) + tagged(first_tag));
  } else {
    add(senders, "messages of " + rank_words(senders));
  }
  add(receivers, "a receive of " + rank_words(receivers));
  add(members, rank_words(members) + " to begin the same collective operation");
  add(givers, "all parts of a message from " + rank_words(givers));
  add(takers, rank_words(takers) + " to receive all parts of its message");
  if (everyone.empty()) add(targets, "an operation at " + rank_words(targets));
  if (!kept.empty()) {  // itself
    everyone.insert(me);
    words += (words.empty()   ? ""
              : one_is_enough ? " or "
                              : " and ") +
             std::string("its own MPI_Pready for a message to ") + rank_words(kept);
  }
  call.any = one_is_enough || (from_anyone && everyone.size() == senders.size());
  const bool alone = !kept.empty() && everyone.size() == 1;
  const auto only = [&](const Ranks& ranks) { return everyone.size() == ranks.size(); };
  const AwaitedThing thing = everyone.empty()  ? AwaitedThing::kNothing
                             : alone           ? AwaitedThing::kOwnParts
                             : only(receivers) ? AwaitedThing::kReceive
                             : only(members)   ? AwaitedThing::kMembers
                             : only(takers)    ? AwaitedThing::kReceive
                             : only(targets)   ? AwaitedThing::kProgress
                                               : AwaitedThing::kMessage;
  wait_for(call, thing, words, everyone);
}

// Of the members those that neither stand in the same call nor have left it.
LastCallFinder::Ranks LastCallFinder::missing_of(const Ranks& members, const Operation& operation,
                                                 const std::map<Operation, Ranks>& operations,
                                                 const Attendance& attendance) {
  Ranks missing;
  const auto left = operations.find(operation);
  for (const Rank rank : members) {
    const bool gone = left != operations.end() && left->second.contains(rank);
    if (!gone && !attendance.there.contains(rank)) missing.insert(rank);
  }
  return missing;
}

void LastCallFinder::not_there(const OpenCallState& s, const Ranks& missing,
                               const Attendance& attendance, LastCall& call) const {
  if (missing.empty()) return;
  const std::string name(s.call.function->name);
  const bool all_elsewhere = std::all_of(missing.begin(), missing.end(), [&](Rank rank) {
    return attendance.elsewhere.contains(rank);
  });
  if (all_elsewhere) {
    const MpiFunction& other = *attendance.elsewhere.at(*missing.rbegin());
    return wait_for(
        call, AwaitedThing::kMembers,
        name + " of " + rank_words(missing) + ", in " + std::string(other.name) + " instead",
        missing);
  }
  const auto root = raw(s.note.dlid);
  if (s.role() == MpiRole::kOneToAll && root != s.process() && missing.contains(root)) {
    return wait_for(call, AwaitedThing::kMembers,
                    name + " of rank " + std::to_string(root) + ", the root", {root});
  }
  wait_for(call, AwaitedThing::kMembers, name + " of " + rank_words(missing), missing);
}

void LastCallFinder::for_collective(const OpenCallState& s, LastCall& call) {
  std::uint64_t ordinal = raw(s.note.ordinal);
  if (s.call.function->cls == MpiClass::kIo) ordinal &= (std::uint64_t{1} << kFileCallBits) - 1;
  const Operation operation{raw(s.note.cid), ordinal, s.role()};
  Attendance& there = attendance(s);
  if (s.role() == MpiRole::kNeighbor) {
    const CommDef* const def = definitions_.comms.find(s.note.cid);
    const auto own = def->neighbours.find(s.process());
    if (own != def->neighbours.end()) {
      const std::vector<std::uint32_t>& sources = own->second.sources;
      const Ranks members(sources.begin(), sources.end());
      return not_there(s, missing_of(members, operation, collectives_, there), there, call);
    }
  }
  if (!there.missing) {
    there.missing = missing_of(members_of(s.note.cid), operation, collectives_, there);
  }
  not_there(s, *there.missing, there, call);
}

void LastCallFinder::for_window_members(const OpenCallState& s, LastCall& call) {
  const std::uint64_t ordinal = s.role() == MpiRole::kWinFence ? raw(s.note.ordinal) : 0;
  Attendance& there = attendance(s);
  if (!there.missing) {
    there.missing =
        missing_of(members_of(s.note.wid), {raw(s.note.wid), ordinal, s.role()}, windows_, there);
  }
  not_there(s, *there.missing, there, call);
}

void LastCallFinder::for_start(const OpenCallState& s, LastCall& call) const {
  Ranks missing;
  for (const MpiAwaits& member : s.awaits) {
    if (member.kind != kind_of(Awaited::kMember) || is_absent(member.plid)) continue;
    const Rank target = raw(member.plid);
    if (!posted_.contains({target, s.note.wid, s.process()})) missing.insert(target);
  }
  if (!missing.empty())
    wait_for(call, AwaitedThing::kPost, "MPI_Win_post of " + rank_words(missing), missing);
}

void LastCallFinder::for_complete(const OpenCallState& s, LastCall& call) const {
  const auto known = accesses_.find({s.process(), s.note.wid});
  if (known == accesses_.end()) return;
  const OpenEpoch& epoch = known->second;
  if (!epoch.missing.empty()) {
    return wait_for(call, AwaitedThing::kPost, "MPI_Win_post of " + rank_words(epoch.missing),
                    epoch.missing);
  }
  wait_for(call, AwaitedThing::kProgress, "progress at " + rank_words(epoch.there) + ", its target",
           epoch.there);
}

void LastCallFinder::for_wait(const OpenCallState& s, LastCall& call) const {
  const auto known = uncompleted_.find({s.process(), s.note.wid});
  if (known == uncompleted_.end()) return;
  wait_for(call, AwaitedThing::kComplete, "MPI_Win_complete of " + rank_words(known->second),
           known->second);
}

void LastCallFinder::for_lock(const OpenCallState& s, LastCall& call) const {
  const Rank me = s.process(), target = raw(s.note.dlid);
  const WindowId window = s.note.wid;
  // The last of its own locks here; it holds, or wants, no more than that.
  OwnLock own;
  for (const Rank place : {target, kAll}) {
    const auto known = own_locks_.find({window, me, place});
    if (known != own_locks_.end() && known->second.number > own.number) own = known->second;
  }
  const bool shared = s.role() == MpiRole::kWinLockAll || (own.number != 0 && !own.exclusive);
  Ranks exclusive, others, proven;
  for (const Rank place : {target == kAbsent ? kAny : target, kAll}) {
    const auto held = locked_.find({window, place});
    if (held == locked_.end()) continue;
    exclusive.insert(held->second.exclusive.begin(), held->second.exclusive.end());
    others.insert(held->second.shared.begin(), held->second.shared.end());
    proven.insert(held->second.proven.begin(), held->second.proven.end());
  }
  exclusive.erase(me);
  others.erase(me);
  Ranks holders = shared || !exclusive.empty() ? exclusive : others;
  // Who has asked for the lock need not have it.
  Ranks sure;
  std::set_intersection(holders.begin(), holders.end(), proven.begin(), proven.end(),
                        std::inserter(sure, sure.end()));
  if (!sure.empty()) holders = sure;
  const AwaitedThing holder = sure.empty() ? AwaitedThing::kAsker : AwaitedThing::kHolder;
  const std::string place = target == kAbsent ? "" : " at rank " + std::to_string(target);
  if (!holders.empty()) {
    return wait_for(call, holder,
                    "MPI_Win_unlock of " + rank_words(holders) + ", with the lock" + place,
                    holders);
  }
  if (target != kAbsent && target != me) {
    return wait_for(call, AwaitedThing::kProgress,
                    "progress at rank " + std::to_string(target) + ", its target", {target});
  }
}

// A transfer: in an epoch with a lock, between start and complete, or between fences.
void LastCallFinder::for_transfer(const OpenCallState& s, LastCall& call) const {
  const Rank me = s.process(), target = raw(s.note.dlid);
  if (target == kAbsent) return;
  if (locks(me, s.note.wid, target)) return for_lock(s, call);
  if (const auto known = unposted_.find({me, s.note.wid}); known != unposted_.end()) {
    const Ranks& missing = known->second;
    const Ranks wanted = missing.contains(target) ? Ranks{target} : missing;
    return wait_for(call, AwaitedThing::kPost, "MPI_Win_post of " + rank_words(wanted), wanted);
  }
  if (const std::uint64_t fences = raw(s.note.ordinal); fences != 0) {
    const auto last = windows_.find({raw(s.note.wid), fences - 1, MpiRole::kWinFence});
    const bool mine = last != windows_.end() && last->second.contains(me);
    if (mine && !last->second.contains(target) &&
        !fencing_.contains({target, s.note.wid, fences - 1})) {
      return wait_for(call, AwaitedThing::kMembers,
                      "MPI_Win_fence of rank " + std::to_string(target), {target});
    }
  }
  if (target == me) return;
  wait_for(call, AwaitedThing::kProgress,
           "progress at rank " + std::to_string(target) + ", its target", {target});
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
    return wait_for(call, AwaitedThing::kProgress,
                    "progress at " + rank_words(receivers) + ", to which it sends", receivers);
  }
  if (role != MpiRole::kNonblockingCollective && role != MpiRole::kCommCreate) return;
  Ranks others = members_of(s.note.cid);  // which of them would help is not known
  others.erase(me);
  if (others.empty()) return;
  call.awaits = "progress of the operation that it begins with " + rank_words(others);
}

// Whose trace does not end in an open call has passed MPI_Finalize.
void LastCallFinder::for_finalize(const OpenCallState& s, LastCall& call) const {
  Ranks missing = not_finalizing_;
  missing.erase(s.process());
  if (!missing.empty())
    wait_for(call, AwaitedThing::kMembers, "MPI_Finalize of " + rank_words(missing), missing);
}

void LastCallFinder::resolve(const OpenCallState& s, LastCall& call) {
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
    case MpiRole::kWinUnlock:
    case MpiRole::kWinFlush:
    case MpiRole::kWinFlushLocal:
      if (is_absent(s.note.dlid)) return;  // a process of another world
      return for_lock(s, call);
    case MpiRole::kWinLockAll:
    case MpiRole::kWinUnlockAll:
    case MpiRole::kWinFlushAll:
    case MpiRole::kWinFlushLocalAll:
      return for_lock(s, call);
    default:
      if (s.call.function->cls == MpiClass::kIo && !is_absent(s.note.cid)) for_collective(s, call);
      return;
  }
}

std::string LastCallFinder::asked_for(const OpenCallState& s, RequestId request) const {
  const auto asked = open_requests_.find({s.process(), request});
  return asked == open_requests_.end() ? std::string() : asked->second;
}
std::string LastCallFinder::asked_for(const OpenCallState& s, const MpiPoll& m) const {
  const std::string at =
      is_absent(m.tlid) ? "a window" : "the window of rank " + std::to_string(raw(m.tlid));
  switch (static_cast<PollKind>(raw(m.kind))) {
    case PollKind::kRequest:
      return is_absent(m.wid) ? asked_for(s, m.reqid) : "an operation in " + at;
    case PollKind::kMessage: {
      const LocationDef* const source =
          is_absent(m.plid) ? nullptr
                            : definitions_.locations.find(static_cast<LocationId>(raw(m.plid)));
      return message_words(source == nullptr ? absent<ProcessId>() : source->process, m.tag);
    }
    case PollKind::kExposure: {
      const auto missing = uncompleted_.find({s.process(), m.wid});
      return missing == uncompleted_.end() ? ""
                                           : "MPI_Win_complete of " + rank_words(missing->second);
    }
    case PollKind::kRead:
      return "another value in " + at;
    case PollKind::kSwap:
      return "the value to swap in " + at;
    case PollKind::kShmem:
      return tested_for(m);
    default:
      return "";
  }
}

// What a process did lately that is in no call that can wait. It polls if its last calls of MPI
// did, and the end came no later after them than they after each other. A series that was open was
// known up to its last millisecond, and more is needed to say that it was left.
void LastCallFinder::look_back(const OpenCallState& s, LastCall& call) const {
  constexpr std::uint64_t kPolls = 10;
  constexpr double kOfSeries = 0.25;
  const bool in_poll = s.call.function != nullptr && is_poll(s.call.function->role);
  const Lately& lately = lately_[s.call.index];
  const auto left_out = unrecorded_.find(s.call.process);
  call.incomplete = s.cut                           ? "its trace ends early"
                    : left_out != unrecorded_.end() ? left_out->second
                    : lately.paused || s.paused     ? "recording was off"
                                                    : nullptr;
  if (s.cut || s.paused || (s.outside() && left_out != unrecorded_.end())) {
    call.unrecorded = call.incomplete;
    return;
  }
  if (!s.outside() && !in_poll) return;
  call.after = lately.path;
  const auto open = open_polls_.find(s.call.index);
  const bool is_open = open != open_polls_.end();
  if (lately.polls < kPolls && !(is_open && open->second.waits())) return;
  const double polled = (lately.left - lately.first).value;
  const double mean = polled / static_cast<double>(lately.polls);
  const double silent = std::max({kStood, 3 * mean, is_open ? kOfSeries * polled : 0});
  if ((s.until - lately.left).value > silent) return;
  call.polls = lately.polls;
  if (is_open && !open->second.members.empty()) {
    const std::vector<MpiPoll>& members = open->second.members;
    call.polls_for = asked_for(s, members.front());
    const auto asks = [](const MpiPoll& m) { return raw(m.kind) != raw(PollKind::kLong); };
    call.polls_for_more = std::count_if(members.begin(), members.end(), asks) > 1 ||
                          raw(members.front().requests) > 1;
  } else {
    call.polls_for = asked_for(s, lately.asked);
    call.polls_for_more = lately.of_several;
  }
  call.call_path = lately.path;
  call.since = lately.first;
  call.function = nullptr;
}

// Of a process whose trace was cut nothing is known from there on.
void LastCallFinder::add_cut() {
  if (open_calls_.empty()) return;
  Ranks ended;
  Seconds end{0};
  for (const auto& [location, s] : open_calls_) {
    ended.insert(s.process());
    end = std::max(end, s.until);
  }
  for (const auto& [location, call] : cut_) {
    if (!ended.insert(raw(call.process)).second) continue;
    OpenCallState& s = open_calls_[location];
    s.call = call;
    s.call.function = nullptr;
    s.cut = true;
    s.since = lately_[location].left;
    s.until = end;
  }
}

LastCalls LastCallFinder::finish() {
  LastCalls found;
  std::map<Rank, CallSiteId> computing;
  std::erase_if(open_calls_,
                [](const auto& entry) { return !entry.second.ended && !entry.second.closed; });
  add_cut();
  index_open_calls();
  for (const auto& [location, s] : open_calls_) {
    LastCall call;
    call.location = location;
    call.call_path = raw(s.call.cnode);
    call.process = s.process();
    call.function = s.call.function;
    call.shmem = s.shmem;
    call.since = s.since;
    call.until = s.until;
    if (s.outside() && of_process_.at(call.process) != &s) continue;
    if (const auto sampled = sampled_.find(location); s.outside() && sampled != sampled_.end()) {
      call.computes = most_sampled(definitions_, sampled->second);
      computing[call.process] = call.computes;
    }
    resolve(s, call);
    call.other_world = call.other_world || in_other_worlds(s);
    if (call.other_world && call.awaits.empty()) call.awaits = "processes of another world";
    look_back(s, call);
    found.calls.push_back(std::move(call));
  }
  for (LastCall& call : found.calls) {
    if (call.ranks.size() != 1) continue;
    const auto other = computing.find(call.ranks.front());
    if (other != computing.end()) call.awaited_computes = other->second;
  }
  if (!found.calls.empty()) found.library = library();
  found.process = process_word_;
  Ranks traced;
  for (const auto& [location, s] : open_calls_) traced.insert(s.process());
  std::size_t index = 0;
  definitions_.locations.for_each([&](LocationId, const LocationDef& location) {
    if (lately_[index++].seen) traced.insert(raw(location.process));
  });
  judge_last_calls(found, definitions_, traced);
  return found;
}

}  // namespace kojak::expert
