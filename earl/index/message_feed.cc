#include "earl/index/message_feed.h"

#include "earl/detail/replay_core.h"
#include "epilog/format/field_values.h"

namespace kojak::earl {
namespace {

// REQUEST_STATE of a receive that has not completed.
bool opens_receive(const Event& e) {
  return e.completes == static_cast<std::uint8_t>(OpenRequest::kReceive) &&
         (e.code & kRequestReported) == 0 && !is_absent(e.com);
}

// Absent if the trace has no thread 0 of it.
ProcessId recorded_process(const Trace& trace, PeerId peer) {
  const std::uint32_t i = trace.index(static_cast<LocationId>(raw(peer)));
  if (i == kAbsent || trace.main_index(trace.process(i)) == kAbsent) return absent<ProcessId>();
  return trace.process(i);
}

}  // namespace

MessageFeed::MessageFeed(const Trace& trace)
    : trace_(trace),
      queue_(trace.process_count(), trace.native(), faults_),
      process_pauses_(trace.process_count()),
      pauses_(trace.location_count()) {
  queue_.log_departures(&departed_);
}

bool MessageFeed::sends(const Trace& trace, const Event& e) {
  return is_send(e.type) && trace.index(e.loc) != kAbsent &&
         !is_absent(recorded_process(trace, e.peer));
}

void MessageFeed::leave(std::uint32_t call_ref, const OpenCall& call, std::uint64_t pos) {
  if (call_ref == 0) return;
  Call left;
  static_cast<OpenCall&>(left) = call;
  left.exit_pos = pos;
  queue_.leave(call_ref, left, [](const MessageCall&) {});
}

void MessageFeed::change(const Event& e) {
  const std::uint32_t i = trace_.index(e.loc);
  if (i == kAbsent) [[unlikely]]
    return;
  OpenCall call;
  call.loc = e.loc;
  call.index = i;
  call.process = trace_.process(i);
  call.enter_pos = e.enterptr;
  std::uint32_t call_ref = 0;
  switch (e.type) {
    case EventType::kMpiSend:
      if (const ProcessId to = recorded_process(trace_, e.peer); !is_absent(to)) {
        queue_.send({&call, e.pos, e.time, to, e.com, e.tag, e.sent, e.request}, false, call_ref);
      }
      break;
    case EventType::kMpiRecv:
      receive(e, call);
      break;
    case EventType::kMpiRecvRequest: {
      const std::uint32_t from = trace_.index(static_cast<LocationId>(raw(e.peer)));
      if (!trace_.native() || (!is_absent(e.peer) && from == kAbsent)) break;
      queue_.post(call, e.pos, e.request,
                  is_absent(e.peer) ? absent<ProcessId>() : trace_.process(from), e.com, e.tag);
      break;
    }
    case EventType::kRequestState: {
      if (!opens_receive(e)) break;
      const bool any = (e.code & kAnySource) != 0;
      const std::uint32_t from = trace_.index(static_cast<LocationId>(raw(e.peer)));
      if (!any && (is_absent(e.peer) || from == kAbsent)) break;
      queue_.reopen(call, e.pos, e.request, any ? absent<ProcessId>() : trace_.process(from), e.com,
                    e.tag, e.count[0]);
      break;
    }
    case EventType::kMpiSendComplete:
      if (queue_.is_send(call.process, e.request)) {
        requestptr_ = queue_.posted(call.process, e.request);
        queue_.send_complete(call, e.pos, e.request, call_ref);
        leave(call_ref, call, e.pos);
      }
      break;
    case EventType::kMpiCancelled:
      queue_.cancelled(call, e.pos, e.request);
      break;
    case EventType::kMpiRequestFreed:
      queue_.freed(call, e.pos, e.request);
      break;
    case EventType::kMsgState: {
      const std::uint32_t peer = trace_.index(static_cast<LocationId>(raw(e.peer)));
      if (peer == kAbsent) break;
      queue_.resume(call.process, e.com, trace_.process(peer), e.tag, e.count[0], e.count[1],
                    e.pos);
      break;
    }
    case EventType::kMsgRestarted: {
      const std::uint32_t peer = trace_.index(static_cast<LocationId>(raw(e.peer)));
      if (peer == kAbsent) break;
      queue_.restart(call.process, e.com, trace_.process(peer), e.tag, e.count[0], e.count[1]);
      break;
    }
    default:  // each thread of a process writes its own LOG_OFF: the process pauses once
      if (++pauses_[i] > process_pauses_[raw(call.process)]) {
        ++process_pauses_[raw(call.process)];
        queue_.pause(call.process);
      }
  }
  queue_.drain([](const MessageCall&) {});
}

void MessageFeed::receive(const Event& e, const OpenCall& call) {
  if (!is_absent(e.request) && queue_.is_receive(call.process, e.request)) {
    requestptr_ = queue_.posted(call.process, e.request);
  }
  const ProcessId source = recorded_process(trace_, e.peer);
  if (is_absent(source)) return queue_.forget(call.process, e.request);
  const MpiRole role = e.enterptr == kNoEvent ? MpiRole::kOther : trace_.definitions().role(e.reg);
  std::uint32_t call_ref = 0;
  queue_.receive({&call, e.pos, e.time, source, e.com, e.tag, e.recvd, e.has_length, e.request},
                 e.enterptr != kNoEvent && detail::posting_receive(role), call_ref);
  leave(call_ref, call, e.pos);
}

void MessageFeed::finish() {
  departed_.clear();
  requestptr_ = kNoEvent;
  queue_.finish();
  queue_.drain([](const MessageCall&) {});
  // What nobody received is still under way.
  std::erase_if(departed_, [](const MessageQueue::Departure& d) { return d.recv == kNoEvent; });
}

}  // namespace kojak::earl
