#include "merge/clock/call_parts.h"

#include <algorithm>
#include <array>

#include "merge/complete/transfer_ends.h"

namespace kojak::merge {
namespace {

bool is_across(CallRule rule) {
  return rule == CallRule::kAcross || rule == CallRule::kAcrossSupply;
}
bool is_near(CallRule rule) {
  return rule == CallRule::kNear || rule == CallRule::kNearSupply;
}

}  // namespace

std::optional<CallPart> CallParts::part(const CallFacts& facts) {
  const bool across = defs_.comms[facts.comm].intercommunicator();
  if (across && places_.of(facts.comm).place_of(facts.rank) == kAbsent) return std::nullopt;
  const bool root = facts.root == facts.rank;
  CallPart part{across ? CallRule::kAcross : CallRule::kAll, facts.sent != 0, facts.got != 0};
  switch (facts.role) {
    case MpiRole::kBarrier:
      part.cause = part.effect = true;
      return part;
    case MpiRole::kAllToAll:
      if (!facts.counts_by_pair) return part;
      part.rule = across ? CallRule::kAcrossSupply : CallRule::kSupply;
      part.effect = facts.got > (across ? 0 : facts.sent);
      return part;
    case MpiRole::kPrefix:
      if (across) return std::nullopt;  // MPI has none between groups
      part.rule = CallRule::kLower;
      return part;
    case MpiRole::kOneToAll:
      part.cause = root;
      part.effect = part.effect && !root;
      return part;
    case MpiRole::kAllToOne:
      part.cause = part.cause && !root;
      part.effect = root;
      return part;
    case MpiRole::kNeighbor:
      find_neighbours(facts, part);
      return part;
    default:
      return std::nullopt;
  }
}

// Where neighbours are told by their coordinates only, sums hold what MPI_PROC_NULL is said to send
// beyond an open border, too.
void CallParts::find_neighbours(const CallFacts& facts, CallPart& part) {
  part.rule = facts.counts_by_pair ? CallRule::kNearSupply : CallRule::kNear;
  if (!part.effect) return;
  const CommPlaces& places = places_.of(facts.comm);
  const std::uint32_t place = places.place_of(facts.rank);
  const CommNeighbours* const near = place != kAbsent ? places.neighbours(place) : nullptr;
  if (near != nullptr && (near->whole || !facts.counts_by_pair)) return;
  part.effect = false;
  part.unknown = true;
}

SettledCall CallParts::settle(std::uint32_t comm, CallRule rule, std::span<const Arrival> arrivals,
                              bool moved) {
  SettledCall call;
  call.members = members_of(comm, rule, arrivals);
  call.unknown.assign(arrivals.size(), false);
  if (is_near(rule)) call.neighbours = neighbours_of(comm, arrivals);
  if (counts_supply(rule)) leave_out_unknown(comm, rule, call);
  call.needed = last_needed(call.members, rule, call.neighbours);
  call.recorded = call.needed;
  if (!moved) return call;
  std::vector<CallMember> as_recorded = call.members;
  for (std::size_t m = 0; m < as_recorded.size(); ++m) {
    as_recorded[m].enter = arrivals[m].enter.linear;
  }
  call.recorded = last_needed(as_recorded, rule, call.neighbours);
  return call;
}

std::vector<CallMember> CallParts::members_of(std::uint32_t comm, CallRule rule,
                                              std::span<const Arrival> arrivals) {
  const CommPlaces* places = nullptr;
  if (is_across(rule) || rule == CallRule::kLower) places = &places_.of(comm);
  std::vector<CallMember> members;
  members.reserve(arrivals.size());
  for (const Arrival& a : arrivals) {
    CallMember& member = members.emplace_back(
        CallMember{a.enter.process, 0, a.enter.time, a.cause, a.effect, a.sent, a.got});
    if (places == nullptr) continue;
    const std::uint32_t place = places->place_of(member.process);
    member.order = !is_across(rule) ? place : place < places->first_group ? 0 : 1;
  }
  return members;
}

// Each member's neighbours, as indices of members; kNoMember stands for one who has not come.
CallNeighbours CallParts::neighbours_of(std::uint32_t comm, std::span<const Arrival> arrivals) {
  const CommPlaces& places = places_.of(comm);
  CallNeighbours neighbours(arrivals.size());
  std::vector<std::size_t> member_at(places.ranks.size(), kNoMember);
  for (std::size_t m = 0; m < arrivals.size(); ++m) {
    const std::uint32_t place = places.place_of(arrivals[m].enter.process);
    if (place != kAbsent) member_at[place] = m;
  }
  for (std::size_t m = 0; m < arrivals.size(); ++m) {
    const std::uint32_t place = places.place_of(arrivals[m].enter.process);
    const CommNeighbours* const near = place != kAbsent ? places.neighbours(place) : nullptr;
    if (near == nullptr) continue;
    for (const std::uint32_t other : near->places) neighbours[m].push_back(member_at[other]);
  }
  return neighbours;
}

// Sums prove something if they are known of all that can have sent to a member; and where not only
// neighbours can, if all that was received was sent. Else a member needs nobody.
void CallParts::leave_out_unknown(std::uint32_t comm, CallRule rule, SettledCall& call) const {
  std::vector<CallMember>& members = call.members;
  const auto untold = [&](std::size_t m) { return m == kNoMember || members[m].sent == kNoBytes; };
  const bool near = is_near(rule);
  const bool known = near || supply_known(comm, rule, members);
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (!members[m].effect) continue;
    const bool told =
        known && members[m].got != kNoBytes &&
        !(near && std::any_of(call.neighbours[m].begin(), call.neighbours[m].end(), untold));
    members[m].effect = told;
    call.unknown[m] = !told;
  }
}

// All came with known counts, and all that was received was sent, by those who could.
bool CallParts::supply_known(std::uint32_t id, CallRule rule,
                             const std::vector<CallMember>& members) const {
  const MergedComm& comm = defs_.comms[id];
  if (comm.foreign_members()) return false;    // who record elsewhere
  std::array<std::uint64_t, 2> sent{}, got{};  // by the group that sent it
  for (const CallMember& member : members) {
    if (member.sent == kNoBytes || member.got == kNoBytes) return false;
    sent[is_across(rule) ? member.order : 0] += member.sent;
    got[is_across(rule) ? 1 - member.order : 0] += member.got;
  }
  const std::size_t remote = comm.intercommunicator() ? comm.remote.size() : 0;
  return sent == got && members.size() == comm.ranks.size() + remote;
}

}  // namespace kojak::merge
