// State aspect C^g<MPICExit>: puts the members of collective operations together. What an instance
// is, and which rules hold, is said in collectives.h.
#pragma once

#include <map>

#include "earl/aspects/collectives.h"
#include "earl/detail/group_table.h"
#include "earl/detail/rendezvous.h"

namespace kojak::earl {

class CollectiveInstances {
 public:
  CollectiveInstances(detail::GroupTable& groups, bool native, Findings& findings)
      : groups_(groups), findings_(findings), segments_(groups.processes(), native) {}

  // MPI_COLLEXIT; the instance that it completes, or nullptr. Valid until the next call.
  const CollectiveInstance* leave(const CollectiveExit& exit);
  // COLL_STATE.
  void resume(ProcessId process, CommId com, std::uint64_t count, std::uint64_t pos);
  void pause(ProcessId process) { segments_.pause(process); }
  // f(const CollectiveInstance&) for all that stay incomplete; counts and forgets them.
  template <class F>
  void finish(std::uint64_t pos, F&& f) {
    for (auto& [com, group] : groups_in_use_) {
      const bool lost = instances_.is_lost(group);
      instances_.give_up(group, [&](const CollectiveInstance& instance) {
        if (!lost) findings_.add(Finding::kIncompleteCollective, pos);
        f(instance);
      });
    }
    groups_in_use_.clear();
    last_com_ = absent<CommId>();
  }
  std::size_t open() const { return instances_.live(); }
  // All members have come to each. (The latest is kept.)
  bool at_rest() const { return instances_.live() == (instances_.has_complete() ? 1 : 0); }

 private:
  using Group = detail::Rendezvous<CollectiveInstance>::Group;
  Group& group(CommId com);

  detail::GroupTable& groups_;
  Findings& findings_;
  detail::Rendezvous<CollectiveInstance> instances_;
  std::map<CommId, Group> groups_in_use_;
  CommId last_com_ = absent<CommId>();
  Group* last_group_ = nullptr;
  detail::RecordingSegments segments_;
};

}  // namespace kojak::earl
