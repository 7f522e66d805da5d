// State aspect: the message queue: SENDs that have not been received yet, first in first out for
// each (communicator, source, destination, tag), as numbers of events.
//
// Pairing (sendptr): the k-th SEND of a queue belongs to the k-th *posted* receive that got its
// source and tag. A receive that completes while an earlier posted one could still have taken a
// message of its queue is held; its SEND stays in the queue until the pair is final. Classic traces
// have no requests: there the order is that of the RECVs. Feed it every event (filled in, see
// region_stacks.h) in file order, then finish().
// Memory: messages in flight, pending requests, held receives (at most kMaxHeld of these, and
// kMaxAhead receives that were read before their SENDs; the oldest are given up). Not thread-safe;
// nothing fails. Source: docs/earl.md. The streaming pass has an implementation of its own
// (earl/state/message_queue.h), which keeps calls instead of numbers; a test compares them.
#pragma once

#include <vector>

#include "earl/detail/channel_table.h"
#include "earl/detail/flat_index.h"
#include "earl/detail/pool.h"
#include "earl/sequence/blob.h"
#include "earl/sequence/fifo.h"
#include "earl/trace.h"

namespace kojak::earl::sequence {

struct MessagePair {
  std::uint64_t send, recv;
};

class MessageQueues {
 public:
  static constexpr std::size_t kMaxHeld = 1u << 16, kMaxAhead = 1u << 15;

  explicit MessageQueues(const Trace& trace);

  void apply(const Event& event) {
    if (!paired_.empty()) [[unlikely]]
      paired_.clear();
    requestptr_ = kNoEvent;
    if (concerns(event)) change(event);
  }
  // After the last event: what is held becomes final in order of posting.
  void finish();

  // Pairs that became final with the latest event; of held ones the RECV lies further back.
  std::span<const MessagePair> paired() const { return paired_; }
  // The event that posted the request of the latest RECV or SEND_COMPLETE.
  std::uint64_t requestptr() const { return requestptr_; }
  std::size_t in_flight() const { return in_flight_; }
  // Numbers of the SENDs in one queue, oldest first.
  std::vector<std::uint64_t> queue(CommId com, ProcessId source, ProcessId destination,
                                   Tag tag) const;
  // All of them, in file order.
  std::vector<std::uint64_t> sends() const;

  void save(BlobWriter& out) const;
  void load(BlobReader& in);

 private:
  struct Sent {
    std::uint64_t pos, ordinal;
  };
  struct Post {
    std::uint64_t order;
    std::uint32_t request;
  };
  // What waits, by the order in which its receive was posted; least first in a heap.
  struct Waiting {
    std::uint64_t order;
    std::uint64_t pos;  // held: the RECV, kNoEvent: its request was freed; blocked: the channel
  };
  struct Ahead {
    std::uint64_t pos, ordinal;
  };
  struct Channel {
    detail::Key128 key;
    Fifo<Sent> sends;
    Fifo<Post> posts;  // some of them no longer pending
    std::uint32_t pending = 0;
    std::vector<Waiting> held, blocked;
    Fifo<Ahead> ahead;
    std::uint64_t sent = 0, recvd = 0;
    std::uint64_t waits = kNoEvent;
    bool idle() const {
      return sends.empty() && pending == 0 && held.empty() && blocked.empty() && ahead.empty() &&
             sent == recvd;
    }
  };
  struct Request {
    detail::Key64 key;  // process and identifier
    std::uint64_t posted = kNoEvent;
    std::uint32_t channel = detail::kNone;  // receives: where it is posted
    bool send = false, pending = false;
  };
  struct Wildcards {
    std::uint32_t source = 0, tag = 0, both = 0;
  };

  static detail::Key64 request_key(ProcessId process, RequestId id) {
    return {std::uint64_t{raw(process)} << 32 | raw(id)};
  }
  bool concerns(const Event& e) const {
    return e.type == EventType::kMpiSend || e.type == EventType::kMpiRecv ||
           (raw(e.type) >= 132 && raw(e.type) <= 153) ||
           (is_enter(e.type) && e.reg == trace_->pausing_region());
  }
  void change(const Event& event);
  ProcessId process(LocationId location) const;
  std::uint32_t new_request(ProcessId process, RequestId id, std::uint64_t pos);
  void close_request(std::uint32_t request);
  void purge_requests();
  std::uint32_t& wildcards(const detail::Key128& key);

  void send(const Event& e, ProcessId process);
  void post(const Event& e, ProcessId process);
  void receive(const Event& e, ProcessId process);
  void cancel(const Event& e, ProcessId process);
  void freed(const Event& e, ProcessId process);
  void resume(const Event& e, ProcessId process);
  void pause(std::uint32_t index, ProcessId process);

  // Pairing; like the functions of the same names in earl/state/message_pairing.cc.
  void segment(std::uint64_t& ordinal, std::uint64_t process) const;
  std::uint64_t first_pending(Channel& c);
  std::uint32_t blocker(std::uint32_t channel, std::uint64_t order);
  void unpost(std::uint32_t request);
  void complete(std::uint32_t channel, std::uint64_t order, std::uint64_t pos);
  void hold(std::uint32_t channel, Waiting side);
  void block(std::uint32_t blocking, std::uint64_t order, std::uint32_t channel);
  void settle(std::uint32_t channel, std::uint64_t pos);
  void settle_held(std::uint32_t channel);
  void settle_released();
  void settle_everything();
  void wait_for_send(std::uint32_t channel, std::uint64_t pos, std::uint64_t ordinal);
  void serve_ahead(Channel& c);
  void drop_before(Channel& c, std::uint64_t ordinal);
  void take(Channel& c, std::uint64_t recv);

  const Trace* trace_;
  bool native_;
  detail::ChannelTable<Channel> channels_;
  detail::Pool<Request> requests_;
  detail::FlatIndex<detail::Key64> request_index_;
  std::vector<Wildcards> wildcards_;     // by process
  std::vector<std::uint32_t> segments_;  // by process: pauses so far
  std::vector<std::uint32_t> pauses_;    // by location
  std::vector<std::uint32_t> released_;  // channels whose held receives may be final
  Fifo<std::pair<std::uint32_t, std::uint64_t>> ahead_order_;  // channel, ordinal; some are gone
  std::vector<MessagePair> paired_;
  std::uint64_t requestptr_ = kNoEvent;
  std::size_t in_flight_ = 0, held_count_ = 0, ahead_count_ = 0;
  std::size_t purge_requests_at_ = 1u << 17;
};

}  // namespace kojak::earl::sequence
