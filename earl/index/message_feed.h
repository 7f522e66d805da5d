// Feeds the analysis' message queue with flat events and tells which messages have left it.
//
// So streaming with states, random access and tools pair messages by the rule that the analysis
// has, and by its code. Give apply() every event (filled in, see region_stacks.h) in file order,
// then finish(). Faults of the trace are not counted again. Memory: what is open.
// Source: docs/earl.md.
#pragma once

#include <span>
#include <vector>

#include "earl/aspects/message_queue.h"
#include "earl/trace.h"

namespace kojak::earl {

class MessageFeed {
 public:
  explicit MessageFeed(const Trace& trace);
  MessageFeed(const MessageFeed&) = delete;
  MessageFeed& operator=(const MessageFeed&) = delete;

  // Whether the event is a SEND that enters a queue: its receiver is in the trace.
  static bool sends(const Trace& trace, const Event& e);
  // Whether an event does anything to messages; such that do not only end what departed() and
  // requestptr() tell of.
  KOJAK_INLINED static bool concerns(const Trace& trace, const Event& e) {
    if (is_flow(e.type)) return is_enter(e.type) && e.reg == trace.pausing_region();
    return is_p2p(e.type) || is_message_record(e.type);
  }
  void apply(const Event& e) {
    forget();
    if (concerns(trace_, e)) change(e);
  }
  void forget() {
    departed_.clear();
    requestptr_ = kNoEvent;
  }
  // After the last event: what is held becomes final in order of posting.
  void finish();

  // Messages that left their queues with the latest event, in the order in which they did. Of held
  // receives the RECV lies further back.
  std::span<const MessageQueue::Departure> departed() const { return departed_; }
  // The event that posted the request of the latest RECV or SEND_COMPLETE.
  std::uint64_t requestptr() const { return requestptr_; }

 private:
  KOJAK_INLINED static bool is_message_record(EventType t) {
    return t == EventType::kMpiRecvRequest || t == EventType::kMpiSendComplete ||
           t == EventType::kMpiCancelled || t == EventType::kMpiRequestFreed ||
           t == EventType::kMsgState || t == EventType::kMsgRestarted ||
           t == EventType::kRequestState;
  }
  void change(const Event& e);
  void receive(const Event& e, const OpenCall& call);
  // The event is a call of its own, which ends here.
  void leave(std::uint32_t call_ref, const OpenCall& call, std::uint64_t pos);

  const Trace& trace_;
  Findings faults_;  // that the analysis counts
  MessageQueue queue_;
  std::vector<MessageQueue::Departure> departed_;
  std::vector<std::uint32_t> process_pauses_, pauses_;  // by process, by location
  std::uint64_t requestptr_ = kNoEvent;
};

}  // namespace kojak::earl
