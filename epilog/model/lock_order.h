// In which order the passive target epochs on one target of one window held their locks, and when
// each lock was granted and released: one rule for merge, EARL and EXPERT.
//
// MPI lets Win_lock return before the lock is held, so that the order of requests is not the order
// of holding, and the ends of unlock calls race. What counts, in this order:
//   1. Proof. An epoch certainly holds its lock at its proof: the exit of the first flush with an
//      operation to the target outstanding, or of the call that completes a get; else the exit of
//      its unlock. Of two epochs that conflict (other origins, one of them exclusive), one comes
//      after the other if it begins to release its lock only after the other's proof. It releases
//      not before it enters unlock, and not before those that came before it did. Shared holders
//      of whom one proved its lock before the other began to release held it together: nobody
//      comes between them.
//   2. Durations. Of those that may come next, one goes first whose calls lasted clearly less than
//      the others' did, since those before it began to release: by a factor of kClear. The other
//      has waited, and nothing else explains for what.
//   3. Requests. Else the one that asked first, at equal times the lower rank.
// Only wrong clocks lead into a circle; there the beginnings of the unlocks decide.
//
// An epoch is granted its lock when all before it have released theirs, but not before it asked,
// nor after its proof. It is released at the end of its unlock, or when a later one has proved its
// lock, but not before its unlock began. Conflicting holders never overlap where the clocks allow
// it; at equal times the lower rank's records come first, so a bound moves by the smallest step
// there.
//
// Epochs are told of as they end, in the order of time, and placed in the order of holding as soon
// as no epoch that is still inside its unlock can come before them: nobody who enters unlock later
// than an epoch's proof comes before it, and who has been inside for longer than kClear times what
// the calls of the epoch lasted waits for something else. The order does not depend on when
// settle() is called. Memory: epochs that end while their order is open, and proofs of open epochs.
// Time: the logarithm of these, and those that may come next.
// Source: passive-target paper 2006, order of lock holders; the rules are kojak's own.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "epilog/format/record/types.h"
#include "epilog/model/open_times.h"

namespace kojak::model {

inline constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

struct LockHold {
  std::uint32_t origin = 0;
  bool exclusive = false;
  Seconds lock_enter, lock_exit, unlock_enter, unlock_exit;
  Seconds proof_enter, proof;  // of the call that proves it; of unlock if no other does
  std::uint64_t tag = 0;       // the owner's
};

// Which calls of Win_unlock and Win_unlock_all have not ended.
class UnlockCalls {
 public:
  void enter(std::uint32_t process, Seconds time);
  void leave(std::uint32_t process);
  void forget(std::uint32_t process);
  // The earliest beginning of all, and of a process's; kNever if there is none.
  Seconds first() const { return calls_.earliest(); }
  Seconds since(std::uint32_t process) const {
    return process < open_.size() && !open_[process].empty() ? open_[process].front().begin
                                                             : kNever;
  }

 private:
  struct Open {
    OpenTimes::Ticket ticket;
    Seconds begin;
  };
  OpenTimes calls_;
  std::vector<std::vector<Open>> open_;  // by process
};

// What decided where an epoch stands.
enum class LockDecision : std::uint8_t { kAlone, kProof, kDurations, kRequests, kCircle };

struct LockDecisions {
  std::uint64_t proof = 0, durations = 0, requests = 0, circles = 0;
  void add(LockDecision decision) {
    proof += decision == LockDecision::kProof;
    durations += decision == LockDecision::kDurations;
    requests += decision == LockDecision::kRequests;
    circles += decision == LockDecision::kCircle;
  }
  void add(const LockDecisions& other) {
    proof += other.proof;
    durations += other.durations;
    requests += other.requests;
    circles += other.circles;
  }
};

class LockOrder {
 public:
  static constexpr double kClear = 1.5;
  using Proof = std::uint32_t;
  static constexpr Proof kNoProof = ~Proof{0};
  struct Placed {
    LockHold hold;
    Seconds grant, release;
    // When the conflicting ones before it had released their locks.
    Seconds free;
    LockDecision decision = LockDecision::kAlone;
  };

  // An open epoch has proved its lock; given back with close(), or with withdraw() if nothing will
  // be known of its end.
  Proof prove(std::uint32_t origin, bool exclusive, Seconds time);
  void withdraw(Proof proof);
  void close(const LockHold& hold, Proof proof = kNoProof);

  // What epochs are open on the target, as far as the owner knows.
  struct Open {
    bool shared = true, exclusive = true;
  };
  // f(const Placed&) for each epoch whose place is known at `now`, in the order of holding. Gives
  // the time after which to ask again at the latest; kNever if that does not help.
  template <class F>
  Seconds settle(Seconds now, const UnlockCalls& unlocks, Open open, F&& f) {
    Seconds due = kNever;
    while (next(now, unlocks, open, due)) {
      place(open);
      for (const Placed& placed : told_) f(placed);
    }
    if (!shared_.empty() && (now == kNever || (live_ == 0 && !open.exclusive))) {
      tell_shared();
      for (const Placed& placed : told_) f(placed);
    }
    return due;
  }

  bool empty() const { return live_ == 0 && proofs_.live == 0 && shared_.empty(); }
  bool pending() const { return live_ != 0; }

 private:
  struct Slot {
    LockHold hold;
    std::uint32_t serial = 0;
    bool live = false;
    bool by_request = false;  // one that asked earlier went before it, for no other reason
  };
  struct Entry {
    Seconds key;
    std::uint32_t slot, serial;
  };
  // Ascending, with entries of slots that are gone between them.
  struct Sorted {
    std::vector<Entry> entries;
    std::size_t head = 0;
  };
  struct Release {
    Seconds time{-std::numeric_limits<double>::infinity()};
    std::uint32_t origin = 0;
  };
  // Proofs of open epochs, in the order of time.
  struct ProofList {
    struct Node {
      Seconds time;
      std::uint32_t origin = 0, before = kNoProof, after = kNoProof;
      bool exclusive = false;
    };
    std::vector<Node> nodes;
    std::vector<Proof> free;
    Proof head[2] = {kNoProof, kNoProof}, tail[2] = {kNoProof, kNoProof};
    std::size_t live = 0;
  };
  struct Candidate {
    std::uint32_t slot;
    Seconds lasted;
  };

  void insert(Sorted& list, Seconds key, std::uint32_t slot);
  bool gone(const Entry& e) const {
    return !slots_[e.slot].live || slots_[e.slot].serial != e.serial;
  }
  void trim(Sorted& list);
  // The first two that are left; their number in two[], kNone if there are fewer.
  void first_two(const Sorted& list, std::uint32_t (&two)[2]) const;
  Seconds bound(const LockHold& hold) const;   // the earliest time at which it can release
  Seconds lasted(const LockHold& hold) const;  // its calls, since those before it began to release
  Seconds first_later_proof(const LockHold& hold, std::uint32_t slot, std::uint32_t& origin) const;
  // The first proof of an epoch that is open; kNever if there is none.
  Seconds first_open_proof(bool exclusive) const {
    const Proof first = proofs_.head[exclusive];
    return first == kNoProof ? kNever : proofs_.nodes[first].time;
  }
  // The latest that one of those who held the lock together with a shared one began to release it.
  Seconds together(const LockHold& hold, const UnlockCalls& unlocks) const;
  // The next one, in chosen_; false if that is not known yet, `due`: when to ask again.
  bool next(Seconds now, const UnlockCalls& unlocks, Open open, Seconds& due);
  // Who may come next, in ready_. True if it is a shared one that all exclusive ones come after.
  bool find_ready(const UnlockCalls& unlocks);
  // Takes next who lasted no longer than `most` and asked first; where all wait for each other, who
  // began to release first. Gives how long it lasted.
  Seconds choose(Seconds most);
  bool blocked(const LockHold& hold, const UnlockCalls& unlocks) const;
  void unlink(Proof proof);
  void place(Open open);
  // Whether what comes later may show that this shared one had released before the end of its call.
  bool may_be_earlier(const Placed& shared, Open open);
  void tell_shared();

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t live_ = 0;
  Sorted by_unlock_, by_proof_[2];  // [1]: exclusive
  ProofList proofs_;
  Release freed_[2];  // the latest release, of shared ones; of exclusive ones
  // Shared ones of which the next exclusive one tells when they had released at the latest.
  std::vector<Placed> shared_;
  std::vector<Seconds> shared_bounds_;
  Seconds held_[2] = {Seconds{-std::numeric_limits<double>::infinity()},
                      Seconds{-std::numeric_limits<double>::infinity()}};
  Seconds left_[2] = {held_[0], held_[0]};    // the latest end of an unlock
  Seconds proved_[2] = {held_[0], held_[0]};  // the latest proof
  std::vector<Candidate> ready_;              // kept for its memory only
  std::uint32_t chosen_ = 0;
  bool circle_ = false;
  std::vector<Placed> told_;
};

}  // namespace kojak::model
