// Who waits for whom in a collective instance.
//
// Within one group everybody may wait for everybody. On an intercommunicator the members of one
// side exchange data with those of the other side only. A view of an instance that must outlive it;
// owns nothing, nothing fails, any thread. Source: MPI 3.1, 5.2.2, intercommunicator collectives.
#pragma once

#include <algorithm>
#include <limits>

#include "earl/state/collectives.h"
#include "expert/wait.h"

namespace kojak::expert {

class CollectiveView {
 public:
  using Member = earl::CollectiveMember;

  CollectiveView(const earl::CollectiveInstance& instance, const Definitions& definitions)
      : instance_(instance) {
    if (instance.intercommunicator) [[unlikely]] {
      const CommDef* comm = definitions.comms.find(instance.com);
      if (comm != nullptr) local_size_ = static_cast<std::uint32_t>(comm->ranks.size());
    }
    for (const Member& m : instance.members) {
      Side& side = sides_[second(m)];
      if (side.last_in == nullptr || side.latest_enter < m.call.enter) side.last_in = &m;
      side.latest_enter = std::max(side.latest_enter, m.call.enter);
      side.first_exit = std::min(side.first_exit, m.call.exit);
    }
  }
  // Whether data flow between two members.
  bool exchange(const Member& a, const Member& b) const {
    return !instance_.intercommunicator || second(a) != second(b);
  }
  // The latest enter among those that `m` must wait for; long ago if there are none.
  Seconds latest_enter_for(const Member& m) const {
    return sides_[instance_.intercommunicator ? 1 - second(m) : 0].latest_enter;
  }
  // Who enters then.
  EndedBy last_for(const Member& m) const {
    const Member* const last = sides_[instance_.intercommunicator ? 1 - second(m) : 0].last_in;
    return last != nullptr ? enter_of(last->call) : EndedBy{};
  }
  // The first exit among those that wait for the same members as `m`, itself included.
  Seconds first_exit_beside(const Member& m) const { return sides_[second(m)].first_exit; }
  // The root's call; nullptr if the instance has none or it is not in the trace.
  const Member* root() const {
    if (is_absent(instance_.root)) return nullptr;
    for (const Member& m : instance_.members) {
      if (raw(m.call.process) == raw(instance_.root)) return &m;
    }
    return nullptr;
  }

 private:
  struct Side {
    const Member* last_in = nullptr;
    Seconds latest_enter{-std::numeric_limits<double>::infinity()};
    Seconds first_exit{std::numeric_limits<double>::infinity()};
  };
  unsigned second(const Member& m) const { return m.rank >= local_size_ ? 1 : 0; }

  const earl::CollectiveInstance& instance_;
  std::uint32_t local_size_ = std::numeric_limits<std::uint32_t>::max();
  Side sides_[2];
};

}  // namespace kojak::expert
