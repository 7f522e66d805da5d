// What a process gives and takes in a call of several processes, and whom it waits for there, as
// far as the traces tell. The same rules hold for calls that block, and for operations that are
// begun and completed by calls of their own.
//
// A member that enters with data is a cause, a member that leaves with data an effect: a call
// without bytes need not wait. call_causes.h says who waits for whom; sums of bytes that prove
// nothing are left out here.
// The definitions must outlive it. Source: MPI 3.1, sections 5.1,
// 5.2.2 and 7.6.
#pragma once

#include <span>

#include "merge/clock/call_places.h"
#include "merge/clock/causes.h"

namespace kojak::merge {

// One process's call, as its records have it. Sums are kNoBytes where nobody knows them.
struct CallFacts {
  std::uint32_t rank = 0, comm = 0;
  MpiRole role = MpiRole::kOther;
  bool counts_by_pair = false;  // MPI_Alltoallv and its like: each pair of members has its own
  std::uint32_t root = kAbsent;
  std::uint64_t sent = 0, got = 0;
};

struct CallPart {
  CallRule rule = CallRule::kAll;
  bool cause = false, effect = false;
  bool unknown = false;  // it takes data, and nobody can tell from whom
};

// Who needs whom in a call whose members have come; by index of the arrivals.
struct SettledCall {
  std::vector<CallMember> members;  // as they entered, by corrected time
  CallNeighbours neighbours;
  std::vector<std::size_t> needed;    // the last that it needs, by corrected time
  std::vector<std::size_t> recorded;  // and as the traces have it
  std::vector<bool> unknown;          // takes data, and the sums do not prove of whom
};

class CallParts {
 public:
  explicit CallParts(const MergedDefinitions& definitions)
      : defs_(definitions), places_(definitions) {}

  // None if members of this communicator do not wait for each other in this call.
  std::optional<CallPart> part(const CallFacts& facts);
  bool member(std::uint32_t comm, std::uint32_t rank) {
    return places_.of(comm).place_of(rank) != kAbsent;
  }
  // `comm` is absent for calls on a window, which all make with all. `moved`: times of entering are
  // being corrected, so that those recorded are others.
  SettledCall settle(std::uint32_t comm, CallRule rule, std::span<const Arrival> arrivals,
                     bool moved);

 private:
  void find_neighbours(const CallFacts& facts, CallPart& part);
  std::vector<CallMember> members_of(std::uint32_t comm, CallRule rule,
                                     std::span<const Arrival> arrivals);
  CallNeighbours neighbours_of(std::uint32_t comm, std::span<const Arrival> arrivals);
  void leave_out_unknown(std::uint32_t comm, CallRule rule, SettledCall& call) const;
  bool supply_known(std::uint32_t comm, CallRule rule,
                    const std::vector<CallMember>& members) const;

  const MergedDefinitions& defs_;
  CallPlaces places_;
};

}  // namespace kojak::merge
