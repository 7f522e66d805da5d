// Claims of Lock Contention and Wait for Progress, until it is known whether they hold.
//
// If any call that cannot end without its target began and ended while the target was outside MPI,
// then progress needs no MPI calls there, and all claims of Wait for Progress of that window, kind
// of call, and same or different node are void. Locks fall with the transfers behind them, unless
// lock calls themselves ended only after their absent target had come back, and none before: where
// data move by themselves, grants may still need the target. Locks of UPC fall by a upc_lock that
// had it while its thread was outside. While a computing target has not granted a lock, nobody
// holds it, unless such grants need no help from the target. Only the end of the trace shows which
// of the two is true, so waits that depend on it are summed up separately until then; all others
// are reported at once. Calls that wait for operations on several windows are kept as they are:
// each window's part stands on its own evidence. What is told of a call does not depend on when
// evidence was seen, nor on what was before it: of a run in parts, each part tells of its calls
// what the whole run would, once it has the evidence of all (PassiveEvidence). Memory: windows x
// kinds x call paths x locations that claim something, kMostKept calls on several windows, and the
// waits that depend on the end (KeptWaits), if anybody wants to know each of them. Source:
// passive-target paper 2012, section 4; the guard against false claims is kojak's own.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <unordered_map>

#include "expert/patterns/rma/passive/progress_evidence.h"
#include "expert/patterns/rma/passive/wait_metrics.h"
#include "expert/waits/kept_waits.h"
#include "expert/waits/stream.h"

namespace kojak::expert {

// How sure the claims of Wait for Progress are.
struct ProgressSureness {
  std::uint64_t confirmed = 0;  // calls that ended only after their absent target came back
  TimeSum sure, unsure;         // claimed where there is such a call, and where there is none
  void add(const ProgressSureness& other) {
    confirmed += other.confirmed;
    sure += other.sure;
    unsure += other.unsure;
  }
};

class WaitClaims {
 public:
  // `known`: whether the trace tells who is outside MPI.
  WaitClaims(bool known, WaitStream& out) : known_(known), out_(out) {}

  // See ProgressEvidence.
  void asynchronous(WindowId window, ProgressKind kind, bool same_node) {
    windows_[window].evidence.asynchronous(kind, same_node);
  }
  void confirmed(WindowId window, ProgressKind kind, bool same_node) {
    windows_[window].evidence.confirmed(kind, same_node);
  }
  // Whether calls of that kind may still turn out to need their targets.
  struct Open {
    bool same_node = false, other_node = false;
  };
  Open open(WindowId window, ProgressKind kind) const {
    const auto found = windows_.find(window);
    if (found == windows_.end()) return {known_, known_};
    const ProgressEvidence& evidence = found->second.evidence;
    return {known_ && !evidence.stays_void(kind, true),
            known_ && !evidence.stays_void(kind, false)};
  }
  void add(WaitingCall& waiting);
  // What was seen here.
  PassiveEvidence evidence() const;
  // After all calls: whether no wait depends on what the whole run shows.
  bool decided() const;
  // After all calls. `of_run`: what the whole run shows, if this is a part of it.
  void finish(const PassiveEvidence* of_run = nullptr);

  // Windows and kinds of call where claims were void.
  std::uint64_t voided() const;
  std::uint64_t left_out() const { return left_out_; }
  const ProgressSureness& sureness() const { return sureness_; }

 private:
  static constexpr std::size_t kMostKept = PassiveEvidence::kMostKept;
  static constexpr std::size_t kMostParts = 128;  // that a call says it waited for
  static constexpr std::size_t index(ProgressKind kind) { return static_cast<std::size_t>(kind); }

  struct Amounts {
    double same = 0, other = 0, both = 0;
  };
  struct Sums {
    TimeSum same, other, both;
    void add(const Amounts& a) {
      same.add(a.same);
      other.add(a.other);
      both.add(a.both);
    }
    // 0: the same node counts, 1: others, 2: both.
    TimeSum of(std::size_t which) const { return which == 2 ? both : which == 0 ? same : other; }
  };
  using ByRule = std::array<Amounts, kGrantRules>;
  using SumsByRule = std::array<Sums, kGrantRules>;
  using Place = std::uint64_t;  // call path and location
  // The waits of calls whose targets were all on the same node, or all on others; and of calls that
  // waited for some of each: of which the one side counts, the other, or both. Which of these is
  // true the end tells; so a call has one entry, or three.
  enum Side { kSame, kOther, kMixedSame, kMixedOther, kMixedBoth, kSides };
  // Those that count together or not at all, as long as that is not known; made for the first.
  using Waits = std::unique_ptr<KeptWaits>;
  // By the bits of the rule that make a difference for a call, and the rule without the others.
  template <class T>
  using ForRules = std::array<std::array<T, kGrantRules>, kGrantRules>;
  struct Progress {
    std::unordered_map<Place, SumsByRule> sums;
    ForRules<std::array<Waits, kSides>> waits;
  };
  struct Indirect {
    std::unordered_map<Place, Sums> sums;
    std::array<Waits, 3> waits;  // same node, others, both
  };
  struct Contention {
    std::unordered_map<Place, std::array<TimeSum, kGrantRules>> sums;
    ForRules<Waits> waits;
  };
  struct Window {
    ProgressEvidence evidence;
    std::array<Progress, kProgressKinds> progress;
    std::array<Contention, kLockSides> contention;
    Indirect indirect;
  };

  static Place place(const Call& call) { return Place{raw(call.cnode)} << 32 | call.index; }
  static LockSide side_of(const Call& call, ProgressKind kind) {
    if (is_shmem(kind)) return LockSide::kShmem;
    const bool sync = call.function != nullptr && call.function->cls == MpiClass::kPassiveTarget;
    return sync ? LockSide::kSync : LockSide::kTransfer;
  }
  // Else a damaged trace: lock records outside of MPI.
  static bool can_contend(const Call& call, ProgressKind kind) {
    return call.function != nullptr || is_shmem(kind);
  }
  // Times with nothing outstanding that cannot count any more.
  bool counts_for_nothing(const WaitingCall::Outside& outside) const {
    const Open needed = open(outside.window, outside.kind);
    return is_idle(outside.kind) && !(needed.same_node && !outside.same.empty()) &&
           !(needed.other_node && !outside.other.empty());
  }
  static bool locks_elsewhere(const WaitingCall& waiting);
  // Of operations on several windows, or of several kinds on one.
  static bool several(const WaitingCall& waiting) {
    return locks_elsewhere(waiting) || !waiting.elsewhere.empty();
  }
  // What is claimed of its waiting: for locks, if `contended`; for progress, if `progress`, else
  // it is only noted under which rules something is.
  void claim(const WaitingCall& waiting, bool contended, bool progress);
  // Whether its waiting for progress may still count in the end, or it is not known whether
  // anything is claimed of such calls.
  bool may_count(const Window& window, const WaitingCall& waiting) const;
  static Amounts left_over(const Call& call, const WaitingCall::Outside& outside,
                           const Intervals& taken);
  void claim_contention(const WaitingCall& waiting, const std::array<Seconds, kGrantRules>& held,
                        unsigned matter, unsigned open);
  // `taken`: what other patterns claim of the Win_complete.
  void claim_indirect(const WaitingCall& waiting, const Intervals& taken);
  // Whether it makes a difference for the call if targets must be in MPI to grant locks. What has
  // been seen so far of that makes none: the answer must not depend on when it was seen.
  bool depends_on_grants(const Call& call, const std::vector<WaitingCall::Held>& held);
  // Which part of the time was for which holder: at each time the one that released last.
  template <class Rule>
  void find_parts(const std::vector<WaitingCall::Held>& held, Rule&& rule);
  // For whose progress a call waited when: of one side, or at each time the one that came back
  // last.
  void find_absent(const WaitingCall::Outside& outside, Side side, const Intervals& taken);
  void claim_progress(const WaitingCall& waiting, const Amounts& amounts, const Intervals& taken,
                      std::array<Waits, kSides>& waits);
  // Leaves each time of parts_ to the one of them who let go last, and to none if it is taken.
  void leave_to_latest(const Intervals& taken);
  // Adds parts_ to those that are kept, if anybody wants them. `nth` call of those that wait.
  void keep_parts(const Call& call, double seconds, Waits& waits, std::size_t nth = 0);
  std::uint64_t unnamed(std::size_t nth = 0) const {  // an operation of the call's own
    return kUnnamed + (order_ << kWaitersBits) + nth;
  }
  // Tells parts_.
  void tell_parts(MetricIndex metric, const Call& call, Seconds waited, Wait::Known known);
  // What was kept and counts, to be told.
  void take_kept(MetricIndex metric, const Waits& waits);
  void tell_kept();
  void tell_contention(LockSide side, WindowId window, const Call& call, Seconds waited,
                       bool at_end) {
    tell_parts(contention_metric(side, window), call, waited,
               at_end ? Wait::Known::kAtEnd : Wait::Known::kAtOnce);
  }
  void finish_kept(const WaitingCall& kept);
  // What a window's sums are, each as value(sums of a place).
  template <class AllSums, class Value>
  void tell_sums(MetricIndex metric, const AllSums& sums, Value&& value);
  void finish_contention(WindowId id, Window& window);
  void finish_progress(WindowId id, Window& window);
  void count(WindowId window, ProgressKind kind, bool same_node, TimeSum waited);

  bool known_;
  WaitStream& out_;
  std::map<WindowId, Window> windows_;
  std::vector<WaitingCall> kept_;
  std::uint64_t left_out_ = 0;
  ProgressSureness sureness_;
  // Numbers of waits for nobody who is known.
  static constexpr std::uint64_t kUnnamed = std::uint64_t{1} << 63;
  static constexpr unsigned kWaitersBits = 16;
  std::uint64_t order_ = 0;  // of the call that is looked at: its exit_pos
  std::map<MetricIndex, std::vector<const KeptWaits*>> counted_;
  // Kept for their memory only.
  Intervals set_, left_, pieces_;
  std::array<Intervals, kGrantRules> taken_;
  std::vector<WaitPart> parts_, whole_;
  std::vector<WaitingCall::Absent> absent_;
};

}  // namespace kojak::expert
