// Where each process stands in what it counts together with others: collectives, fences, access and
// exposure epochs, locks. The rule of epochs is that of epilog/model/window_standing.h; what of
// it a cut may show stands here.
//
// Fed with every record of a trace, whether the cut keeps it or not. What the kept records do not
// tell by themselves is marked as changed; write_changes() hands it out as the state records of the
// format, so that ordinals go on as in the whole trace. Messages need none: of a message the cut
// keeps both events or none, so counting from its beginning pairs the same ones.
// Memory: processes x (communicators + windows x peers) that are in use, locks of SHMEM.
// Source: docs/measurement.md.
#pragma once

#include <map>
#include <vector>

#include "epilog/format/definitions.h"
#include "epilog/format/epoch_moves.h"
#include "epilog/model/window_standing.h"

namespace kojak::filter {

class EpochStates {
 public:
  explicit EpochStates(const Definitions& definitions) : definitions_(definitions) {}

  // `kept`: the cut holds the record as it is, so that readers of the cut count it as well.
  void collective(ProcessId process, CommId comm, bool kept);
  void fence(ProcessId process, WindowId window, std::uint32_t assertion, bool kept);
  void free(ProcessId process, WindowId window);
  // Start, post, complete and wait. An epoch is shown as open only if its beginning is
  // kept: then its end is kept as well.
  void epoch(ProcessId process, EpochMove move, WindowId window, CommId group, bool kept);
  // `shown`: false for a lock that the cut does not have. Unlocks tell whether their lock was
  // shown; one that was taken while recording was off never is.
  void lock(ProcessId process, WindowId window, PeerId target, std::uint8_t flags, bool shown,
            bool kept);
  bool unlock(ProcessId process, WindowId window, PeerId target);
  void lock_all(ProcessId process, WindowId window, std::uint8_t flags, bool shown, bool kept);
  bool unlock_all(ProcessId process, WindowId window);
  void operation(ProcessId process, WindowId window, PeerId target, bool kept);
  // Of SHMEM. `granted_by`: as the record says.
  void symmetric_lock(ProcessId process, LockId lock, PeerId granted_by, bool acquired, bool kept);
  // Recording was switched off: nobody knows any more which of those locks the process holds.
  void off(ProcessId process);
  // State records of the whole trace.
  void state(ProcessId process, const WinState& record);
  void state(ProcessId process, const EpochState& record);
  void state(ProcessId process, const CollState& record);

  bool changed(ProcessId process) const {
    const Process* p = processes_.find(process);
    return p != nullptr && p->changed;
  }
  // write(record) for everything that has changed, as of this location and time.
  template <class Write>
  void write_changes(ProcessId process, LocationId lid, Seconds time, Write&& write) {
    if (!changed(process)) return;
    Process& p = at(process);
    p.changed = false;
    for (auto& [comm, c] : p.comms) {
      if (!c.changed) continue;
      c.changed = false;
      write(CollState{lid, time, comm, Count64{c.count}});
    }
    for (auto& [window, w] : p.windows) {
      if (w.changed) {
        write(WinState{lid, time, window, Count64{w.standing.fences},
                       static_cast<Flags>(w.standing.open() & (w.all_shown ? 0xFF : kOpenFence))});
      }
      for (auto& [peer, s] : w.peers) {
        if (!s.changed) continue;
        s.changed = false;
        write(EpochState{
            lid, time, window, peer, Count64{s.standing.access}, Count64{s.standing.exposure},
            Count64{s.operations},
            static_cast<Flags>((s.standing.open & s.shown) | (w.all_shown ? w.standing.all : 0))});
      }
      w.changed = false;
    }
    for (auto& [id, lock] : symmetric_locks_) {
      const bool held = lock.holder == process;
      if (held == (lock.shown == process)) continue;
      lock.shown = held ? process : absent<ProcessId>();
      if (held) {
        write(ALock{lid, time, id, lock.granted_by});
      } else {
        write(RLock{lid, time, id, lock.granted_by});
      }
    }
  }

 private:
  struct Comm {
    std::uint64_t count = 0;
    bool changed = false;
  };
  struct Peer {
    PeerStanding standing;
    std::uint64_t operations = 0;
    std::uint8_t shown = 0;  // flags of EPOCH_STATE: what is open only counts where they are set
    bool changed = false;

    void show(std::uint8_t flags, bool show) {
      shown = static_cast<std::uint8_t>(show ? shown | flags : shown & ~flags);
    }
  };
  struct Window {
    WindowStanding standing;
    bool all_shown = false;  // the lock of all
    bool changed = false;
    std::map<PeerId, Peer> peers;
    std::vector<std::uint32_t> access, exposure;  // peers of the open epochs
  };
  struct SymmetricLock {
    // In the whole trace, and as far as the cut tells; absent: nobody.
    ProcessId holder = absent<ProcessId>(), shown = absent<ProcessId>();
    PeerId granted_by = absent<PeerId>();
  };
  struct Process {
    std::map<CommId, Comm> comms;
    std::map<WindowId, Window> windows;
    bool changed = false;
  };
  Process& at(ProcessId process);
  template <class T>
  static void change(Process& process, T& object) {
    process.changed = object.changed = true;
  }

  const Definitions& definitions_;
  IdTable<ProcessId, Process> processes_;
  std::map<LockId, SymmetricLock> symmetric_locks_;  // that were ever used
};

}  // namespace kojak::filter
