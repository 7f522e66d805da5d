// Receives that cannot be paired at once: held behind earlier posted ones, ahead of their SENDs,
// cancelled requests; what stays open at the end. (Gaps in the recording: message_gaps.cc.)
#include <algorithm>

#include "earl/aspects/message_queue.h"

namespace kojak::earl {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
}  // namespace

// Forgets old sends that have been received but whose requests nobody waits for (freed ones leave
// no record), so that a program that does so all the time stays small.
void MessageQueue::purge_requests() {
  constexpr std::uint32_t kRecent = 4096;
  std::vector<std::uint32_t> old;
  for (const detail::RequestTable& table : requests_of_) {
    table.for_each([&](std::uint32_t ri) {
      const Request& r = requests_[ri];
      if (r.send && slots_[r.slot].received && table.newest() - raw(r.id) > kRecent) {
        old.push_back(ri);
      }
    });
  }
  for (const std::uint32_t ri : old) {
    const std::uint32_t slot = requests_[ri].slot;
    close_request(ri);
    unref(slot);
  }
  purge_requests_at_ = std::max(purge_requests_at_, 2 * requests_.live());
}

std::uint32_t MessageQueue::wildcard_blocker(const Channel& c, const Wildcards& pending,
                                             std::uint64_t order) const {
  const auto com = static_cast<CommId>(c.key.a >> 32);
  const auto tag = static_cast<Tag>(c.key.a & 0xFFFFFFFFu);
  const auto posted = [&](std::uint32_t count, ProcessId source, Tag posted_tag) {
    if (count == 0) return kNone;
    const auto ci = channels_.find(detail::channel_key(com, posted_tag, source, c.destination()));
    return ci != kNone && posted_before(ci, order) ? ci : kNone;
  };
  std::uint32_t ci = posted(pending.source, absent<ProcessId>(), tag);
  if (ci == kNone) ci = posted(pending.tag, c.source(), absent<Tag>());
  if (ci == kNone) ci = posted(pending.both, absent<ProcessId>(), absent<Tag>());
  return ci;
}

// The first receive posted in the channel has gone: whose held receives may be final now?
void MessageQueue::release_blocked(std::uint32_t ci) {
  WaitingHeap& blocked = channels_[ci].blocked;
  while (!blocked.empty() && !posted_before(ci, blocked.top().order)) {
    Channel& c = channels_[blocked.top().index];
    if (c.waits == blocked.top().order) {  // else it waits under an earlier order by now
      c.waits = kNoEvent;
      released_.push_back(blocked.top().index);
    }
    blocked.pop();
  }
}

void MessageQueue::watch(const Channel& c) {
  to_[raw(c.destination())].watch();
  from_[raw(c.source())].watch();
}
void MessageQueue::hold(std::uint32_t ci, const Held& side) {
  Channel& c = channels_[ci];
  const std::uint32_t hi = held_.take();
  held_[hi] = side;
  // Behind what holds back the first of the channel it waits anyway.
  if (c.held.empty() || side.order < c.held.top().order) {
    const std::uint32_t blocking = blocker(ci, side.order);
    if (blocking != kNone) {
      block(blocking, side.order, ci);
    } else {
      released_.push_back(ci);
    }
  }
  c.held.push({side.order, hi});
  watch(c);
  if (++held_count_ > kMaxHeld) {
    findings_.add(Finding::kHeldTooLong, side.recv_pos, side.recv_loc);
    settle_everything();
  }
}

void MessageQueue::block(std::uint32_t blocking, std::uint64_t order, std::uint32_t ci) {
  channels_[blocking].blocked.push({order, ci});
  channels_[ci].waits = order;
}

// A receive whose place in the channel is final, but whose SEND has not been read yet.
void MessageQueue::wait_for_send(std::uint32_t ci, const Held& side) {
  Channel& c = channels_[ci];
  const std::uint32_t hi = held_.take();
  Held& held = held_[hi];
  held = side;
  held.channel = ci;
  held.next = held.newer = kNone;
  held.older = newest_ahead_;
  (c.ahead == kNone ? c.ahead : held_[c.last_ahead].next) = hi;
  c.last_ahead = hi;
  (oldest_ahead_ == kNone ? oldest_ahead_ : held_[newest_ahead_].newer) = hi;
  newest_ahead_ = hi;
  watch(c);
  if (++ahead_count_ > kMaxAhead) {
    Channel& oldest = channels_[held_[oldest_ahead_].channel];
    give_up(take_ahead(oldest));
    to_unwatch_.push_back(oldest.key);
  }
}

// The channel's oldest receive without its SEND, which waits no longer.
MessageQueue::Held MessageQueue::take_ahead(Channel& c) {
  const std::uint32_t hi = c.ahead;
  const Held held = held_[hi];
  c.ahead = held.next;
  (held.older == kNone ? oldest_ahead_ : held_[held.older].newer) = held.newer;
  (held.newer == kNone ? newest_ahead_ : held_[held.newer].older) = held.older;
  --ahead_count_;
  held_.give_back(hi);
  return held;
}

// The SEND of a receive will not come, or nobody knows which it is.
void MessageQueue::give_up(const Held& side, Finding finding) {
  if (side.freed) return;
  findings_.add(finding, side.recv_pos, side.recv_loc);
  member_final(side.call);
}

// Pairs a receive whose place in the channel is final.
void MessageQueue::settle(std::uint32_t ci, Held& side) {
  Channel& c = channels_[ci];
  segments_.begin(c.recvd, c.destination());
  side.ordinal = c.recvd++;
  if (side.overtaken > side.ordinal || !same_numbers(c)) [[unlikely]]
    return give_up(side, Finding::kUncertainReceive);
  side.ordinal -= side.overtaken;
  drop_before(c, side.ordinal);
  if (c.head != kNone && slots_[c.head].ordinal == side.ordinal) {
    pair(c, side, false);
  } else if (side.ordinal < c.sent) {
    give_up(side);
  } else {
    wait_for_send(ci, side);
  }
}

void MessageQueue::pair(Channel& c, const Held& side, bool violation) {
  give_message(c.head, side, violation);
  take(c, side.freed ? 0 : side.recv_pos);
}

void MessageQueue::give_message(std::uint32_t si, const Held& side, bool violation) {
  Slot& slot = slots_[si];
  if (side.freed) {
    slot.post_call = side.post_call;
    slot.posting_known = true;
    slot.recv_request = side.recv_request;
    return note_judged(si);
  }
  static_cast<ReceiveSide&>(slot) = side;
  slot.clock_violation = violation;
  PendingCall& call = calls_[side.call];
  call.received[side.place] = si;
  ++slot.refs;
  if (call.left) to_judge_.push_back({si, call.call.exit_pos});
  member_final(side.call);
}

void MessageQueue::settle_held(std::uint32_t ci) {
  Channel& c = channels_[ci];
  while (!c.held.empty()) {
    const Waiting first = c.held.top();
    if (const std::uint32_t blocking = blocker(ci, first.order); blocking != kNone) {
      return block(blocking, first.order, ci);
    }
    c.held.pop();
    Held side = held_[first.index];
    held_.give_back(first.index);
    --held_count_;
    settle(ci, side);
    to_unwatch_.push_back(c.key);
  }
}

void MessageQueue::settle_released() {
  for (std::size_t i = 0; i < released_.size(); ++i) settle_held(released_[i]);
  released_.clear();
  judge_settled();
}

// Once all that became final together is known: of these, none holds back another.
void MessageQueue::judge_settled() {
  for (const Settled& s : to_judge_) {
    judge_past(slots_[s.slot], s.left_at);
    note_judged(s.slot);
  }
  to_judge_.clear();
  for (const detail::Key128& key : to_unwatch_) {
    to_[key.b & 0xFFFFFFFFu].unwatch();
    from_[key.b >> 32].unwatch();
  }
  to_unwatch_.clear();
}

// Pairs all that is held, in order of posting, as if nothing else were pending.
void MessageQueue::settle_everything() {
  settle_released();
  std::vector<std::uint32_t> blocking;
  while (held_count_ != 0) {
    blocking.clear();
    channels_.for_each([&](const detail::Key128&, std::uint32_t ci) {
      if (!channels_[ci].blocked.empty()) blocking.push_back(ci);
    });
    for (const std::uint32_t ci : blocking) {
      while (channels_[ci].posts != kNone) unpost(channels_[ci].posts);
    }
    settle_released();
  }
}

// A SEND has come: receives that were read before theirs.
void MessageQueue::serve_ahead(Channel& c) {
  while (c.ahead != kNone && held_[c.ahead].ordinal < c.sent) {
    const Held side = take_ahead(c);
    drop_before(c, side.ordinal);
    if (c.head != kNone && slots_[c.head].ordinal == side.ordinal) {
      if (!side.freed) {
        findings_.add(Finding::kReceiveBeforeSend, side.recv_pos, side.recv_loc);
      }
      pair(c, side, true);
    } else {
      give_up(side);
    }
    to_unwatch_.push_back(c.key);
  }
  judge_settled();
}

// Messages that the receiver took while it was not recorded, or that it never took.
void MessageQueue::drop_before(Channel& c, std::uint64_t ordinal) {
  while (c.head != kNone && slots_[c.head].ordinal < ordinal) {
    findings_.add(Finding::kUnreceivedSend, slots_[c.head].send_pos, slots_[c.head].send_call.loc);
    note_judged(c.head);
    take(c, 0);
  }
}

void MessageQueue::forget(ProcessId process, RequestId id) {
  if (is_absent(id)) return;
  const std::uint32_t ri = find_request(process, id);
  if (ri == kNone || requests_[ri].send) return;
  unpost(ri);
  close_request(ri);
  settle_released();
}

void MessageQueue::cancelled(const OpenCall& call, std::uint64_t pos, RequestId id) {
  const std::uint32_t ri = find_request(call.process, id);
  if (ri == kNone) {
    findings_.add(Finding::kUnknownRequest, pos, call.loc);
    return;
  }
  if (!requests_[ri].send) return forget(call.process, id);
  // The message leaves the queue, and those behind it move up.
  const std::uint32_t si = requests_[ri].slot;
  close_request(ri);
  Slot& slot = slots_[si];
  if (!slot.received) {
    Channel& c = channels_[slot.channel];
    std::uint32_t before = kNone;
    for (std::uint32_t i = c.head; i != si && i != kNone; i = slots_[i].next) before = i;
    (before == kNone ? c.head : slots_[before].next) = slot.next;
    if (c.tail == si) c.tail = before;
    for (std::uint32_t i = slot.next; i != kNone; i = slots_[i].next) --slots_[i].ordinal;
    --c.sent;
    --in_flight_;
    slot.received = slot.judged = true;
    if (tells_older()) {
      to_[raw(slot.destination)].remove(slot.send_pos, pos);
      from_[raw(slot.source)].remove(slot.send_pos, pos);
    } else {
      log_departure(slot);
    }
    unref(si);
  }
  unref(si);
}

const OpenCall* MessageQueue::probe(const Call& call, CommId com, Tag tag, ProcessId source,
                                    bool posted) {
  forget_taken();
  Channel& c = channels_[channels_.get(detail::channel_key(com, tag, source, call.process))];
  if (!same_numbers(c)) return nullptr;
  std::uint64_t ordinal = c.recvd + c.held.size();
  for (std::uint32_t ri = c.posts; ri != kNone; ri = requests_[ri].next) ++ordinal;
  if (posted && ordinal > c.recvd) --ordinal;
  for (std::uint32_t si = c.head; si != kNone; si = slots_[si].next) {
    if (slots_[si].ordinal == ordinal) return &slots_[si].send_call;
  }
  if (ordinal >= c.sent && probes_.size() < kMaxProbes) {
    probes_.push_back({c.key, ordinal, call, {}, false});
  }
  return nullptr;
}

void MessageQueue::serve_probes(const Slot& sent, const detail::Key128& channel) {
  for (Probed& p : probes_) {
    if (p.sent || !(p.channel == channel) || p.ordinal != sent.ordinal) continue;
    p.send = sent.send_call;
    p.sent = true;
    ++served_probes_;
  }
}

void MessageQueue::freed(const OpenCall& call, std::uint64_t pos, RequestId id) {
  const std::uint32_t ri = find_request(call.process, id);
  if (ri == kNone) {
    findings_.add(Finding::kUnknownRequest, pos, call.loc);
    return;
  }
  const Request& r = requests_[ri];
  if (r.send) {
    const std::uint32_t si = r.slot;
    close_request(ri);
    return unref(si);
  }
  const bool exact = !is_absent(r.source) && !is_absent(r.tag);
  if (!exact) findings_.add(Finding::kFreedReceive, pos, call.loc);
  const bool pending = r.pending;
  const std::uint32_t ci = r.channel;
  Held side;
  side.order = r.order;
  side.recv_pos = pos;
  side.recv_loc = call.loc;
  side.post_call = r.call;
  side.recv_request = id;
  side.freed = true;
  unpost(ri);
  close_request(ri);
  if (exact && pending) {  // it keeps its place among those that get a message
    segments_.begin(channels_[ci].recvd, call.process);
    if (channels_[ci].held.empty() && blocker(ci, side.order) == kNone) {
      settle(ci, side);
    } else {
      hold(ci, side);
    }
  }
  settle_released();
}

void MessageQueue::finish(const std::function<void(const Message&)>& unreceived,
                          const Unmet& unmet) {
  forget_taken();
  std::vector<std::uint32_t> pending;
  for (const detail::RequestTable& table : requests_of_) {
    table.for_each([&](std::uint32_t ri) {
      if (requests_[ri].pending) pending.push_back(ri);
    });
  }
  settle_blocked_by(pending);
  for (std::uint32_t i = 0; unmet && i < requests_.capacity(); ++i) {
    const Request& r = requests_[i];
    if (r.pending) unmet(r.process, r.source, r.com, r.tag, r.id);
  }
  channels_.for_each([&](const detail::Key128&, std::uint32_t ci) {
    Channel& c = channels_[ci];
    while (c.ahead != kNone) give_up(take_ahead(c));
    for (std::uint32_t si = c.head; unreceived && si != kNone; si = slots_[si].next) {
      unreceived(slots_[si]);
    }
    drop_before(c, kNever);
  });
}

}  // namespace kojak::earl
