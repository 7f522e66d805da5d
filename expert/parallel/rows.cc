#include "expert/parallel/rows.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "epilog/format/epoch_moves.h"
#include "epilog/format/field_values.h"
#include "epilog/format/mixed.h"
#include "epilog/format/openmp_constructs.h"

namespace kojak::parallel {
namespace {

enum class AtRest : std::uint8_t { kNeither, kOpens, kEnds, kBoth, kLost, kAlone };

// A record without a row has no value here.
template <class R>
struct EffectAtRest;
#define KOJAK_AT_REST(Record, effect)               \
  template <>                                       \
  struct EffectAtRest<Record> {                     \
    static constexpr AtRest value = AtRest::effect; \
  };
#include "expert/parallel/records_at_rest.def"

// What is counted on a communicator or window.
enum Counted : std::uint64_t {
  kMember = 1,
  kCollective,
  kBegun,
  kGroupCall,
  kChannel,
  kEpoch,
  kPart
};

// Of the collective calls on a communicator: each waits for all.
bool each_waits_for_all(const RegionDef* region) {
  static constexpr std::array<std::string_view, 7> kNames{
      "MPI_Barrier",  "MPI_Allreduce",      "MPI_Allgather",           "MPI_Allgatherv",
      "MPI_Alltoall", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block"};
  static const auto kFunctions = [] {
    std::array<const MpiFunction*, 2 * kNames.size()> functions{};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      functions[i] = find_mpi_function(kNames[i]);
      functions[kNames.size() + i] = find_mpi_function(std::string(kNames[i]) + "_c");
    }
    return functions;
  }();
  return region != nullptr && region->function != nullptr &&
         std::find(kFunctions.begin(), kFunctions.end(), region->function) != kFunctions.end();
}

// What anybody told of who is on the same communicator is equal to all.
std::uint32_t least_member(const CommDef& comm) {
  std::uint32_t least = kAbsent;
  for (const RankList* side : {&comm.ranks, &comm.remote}) {
    for (const std::uint32_t rank : *side) least = std::min(least, rank);
  }
  return least;
}

}  // namespace

// (Absent where it is no region of the program.)
struct RowMaker::Call : RowMaker::Around {
  std::uint64_t begins = 0;  // offset of its first record
  std::uint64_t events = 0;  // before it
};

struct RowMaker::Window {
  Shared shared;
  WindowStanding standing;
  std::unordered_map<std::uint32_t, PeerStanding> peers;
  std::vector<std::uint32_t> accessed, exposed;  // members of the open epochs
  std::uint64_t in_fence = 0;                    // operations of the fence epoch
  std::unordered_set<std::uint32_t> unflushed;   // targets of operations under a lock of all
};

RowMaker::RowMaker(std::uint32_t rank, std::uint32_t processes, const Dialect& dialect,
                   std::function<void(const Row&)> give,
                   std::function<bool(const MeetingKey&)> wants)
    : rank_(rank),
      processes_(processes),
      dialect_(dialect),
      give_(std::move(give)),
      wants_(std::move(wants)) {}
RowMaker::~RowMaker() = default;

std::uint64_t RowMaker::Shared::number(std::uint64_t what, std::uint64_t which) const {
  return mixed(what, hi, lo, which);
}

RowMaker::Shared RowMaker::shared(bool known, std::uint64_t hi, std::uint64_t lo,
                                  const CommDef& comm) const {
  Shared made{known, comm.ranks.size() == processes_ && comm.remote.empty(), hi, lo};
  const auto weight = [&](std::uint32_t rank) { return made.number(kMember, rank); };
  made.weight = weight(rank_);
  if (const std::uint32_t least = least_member(comm); rank_ == least) {
    made.weight = 0;
    for (const RankList* side : {&comm.ranks, &comm.remote}) {
      for (const std::uint32_t rank : *side) {
        if (rank != least) made.weight -= weight(rank);
      }
    }
  }
  return made;
}

RowMaker::Shared& RowMaker::comm(CommId id) {
  const auto [at, added] = comms_.try_emplace(raw(id));
  if (added) {
    definitions_.finish();
    if (const CommDef* def = definitions_.comms.find(id)) {
      at->second = shared(def->identity_known && !def->foreign_members && !def->bits,
                          def->identity_hi, def->identity_lo, *def);
    }
  }
  if (!at->second.known) lost();
  return at->second;
}

RowMaker::Window& RowMaker::window(WindowId id) {
  if (latest_ != nullptr && latest_id_ == id && latest_->shared.known) [[likely]]
    return *latest_;
  std::unique_ptr<Window>& at = windows_[raw(id)];
  if (at == nullptr) {
    at = std::make_unique<Window>();
    definitions_.finish();
    const WindowDef* def = definitions_.windows.find(id);
    const CommDef* members = def == nullptr ? nullptr : definitions_.comms.find(def->comm);
    if (members != nullptr) {
      at->shared = shared(def->identity_known && !members->foreign_members && !members->bits,
                          def->identity_hi, def->identity_lo, *members);
    }
  }
  if (!at->shared.known) lost();
  latest_ = &*at;
  latest_id_ = id;
  return *at;
}

std::uint64_t RowMaker::channel(CommId id, std::uint32_t from, std::uint32_t to,
                                std::uint64_t tag) {
  const Shared& on = comm(id);
  return mixed(kChannel, on.hi, on.lo, (std::uint64_t{from} << 32) | to, tag);
}
std::uint64_t RowMaker::pair(const Shared& on, std::uint32_t from, std::uint32_t to) const {
  return mixed(kEpoch, on.hi, on.lo, (std::uint64_t{from} << 32) | to);
}

// ---- regions -------------------------------------------------------------------------------

void RowMaker::enter(std::uint32_t region, bool call_site, double time, std::uint64_t offset) {
  calls_.push_back({{region, call_site, time}, attributes_ != 0 ? attributes_ : offset, events_});
}
void RowMaker::leave() {
  if (!calls_.empty()) calls_.pop_back();
}
std::vector<RowMaker::Around> RowMaker::around() const {
  return {calls_.begin(), calls_.end() - (calls_.empty() ? 0 : 1)};
}
// (A definition may come later than the enter.)
const RegionDef* RowMaker::region_of(const Call& call) const {
  if (!call.call_site) return definitions_.regions.find(RegionId{call.id});
  const CallSiteDef* site = definitions_.call_sites.find(CallSiteId{call.id});
  return site == nullptr ? nullptr : definitions_.regions.find(site->entered);
}
const RegionDef* RowMaker::innermost() const {
  return calls_.empty() ? nullptr : region_of(calls_.back());
}
MpiRole RowMaker::role() const {
  const RegionDef* const region = innermost();
  return region == nullptr ? MpiRole::kOther : region->role();
}

void RowMaker::take(const RawRecord& record) {
  if (is_definition(record.type)) {
    (void)definitions_.add(record, dialect_);  // the merge says what is wrong with it
    if (record.type == static_cast<std::uint8_t>(RecordType::kMetric)) ++dialect_.metrics;
    return;
  }
  if (is_attribute(record.type)) {
    if (attributes_ == 0) attributes_ = record.offset;
    const auto request = [&]<class R>(R r) {
      if (decode(record, dialect_, r) == nullptr && r.kind == kAttrRequest) request_ = raw(r.value);
    };
    if (record.type == static_cast<std::uint8_t>(RecordType::kAttrUi4)) request(AttrUi4{});
    if (record.type == static_cast<std::uint8_t>(RecordType::kAttrUi1)) request(AttrUi1{});
    return;
  }
  offset_ = record.offset;
  behind_ = record.offset + 2 + record.length;
  note_times(record);
  // (EARL opens a region of its own around what follows.)
  const RegionEffect effect = region_effect(record.type);
  if (calls_.empty() && is_event(record.type) && effect != RegionEffect::kEnters &&
      effect != RegionEffect::kEntersAndLeaves &&
      record.type != static_cast<std::uint8_t>(RecordType::kExit)) [[unlikely]] {
    astray_ = "an event lies outside of any region";
  }
  dispatch_record(record.type, [&]<class R>() { follow<R>(record); });
  ++events_;
  request_ = kAbsent;
  attributes_ = 0;
}

// (In a merged trace, ends of others' transfers may come before the exit of a region that is one
// record.)
void RowMaker::note_times(const RawRecord& event) {
  if (!is_event(event.type) || event.length < 12) return;
  const RegionEffect effect = region_effect(event.type);
  const double time = event_time(event, dialect_.swapped()).value;
  const auto is_earlier = [](double a, double b) { return !(a >= b); };  // or no number
  backwards_ = backwards_ || is_earlier(time, time_) ||
               (effect != RegionEffect::kNone && is_earlier(time, left_));
  time_ = time;
  began_ = std::min(began_, time);
  if (effect != RegionEffect::kEntersAndLeaves || event.length < 20) return;
  RawRecord exit = event;
  exit.body += 8;  // its exit stands behind its time
  left_ = event_time(exit, dialect_.swapped()).value;
  backwards_ = backwards_ || is_earlier(left_, time);
}

std::string RowMaker::why_alone(std::uint32_t rank) const {
  const std::string who = "rank " + std::to_string(rank);
  if (alone_) return who + " uses SHMEM, ARMCI or UPC";
  if (astray_ != nullptr) return astray_ + (" (" + who + ')');
  return backwards_ ? "the clock of " + who + " goes backwards" : "";
}

template <class R>
void RowMaker::follow(const RawRecord& record) {
  constexpr AtRest kAtRest = EffectAtRest<R>::value;
  if constexpr (kAtRest == AtRest::kAlone) alone_ = true;
  if constexpr (kAtRest == AtRest::kLost) lost();
  if constexpr (R::kKind == RecordKind::kEvent) {
    constexpr bool kFollows =
        kAtRest == AtRest::kOpens || kAtRest == AtRest::kEnds || kAtRest == AtRest::kBoth;
    if constexpr (kFollows || kEnters<R>) {
      R r;
      if (decode(record, dialect_, r) != nullptr) return;
      if constexpr (kFollows) on(r);
      if constexpr (std::is_same_v<R, Enter>) enter(raw(r.rid), false, r.time.value, record.offset);
      if constexpr (std::is_same_v<R, EnterCs>)
        enter(raw(r.csid), true, r.time.value, record.offset);
      if constexpr (kEnters<R> && kOfMeasurement<R>)
        enter(kAbsent, false, r.time.value, record.offset);
    }
    if constexpr (kLeaves<R>) leave();
  }
}

std::uint16_t RowMaker::open() const {
  unsigned bits = 0;
  const auto set = [&](Open what, bool is) { bits |= is ? static_cast<unsigned>(what) : 0u; };
  set(Open::kRequests, !requests_.empty());
  set(Open::kTeams, teams_ != 0 || thread_locks_ != 0);
  set(Open::kUnknown, unknown_);
  for (std::size_t i = 0; i + 1 < calls_.size(); ++i) {  // around the meeting
    const RegionDef* const region = region_of(calls_[i]);
    set(Open::kTeams, region != nullptr && is_omp(region->type));
    set(Open::kCalls, region == nullptr || region->function != nullptr || region->shmem != nullptr);
  }
  for (const auto& [id, window] : windows_) {
    const WindowStanding& standing = window->standing;
    set(Open::kEpochs, standing.access_open || standing.exposure_open);
    set(Open::kLocks, standing.locks != 0);
    set(Open::kLockAll, standing.all != 0);
    set(Open::kUnflushed, !window->unflushed.empty());
    set(Open::kFences, window->in_fence != 0);
  }
  return static_cast<std::uint16_t>(bits);
}

// ---- collective calls ----------------------------------------------------------------------

void RowMaker::collective(Shared& on, bool window, bool meets, double exit) {
  agreement_ += on.number(kCollective) * on.weight;
  const std::uint64_t ordinal = on.calls++;
  if (!meets || !on.known || !on.world || calls_.empty()) return;
  const MeetingKey key{on.hi, on.lo, ordinal, window};
  if (wants_ && !wants_(key)) return;
  const Call& call = calls_.back();
  give_({key, call.time, exit, call.begins, offset_, behind_, call.events,
         events_ + 1 - call.events, open(), messages_, agreement_});
}

void RowMaker::on(const MpiCollExit& r) {
  const RegionDef* const called = innermost();
  if (called != nullptr && called->function == nullptr)
    astray_ = "a collective operation ends outside of MPI";
  collective(comm(r.cid), false, each_waits_for_all(called), r.time.value);
}
void RowMaker::on(const MpiCollBegin& r) {
  requests_.emplace(raw(r.reqid), 0);
  const Shared& on = comm(r.cid);
  agreement_ += on.number(kBegun, raw(r.key)) * on.weight;
}
void RowMaker::on(const MpiGroupCall& r) {
  const Shared& on = comm(r.cid);
  agreement_ += on.number(kGroupCall, raw(r.key)) * on.weight;
}

void RowMaker::on(const MpiWinCollExit& r) {
  Window& w = window(r.wid);
  const EpochMove move = collective_exit_move(role());
  if (move == EpochMove::kFence) {
    w.standing.fence(false);
    w.in_fence = 0;
  } else if (move == EpochMove::kFree) {
    w.in_fence = 0;
    w.unflushed.clear();
  }
  collective(w.shared, true, move != EpochMove::kNone, r.time.value);
  // (Its identifier may name another one then.)
  if (move == EpochMove::kFree) {
    windows_.erase(raw(r.wid));
    latest_ = nullptr;
  }
}

// ---- messages and requests -----------------------------------------------------------------

void RowMaker::on(const MpiSend& r) {
  const std::uint64_t on = channel(r.cid, rank_, raw(r.dlid), raw(r.tag));
  messages_ += on;
  if (request_ != kAbsent) requests_.emplace(request_, on);
}
void RowMaker::on(const MpiRecv& r) {
  ++received_;
  messages_ -= channel(r.cid, raw(r.slid), rank_, raw(r.tag));
  if (request_ != kAbsent) requests_.erase(request_);
}
void RowMaker::on(const MpiSendComplete& r) {
  requests_.erase(raw(r.reqid));
}
void RowMaker::on(const MpiRecvRequest& r) {
  requests_.emplace(raw(r.reqid), 0);
}
void RowMaker::on(const MpiCancelled& r) {
  const auto at = requests_.find(raw(r.reqid));
  if (at == requests_.end()) return;
  messages_ -= at->second;
  requests_.erase(at);
}
void RowMaker::on(const MpiRequestComplete& r) {
  requests_.erase(raw(r.reqid));
}
// What a receive takes that nobody sees any more stays on its way: no cut behind it.
void RowMaker::on(const MpiRequestFreed& r) {
  requests_.erase(raw(r.reqid));
}
void RowMaker::on(const MpiPartBegin& r) {
  requests_.emplace(raw(r.reqid), 0);
  const bool sends = raw(r.side) == 1;
  const std::uint32_t from = sends ? rank_ : raw(r.plid), to = sends ? raw(r.plid) : rank_;
  const std::uint64_t number = mixed(kPart, channel(r.cid, from, to, raw(r.tag)), raw(r.channel));
  agreement_ += sends ? number : 0 - number;
}
void RowMaker::on(const MpiPartEnd& r) {
  requests_.erase(raw(r.reqid));
}

// ---- windows -------------------------------------------------------------------------------

void RowMaker::on(const MpiWinExit& r) {
  Window& w = window(r.wid);
  const auto at = [&](std::uint32_t rank) -> PeerStanding& { return w.peers[rank]; };
  const CommDef* const group = definitions_.comms.find(r.cid);
  const EpochMove move = group_exit_move(role(), raw(r.synex) != 0);
  switch (move) {
    case EpochMove::kStart:
    case EpochMove::kPost: {
      const bool access = move == EpochMove::kStart;
      if (group == nullptr) return lost();
      w.standing.begin_epoch(access ? EpochSide::kAccess : EpochSide::kExposure,
                             access ? w.accessed : w.exposed, group->ranks, at);
      for (const std::uint32_t peer : group->ranks) {
        agreement_ += access ? pair(w.shared, rank_, peer) : 0 - pair(w.shared, peer, rank_);
      }
      break;
    }
    case EpochMove::kComplete:
      w.standing.end_epoch(EpochSide::kAccess, w.accessed, at);
      break;
    case EpochMove::kWait:
      w.standing.end_epoch(EpochSide::kExposure, w.exposed, at);
      break;
    default:
      break;
  }
}
void RowMaker::on(const MpiWinLock& r) {
  Window& w = window(r.wid);
  locks_ = true;
  w.standing.lock(w.peers[raw(r.llid)], raw(r.ltype) != 0 ? kOpenExclusive : kOpenShared);
}
void RowMaker::on(const MpiWinUnlock& r) {
  Window& w = window(r.wid);
  w.standing.unlock(w.peers[raw(r.llid)]);
}
// (Of a local flush, which completes at the origin only, a later one is waited for.)
void RowMaker::on(const MpiWinFlush& r) {
  Window& w = window(r.wid);
  if (raw(r.local) != 0) return;
  if (is_absent(r.tlid)) {
    w.unflushed.clear();
  } else {
    w.unflushed.erase(raw(r.tlid));
  }
}
void RowMaker::on(const MpiWinLockAll& r) {
  window(r.wid).standing.lock_all(kOpenShared);
}
void RowMaker::on(const MpiWinUnlockAll& r) {
  Window& w = window(r.wid);
  w.standing.unlock_all();
  w.unflushed.clear();
}

void RowMaker::operation(WindowId wid, PeerId target) {
  if (is_absent(wid)) return lost();
  Window& w = window(wid);
  if (w.standing.only_fences()) [[likely]] {
    ++w.in_fence;
    return;
  }
  // (The transfer's own record tells of it where its target is locked, or accessed.)
  if (is_absent(target) && (w.standing.locks != 0 || w.standing.access_open)) return;
  switch (w.standing.epoch_of(w.peers[raw(target)])) {
    case EpochKind::kLockAll:
      w.unflushed.insert(raw(target));
      break;
    case EpochKind::kFence:
      ++w.in_fence;
      break;
    default:
      break;
  }
}
void RowMaker::on(const MpiRmaCall& r) {
  operation(r.wid, r.dlid);
}
void RowMaker::on(const MpiPut1ts& r) {
  operation(r.wid, r.dlid);
}
void RowMaker::on(const MpiGet1tsRemote& r) {
  operation(r.wid, r.dlid);
}

// Without its target: only what completes operations of all ends it.
void RowMaker::on(const MpiGet1to& r) {
  operation(r.wid, absent<PeerId>());
}
void RowMaker::on(const MpiPut1to& r) {
  operation(r.wid, absent<PeerId>());
}

// ---- threads -------------------------------------------------------------------------------

void RowMaker::on(const OmpFork&) {
  ++teams_;
}
void RowMaker::on(const OmpJoin&) {
  --teams_;
}
void RowMaker::on(const OmpALock&) {
  ++thread_locks_;
}
void RowMaker::on(const OmpRLock&) {
  --thread_locks_;
}

}  // namespace kojak::parallel
