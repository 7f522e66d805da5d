// Collective operations that are begun by one call and completed by another (MPI_Ibarrier, and
// persistent ones that are started) while the clocks are corrected: a completion comes after all
// begins that it provably needs (call_parts.h).
//
// Operations are told apart by communicator, key and ordinal of their MPI_COLL_BEGIN. A
// completion waits until all members have begun that still will: a member that has begun a later
// operation of the same communicator and key, or has ended, will not. No function blocks: woken()
// returns the processes that need not wait any longer. Memory: the members of operations that are
// incomplete; beyond kMostOpen or kMostMembers new operations are not kept, and their completions
// go unchecked. Source: MPI 3.1, sections 5.12 and 7.7.
#pragma once

#include <array>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "merge/clock/call_parts.h"

namespace kojak::merge {

class BegunCalls {
 public:
  static constexpr std::size_t kMostOpen = 100'000, kMostMembers = 1'000'000;

  // `moved`: times of causes are being corrected.
  BegunCalls(const MergedDefinitions& definitions, CallParts& parts, std::uint32_t processes,
             bool moved)
      : defs_(definitions), parts_(parts), processes_(processes), moved_(moved) {}

  // communicator, key, ordinal
  using Number = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;

  // `part` is none if nobody waits in the operation. The process is that of `enter`.
  void begin(const Number& number, std::uint32_t request, const CallFacts& facts,
             const std::optional<CallPart>& part, const Cause& enter);
  // Whether it is known what the completion of a request needs; else the process waits.
  bool ready(std::uint32_t process, std::uint32_t request);

  struct Effect {
    bool unchecked = false;  // it takes data, and nobody can tell from whom, or what was begun
    const Cause* needed = nullptr;    // its last cause by corrected time; nullptr: it needs nobody
    const Cause* recorded = nullptr;  // and as the traces have it
  };
  Effect effect(std::uint32_t process, std::uint32_t request) const;
  // The request is complete, at that time.
  void complete(std::uint32_t process, std::uint32_t request, double time);

  // The process completes unseen what it has begun.
  void pause(std::uint32_t process);
  // The process begins no further operation.
  void end(std::uint32_t process);

  // The member that a waiting process waits for; absent if it does not wait.
  std::uint32_t missing(std::uint32_t process) const;
  // The process no longer waits for that member.
  void give_up(std::uint32_t process);
  // All traces are read.
  void finish();

  // The processes that need not wait any longer, since the last call.
  std::vector<std::uint32_t>& woken() { return woken_; }
  // The times before which causes must lie, since the last call.
  std::vector<std::pair<Cause, double>>& limits() { return limits_; }
  // Whether the member that a process waits for paused, and so may have begun unseen.
  bool doubtful(std::uint32_t process) const {
    const std::uint32_t other = missing(process);
    return other != kAbsent && processes_[other].paused;
  }
  // Members that did not come, although operations waited for them.
  std::uint64_t lost() const { return lost_; }
  std::size_t open() const { return operations_.size(); }

 private:
  struct Operation {
    CallRule rule = CallRule::kAll;
    std::uint32_t expected = 0;       // members that have begun it, or will
    std::uint32_t open = 0;           // requests
    std::vector<Arrival> arrivals;    // begins
    std::vector<bool> unknown;        // takes data, nobody can tell from whom
    std::vector<double> completions;  // infinity where none was seen
    std::vector<std::uint32_t> given_up, waiters;
    SettledCall settled;  // as of so many arrivals as it has members
    bool complete() const { return arrivals.size() >= expected; }
  };
  using Operations = std::map<Number, Operation>;
  struct Request {
    Operations::iterator operation;
    std::size_t member = 0;
  };
  struct Process {
    bool ended = false, paused = false;
    // The first ordinal that the process may still begin, by communicator and key.
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> next;
    std::unordered_map<std::uint32_t, Request> requests;
    const Operations::value_type* waits_for = nullptr;
  };

  using Groups = std::array<std::span<const std::uint32_t>, 2>;
  Groups members_of(const Number& number) const;
  bool will_begin(std::uint32_t process, const Number& number) const;
  Operations::iterator find_or_make(const Number& number, std::uint32_t process, CallRule rule);
  void settle(Operations::iterator at);
  void lose(Operations::iterator at, std::uint32_t process);
  void leave(Operations::iterator at);
  void wake(Operation& operation);
  void close(Operations::iterator at);

  const MergedDefinitions& defs_;
  CallParts& parts_;
  std::vector<Process> processes_;
  bool moved_;
  Operations operations_;
  std::size_t members_ = 0;
  std::uint64_t lost_ = 0;
  std::vector<std::uint32_t> woken_;
  std::vector<std::pair<Cause, double>> limits_;
};

}  // namespace kojak::merge
