// State aspect: the message queue, posted receives, and which call waited for which messages.
// messages.h says what the pairing rule is and what is handed out.
//
// Feed it the records in file order; leave() at the exit of every call that took part (its
// call reference is not kNone), then drain() delivers what has become final. finish() once at the
// end. Not thread-safe. Faults are counted. Source: EARL spec, sendptr.
#pragma once

#include <vector>

#include "earl/detail/flat_index.h"
#include "earl/detail/pool.h"
#include "earl/findings.h"
#include "earl/state/messages.h"

namespace kojak::earl {

class MessageQueue {
 public:
  // native: request ids and MSG_STATE are there; else ordinals restart at each pause.
  MessageQueue(std::uint32_t processes, bool native, Findings& findings);

  // A SEND. `call_ref` belongs to the region instance it lies in (kNone at first). `blocking`: that
  // call itself waits for the message (it has no request and is no Isend).
  void send(const SendEvent& event, bool blocking, std::uint32_t& call_ref);
  // MPI_RECV_REQUEST; absent source or tag: any.
  void post(const OpenCall& call, std::uint64_t pos, RequestId request, ProcessId source,
            CommId com, Tag tag);
  // A RECV. `posts`: the call itself posts what it receives (Recv, Sendrecv ...).
  void receive(const RecvEvent& event, bool posts, std::uint32_t& call_ref);
  void send_complete(const OpenCall& call, std::uint64_t pos, RequestId request,
                     std::uint32_t& call_ref);
  // A receive of a message whose sender is not in the trace.
  void forget(ProcessId process, RequestId request);
  void cancelled(const OpenCall& call, std::uint64_t pos, RequestId request);
  // MSG_STATE of `process`.
  void resume(ProcessId process, CommId com, ProcessId peer, Tag tag, std::uint64_t sent,
              std::uint64_t recvd, std::uint64_t pos);
  // Recording of the process was switched off.
  void pause(ProcessId process);

  // The call that `call_ref` belongs to has been left.
  void leave(std::uint32_t call_ref, const Call& call);
  // f(const MessageCall&) for every call whose messages have all become final.
  template <class F>
  void drain(F&& f) {
    while (!ready_.empty()) [[unlikely]] {
        const std::uint32_t ref = ready_.back();
        ready_.pop_back();
        f(gather(ref));
        release(ref);
      }
  }
  // Makes ready what stays incomplete, and counts it.
  void finish();

  std::size_t in_flight() const { return in_flight_; }

 private:
  struct Slot : Message {  // a message from its SEND to the delivery of its calls
    std::uint32_t channel = 0;
    std::uint32_t next = detail::kNone;  // in the channel
    std::uint32_t send_call_ref = detail::kNone;
    std::uint64_t ordinal = 0;
    std::uint8_t refs = 0;  // in the channel, request open, send call, receive call
    bool received = false;  // its RECV has been read
  };
  struct PendingCall {
    Call call;
    std::vector<std::uint32_t> received, sent;  // slots; kNone: not final (yet)
    std::uint32_t open = 0;                     // messages that are not final
    bool left = false;
  };
  struct Request {
    std::uint64_t key = 0;                                         // process and request id
    std::uint32_t slot = detail::kNone;                            // of a send
    std::uint32_t channel = detail::kNone;                         // of a receive without wildcards
    std::uint32_t previous = detail::kNone, next = detail::kNone;  // posted in the channel
    OpenCall call;                                                 // that posted the receive
    std::uint64_t order = 0;
    CommId com{};
    ProcessId source = absent<ProcessId>();
    Tag tag = absent<Tag>();
    bool send = false;
    bool pending = false;  // a receive that may still take a message
  };
  struct Held : ReceiveSide {  // a completed receive without its message
    std::uint64_t order = 0;
    std::uint64_t ordinal = 0;
    std::uint32_t call = detail::kNone;
    std::uint32_t place = 0;  // in the call's received list
    std::uint32_t next = detail::kNone;
  };
  struct Channel {
    detail::Key128 key;
    std::uint32_t head = detail::kNone, tail = detail::kNone;  // sends, slots
    std::uint32_t posts = detail::kNone,
                  last_post = detail::kNone;  // posted exactly here, Requests
    std::uint32_t held = detail::kNone;       // completed, not final, by order of posting
    std::uint32_t ahead = detail::kNone;      // final, the SEND has not been read yet
    std::uint64_t sent = 0, recvd = 0;        // ordinals of the next ones
    ProcessId source() const { return static_cast<ProcessId>(key.b >> 32); }
    ProcessId destination() const { return static_cast<ProcessId>(key.b & 0xFFFFFFFFu); }
  };
  // Messages of one receiver, or one sender, in order of their SENDs.
  struct Line {
    struct Entry {
      std::uint64_t pos;
      std::uint32_t slot;
    };
    struct Taken {
      std::uint64_t send_pos, recv_pos;
    };
    std::vector<Entry> entries;
    std::size_t head = 0;
    std::size_t live = 0;
    std::uint32_t watchers = 0;  // held receives that may ask about the past
    std::vector<Taken> taken;    // since there are watchers
  };

  static std::uint64_t request_key(ProcessId process, RequestId request) {
    return std::uint64_t{raw(process)} << 32 | raw(request);
  }
  std::uint32_t channel(CommId com, Tag tag, ProcessId source, ProcessId destination);
  std::uint32_t open_call(std::uint32_t& call_ref);
  // The ordinal of a classic trace begins anew with each recording segment.
  void segment(std::uint64_t& ordinal, ProcessId process) const {
    const std::uint64_t base = std::uint64_t{segments_[raw(process)]} << 40;
    if (ordinal < base) ordinal = base;
  }
  bool blocked(const Channel& c, std::uint64_t order) const;
  void unpost(std::uint32_t request);
  void close_request(std::uint32_t request);
  void settle(std::uint32_t channel, Held& side, bool was_held);
  void settle_held(std::uint32_t channel);
  void settle_process(ProcessId process);
  void drop_before(Channel& c, std::uint64_t ordinal);
  void pair(Channel& c, const Held& side, bool was_held, bool violation);
  std::uint32_t pop(Channel& c);
  void hold(std::uint32_t channel, const Held& side);
  void unwatch(const Channel& c);
  void append(Line& line, std::uint64_t pos, std::uint32_t slot);
  void remove(Line& line, std::uint64_t send_pos, std::uint64_t recv_pos);
  bool older_pending(Line& line, std::uint64_t send_pos, std::uint64_t at);
  bool alive(const Line::Entry& e) const {
    const Slot& slot = slots_[e.slot];
    return slot.send_pos == e.pos && !slot.received;
  }
  void judge(Slot& slot, std::uint64_t at);
  void member_final(std::uint32_t call_ref);
  void unref(std::uint32_t slot);
  void purge_channels();
  MessageCall gather(std::uint32_t call_ref);
  void release(std::uint32_t call_ref);

  Findings& findings_;
  bool native_;
  detail::Pool<Slot> slots_;
  detail::Pool<PendingCall> calls_;
  detail::Pool<Request> requests_;
  detail::Pool<Held> held_;
  detail::Pool<Channel> channels_;
  detail::FlatIndex<detail::Key128> channel_index_;
  detail::FlatIndex<detail::Key64> request_index_;
  std::vector<Line> to_, from_;                        // by process
  std::vector<std::vector<std::uint32_t>> wildcards_;  // by process: pending Requests
  std::vector<std::vector<std::uint32_t>> held_in_;    // by process: channels with held receives
  std::vector<std::uint32_t> segments_;                // by process
  std::vector<std::uint32_t> ready_;
  std::vector<const Message*> received_out_, sent_out_;
  std::size_t in_flight_ = 0;
  std::size_t purge_at_ = 1u << 17;
  std::size_t held_count_ = 0;
};

}  // namespace kojak::earl
