// State aspect: collective instances C^g<T>: exit records of type T of one operation of group g.
//
// Generic over the exit type: MpiExit (MPI_COLLEXIT on a communicator), WindowExit (MPI_WINCOLLEXIT
// on a window; create, fence and free are apart), ShmemExit (COLLEXIT), OmpExit (OMP_COLLEXIT of a
// process's threads). The n-th operation of a group at one member is the n-th at all; ordinals are
// taken up from COLL_STATE and WIN_STATE after a gap. Objects of unknown identity are never paired.
// What an event completed is there until the next event is applied. Feed apply() every event
// (filled in, see region_stacks.h) in file order. Memory: open instances x members that have left
// them, capped: the oldest of a group whose member never comes are given up.
// Source: docs/earl.md.
#pragma once

#include <map>
#include <vector>

#include "earl/detail/group_table.h"
#include "earl/detail/rendezvous.h"
#include "earl/index/interval_column.h"
#include "earl/trace.h"

namespace kojak::earl::sequence {

struct CollectiveInstance {
  std::uint32_t group = 0;           // communicator, window, or process of the team
  MpiRole role = MpiRole::kOther;    // windows: kWinCreate, kWinFence, kWinFree
  std::uint64_t ordinal = 0;         // of that group (and role)
  std::uint32_t size = 0;            // members that the trace has
  std::vector<std::uint64_t> exits;  // numbers of the exit records, in file order
  bool complete() const { return exits.size() == size; }
};

// Where an exit belongs: which group, which of its members, how many there are.
struct CollectivePlace {
  std::uint32_t group = 0, member = 0, members = 0, present = 0;
  MpiRole role = MpiRole::kOther;
};

// What all kinds have in common.
class CollectiveSet {
 public:
  explicit CollectiveSet(const Trace& trace)
      : trace_(&trace),
        groups_(trace),
        segments_(trace.process_count(), trace.native()),
        pauses_(trace.location_count()) {}

  // The instance that the latest event completed; nullptr if none.
  const CollectiveInstance* complete() const { return instances_.complete(); }
  // f(const CollectiveInstance&) for all that wait for members, by group and ordinal.
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [key, group] : groups_in_use_) {
      for (std::size_t i = group.head; i < group.open.size(); ++i) {
        f(instances_[group.open[i].instance]);
      }
    }
  }
  std::size_t open() const { return instances_.live() - (complete() != nullptr ? 1 : 0); }

  // Instances, from the first exit to the one that completes them, with what they are.
  void record(IntervalColumn* log) { log_ = log; }
  void end_record(std::uint64_t end);
  // What there is after an event.
  void restore(const IntervalColumn& log, std::uint64_t pos);

 protected:
  using Key = std::pair<std::uint32_t, MpiRole>;
  KOJAK_INLINED void forget_completed() {
    if (instances_.has_complete()) [[unlikely]]
      instances_.forget_complete();
  }
  void leave(const CollectivePlace& place, std::uint64_t pos, ProcessId process);
  void resume(const Key& key, std::uint32_t member, std::uint32_t members, std::uint64_t count);
  void drop(const Key& key, std::uint64_t pos);
  void pause(const Event& e);

  const Trace* trace_;
  detail::GroupTable groups_;

 private:
  using Instances = detail::Rendezvous<CollectiveInstance, &CollectiveInstance::exits>;
  using Group = Instances::Group;

  void log(const CollectiveInstance& instance, std::uint64_t end);

  IntervalColumn* log_ = nullptr;
  std::vector<std::byte> contents_;  // of the column's next row
  std::map<Key, Group> groups_in_use_;
  Instances instances_;
  detail::RecordingSegments segments_;
  std::vector<std::uint32_t> pauses_;  // by location
};

// ---- exit types: place() says where an exit belongs, false if it is never paired

struct MpiExit {
  static bool is(EventType t) { return is_mpi_coll_exit(t); }
  static constexpr EventType kState = EventType::kCollState;
  static bool place(const Trace&, detail::GroupTable&, const Event&, CollectivePlace&);
};
struct WindowExit {
  static bool is(EventType t) { return is_win_coll_exit(t); }
  static constexpr EventType kState = EventType::kWinState;
  static bool place(const Trace&, detail::GroupTable&, const Event&, CollectivePlace&);
};
struct ShmemExit {
  static bool is(EventType t) { return is_shmem_coll_exit(t); }
  static constexpr EventType kState{};  // none
  static bool place(const Trace&, detail::GroupTable&, const Event&, CollectivePlace&);
};
struct OmpExit {
  static bool is(EventType t) { return is_omp_coll_exit(t); }
  static constexpr EventType kState{};
  static bool place(const Trace&, detail::GroupTable&, const Event&, CollectivePlace&);
};

template <class Exit>
class CollectiveInstances : public CollectiveSet {
 public:
  using CollectiveSet::CollectiveSet;

  void apply(const Event& e) {
    forget_completed();
    CollectivePlace place;
    if (Exit::is(e.type)) [[unlikely]] {
      if (Exit::place(*trace_, groups_, e, place)) leave(place, e.pos, process(e));
    } else if (e.type == EventType::kEnter || e.type == EventType::kExit) {
      if (e.type == EventType::kEnter && e.reg == trace_->pausing_region()) pause(e);
    } else if (e.type == Exit::kState && raw(e.type) != 0) {
      if (Exit::place(*trace_, groups_, e, place)) {
        resume({place.group, place.role}, place.member, place.members, e.count[0]);
      }
    } else if (is_join(e.type) && std::is_same_v<Exit, OmpExit>) {
      drop({raw(process(e)), MpiRole::kOther}, e.pos);  // the next team starts anew
    } else if (e.type == EventType::kLogOff) {
      pause(e);
    }
  }

 private:
  ProcessId process(const Event& e) const {
    const std::uint32_t i = trace_->index(e.loc);
    return i != kAbsent ? trace_->process(i) : ProcessId{};
  }
};

}  // namespace kojak::earl::sequence
