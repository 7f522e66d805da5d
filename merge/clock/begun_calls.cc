#include "merge/clock/begun_calls.h"

#include <algorithm>
#include <limits>

namespace kojak::merge {
namespace {

bool holds(const std::vector<std::uint32_t>& list, std::uint32_t process) {
  return std::find(list.begin(), list.end(), process) != list.end();
}

}  // namespace

BegunCalls::Groups BegunCalls::members_of(const Number& number) const {
  const MergedComm& comm = defs_.comms[std::get<0>(number)];
  Groups groups{comm.ranks};
  if (comm.intercommunicator()) groups[1] = comm.remote;
  return groups;
}

bool BegunCalls::will_begin(std::uint32_t process, const Number& number) const {
  if (process >= processes_.size() || processes_[process].ended) return false;
  const auto [comm, key, ordinal] = number;
  const auto& next = processes_[process].next;
  const auto at = next.find({comm, key});
  return at == next.end() || at->second <= ordinal;
}

BegunCalls::Operations::iterator BegunCalls::find_or_make(const Number& number,
                                                          std::uint32_t process, CallRule rule) {
  const auto known = operations_.find(number);
  if (known != operations_.end()) return known;
  if (operations_.size() >= kMostOpen || members_ >= kMostMembers) return known;
  const auto at = operations_.try_emplace(number).first;
  Operation& operation = at->second;
  operation.rule = rule;
  for (const auto group : members_of(number)) {
    for (const std::uint32_t rank : group) {
      if (rank == process || will_begin(rank, number)) ++operation.expected;
    }
  }
  return at;
}

void BegunCalls::begin(const Number& number, std::uint32_t request, const CallFacts& facts,
                       const std::optional<CallPart>& part, const Cause& enter) {
  const auto [comm, key, ordinal] = number;
  if (!parts_.member(comm, facts.rank)) return;
  Process& process = processes_[facts.rank];
  std::uint64_t& next = process.next[{comm, key}];
  // What it has been through unseen.
  for (auto at = operations_.lower_bound({comm, key, next});
       at != operations_.end() && at->first < number;) {
    lose(at++, facts.rank);
  }
  const bool expected = next <= ordinal;
  next = std::max(next, ordinal + 1);
  const auto at = part ? find_or_make(number, facts.rank, part->rule) : operations_.end();
  if (at == operations_.end()) return;
  Operation& operation = at->second;
  const auto given_up = std::find(operation.given_up.begin(), operation.given_up.end(), facts.rank);
  if (given_up != operation.given_up.end()) {
    operation.given_up.erase(given_up);
    ++operation.expected;
  } else if (!expected && !operation.arrivals.empty()) {
    ++operation.expected;  // it came after a later one: nobody waited for it
  }
  process.requests.insert_or_assign(request, Request{at, operation.arrivals.size()});
  operation.arrivals.push_back({enter, 0, 0, part->cause, part->effect, facts.sent, facts.got});
  operation.unknown.push_back(part->unknown);
  operation.completions.push_back(kNoLimit);
  ++operation.open;
  ++members_;
  if (operation.complete()) wake(operation);
}

bool BegunCalls::ready(std::uint32_t process, std::uint32_t request) {
  Process& p = processes_[process];
  p.waits_for = nullptr;
  const auto known = p.requests.find(request);
  if (known == p.requests.end()) return true;
  const auto [at, member] = known->second;
  Operation& operation = at->second;
  if (!operation.arrivals[member].effect) return true;
  if (!operation.complete()) {
    p.waits_for = &*at;
    if (!holds(operation.waiters, process)) operation.waiters.push_back(process);
    return false;
  }
  settle(at);
  return true;
}

void BegunCalls::settle(Operations::iterator at) {
  Operation& operation = at->second;
  if (operation.settled.members.size() == operation.arrivals.size()) return;
  operation.settled =
      parts_.settle(std::get<0>(at->first), operation.rule, operation.arrivals, moved_);
}

BegunCalls::Effect BegunCalls::effect(std::uint32_t process, std::uint32_t request) const {
  const auto known = processes_[process].requests.find(request);
  if (known == processes_[process].requests.end()) return {true};
  const auto [at, member] = known->second;
  const Operation& operation = at->second;
  Effect effect{operation.unknown[member]};
  if (!operation.arrivals[member].effect) return effect;
  const SettledCall& call = operation.settled;
  if (call.unknown[member]) effect.unchecked = true;
  const auto cause = [&](std::size_t m) {
    return m != kNoMember ? &operation.arrivals[m].enter : nullptr;
  };
  effect.needed = cause(call.needed[member]);
  effect.recorded = cause(call.recorded[member]);
  return effect;
}

void BegunCalls::complete(std::uint32_t process, std::uint32_t request, double time) {
  auto& requests = processes_[process].requests;
  const auto known = requests.find(request);
  if (known == requests.end()) return;
  const auto [at, member] = known->second;
  requests.erase(known);
  at->second.completions[member] = time;
  leave(at);
}

void BegunCalls::pause(std::uint32_t process) {
  processes_[process].paused = true;
  const auto requests = std::move(processes_[process].requests);
  processes_[process].requests.clear();
  for (const auto& [id, request] : requests) leave(request.operation);
}

void BegunCalls::end(std::uint32_t process) {
  for (auto it = operations_.begin(); it != operations_.end();) {
    const auto at = it++;
    if (will_begin(process, at->first) && parts_.member(std::get<0>(at->first), process)) {
      lose(at, process);
    }
  }
  processes_[process].ended = true;
  pause(process);
}

// One member of it will not begin it.
void BegunCalls::lose(Operations::iterator at, std::uint32_t process) {
  Operation& operation = at->second;
  if (holds(operation.given_up, process)) return;
  operation.given_up.push_back(process);
  ++lost_;
  --operation.expected;
  if (operation.complete()) wake(operation);
  if (operation.open == 0 && operation.complete()) close(at);
}

// A request of it is no longer open.
void BegunCalls::leave(Operations::iterator at) {
  Operation& operation = at->second;
  --operation.open;
  if (operation.open == 0 && operation.complete()) close(at);
}

void BegunCalls::wake(Operation& operation) {
  woken_.insert(woken_.end(), operation.waiters.begin(), operation.waiters.end());
  operation.waiters.clear();
}

void BegunCalls::close(Operations::iterator at) {
  Operation& operation = at->second;
  members_ -= operation.arrivals.size();
  SettledCall& call = operation.settled;
  if (moved_ && !call.members.empty()) {  // else nobody needed anybody
    settle(at);
    for (std::size_t m = 0; m < call.members.size(); ++m) {
      if (operation.completions[m] == kNoLimit) call.members[m].effect = false;
    }
    const std::vector<double> limits =
        latest_enters(call.members, operation.rule, operation.completions, call.neighbours);
    for (std::size_t m = 0; m < call.members.size(); ++m) {
      if (limits[m] < kNoLimit) limits_.emplace_back(operation.arrivals[m].enter, limits[m]);
    }
  }
  operations_.erase(at);
}

std::uint32_t BegunCalls::missing(std::uint32_t process) const {
  const Operations::value_type* const waits_for = processes_[process].waits_for;
  if (waits_for == nullptr) return kAbsent;
  const auto& [number, operation] = *waits_for;
  for (const auto group : members_of(number)) {
    for (const std::uint32_t rank : group) {
      if (will_begin(rank, number) && !holds(operation.given_up, rank)) return rank;
    }
  }
  return kAbsent;
}

void BegunCalls::give_up(std::uint32_t process) {
  const Operations::value_type* const waits_for = processes_[process].waits_for;
  if (waits_for == nullptr) return;
  const auto at = operations_.find(waits_for->first);
  if (const std::uint32_t other = missing(process); other != kAbsent) return lose(at, other);
  // Nobody is left who could begin it: a damaged communicator has a process twice, in both groups.
  Operation& operation = at->second;
  operation.expected = operation.arrivals.size();
  ++lost_;
  wake(operation);
}

void BegunCalls::finish() {
  while (!operations_.empty()) close(operations_.begin());
}

}  // namespace kojak::merge
