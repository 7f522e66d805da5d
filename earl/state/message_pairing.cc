// Receives that cannot be paired at once: held behind earlier posted ones, ahead of their SENDs,
// after gaps; cancelled requests; what stays open at the end.
#include <algorithm>

#include "earl/state/message_queue.h"

namespace kojak::earl {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
// Receives held at a time before they are paired in order of completion instead.
constexpr std::size_t kMaxHeld = 1u << 18;

}  // namespace

std::uint32_t MessageQueue::add_channel(const detail::Key128& key) {
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
    if (c.head == detail::kNone && c.posts == detail::kNone && c.held == detail::kNone &&
        c.ahead == detail::kNone && c.sent == c.recvd) {
      idle.push_back(i);
    }
  });
  for (const std::uint32_t i : idle) {
    channel_index_.erase(channels_[i].key);
    channels_.give_back(i);
  }
  purge_at_ = std::max(purge_at_, 2 * channels_.live());
}

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

// Could a receive for any source or tag that was posted before `order` still take a message of this
// channel?
bool MessageQueue::blocked_by_wildcard(const Channel& c, std::uint64_t order) const {
  for (const std::uint32_t ri : wildcards_[raw(c.destination())]) {
    const Request& r = requests_[ri];
    if (r.order >= order) break;
    if (raw(r.com) == c.key.a >> 32 && (is_absent(r.source) || r.source == c.source()) &&
        (is_absent(r.tag) || raw(r.tag) == (c.key.a & 0xFFFFFFFFu))) {
      return true;
    }
  }
  return false;
}

void MessageQueue::watch(const Channel& c) {
  to_[raw(c.destination())].watch();
  from_[raw(c.source())].watch();
}
void MessageQueue::hold(std::uint32_t ci, const Held& side) {
  Channel& c = channels_[ci];
  const std::uint32_t hi = held_.take();
  held_[hi] = side;
  if (c.held == detail::kNone) held_in_[raw(c.destination())].push_back(ci);
  // By order of posting; mostly at the end.
  std::uint32_t* link = &c.held;
  if (c.held != detail::kNone && held_[c.last_held].order < side.order) {
    link = &held_[c.last_held].next;
  }
  while (*link != detail::kNone && held_[*link].order < side.order) link = &held_[*link].next;
  held_[hi].next = *link;
  *link = hi;
  if (held_[hi].next == detail::kNone) c.last_held = hi;
  watch(c);
  if (++held_count_ > kMaxHeld) {
    findings_.add(Finding::kHeldTooLong, side.recv_pos, side.recv_loc);
    settle_everything();
  }
}

// A receive whose place in the channel is final, but whose SEND has not been read yet.
void MessageQueue::wait_for_send(Channel& c, const Held& side) {
  const std::uint32_t hi = held_.take();
  held_[hi] = side;
  held_[hi].next = detail::kNone;
  std::uint32_t* link = &c.ahead;
  while (*link != detail::kNone) link = &held_[*link].next;
  *link = hi;
  watch(c);
}

// Pairs a receive whose place in the channel is final.
void MessageQueue::settle(std::uint32_t ci, Held& side) {
  Channel& c = channels_[ci];
  if (!native_) segment(c.recvd, c.destination());
  side.ordinal = c.recvd++;
  drop_before(c, side.ordinal);
  if (c.head != detail::kNone && slots_[c.head].ordinal == side.ordinal) {
    pair(c, side, false);
  } else if (side.ordinal < c.sent) {
    findings_.add(Finding::kUnmatchedReceive, side.recv_pos, side.recv_loc);
    member_final(side.call);
  } else {
    wait_for_send(c, side);
  }
}

void MessageQueue::pair(Channel& c, const Held& side, bool violation) {
  const std::uint32_t si = c.head;
  Slot& slot = slots_[si];
  static_cast<ReceiveSide&>(slot) = side;
  slot.clock_violation = violation;
  PendingCall& call = calls_[side.call];
  call.received[side.place] = si;
  ++slot.refs;
  take(c, side.recv_pos);
  if (call.left) to_judge_.push_back({si, call.call.exit_pos});
  member_final(side.call);
}

void MessageQueue::settle_held(std::uint32_t ci) {
  while (channels_[ci].held != detail::kNone) {
    Channel& c = channels_[ci];
    const std::uint32_t hi = c.held;
    if (blocked(c, held_[hi].order)) return;
    c.held = held_[hi].next;
    Held side = held_[hi];
    held_.give_back(hi);
    --held_count_;
    settle(ci, side);
    to_unwatch_.push_back(c.key);
  }
}

void MessageQueue::settle_process(ProcessId process) {
  std::vector<std::uint32_t>& list = held_in_[raw(process)];
  for (const std::uint32_t ci : list) settle_held(ci);
  std::erase_if(list, [&](std::uint32_t ci) { return channels_[ci].held == detail::kNone; });
  judge_settled();
}

// Once all that became final together is known: of these, none holds back another.
void MessageQueue::judge_settled() {
  for (const Settled& s : to_judge_) judge_past(slots_[s.slot], s.left_at);
  to_judge_.clear();
  for (const detail::Key128& key : to_unwatch_) {
    to_[key.b & 0xFFFFFFFFu].unwatch();
    from_[key.b >> 32].unwatch();
  }
  to_unwatch_.clear();
}

// Pairs all that is held, in order of posting, as if nothing else were pending.
void MessageQueue::settle_everything() {
  for (std::uint32_t p = 0; p < wildcards_.size(); ++p) {
    for (const std::uint32_t ri : wildcards_[p]) requests_[ri].pending = false;
    wildcards_[p].clear();
    for (const std::uint32_t ci : held_in_[p]) {
      while (channels_[ci].posts != detail::kNone) unpost(channels_[ci].posts);
    }
    settle_process(static_cast<ProcessId>(p));
  }
}

// A SEND has come: receives that were read before theirs.
void MessageQueue::serve_ahead(Channel& c) {
  while (c.ahead != detail::kNone && held_[c.ahead].ordinal < c.sent) {
    const Held side = held_[c.ahead];
    held_.give_back(c.ahead);
    c.ahead = side.next;
    drop_before(c, side.ordinal);
    if (c.head != detail::kNone && slots_[c.head].ordinal == side.ordinal) {
      findings_.add(Finding::kReceiveBeforeSend, side.recv_pos, side.recv_loc);
      pair(c, side, true);
    } else {
      findings_.add(Finding::kUnmatchedReceive, side.recv_pos, side.recv_loc);
      member_final(side.call);
    }
    to_unwatch_.push_back(c.key);
  }
  judge_settled();
}

// Messages that the receiver took while it was not recorded, or that it never took.
void MessageQueue::drop_before(Channel& c, std::uint64_t ordinal) {
  while (c.head != detail::kNone && slots_[c.head].ordinal < ordinal) {
    findings_.add(Finding::kUnreceivedSend, slots_[c.head].send_pos, slots_[c.head].send_call.loc);
    take(c, 0);
  }
}

void MessageQueue::forget(ProcessId process, RequestId id) {
  if (is_absent(id)) return;
  const std::uint32_t ri = find_request(process, id);
  if (ri == detail::kNone || requests_[ri].send) return;
  unpost(ri);
  close_request(ri);
  if (held_count_ != 0) settle_process(process);
}

void MessageQueue::cancelled(const OpenCall& call, std::uint64_t pos, RequestId id) {
  const std::uint32_t ri = find_request(call.process, id);
  if (ri == detail::kNone) {
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
    std::uint32_t before = detail::kNone;
    for (std::uint32_t i = c.head; i != si && i != detail::kNone; i = slots_[i].next) before = i;
    (before == detail::kNone ? c.head : slots_[before].next) = slot.next;
    if (c.tail == si) c.tail = before;
    for (std::uint32_t i = slot.next; i != detail::kNone; i = slots_[i].next) --slots_[i].ordinal;
    --c.sent;
    --in_flight_;
    slot.received = true;
    to_[raw(slot.destination)].remove(slot.send_pos, pos);
    from_[raw(slot.source)].remove(slot.send_pos, pos);
    unref(si);
  }
  unref(si);
}

void MessageQueue::resume(ProcessId process, CommId com, ProcessId peer, Tag tag,
                          std::uint64_t sent, std::uint64_t recvd, std::uint64_t pos) {
  const detail::Key128 out = channel_key(com, tag, process, peer);
  if (sent != 0 || channel_index_.find(out) != detail::kNone) {
    Channel& c = channels_[channel(out)];
    if (sent > c.sent) {
      findings_.add(Finding::kGap, pos);
      c.sent = sent;
      serve_ahead(c);
    }
  }
  const detail::Key128 in = channel_key(com, tag, peer, process);
  if (recvd != 0 || channel_index_.find(in) != detail::kNone) {
    Channel& c = channels_[channel(in)];
    std::uint64_t held = 0;  // completed, but not counted in c.recvd yet
    for (std::uint32_t i = c.held; i != detail::kNone; i = held_[i].next) ++held;
    if (recvd > c.recvd + held) {
      findings_.add(Finding::kGap, pos);
      c.recvd = recvd - held;
      drop_before(c, c.recvd);
    }
  }
}

void MessageQueue::pause(ProcessId process) {
  ++segments_[raw(process)];
  // Receives may complete unseen: none of those that are pending may hold back others.
  std::vector<std::uint32_t> pending;
  requests_of_[raw(process)].for_each([&](std::uint32_t ri) {
    if (requests_[ri].pending) pending.push_back(ri);
  });
  for (const std::uint32_t ri : pending) unpost(ri);
  settle_process(process);
}

void MessageQueue::finish() {
  settle_everything();
  channel_index_.for_each([&](const detail::Key128&, std::uint32_t ci) {
    Channel& c = channels_[ci];
    for (std::uint32_t i = c.ahead; i != detail::kNone; i = held_[i].next) {
      findings_.add(Finding::kUnmatchedReceive, held_[i].recv_pos, held_[i].recv_loc);
      member_final(held_[i].call);
    }
    c.ahead = detail::kNone;
    drop_before(c, kNever);
  });
}

}  // namespace kojak::earl
