// State aspect: the message queue, posted receives, and which call waited for which messages.
// messages.h says what the pairing rule is and what is handed out.
//
// Feed it the records in file order; leave() at the exit of every call that took part (its
// reference is not 0), finish() once at the end. Not thread-safe. Faults are counted. Source:
// EARL spec, sendptr.
#pragma once

#include <vector>

#include "earl/detail/flat_index.h"
#include "earl/detail/message_line.h"
#include "earl/detail/pool.h"
#include "earl/detail/request_table.h"
#include "earl/findings.h"
#include "earl/state/messages.h"

namespace kojak::earl {

class MessageQueue {
 public:
  // native: request ids and MSG_STATE are there; else ordinals restart at each pause.
  MessageQueue(std::uint32_t processes, bool native, Findings& findings);

  // A SEND. `call_ref` belongs to the region instance it lies in (0 at first). `blocking`: that
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

  // The call that `call_ref` belongs to has been left: f(const MessageCall&) for every call whose
  // messages have all become final, this one among them or not.
  template <class F>
  void leave(std::uint32_t call_ref, const Call& call, F&& f) {
    if ((call_ref & kSingle) != 0) {
      leave_single(call_ref, call, f);
    } else if (leave(call_ref, call)) {
      deliver(call_ref, call, f);
    }
    if (!ready_.empty()) drain(f);
  }
  // f(const MessageCall&) for calls that became final otherwise (after resume(), pause() ...).
  template <class F>
  void drain(F&& f) {
    while (!ready_.empty()) {
      const std::uint32_t ref = ready_.back();
      ready_.pop_back();
      if ((ref & kSingle) != 0) {
        deliver_sent(ref & kIndex, slots_[ref & kIndex].left_call, f);
      } else {
        deliver(ref, calls_[ref].call, f);
      }
    }
  }
  // Makes ready what stays incomplete, and counts it; drain() then delivers it.
  void finish();

  std::size_t in_flight() const { return in_flight_; }
  std::size_t open_requests() const { return requests_.live(); }

 private:
  // A call reference is the number of a PendingCall, or, for a call with a single message, that
  // message's slot with one of these bits.
  static constexpr std::uint32_t kSent = 1u << 31, kReceived = 1u << 30;
  static constexpr std::uint32_t kSingle = kSent | kReceived, kIndex = kReceived - 1;
  static constexpr std::uint32_t kNone = 0;  // numbers of PendingCalls start at 1

  struct Slot : Message {  // a message from its SEND to the delivery of its calls
    std::uint32_t channel = 0;
    std::uint32_t next = detail::kNone;  // in the channel
    std::uint32_t sender_ref = kNone;    // the call that completed the send
    std::uint8_t refs = 0;               // in the channel, request open, send call, receive call
    bool received = false;               // its RECV has been read
    bool left = false;                   // single: left_call is there
    std::uint64_t ordinal = 0;
    Call left_call;
  };
  struct PendingCall {
    Call call;
    std::vector<std::uint32_t> received, sent;  // slots; detail::kNone: not final (yet)
    std::uint32_t open = 0;                     // messages that are not final
    bool left = false;
  };
  struct Request {
    RequestId id{};
    ProcessId process{};
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
    std::uint32_t call = kNone;
    std::uint32_t place = 0;  // in the call's received list
    std::uint32_t next = detail::kNone;
  };
  struct Channel {
    detail::Key128 key;
    std::uint32_t head = detail::kNone, tail = detail::kNone;        // sends, slots
    std::uint32_t posts = detail::kNone, last_post = detail::kNone;  // posted exactly here
    std::uint32_t held = detail::kNone, last_held = detail::kNone;   // completed, not final
    std::uint32_t ahead = detail::kNone;  // final, the SEND has not been read yet
    std::uint64_t sent = 0, recvd = 0;    // ordinals of the next ones
    ProcessId source() const { return static_cast<ProcessId>(key.b >> 32); }
    ProcessId destination() const { return static_cast<ProcessId>(key.b & 0xFFFFFFFFu); }
  };

  static detail::Key128 channel_key(CommId com, Tag tag, ProcessId source, ProcessId destination) {
    return {std::uint64_t{raw(com)} << 32 | raw(tag),
            std::uint64_t{raw(source)} << 32 | raw(destination)};
  }
  std::uint32_t find_request(ProcessId process, RequestId id) const {
    return requests_of_[raw(process)].find(raw(id));
  }
  std::uint32_t channel(const detail::Key128& key) {
    const std::uint32_t found = channel_index_.find(key);
    return found != detail::kNone ? found : add_channel(key);
  }
  std::uint32_t add_channel(const detail::Key128& key);
  // The ordinal of a classic trace begins anew with each recording segment.
  void segment(std::uint64_t& ordinal, ProcessId process) const {
    const std::uint64_t base = std::uint64_t{segments_[raw(process)]} << 40;
    if (ordinal < base) ordinal = base;
  }
  auto alive() const {
    return [this](std::uint32_t slot, std::uint64_t pos) {
      return slots_[slot].send_pos == pos && !slots_[slot].received;
    };
  }
  // Fills in what was older and open when the call of the receive was left: now, or at `at`.
  void judge(Slot& s) {
    s.older_to_receiver_pending = to_[raw(s.destination)].older_pending(s.send_pos, alive());
    s.older_of_sender_pending = from_[raw(s.source)].older_pending(s.send_pos, alive());
  }
  void judge_past(Slot& s, std::uint64_t at) {
    s.older_to_receiver_pending =
        to_[raw(s.destination)].older_was_pending(s.send_pos, at, alive());
    s.older_of_sender_pending = from_[raw(s.source)].older_was_pending(s.send_pos, at, alive());
  }

  // calls and their messages
  std::uint32_t pending_call(std::uint32_t& call_ref);
  void note_sent(std::uint32_t slot, std::uint32_t& call_ref);
  void note_received(std::uint32_t slot, std::uint32_t& call_ref);
  std::uint32_t expect(std::uint32_t& call_ref, std::uint32_t& place);
  void member_final(std::uint32_t call_ref);
  void sent_final(std::uint32_t slot);
  template <class F>
  void leave_single(std::uint32_t call_ref, const Call& call, F&& f) {
    const std::uint32_t si = call_ref & kIndex;
    Slot& slot = slots_[si];
    if ((call_ref & kReceived) != 0) {
      judge(slot);
      const Message* const one = &slot;
      f(MessageCall{&call, {&one, 1}, {}});
      unref(si);
    } else if (slot.received) {
      deliver_sent(si, call, f);
    } else {
      slot.left_call = call;
      slot.left = true;
    }
  }
  template <class F>
  void deliver_sent(std::uint32_t si, const Call& call, F&& f) {
    const Message* const one = &slots_[si];
    if (one->recv_pos != kNoEvent) f(MessageCall{&call, {}, {&one, 1}});
    unref(si);
  }
  template <class F>
  void deliver(std::uint32_t call_ref, const Call& call, F&& f) {
    const MessageCall messages = gather(call_ref, call);
    if (!messages.received.empty() || !messages.sent.empty()) f(messages);
    release(call_ref);
  }
  bool leave(std::uint32_t call_ref, const Call& call);
  MessageCall gather(std::uint32_t call_ref, const Call& call);
  void release(std::uint32_t call_ref);
  void unref(std::uint32_t i) {
    Slot& slot = slots_[i];
    if (--slot.refs == 0) {
      slot.send_pos = kNoEvent;
      slots_.give_back(i);
    }
  }

  // pairing
  void fill(ReceiveSide& side, const RecvEvent& event) const;
  bool blocked(const Channel& c, std::uint64_t order) const {
    if (c.posts != detail::kNone && requests_[c.posts].order < order) return true;
    const std::vector<std::uint32_t>& list = wildcards_[raw(c.destination())];
    return !list.empty() && blocked_by_wildcard(c, order);
  }
  bool blocked_by_wildcard(const Channel& c, std::uint64_t order) const;
  void unpost(std::uint32_t request);
  void close_request(std::uint32_t request);
  void take(Channel& c, std::uint64_t recv_pos);
  void pair(Channel& c, const Held& side, bool violation);
  void hold(std::uint32_t channel, const Held& side);
  void wait_for_send(Channel& c, const Held& side);
  void settle(std::uint32_t channel, Held& side);
  void settle_held(std::uint32_t channel);
  void settle_process(ProcessId process);
  void settle_everything();
  void judge_settled();
  void serve_ahead(Channel& c);
  void drop_before(Channel& c, std::uint64_t ordinal);
  void watch(const Channel& c);
  void purge_channels();
  void purge_requests();

  Findings& findings_;
  bool native_;
  detail::Pool<Slot> slots_;
  detail::Pool<PendingCall> calls_;
  detail::Pool<Request> requests_;
  detail::Pool<Held> held_;
  detail::Pool<Channel> channels_;
  detail::FlatIndex<detail::Key128> channel_index_;
  std::vector<detail::RequestTable> requests_of_;      // by process
  std::vector<detail::MessageLine> to_, from_;         // by process
  std::vector<std::vector<std::uint32_t>> wildcards_;  // by process: pending Requests
  std::vector<std::vector<std::uint32_t>> held_in_;    // by process: channels with held receives
  std::vector<std::uint32_t> segments_;                // by process
  std::vector<std::uint32_t> ready_;
  struct Settled {
    std::uint32_t slot;
    std::uint64_t left_at;
  };
  std::vector<Settled> to_judge_;  // paired after their call was left
  std::vector<detail::Key128> to_unwatch_;
  std::vector<const Message*> received_out_, sent_out_;
  std::size_t in_flight_ = 0;
  std::size_t purge_at_ = 1u << 17;           // channels
  std::size_t purge_requests_at_ = 1u << 17;  // open requests
  std::size_t held_count_ = 0;
};

}  // namespace kojak::earl
