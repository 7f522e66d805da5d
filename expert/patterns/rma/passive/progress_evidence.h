// What a run shows of whether its transfers and locks need their targets in MPI, window by window.
//
// Values. That of a whole run is the sum of that of its parts, in whatever order. Source:
// passive-target paper 2012, section 4; what is said in wait_claims.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <type_traits>

#include "epilog/model/lock_order.h"
#include "expert/patterns/rma/passive/waiting_call.h"

namespace kojak::expert {

// Of one window or symmetric memory; second index: target on the same node.
class ProgressEvidence {
 public:
  // A call of that kind ended although its target had been outside ever since one of its operations
  // was issued; of locks, since it was asked for.
  void asynchronous(ProgressKind kind, bool same_node) { ++asynchronous_[index(kind)][same_node]; }
  // It ended only after that target had come back.
  void confirmed(ProgressKind kind, bool same_node) { ++confirmed_[index(kind)][same_node]; }
  // Something was claimed of such calls, if grants go by that rule.
  void claimed(ProgressKind kind, unsigned rule) {
    claimed_[index(kind)] = static_cast<std::uint8_t>(claimed_[index(kind)] | 1u << rule);
  }
  bool is_claimed(ProgressKind kind, unsigned rule) const {
    return (claimed_[index(kind)] >> rule & 1u) != 0;
  }
  // Whatever the rule may be.
  bool is_claimed(ProgressKind kind) const;
  void add(const ProgressEvidence& other);

  // Whether claims do not hold, as far as is known; and for good.
  bool is_void(ProgressKind kind, bool same_node) const;
  bool stays_void(ProgressKind kind, bool same_node) const;
  std::uint64_t confirmations(ProgressKind kind, bool same_node) const;
  // What calls with nothing outstanding show tells of themselves only.
  bool is_sure(ProgressKind kind, bool same_node) const;
  unsigned rule() const;
  unsigned open_rule() const;  // what it may still be at the end
  // Kinds of call where something was claimed and does not hold.
  std::uint64_t voided(bool known) const;

 private:
  static constexpr std::size_t index(ProgressKind kind) { return static_cast<std::size_t>(kind); }
  bool locks_wait(bool same_node) const;
  std::array<std::array<std::uint64_t, 2>, kProgressKinds> asynchronous_{}, confirmed_{};
  // Bits: rules. (Up to a multiple of 8, so that equal values are equal bytes.)
  std::array<std::uint8_t, (kProgressKinds + 7) / 8 * 8> claimed_{};
};
static_assert(std::has_unique_object_representations_v<ProgressEvidence>);

struct PassiveEvidence {
  static constexpr std::size_t kMostKept = 1 << 16;
  std::map<WindowId, ProgressEvidence> windows;
  // Of each of these one analysis of the whole run keeps so many at most, and leaves others out.
  std::uint64_t kept = 0;       // calls for several windows
  std::uint64_t most_live = 0;  // calls at a time of which it is not known for whom they waited
  std::uint64_t held = 0;       // of these at the end of a part: they go on in the run
  std::uint64_t served = 0;     // returns to MPI of one process; of the run while a lock is held
  bool standing = false;        // a lock of all was held at an end of a part
  bool left_out = false;        // something was

  void add(const PassiveEvidence& other) {
    for (const auto& [id, window] : other.windows) windows[id].add(window);
    kept += other.kept;
    most_live = std::max(most_live, other.most_live);
    held += other.held;
    served += other.served;
    standing = standing || other.standing;
    left_out = left_out || other.left_out;
  }
  // Whether the whole run may have left out what its parts did not. (Beside what goes on, at most
  // two parts have calls at a time.)
  bool crowded() const {
    return left_out || kept > kMostKept || held + 2 * most_live >= kMostKept ||
           (standing && served >= kMostKept);
  }
  template <class Archive>
  void visit(Archive& archive) {
    archive(windows, kept, most_live, held, served, standing, left_out);
  }
};

}  // namespace kojak::expert
