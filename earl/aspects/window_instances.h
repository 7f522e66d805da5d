// State aspect C^g<MPIWCExit>: puts the members of window creation, fence and free together. What
// an instance is, and which rules hold, is said in window_collectives.h.
#pragma once

#include <map>

#include "earl/aspects/window_collectives.h"
#include "earl/detail/group_table.h"
#include "earl/detail/rendezvous.h"

namespace kojak::earl {

class WindowInstances {
 public:
  WindowInstances(detail::GroupTable& groups, bool native, Findings& findings)
      : groups_(groups), findings_(findings), segments_(groups.processes(), native) {}

  // MPI_WINCOLLEXIT of a call whose role is kWinCreate, kWinFence or kWinFree. The instance that it
  // completes, or nullptr; valid until the next call. `ordinal` gets its number at this process.
  const WindowInstance* leave(const Call& call, WindowId window, std::uint64_t& ordinal);
  // WIN_STATE.
  void resume(ProcessId process, WindowId window, std::uint64_t fences, std::uint64_t pos);
  // So many fences were left before the trace begins.
  void begin(ProcessId process, WindowId window, std::uint64_t fences);
  void pause(ProcessId process) { segments_.pause(process); }
  // f(const WindowInstance&) for all that stay incomplete; counts and forgets them.
  template <class F>
  void finish(std::uint64_t pos, F&& f) {
    for (auto& [window, state] : windows_) {
      const bool lost = instances_.is_lost(state.groups[1]);
      for (Group& group : state.groups) {
        instances_.give_up(group, [&](const WindowInstance& instance) {
          if (!lost) findings_.add(Finding::kIncompleteCollective, pos);
          f(instance);
        });
      }
    }
    windows_.clear();
    last_ = nullptr;
  }
  std::size_t open() const { return instances_.live(); }
  // All members have come to each. (The latest is kept.)
  bool at_rest() const { return instances_.live() == (instances_.has_complete() ? 1 : 0); }

 private:
  using Group = detail::Rendezvous<WindowInstance>::Group;
  struct Window {
    Group groups[3];  // create, fence, free; only fences are counted by member
  };
  Window& window(WindowId id);

  detail::GroupTable& groups_;
  Findings& findings_;
  detail::Rendezvous<WindowInstance> instances_;
  std::map<WindowId, Window> windows_;
  WindowId last_id_ = absent<WindowId>();
  Window* last_ = nullptr;
  detail::RecordingSegments segments_;
};

}  // namespace kojak::earl
