// State aspect: the message queue: SENDs that have not been received yet, first in first out for
// each (communicator, source, destination, tag), as numbers of events.
//
// Which message belongs to which receive, and when that is final, is what the analysis says: while
// streaming from its queue (earl/index/message_feed.h), in random access from what that told the
// index. A receive that completes while an earlier posted one could still have taken a message of
// its queue is held; its SEND stays in the queue until the pair is final. Feed it every event
// (filled in, see region_stacks.h) in file order, then finish(). Memory: messages in flight, and
// while streaming pending requests and held receives. Source:
// docs/earl.md.
#pragma once

#include <memory>
#include <vector>

#include "earl/detail/flat_index.h"
#include "earl/index/interval_column.h"
#include "earl/index/message_feed.h"

namespace kojak::earl::sequence {

struct MessagePair {
  std::uint64_t send, recv;
};

// What the index knows of messages, by number of the event: of a RECV its SEND, of a SEND the event
// with which it left its queue (kNone: none).
struct MessageColumns {
  struct Late {  // a RECV whose pair became final later
    std::uint32_t final, recv;
  };
  std::span<const std::uint32_t> link;
  std::span<const Late> late;  // ascending
};

class MessageQueues {
 public:
  // Pairs messages itself.
  explicit MessageQueues(const Trace& trace);
  // Follows the index.
  MessageQueues(const Trace& trace, const MessageColumns& columns);

  void apply(const Event& event) {
    now_ = event.pos;
    if (MessageFeed::concerns(*trace_, event)) {
      change(event);
    } else if (changed_) [[unlikely]] {
      forget();
    }
  }
  // After the last event of a stream: what is held becomes final in order of posting.
  void finish();

  // Pairs that became final with the latest event, by their SENDs; of held ones the RECV lies
  // further back.
  std::span<const MessagePair> paired() const { return paired_; }
  // While streaming: what left its queue with the latest event, and the event that posted the
  // request of the latest RECV or SEND_COMPLETE.
  const MessageFeed& feed() const { return *feed_; }
  std::size_t in_flight() const { return sends().size(); }
  // Numbers of the SENDs in one queue, oldest first.
  std::vector<std::uint64_t> queue(CommId com, ProcessId source, ProcessId destination,
                                   Tag tag) const;
  // All of them, in file order.
  std::vector<std::uint64_t> sends() const;

  // From the SEND to the event with which it leaves its queue. What is there after an event can be
  // applied as it was, if this follows the index.
  // end_record() finishes.
  void record(IntervalColumn* log) { log_ = log; }
  void end_record(std::uint64_t end);

 private:
  struct Sent {
    std::uint64_t pos = 0;
    CommId com{};
    Tag tag{};
    ProcessId source{}, destination{};
  };
  bool streams() const { return feed_ != nullptr; }
  void send(const Event& event);
  void depart(std::uint64_t send, std::uint64_t recv);
  void change(const Event& event);
  void forget();
  void follow(const Event& event);
  void sort_pairs();
  template <class Pred>
  std::vector<std::uint64_t> select(Pred&& pred) const;

  const Trace* trace_;
  std::unique_ptr<MessageFeed> feed_;  // while streaming
  MessageColumns columns_;             // else
  IntervalColumn* log_ = nullptr;
  Pool<Sent> sent_;
  detail::FlatIndex<detail::Key64> under_way_;  // by number of the SEND
  std::vector<MessagePair> paired_;
  std::uint64_t now_ = 0;  // the latest event
  bool changed_ = false;   // what the latest event did has to be forgotten
};

}  // namespace kojak::earl::sequence
