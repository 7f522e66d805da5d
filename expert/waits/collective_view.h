// Who waits for whom in a collective operation, blocking or begun.
//
// Within one group everybody may wait for everybody. On an intercommunicator the members of one
// side exchange data with those of the other side only; but barriers and all-to-all operations let
// nobody go before all members of both sides have come. (Measured with a late member of the own
// side: MPICH waits in all of them, Open MPI in all but MPI_Alltoall, whose call then ends early
// and so has nothing to claim.) Rooted operations have a root, prefix reductions an order,
// neighbourhood collectives a topology; UPC's are alike, and have flags besides that say for whom a
// call waits before it begins; all other operations (creation of communicators,
// MPI_Finalize, files) wait for all members.
//
// One view is used again for each instance, so that a steady state allocates nothing. It refers to
// the instance, which must outlive its use. Source: MPI 3.1, 5.2.2
// and 7.6; EXPERT patterns 2006, collective communication.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "earl/aspects/collectives.h"
#include "epilog/format/field_values.h"
#include "epilog/format/shmem_functions.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

class CollectiveView {
 public:
  using Member = earl::CollectiveMember;

  void look_at(const earl::CollectiveInstance& instance, const Definitions& definitions);

  const earl::CollectiveInstance& instance() const { return *instance_; }
  MpiRole role() const { return instance_->role(); }
  // Of an operation of UPC: its function; else nullptr. `rule` is the role of MPI's operation that
  // is like it.
  const ShmemFunction* upc() const { return upc_; }
  MpiRole rule() const { return rule_; }
  // The first phase of a barrier in two: upc_notify.
  bool notified() const { return notified_; }
  // Of UPC: whether nobody may begin before all have come; whether nobody is obliged to wait.
  static bool all_in_sync(const Member& m) {
    return (m.flags & kInAllSync) != 0 || (m.flags & (kInNoSync | kInMySync)) == 0;
  }
  static bool no_sync(const Member& m) { return !all_in_sync(m) && (m.flags & kInMySync) == 0; }
  const std::vector<Member>& members() const { return instance_->members; }

  // Whether data flow between two members.
  bool exchange(const Member& a, const Member& b) const {
    return !instance_->intercommunicator || second(a) != second(b);
  }
  // The last to enter of those that `m` must wait for; nullptr if there are none.
  const Member* awaited(const Member& m) const;
  // Whether `other` gives data to `m`.
  bool supplies(const Member& other, const Member& m) const;
  // At the root of a reduce or gather: the first to enter of those that contribute.
  const Member* first_contributor() const { return first_contributor_; }
  // All who take part.
  const Member& last_in() const { return *last_in_; }
  const Member& first_out() const { return *first_out_; }
  // The first exit among those that wait for the same members as `m`, itself included.
  Seconds first_exit_beside(const Member& m) const {
    return waits_for_all() ? first_out_->call.exit : sides_[second(m)].first_exit;
  }
  // Whether every member waits for all the others.
  bool all_wait_for_all() const {
    if (upc_ != nullptr && all_in_sync(members().front())) return true;
    if (upc_ != nullptr && no_sync(members().front())) return false;
    switch (rule_) {
      case MpiRole::kOneToAll:
      case MpiRole::kAllToOne:
      case MpiRole::kPrefix:
      case MpiRole::kNeighbor:
        return false;
      default:
        return !instance_->intercommunicator;
    }
  }
  // The root's call; nullptr if the instance has none or it is not in the trace.
  const Member* root() const { return root_; }

 private:
  struct Side {
    const Member* last_in = nullptr;
    Seconds first_exit{std::numeric_limits<double>::infinity()};
  };
  unsigned second(const Member& m) const { return m.rank >= local_size_ ? 1 : 0; }
  std::size_t place(const Member& m) const {
    return static_cast<std::size_t>(&m - instance_->members.data());
  }
  bool waits_for_all() const;
  void find_contributors();
  void find_lower_ranks();
  void find_neighbours(const Definitions& definitions);

  const earl::CollectiveInstance* instance_ = nullptr;
  const ShmemFunction* upc_ = nullptr;
  MpiRole rule_{};
  bool notified_ = false;
  std::uint32_t local_size_ = 0;
  Side sides_[2];
  const Member* root_ = nullptr;
  const Member* last_in_ = nullptr;
  const Member* first_out_ = nullptr;
  const Member* first_contributor_ = nullptr;
  const Member* last_contributor_ = nullptr;
  std::vector<const Member*> sorted_;   // by rank, or by process
  std::vector<const Member*> awaited_;  // by place, where it differs from member to member
};

}  // namespace kojak::expert
