#include "epilog/mpi/state.h"

#include "epilog/format/field_values.h"
#include "epilog/mpi/define.h"
#include "epilog/runtime/session.h"

namespace kojak::measure {
namespace {

struct StateWriter {
  Recorder& r;
  Seconds time;
  bool all;

  template <class R>
  void write(const R& record) {
    if (need_room(r, kMaxRecord)) publish(r, put(r, r.cursor, record));
  }

  void messages(Comm& comm) {
    const auto one = [&](std::uint64_t key, MessageCount& count) {
      write(MsgState{r.lid, time, static_cast<CommId>(comm.id), static_cast<PeerId>(key >> 32),
                     static_cast<Tag>(key & 0xFFFFFFFFu), Count64{count.sent},
                     Count64{count.received}});
      count.changed = false;
    };
    if (all) {
      comm.messages.for_each(one);
    } else {
      for (const std::uint64_t key : comm.changed_messages) {
        if (MessageCount* count = comm.messages.find(key)) one(key, *count);
      }
    }
    comm.changed_messages.resize(0);
  }

  void comm(Comm& comm) {
    const bool collectives = all ? comm.collectives != 0 : comm.collectives_changed;
    const bool any_messages = all ? comm.messages.size() != 0 : !comm.changed_messages.empty();
    if ((!collectives && !any_messages) || !define_comm(r, comm)) return;
    if (collectives) write_collectives(r, comm, time);
    if (any_messages) messages(comm);
  }

  void peer(Window& window, std::uint32_t rank) {
    PeerState& state = window.peers[rank];
    const std::uint64_t operations = state.serial == window.serial ? state.operations : 0;
    // A peer with which nothing is open any more is told of after a gap, too: a lock of it may have
    // been released there.
    const bool told = all && state.changed;
    state.changed = false;
    const PeerStanding& standing = state.standing;
    if (!told && (standing.access | standing.exposure | operations | standing.open) == 0) return;
    const std::uint32_t world_rank = window.group->ranks[rank];
    if (world_rank == kAbsent) return;
    write(EpochState{r.lid, time, static_cast<WindowId>(window.id), static_cast<PeerId>(world_rank),
                     Count64{standing.access}, Count64{standing.exposure}, Count64{operations},
                     static_cast<Flags>(standing.open | window.standing.all)});
  }

  void window(Window& window) {
    if (!all && !window.changed && window.changed_peers.empty()) return;
    if (!define_window(r, window)) return;
    if (all || window.changed) {
      write(WinState{r.lid, time, static_cast<WindowId>(window.id),
                     Count64{window.count_lost ? kCountLost : window.standing.fences},
                     static_cast<Flags>(window.count_lost ? 0 : window.standing.open())});
    }
    window.changed = false;
    if (window.count_lost) return;
    if (all && window.peers != nullptr) {
      for (std::uint32_t rank = 0; rank < window.group->count; ++rank) peer(window, rank);
    } else {
      for (const std::uint32_t rank : window.changed_peers) peer(window, rank);
    }
    window.changed_peers.resize(0);
  }
};

}  // namespace

void write_state(Recorder& r, bool all) {
  const BookkeepingLock lock;
  StateWriter writer{r, record_time(ticks()), all};
  for (Comm* comm = first_comm(); comm != nullptr; comm = comm->next) writer.comm(*comm);
  for (Window* window = first_window(); window != nullptr; window = window->next)
    writer.window(*window);
}

}  // namespace kojak::measure
