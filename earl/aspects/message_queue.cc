// Sends, posted receives, receives, and the calls that wait for them. The rules for receives that
// cannot be paired at once are in message_pairing.cc, those for gaps in the recording in
// message_gaps.cc.
#include "earl/aspects/message_queue.h"

#include <algorithm>

namespace kojak::earl {

MessageQueue::MessageQueue(std::uint32_t processes, bool native, Findings& findings)
    : findings_(findings),
      native_(native),
      requests_of_(processes),
      to_(processes),
      from_(processes),
      wildcards_(processes),
      segments_(processes, native),
      off_(processes) {
  calls_.take();  // number 0 means none
}

// ---- calls and their messages

// The PendingCall of a call; a single message moves into it.
std::uint32_t MessageQueue::pending_call(std::uint32_t& call_ref) {
  if (call_ref != kNoCall && (call_ref & kSingle) == 0) return call_ref;
  const std::uint32_t single = call_ref;
  call_ref = calls_.take();
  PendingCall& call = calls_[call_ref];
  call.received.clear();
  call.sent.clear();
  call.open = 0;
  call.left = false;
  if ((single & kReceived) != 0) {
    call.received.push_back(single & kIndex);
  } else if ((single & kSent) != 0) {
    Slot& slot = slots_[single & kIndex];
    call.sent.push_back(single & kIndex);
    slot.sender_ref = call_ref;
    if (!slot.judged) ++call.open;
  }
  return call_ref;
}

// The call has completed a send. It takes over a reference of the slot.
void MessageQueue::note_sent(std::uint32_t si, std::uint32_t& call_ref) {
  Slot& slot = slots_[si];
  if (call_ref == kNoCall) {
    slot.sender_ref = call_ref = kSent | si;
    slot.left = false;
    return;
  }
  PendingCall& call = calls_[pending_call(call_ref)];
  call.sent.push_back(si);
  slot.sender_ref = call_ref;
  if (!slot.judged) ++call.open;
}

// The call has completed a receive whose message is known.
void MessageQueue::note_received(std::uint32_t si, std::uint32_t& call_ref) {
  ++slots_[si].refs;
  if (call_ref == kNoCall) {
    call_ref = kReceived | si;
  } else {
    calls_[pending_call(call_ref)].received.push_back(si);
  }
}

// The call has completed a receive whose message is not known yet.
std::uint32_t MessageQueue::expect(std::uint32_t& call_ref, std::uint32_t& place) {
  PendingCall& call = calls_[pending_call(call_ref)];
  place = static_cast<std::uint32_t>(call.received.size());
  call.received.push_back(kNone);
  ++call.open;
  return call_ref;
}

void MessageQueue::member_final(std::uint32_t call_ref) {
  PendingCall& call = calls_[call_ref];
  if (--call.open == 0 && call.left) ready_.push_back(call_ref);
}

// A sent message has been received by a call that has been left, or never will be.
void MessageQueue::sent_final(std::uint32_t si) {
  const Slot& slot = slots_[si];
  if ((slot.sender_ref & kSingle) != 0) {
    if (slot.left) ready_.push_back(slot.sender_ref);
  } else if (slot.sender_ref != kNoCall) {
    member_final(slot.sender_ref);
  }
}

// True if all its messages are final.
bool MessageQueue::leave(std::uint32_t call_ref, const Call& call) {
  PendingCall& pending = calls_[call_ref];
  for (const std::uint32_t si : pending.received) {
    if (si != kNone) judge(slots_[si]);
  }
  for (const std::uint32_t si : pending.received) {
    if (si != kNone) note_judged(si);
  }
  if (pending.open == 0) return true;
  pending.call = call;
  pending.left = true;
  return false;
}

MessageCall MessageQueue::gather(std::uint32_t call_ref, const Call& call) {
  const PendingCall& pending = calls_[call_ref];
  received_out_.clear();
  sent_out_.clear();
  for (const std::uint32_t si : pending.received) {
    if (si != kNone) received_out_.push_back(&slots_[si]);
  }
  for (const std::uint32_t si : pending.sent) {
    if (slots_[si].posted()) sent_out_.push_back(&slots_[si]);
  }
  return {&call, received_out_, sent_out_};
}

void MessageQueue::release(std::uint32_t call_ref) {
  const PendingCall& pending = calls_[call_ref];
  for (const std::uint32_t si : pending.received) {
    if (si != kNone) unref(si);
  }
  for (const std::uint32_t si : pending.sent) unref(si);
  calls_.give_back(call_ref);
}

// ---- sends

void MessageQueue::send(const SendEvent& e, bool blocking, std::uint32_t& call_ref) {
  const ProcessId source = e.call->process;
  forget_taken();
  off_[raw(source)] = false;
  const std::uint32_t ci = channels_.get(detail::channel_key(e.com, e.tag, source, e.destination));
  Channel& c = channels_[ci];
  if (!lines_.empty()) [[unlikely]]
    count_sent_anew(c);
  const std::uint32_t si = slots_.take();
  Slot& slot = slots_[si];
  slot.com = e.com;
  slot.tag = e.tag;
  slot.source = source;
  slot.destination = e.destination;
  slot.bytes = e.bytes;
  slot.send_call = *e.call;
  slot.send_time = e.time;
  slot.send_pos = e.pos;
  slot.send_request = e.request;
  slot.channel = ci;
  slot.next = kNone;
  slot.sender_ref = kNoCall;
  slot.recv_pos = kNoEvent;
  slot.posting_known = slot.older_to_receiver_pending = slot.older_of_sender_pending = false;
  slot.refs = 1;
  slot.received = slot.judged = false;
  slot.clock_violation = false;
  segments_.begin(c.sent, source);
  slot.ordinal = c.sent++;
  if (!probes_.empty()) [[unlikely]]
    serve_probes(slot, c.key);
  if (c.head == kNone) {
    c.head = si;
  } else {
    slots_[c.tail].next = si;
  }
  c.tail = si;
  ++in_flight_;
  if (tells_older()) [[likely]] {
    to_[raw(e.destination)].append(e.pos, si, alive());
    from_[raw(source)].append(e.pos, si, alive());
  }
  if (!is_absent(e.request)) {
    detail::RequestTable& table = requests_of_[raw(source)];
    if (table.find(raw(e.request)) == kNone) {
      if (requests_.live() >= purge_requests_at_) [[unlikely]]
        purge_requests();
      const std::uint32_t ri = requests_.take();
      Request& request = requests_[ri];
      request.id = e.request;
      request.process = source;
      request.send = true;
      request.pending = false;
      request.slot = si;
      ++slot.refs;
      table.insert(raw(e.request), ri);
    }
  } else if (blocking) {
    ++slot.refs;
    note_sent(si, call_ref);
  }
  if (c.ahead != kNone) [[unlikely]]
    serve_ahead(c);
  // The receiver, whose clock may be behind, has said that it took this one while it was not
  // recorded.
  if (native_ && c.sent <= c.recvd && same_numbers(c)) [[unlikely]]
    drop_before(c, first_wanted(c));
}

void MessageQueue::send_complete(const OpenCall& call, std::uint64_t pos, RequestId id,
                                 std::uint32_t& call_ref) {
  const std::uint32_t ri = find_request(call.process, id);
  if (ri == kNone || !requests_[ri].send) {
    if (unseen_sends_.erase(key_of(call.process, id)) == 0)
      findings_.add(Finding::kUnknownRequest, pos, call.loc);
    return;
  }
  const std::uint32_t si = requests_[ri].slot;
  close_request(ri);
  note_sent(si, call_ref);  // takes over the request's reference
}

// ---- receives

void MessageQueue::post(const OpenCall& call, std::uint64_t pos, RequestId id, ProcessId source,
                        CommId com, Tag tag) {
  detail::RequestTable& table = requests_of_[raw(call.process)];
  off_[raw(call.process)] = false;
  if (table.find(raw(id)) != kNone) return;  // Imrecv of what was matched before
  const std::uint32_t ri = requests_.take();
  Request& r = requests_[ri];
  r.id = id;
  r.process = call.process;
  r.send = false;
  r.slot = kNone;
  r.channel = kNone;
  r.call = call;
  r.order = pos;
  r.com = com;
  r.source = source;
  r.tag = tag;
  r.pending = true;
  r.overtaken = 0;
  table.insert(raw(id), ri);
  if (is_absent(source) || is_absent(tag)) ++wildcard_count(r);
  r.channel = channels_.get(detail::channel_key(com, tag, source, call.process));
  Channel& c = channels_[r.channel];
  r.next = kNone;
  r.previous = c.last_post;
  if (c.last_post == kNone) {
    c.posts = ri;
  } else {
    requests_[c.last_post].next = ri;
  }
  c.last_post = ri;
}

void MessageQueue::reopen(const OpenCall& call, std::uint64_t pos, RequestId id, ProcessId source,
                          CommId com, Tag tag, std::uint64_t overtaken) {
  OpenCall posted = call;
  if (const std::uint32_t ri = find_request(call.process, id); ri != kNone) {
    if (requests_[ri].send || requests_[ri].pending) return;
    posted = requests_[ri].call;  // before the gap
    close_request(ri);
  }
  post(posted, pos, id, source, com, tag);
  requests_[find_request(call.process, id)].overtaken = overtaken;
}

// The receive takes no message any more, or has taken it.
void MessageQueue::unpost(std::uint32_t ri) {
  Request& r = requests_[ri];
  if (!r.pending) return;
  r.pending = false;
  if (is_absent(r.source) || is_absent(r.tag)) --wildcard_count(r);
  Channel& c = channels_[r.channel];
  (r.previous == kNone ? c.posts : requests_[r.previous].next) = r.next;
  (r.next == kNone ? c.last_post : requests_[r.next].previous) = r.previous;
  if (!c.blocked.empty() && r.previous == kNone) [[unlikely]]
    release_blocked(r.channel);
  r.channel = kNone;
}

void MessageQueue::close_request(std::uint32_t ri) {
  requests_of_[raw(requests_[ri].process)].erase(raw(requests_[ri].id));
  requests_.give_back(ri);
}

void MessageQueue::fill(ReceiveSide& side, const RecvEvent& e) const {
  side.recv_time = e.time;
  side.recv_pos = e.pos;
  side.recv_request = e.request;
  side.recv_loc = e.call->loc;
  side.recv_cnode = e.call->cnode;
  side.recv_call_enter = e.call->enter;
}

void MessageQueue::receive(const RecvEvent& e, bool posts, std::uint32_t& call_ref) {
  const ProcessId process = e.call->process;
  forget_taken();
  off_[raw(process)] = false;
  const detail::Key128 key = detail::channel_key(e.com, e.tag, e.source, process);
  std::uint32_t ci = kNone;
  const std::uint32_t ri = is_absent(e.request) ? kNone : find_request(process, e.request);
  const bool requested = ri != kNone && !requests_[ri].send;
  std::uint64_t order = e.pos, overtaken = 0;
  if (requested) {
    const Request& r = requests_[ri];
    order = r.order;
    overtaken = r.overtaken;
    if (r.channel != kNone && channels_[r.channel].key == key) ci = r.channel;
    unpost(ri);  // held ones may have become final
  } else if (posts) {
    order = e.call->enter_pos;
  } else {
    findings_.add(is_absent(e.request) ? Finding::kNoRequests : Finding::kUnknownRequest, e.pos,
                  e.call->loc);
  }
  if (ci == kNone) ci = channels_.get(key);
  const auto fill_post = [&](ReceiveSide& side) {
    fill(side, e);
    side.posting_known = requested || posts;
    if (requested) {
      side.post_call = requests_[ri].call;
    } else if (posts) {
      side.post_call = *e.call;
    } else {
      side.post_call = {};
    }
  };
  Channel& c = channels_[ci];
  segments_.begin(c.recvd, process);
  if (!lines_.empty()) [[unlikely]]
    count_recvd_anew(c);
  if (c.held.empty() && c.head != kNone && slots_[c.head].ordinal == c.recvd && overtaken == 0 &&
      same_numbers(c) && blocker(ci, order) == kNone) [[likely]] {
    const std::uint32_t si = c.head;
    fill_post(slots_[si]);
    ++c.recvd;
    note_received(si, call_ref);
    take(c, e.pos);
  } else {
    Held side;
    fill_post(side);
    side.order = order;
    side.overtaken = overtaken;
    side.call = expect(call_ref, side.place);
    if (c.held.empty() && blocker(ci, order) == kNone) {
      settle(ci, side);
    } else {
      hold(ci, side);
    }
  }
  if (requested) close_request(ri);
  if (!released_.empty() || !to_unwatch_.empty()) [[unlikely]]
    settle_released();
}

// The channel's first message has been received; its receive side is filled in.
void MessageQueue::take(Channel& c, std::uint64_t recv_pos) {
  const std::uint32_t si = c.head;
  Slot& slot = slots_[si];
  c.head = slot.next;
  --in_flight_;
  slot.received = true;
  if (tells_older()) [[likely]] {
    to_[raw(slot.destination)].remove(slot.send_pos, recv_pos);
    from_[raw(slot.source)].remove(slot.send_pos, recv_pos);
  } else {
    log_departure(slot);
  }
  unref(si);  // it has left the channel
}

}  // namespace kojak::earl
