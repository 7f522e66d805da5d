#include "earl/state/message_queue.h"

#include <algorithm>

namespace kojak::earl {
namespace {

using detail::kNone;

constexpr std::uint64_t kNever = ~std::uint64_t{0};
// Receives held at a time before they are paired in order of completion instead.
constexpr std::size_t kMaxHeld = 1u << 18;

}  // namespace

MessageQueue::MessageQueue(std::uint32_t processes, bool native, Findings& findings)
    : findings_(findings),
      native_(native),
      to_(processes),
      from_(processes),
      wildcards_(processes),
      held_in_(processes),
      segments_(processes) {}

std::uint32_t MessageQueue::channel(CommId com, Tag tag, ProcessId source, ProcessId destination) {
  const detail::Key128 key{std::uint64_t{raw(com)} << 32 | raw(tag),
                           std::uint64_t{raw(source)} << 32 | raw(destination)};
  const std::uint32_t found = channel_index_.find(key);
  if (found != kNone) [[likely]]
    return found;
  if (channels_.live() >= purge_at_) purge_channels();
  const std::uint32_t made = channels_.take();
  channels_[made] = Channel{};
  channels_[made].key = key;
  channel_index_.insert(key, made);
  return made;
}

// Forgets channels in which nothing is open, so that a program with ever new tags stays small.
// Their absolute counts go with them: both sides restart at 0 together.
void MessageQueue::purge_channels() {
  std::vector<std::uint32_t> idle;
  channel_index_.for_each([&](const detail::Key128&, std::uint32_t i) {
    const Channel& c = channels_[i];
    if (c.head == kNone && c.posts == kNone && c.held == kNone && c.ahead == kNone &&
        c.sent == c.recvd) {
      idle.push_back(i);
    }
  });
  for (const std::uint32_t i : idle) {
    channel_index_.erase(channels_[i].key);
    channels_.give_back(i);
  }
  purge_at_ = std::max(purge_at_, 2 * channels_.live());
}

std::uint32_t MessageQueue::open_call(std::uint32_t& call_ref) {
  if (call_ref == kNone) {
    call_ref = calls_.take();
    PendingCall& call = calls_[call_ref];
    call.received.clear();
    call.sent.clear();
    call.open = 0;
    call.left = false;
  }
  return call_ref;
}

void MessageQueue::unref(std::uint32_t i) {
  Slot& slot = slots_[i];
  if (--slot.refs == 0) {
    slot.send_pos = kNoEvent;
    slots_.give_back(i);
  }
}

void MessageQueue::send(const SendEvent& e, bool blocking, std::uint32_t& call_ref) {
  const ProcessId source = e.call->process;
  const std::uint32_t ci = channel(e.com, e.tag, source, e.destination);
  Channel& c = channels_[ci];
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
  slot.send_call_ref = kNone;
  slot.recv_pos = kNoEvent;
  slot.refs = 1;
  slot.received = false;
  slot.clock_violation = false;
  if (!native_) segment(c.sent, source);
  slot.ordinal = c.sent++;
  if (c.tail == kNone) {
    c.head = si;
  } else {
    slots_[c.tail].next = si;
  }
  c.tail = si;
  ++in_flight_;
  append(to_[raw(e.destination)], e.pos, si);
  append(from_[raw(source)], e.pos, si);
  if (!is_absent(e.request)) {
    const std::uint64_t key = request_key(source, e.request);
    if (request_index_.find({key}) == kNone) {
      const std::uint32_t ri = requests_.take();
      Request& request = requests_[ri];
      request.key = key;
      request.send = true;
      request.pending = false;
      request.slot = si;
      ++slot.refs;
      request_index_.insert({key}, ri);
    }
  } else if (blocking) {
    PendingCall& call = calls_[open_call(call_ref)];
    call.sent.push_back(si);
    ++call.open;
    slot.send_call_ref = call_ref;
    ++slot.refs;
  }
  if (c.ahead != kNone) [[unlikely]] {
    // Receives that were read before their SENDs, in order.
    while (c.ahead != kNone && held_[c.ahead].ordinal < c.sent) {
      const std::uint32_t hi = c.ahead;
      c.ahead = held_[hi].next;
      const Held side = held_[hi];
      held_.give_back(hi);
      drop_before(c, side.ordinal);
      if (c.head != kNone && slots_[c.head].ordinal == side.ordinal) {
        findings_.add(Finding::kReceiveBeforeSend, side.recv_pos, side.recv_loc);
        pair(c, side, true, true);
      } else {
        findings_.add(Finding::kUnmatchedReceive, side.recv_pos, side.recv_loc);
        member_final(side.call);
      }
      unwatch(c);
    }
  }
}

void MessageQueue::post(const OpenCall& call, std::uint64_t pos, RequestId id, ProcessId source,
                        CommId com, Tag tag) {
  const std::uint64_t key = request_key(call.process, id);
  if (request_index_.find({key}) != kNone) return;  // Imrecv of a matched message: posted before
  const std::uint32_t ri = requests_.take();
  Request& r = requests_[ri];
  r.key = key;
  r.send = false;
  r.slot = kNone;
  r.channel = kNone;
  r.call = call;
  r.order = pos;
  r.com = com;
  r.source = source;
  r.tag = tag;
  r.pending = true;
  request_index_.insert({key}, ri);
  if (!is_absent(source) && !is_absent(tag)) {
    r.channel = channel(com, tag, source, call.process);
    Channel& c = channels_[r.channel];
    r.next = kNone;
    r.previous = c.last_post;
    if (c.last_post == kNone) {
      c.posts = ri;
    } else {
      requests_[c.last_post].next = ri;
    }
    c.last_post = ri;
  } else {
    wildcards_[raw(call.process)].push_back(ri);
  }
}

// The receive takes no message any more, or has taken it.
void MessageQueue::unpost(std::uint32_t ri) {
  Request& r = requests_[ri];
  if (!r.pending) return;
  r.pending = false;
  if (r.channel != kNone) {
    Channel& c = channels_[r.channel];
    (r.previous == kNone ? c.posts : requests_[r.previous].next) = r.next;
    (r.next == kNone ? c.last_post : requests_[r.next].previous) = r.previous;
  } else {
    std::erase(wildcards_[static_cast<std::size_t>(r.key >> 32)], ri);
  }
}

void MessageQueue::close_request(std::uint32_t ri) {
  request_index_.erase({requests_[ri].key});
  requests_.give_back(ri);
}

// Could a receive that was posted before `order` still take a message of this channel?
bool MessageQueue::blocked(const Channel& c, std::uint64_t order) const {
  if (c.posts != kNone && requests_[c.posts].order < order) return true;
  for (const std::uint32_t ri : wildcards_[raw(c.destination())]) {
    const Request& r = requests_[ri];
    if (r.order < order && raw(r.com) == c.key.a >> 32 &&
        (is_absent(r.source) || r.source == c.source()) &&
        (is_absent(r.tag) || raw(r.tag) == (c.key.a & 0xFFFFFFFFu))) {
      return true;
    }
  }
  return false;
}

void MessageQueue::receive(const RecvEvent& e, bool posts, std::uint32_t& call_ref) {
  const ProcessId process = e.call->process;
  Held side;
  side.recv_time = e.time;
  side.recv_pos = e.pos;
  side.recv_request = e.request;
  side.recv_loc = e.call->loc;
  side.recv_cnode = e.call->cnode;
  side.recv_call_enter = e.call->enter;
  side.call = open_call(call_ref);
  std::uint32_t ci = kNone;
  const std::uint32_t ri =
      is_absent(e.request) ? kNone : request_index_.find({request_key(process, e.request)});
  bool released = false;  // a pending receive is gone: held ones may have become final
  if (ri != kNone && !requests_[ri].send) {
    Request& r = requests_[ri];
    side.post_call = r.call;
    side.posting_known = true;
    side.order = r.order;
    ci = r.channel;
    released = r.pending;
    unpost(ri);
    close_request(ri);
  } else if (posts) {
    side.post_call = *e.call;
    side.posting_known = true;
    side.order = e.call->enter_pos;
  } else {
    side.order = e.pos;
    if (is_absent(e.request)) {
      findings_.add(Finding::kNoRequests, e.pos, e.call->loc);
    } else {
      findings_.add(Finding::kUnknownRequest, e.pos, e.call->loc);
    }
  }
  if (ci == kNone || channels_[ci].source() != e.source ||
      channels_[ci].key.a != (std::uint64_t{raw(e.com)} << 32 | raw(e.tag))) {
    ci = channel(e.com, e.tag, e.source, process);
  }
  PendingCall& call = calls_[side.call];
  side.place = static_cast<std::uint32_t>(call.received.size());
  call.received.push_back(kNone);
  ++call.open;
  Channel& c = channels_[ci];
  if (c.held == kNone && !blocked(c, side.order)) [[likely]] {
    settle(ci, side, false);
  } else {
    hold(ci, side);
  }
  if (released && held_count_ != 0) [[unlikely]]
    settle_process(process);
}

void MessageQueue::hold(std::uint32_t ci, const Held& side) {
  Channel& c = channels_[ci];
  const std::uint32_t hi = held_.take();
  held_[hi] = side;
  if (c.held == kNone) held_in_[raw(c.destination())].push_back(ci);
  std::uint32_t* link = &c.held;
  while (*link != kNone && held_[*link].order < side.order) link = &held_[*link].next;
  held_[hi].next = *link;
  *link = hi;
  ++to_[raw(c.destination())].watchers;
  ++from_[raw(c.source())].watchers;
  if (++held_count_ > kMaxHeld) {
    findings_.add(Finding::kHeldTooLong, side.recv_pos, side.recv_loc);
    for (std::vector<std::uint32_t>& list : wildcards_) {
      for (const std::uint32_t ri : list) requests_[ri].pending = false;
      list.clear();
    }
    for (std::uint32_t p = 0; p < held_in_.size(); ++p) {
      for (const std::uint32_t i : held_in_[p]) {
        while (channels_[i].posts != kNone) unpost(channels_[i].posts);
      }
      settle_process(static_cast<ProcessId>(p));
    }
  }
}

void MessageQueue::unwatch(const Channel& c) {
  for (Line* line : {&to_[raw(c.destination())], &from_[raw(c.source())]}) {
    if (line->watchers > 0 && --line->watchers == 0) line->taken.clear();
  }
}

// Pairs a receive whose place in the channel is final.
void MessageQueue::settle(std::uint32_t ci, Held& side, bool was_held) {
  Channel& c = channels_[ci];
  if (!native_) segment(c.recvd, c.destination());
  const std::uint64_t ordinal = c.recvd++;
  if (c.head != kNone && slots_[c.head].ordinal != ordinal) [[unlikely]]
    drop_before(c, ordinal);
  if (c.head != kNone && slots_[c.head].ordinal == ordinal) [[likely]] {
    pair(c, side, was_held, false);
  } else if (ordinal < c.sent) {
    findings_.add(Finding::kUnmatchedReceive, side.recv_pos, side.recv_loc);
    member_final(side.call);
  } else {
    side.ordinal = ordinal;
    const std::uint32_t hi = held_.take();
    held_[hi] = side;
    held_[hi].next = kNone;
    std::uint32_t* link = &c.ahead;
    while (*link != kNone) link = &held_[*link].next;
    *link = hi;
    ++to_[raw(c.destination())].watchers;
    ++from_[raw(c.source())].watchers;
  }
}

void MessageQueue::settle_held(std::uint32_t ci) {
  while (channels_[ci].held != kNone) {
    Channel& c = channels_[ci];
    const std::uint32_t hi = c.held;
    if (blocked(c, held_[hi].order)) return;
    c.held = held_[hi].next;
    Held side = held_[hi];
    held_.give_back(hi);
    --held_count_;
    settle(ci, side, true);
    unwatch(c);
  }
}

void MessageQueue::settle_process(ProcessId process) {
  std::vector<std::uint32_t>& list = held_in_[raw(process)];
  for (const std::uint32_t ci : list) settle_held(ci);
  std::erase_if(list, [&](std::uint32_t ci) { return channels_[ci].held == kNone; });
}

// Takes the first message out of the channel.
std::uint32_t MessageQueue::pop(Channel& c) {
  const std::uint32_t si = c.head;
  c.head = slots_[si].next;
  if (c.head == kNone) c.tail = kNone;
  --in_flight_;
  return si;
}

// Messages that the receiver took while it was not recorded.
void MessageQueue::drop_before(Channel& c, std::uint64_t ordinal) {
  while (c.head != kNone && slots_[c.head].ordinal < ordinal) {
    const std::uint32_t si = pop(c);
    Slot& slot = slots_[si];
    slot.received = true;
    remove(to_[raw(slot.destination)], slot.send_pos, 0);
    remove(from_[raw(slot.source)], slot.send_pos, 0);
    findings_.add(Finding::kUnreceivedSend, slot.send_pos, slot.send_call.loc);
    if (slot.send_call_ref != kNone) member_final(slot.send_call_ref);
    unref(si);
  }
}

void MessageQueue::pair(Channel& c, const Held& side, bool was_held, bool violation) {
  const std::uint32_t si = pop(c);
  Slot& slot = slots_[si];
  static_cast<ReceiveSide&>(slot) = side;
  slot.received = true;
  slot.clock_violation = violation;
  slot.older_to_receiver_pending = slot.older_of_sender_pending = false;
  remove(to_[raw(slot.destination)], slot.send_pos, side.recv_pos);
  remove(from_[raw(slot.source)], slot.send_pos, side.recv_pos);
  PendingCall& call = calls_[side.call];
  call.received[side.place] = si;
  ++slot.refs;
  if (was_held && call.left) judge(slot, call.call.exit_pos);
  member_final(side.call);
  if (slot.send_call_ref != kNone) member_final(slot.send_call_ref);
  unref(si);  // it has left the channel
}

void MessageQueue::member_final(std::uint32_t call_ref) {
  PendingCall& call = calls_[call_ref];
  if (--call.open == 0 && call.left) ready_.push_back(call_ref);
}

void MessageQueue::send_complete(const OpenCall& call, std::uint64_t pos, RequestId id,
                                 std::uint32_t& call_ref) {
  const std::uint32_t ri = request_index_.find({request_key(call.process, id)});
  if (ri == kNone || !requests_[ri].send) {
    findings_.add(Finding::kUnknownRequest, pos, call.loc);
    return;
  }
  const std::uint32_t si = requests_[ri].slot;
  close_request(ri);
  Slot& slot = slots_[si];
  slot.send_call_ref = open_call(call_ref);  // takes over the request's reference
  PendingCall& pending = calls_[call_ref];
  pending.sent.push_back(si);
  if (!slot.received) ++pending.open;
}

void MessageQueue::forget(ProcessId process, RequestId id) {
  if (is_absent(id)) return;
  const std::uint32_t ri = request_index_.find({request_key(process, id)});
  if (ri == kNone || requests_[ri].send) return;
  unpost(ri);
  close_request(ri);
  if (held_count_ != 0) settle_process(process);
}

void MessageQueue::cancelled(const OpenCall& call, std::uint64_t pos, RequestId id) {
  const std::uint32_t ri = request_index_.find({request_key(call.process, id)});
  if (ri == kNone) {
    findings_.add(Finding::kUnknownRequest, pos, call.loc);
    return;
  }
  Request& r = requests_[ri];
  if (!r.send) {
    unpost(ri);
    close_request(ri);
    if (held_count_ != 0) settle_process(call.process);
    return;
  }
  // The message leaves the queue, and those behind it move up.
  const std::uint32_t si = r.slot;
  close_request(ri);
  Slot& slot = slots_[si];
  if (!slot.received) {
    Channel& c = channels_[slot.channel];
    std::uint32_t* link = &c.head;
    std::uint32_t before = kNone;
    while (*link != kNone && *link != si) {
      before = *link;
      link = &slots_[*link].next;
    }
    if (*link == si) {
      *link = slot.next;
      if (c.tail == si) c.tail = before;
      for (std::uint32_t i = slot.next; i != kNone; i = slots_[i].next) --slots_[i].ordinal;
      --c.sent;
      --in_flight_;
      slot.received = true;
      remove(to_[raw(slot.destination)], slot.send_pos, pos);
      remove(from_[raw(slot.source)], slot.send_pos, pos);
      unref(si);
    }
  }
  unref(si);
}

void MessageQueue::resume(ProcessId process, CommId com, ProcessId peer, Tag tag,
                          std::uint64_t sent, std::uint64_t recvd, std::uint64_t pos) {
  const auto known = [&](ProcessId a, ProcessId b) {
    return channel_index_.find({std::uint64_t{raw(com)} << 32 | raw(tag),
                                std::uint64_t{raw(a)} << 32 | raw(b)}) != kNone;
  };
  if (sent != 0 || known(process, peer)) {
    Channel& c = channels_[channel(com, tag, process, peer)];
    if (sent > c.sent) {
      findings_.add(Finding::kGap, pos);
      c.sent = sent;
      while (c.ahead != kNone && held_[c.ahead].ordinal < sent) {
        const Held side = held_[c.ahead];
        held_.give_back(c.ahead);
        c.ahead = side.next;
        findings_.add(Finding::kUnmatchedReceive, side.recv_pos, side.recv_loc);
        member_final(side.call);
        unwatch(c);
      }
    }
  }
  if (recvd != 0 || known(peer, process)) {
    Channel& c = channels_[channel(com, tag, peer, process)];
    std::uint64_t held = 0;  // completed, but not counted in recvd yet
    for (std::uint32_t i = c.held; i != kNone; i = held_[i].next) ++held;
    if (recvd > c.recvd + held) {
      findings_.add(Finding::kGap, pos);
      c.recvd = recvd - held;
      drop_before(c, c.recvd);
    }
  }
}

void MessageQueue::pause(ProcessId process) {
  if (!native_) ++segments_[raw(process)];
  // Receives may complete unseen: none of those that are pending may hold back others.
  std::vector<std::uint32_t> pending;
  request_index_.for_each([&](const detail::Key64& key, std::uint32_t ri) {
    if (key.a >> 32 == raw(process) && requests_[ri].pending) pending.push_back(ri);
  });
  for (const std::uint32_t ri : pending) {
    unpost(ri);
    requests_[ri].channel = kNone;
  }
  settle_process(process);
}

void MessageQueue::append(Line& line, std::uint64_t pos, std::uint32_t slot) {
  // Keeps the list short: forget what has been received once that is most of it.
  if (line.entries.size() >= 64 && line.entries.size() >= 2 * line.live) [[unlikely]] {
    std::size_t kept = 0;
    for (std::size_t i = line.head; i < line.entries.size(); ++i) {
      if (alive(line.entries[i])) line.entries[kept++] = line.entries[i];
    }
    line.entries.resize(kept);
    line.head = 0;
  }
  line.entries.push_back({pos, slot});
  ++line.live;
}

void MessageQueue::remove(Line& line, std::uint64_t send_pos, std::uint64_t recv_pos) {
  if (--line.live == 0) {
    line.entries.clear();
    line.head = 0;
  }
  if (line.watchers != 0) [[unlikely]]
    line.taken.push_back({send_pos, recv_pos});
}

// Was a message that is older than `send_pos` not yet received at event `at`?
bool MessageQueue::older_pending(Line& line, std::uint64_t send_pos, std::uint64_t at) {
  while (line.head < line.entries.size() && !alive(line.entries[line.head])) ++line.head;
  if (line.head < line.entries.size() && line.entries[line.head].pos < send_pos) return true;
  return std::any_of(line.taken.begin(), line.taken.end(), [&](const Line::Taken& taken) {
    return taken.send_pos < send_pos && taken.recv_pos > at;
  });
}

void MessageQueue::judge(Slot& slot, std::uint64_t at) {
  slot.older_to_receiver_pending = older_pending(to_[raw(slot.destination)], slot.send_pos, at);
  slot.older_of_sender_pending = older_pending(from_[raw(slot.source)], slot.send_pos, at);
}

void MessageQueue::leave(std::uint32_t call_ref, const Call& call) {
  PendingCall& pending = calls_[call_ref];
  for (const std::uint32_t si : pending.received) {
    if (si != kNone) judge(slots_[si], call.exit_pos);
  }
  pending.call = call;
  pending.left = true;
  if (pending.open == 0) ready_.push_back(call_ref);
}

MessageCall MessageQueue::gather(std::uint32_t call_ref) {
  const PendingCall& pending = calls_[call_ref];
  received_out_.clear();
  sent_out_.clear();
  for (const std::uint32_t si : pending.received) {
    if (si != kNone) received_out_.push_back(&slots_[si]);
  }
  for (const std::uint32_t si : pending.sent) {
    if (slots_[si].recv_pos != kNoEvent) sent_out_.push_back(&slots_[si]);
  }
  return {&pending.call, received_out_, sent_out_};
}

void MessageQueue::release(std::uint32_t call_ref) {
  const PendingCall& pending = calls_[call_ref];
  for (const std::uint32_t si : pending.received) {
    if (si != kNone) unref(si);
  }
  for (const std::uint32_t si : pending.sent) unref(si);
  calls_.give_back(call_ref);
}

void MessageQueue::finish() {
  // Receives that nothing can be decided about any more: in order of posting.
  for (std::uint32_t p = 0; p < wildcards_.size(); ++p) {
    for (const std::uint32_t ri : wildcards_[p]) requests_[ri].pending = false;
    wildcards_[p].clear();
    for (const std::uint32_t ci : held_in_[p]) {
      while (channels_[ci].posts != kNone) unpost(channels_[ci].posts);
    }
    settle_process(static_cast<ProcessId>(p));
  }
  channel_index_.for_each([&](const detail::Key128&, std::uint32_t ci) {
    Channel& c = channels_[ci];
    for (std::uint32_t i = c.ahead; i != kNone; i = held_[i].next) {
      findings_.add(Finding::kUnmatchedReceive, held_[i].recv_pos, held_[i].recv_loc);
      member_final(held_[i].call);
    }
    c.ahead = kNone;
    drop_before(c, kNever);
  });
}

}  // namespace kojak::earl
