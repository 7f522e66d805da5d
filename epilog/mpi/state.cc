#include "epilog/mpi/state.h"

#include "epilog/format/field_values.h"
#include "epilog/mpi/define.h"
#include "epilog/mpi/request.h"
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

  // After a gap: what is open, in the order of posting. It may complete in what is recorded now.
  void requests() {
    for (const Request* request : requests_in_order()) {
      if (request->send_half != kAbsent && request->active && !request->reported)
        open(*request, OpenRequest::kSend, request->send_half);
      open(*request, kind_of(*request), request->id);
    }
  }
  static OpenRequest kind_of(const Request& request) {
    if (request.persistent && !request.active) return OpenRequest::kIdle;
    switch (request.kind) {
      case RequestKind::kReceive:
        return OpenRequest::kReceive;
      case RequestKind::kSend:
        return OpenRequest::kSend;
      case RequestKind::kCollective:
        return OpenRequest::kCollective;
      case RequestKind::kTransfer:
        return OpenRequest::kTransfer;
      case RequestKind::kPartitionedSend:
      case RequestKind::kPartitionedReceive:
        return OpenRequest::kPartitioned;
      case RequestKind::kIo:
        return OpenRequest::kIo;
      default:
        return OpenRequest::kOther;
    }
  }
  void open(const Request& request, OpenRequest kind, std::uint32_t id) {
    RequestState state{};
    state.lid = r.lid;
    state.time = time;
    state.kind = static_cast<Byte>(kind);
    state.reqid = static_cast<RequestId>(id);
    state.cid = absent<CommId>();
    state.wid = absent<WindowId>();
    state.plid = static_cast<PeerId>(request.peer);
    state.tag = static_cast<Tag>(request.tag);
    unsigned flags = request.reported ? kRequestReported : 0u;
    if (kind == OpenRequest::kReceive) {
      flags |=
          (request.peer == kAbsent ? kAnySource : 0u) | (request.tag == kAbsent ? kAnyTag : 0u);
    } else {
      state.bytes = Bytes64{request.bytes};
    }
    if (kind == OpenRequest::kCollective) {
      state.ordinal = Count64{request.starts};
      state.op = static_cast<Byte>(request.op);
    }
    state.flags = static_cast<Flags>(flags);
    if (request.comm != nullptr) {
      if (!define_comm(r, *request.comm)) return;
      state.cid = static_cast<CommId>(request.comm->id);
    }
    if (request.kind == RequestKind::kTransfer) {
      Window* window = first_window();
      while (window != nullptr && window->id != request.window) window = window->next;
      if (window == nullptr || !define_window(r, *window)) return;
      state.wid = static_cast<WindowId>(window->id);
    }
    write(state);
  }
};

}  // namespace

void write_state(Recorder& r, bool all) {
  const BookkeepingLock lock;
  StateWriter writer{r, record_time(ticks()), all};
  for (Comm* comm = first_comm(); comm != nullptr; comm = comm->next) writer.comm(*comm);
  for (Window* window = first_window(); window != nullptr; window = window->next)
    writer.window(*window);
  if (all) writer.requests();
}

}  // namespace kojak::measure
