#include "epilog/mpi/state.h"

#include <algorithm>

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
  CommId id{};  // of the communicator that is told of

  template <class R>
  void write(const R& record) {
    if (need_room(r, kMaxRecord)) publish(r, put(r, r.cursor, record));
  }

  // Of a tag: both directions. A count that has begun anew is told of after gaps only: where
  // nothing is missing, readers know better.
  void message_count(MessageCounts& counts, MessageCount& count) {
    MessageCount* const other = counts.other_way(count);
    if (other != nullptr && !count.sends()) return;  // with that one
    const bool changed = count.changed || (other != nullptr && other->changed);
    const auto anew = [](const MessageCount* c) { return c != nullptr && c->first != 0; };
    const auto unknown = [](const MessageCount* c) {
      return c != nullptr && c->first != 0 && !c->known;
    };
    if (!all && (!changed || unknown(&count) || unknown(other))) return;
    if (count.count == 0 && (other == nullptr || other->count == 0)) return;  // posted only
    const MessageCount* const sent = count.sends() ? &count : other;
    const MessageCount* const received = count.sends() ? other : &count;
    const auto of = [](const MessageCount* c, std::uint64_t MessageCount::*what) {
      return Count64{c == nullptr ? 0 : c->*what};
    };
    const auto peer = static_cast<PeerId>(count.peer());
    const auto tag = static_cast<Tag>(count.tag());
    if (all && (anew(&count) || anew(other))) {
      write(MsgRestarted{r.lid, time, id, peer, tag, of(sent, &MessageCount::first),
                         of(received, &MessageCount::first)});
    }
    write(MsgState{r.lid, time, id, peer, tag, of(sent, &MessageCount::count),
                   of(received, &MessageCount::count)});
    count.changed = false;
    count.known = count.known || all;
    if (other == nullptr) return;
    other->changed = false;
    other->known = other->known || all;
  }
  void messages(MessageCounts& counts) {
    if (all) {
      counts.lines.for_each([&](std::uint64_t key, MessageLine* line) {
        if (!line->forgot) return;
        const bool sends = (key & 1) != 0;
        write(MsgRestarted{r.lid, time, id, static_cast<PeerId>(line->peer), absent<Tag>(),
                           Count64{sends ? line->total : 0}, Count64{sends ? 0 : line->total}});
      });
    }
    counts.tags.for_each(
        [&](std::uint64_t, MessageCount* count) { message_count(counts, *count); });
    counts.changed = false;
  }

  void comm(Comm& comm) {
    const bool collectives = all ? comm.collectives != 0 : comm.collectives_changed;
    const bool any_messages = all ? comm.messages.tags.size() != 0 : comm.messages.changed;
    if ((!collectives && !any_messages) || !define_comm(r, comm)) return;
    if (collectives) write_collectives(r, comm, time);
    id = static_cast<CommId>(comm.id);
    if (any_messages) messages(comm.messages);
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
  struct Open {
    std::uint64_t order;
    const Request* request;  // or
    const MatchedMessage* message;
  };
  void requests() {
    static Vector<Open> list;
    (void)list.resize(0);
    bool good = true;
    const auto add = [&](std::uint64_t order, const Request* request, const MatchedMessage* message,
                         const PostedReceive& posted) {
      if (posted.count != nullptr) posted.count->told = 0;
      good = good && list.push_back({order, request, message});
    };
    for (const Request* request : requests_in_order())
      add(request->order, request, nullptr, request->posted);
    matched_messages.for_each([&](std::uint64_t, const MatchedMessage& message) {
      add(message.posted.order, nullptr, &message, message.posted);
    });
    if (!good) return;
    std::sort(list.begin(), list.end(),
              [](const Open& a, const Open& b) { return a.order < b.order; });
    for (const Open& one : list) {
      if (one.message != nullptr) {
        matched(*one.message);
      } else {
        open_request(*one.request);
      }
    }
  }
  void open_request(const Request& request) {
    if (request.send_half != kAbsent && request.active && !request.reported)
      open(request, OpenRequest::kSend, request.send_half);
    open(request, kind_of(request), request.id);
  }
  void matched(const MatchedMessage& message) {
    RequestState state = begin(OpenRequest::kReceive, message.id, message.peer, message.tag);
    state.ordinal = overtakers(*message.comm, message.peer, message.tag, message.posted);
    if (!define_comm(r, *message.comm)) return;
    state.cid = static_cast<CommId>(message.comm->id);
    write(state);
  }
  static Count64 overtakers(Comm& comm, std::uint32_t peer, std::uint32_t tag,
                            const PostedReceive& posted) {
    const std::uint32_t older = posted.count != nullptr ? posted.count->told++ : 0;
    return Count64{overtaken(comm, peer, tag, posted, older)};
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
  RequestState begin(OpenRequest kind, std::uint32_t request, std::uint32_t peer,
                     std::uint32_t tag) const {
    RequestState state{};
    state.lid = r.lid;
    state.time = time;
    state.kind = static_cast<Byte>(kind);
    state.reqid = static_cast<RequestId>(request);
    state.cid = absent<CommId>();
    state.wid = absent<WindowId>();
    state.plid = static_cast<PeerId>(peer);
    state.tag = static_cast<Tag>(tag);
    return state;
  }
  void open(const Request& request, OpenRequest kind, std::uint32_t number) {
    RequestState state = begin(kind, number, request.peer, request.tag);
    unsigned flags = request.reported ? kRequestReported : 0u;
    if (kind == OpenRequest::kReceive) {
      flags |=
          (request.peer == kAbsent ? kAnySource : 0u) | (request.tag == kAbsent ? kAnyTag : 0u);
      if (!request.reported)
        state.ordinal = overtakers(*request.comm, request.peer, request.tag, request.posted);
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
