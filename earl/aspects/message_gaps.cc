// Messages where recording paused: which receives keep their numbers, what heads tell, and counts
// that begin anew.
#include "earl/aspects/message_queue.h"

namespace kojak::earl {

void MessageQueue::resume(ProcessId process, CommId com, ProcessId peer, Tag tag,
                          std::uint64_t sent, std::uint64_t recvd, std::uint64_t pos) {
  const detail::Key128 out = detail::channel_key(com, tag, process, peer);
  if (sent != 0 || channels_.find(out) != kNone) {
    Channel& c = channels_[channels_.get(out)];
    if (renew(c) != nullptr && sent != 0 && c.sent_from == kUnknownNumber) begin_sent(c, 0);
    if (sent > c.sent) {
      findings_.add(Finding::kGap, pos);
      c.sent = sent;
      serve_ahead(c);
    }
  }
  const detail::Key128 in = detail::channel_key(com, tag, peer, process);
  if (recvd != 0 || channels_.find(in) != kNone) {
    const std::uint32_t ci = channels_.get(in);
    Channel& c = channels_[ci];
    if (renew(c) != nullptr && recvd != 0 && c.recvd_from == kUnknownNumber) c.recvd_from = 0;
    const std::uint64_t held = c.held.size();  // completed, but not counted in c.recvd yet
    if (recvd > c.recvd + held) {
      findings_.add(Finding::kGap, pos);
      c.recvd = recvd - held;
      resumed_.push_back(ci);
    }
  }
}

void MessageQueue::pause(ProcessId process) {
  forget_taken();
  segments_.pause(process);
  // Receives may complete unseen: none of those that are pending may hold back others.
  std::vector<std::uint32_t> pending;
  requests_of_[raw(process)].for_each([&](std::uint32_t ri) {
    if (requests_[ri].pending) pending.push_back(ri);
  });
  settle_blocked_by(pending);
  for (const std::uint32_t ri : pending) unpost(ri);
  settle_released();
  off_[raw(process)] = true;
}

// What is held behind these becomes final, though they are open.
void MessageQueue::settle_blocked_by(const std::vector<std::uint32_t>& pending) {
  settle_released();
  std::vector<std::uint32_t> blocked;
  for (const std::uint32_t ri : pending) {
    WaitingHeap& behind = channels_[requests_[ri].channel].blocked;
    for (; !behind.empty(); behind.pop()) {
      Channel& c = channels_[behind.top().index];
      if (c.waits != behind.top().order) continue;  // it waits under another order by now
      c.waits = kNoEvent;
      blocked.push_back(behind.top().index);
    }
  }
  for (const std::uint32_t ci : blocked) settle_numbered(ci);
  judge_settled();
}

// Whether no message of the channel is left for the open receives from any source or with any tag:
// all that were sent have been taken by others. Of the open receives of the channel itself these
// are the ones that were posted before one that has a message; those posted later may still be
// without.
bool MessageQueue::certain_without_wildcards(const Channel& c) const {
  std::uint64_t youngest = 0;
  for (WaitingHeap held = c.held; !held.empty(); held.pop()) youngest = held.top().order;
  std::uint64_t takers = c.recvd + c.held.size();
  for (std::uint32_t ri = c.posts; ri != kNone && requests_[ri].order < youngest;
       ri = requests_[ri].next) {
    ++takers;
  }
  return !off_[raw(c.source())] && c.sent <= takers;
}

// Pairs the held receives of a channel behind receives that are open. Such a one keeps its number
// if it names the channel; where it is for any source or tag, nobody knows whether it has one.
void MessageQueue::settle_numbered(std::uint32_t ci) {
  Channel& c = channels_[ci];
  const bool certain = certain_without_wildcards(c);
  while (!c.held.empty()) {
    const Waiting first = c.held.top();
    Held side = held_[first.index];
    c.held.pop();
    held_.give_back(first.index);
    --held_count_;
    to_unwatch_.push_back(c.key);
    segments_.begin(c.recvd, c.destination());
    std::uint64_t older = 0;
    for (std::uint32_t ri = c.posts; ri != kNone && requests_[ri].order < side.order;
         ri = requests_[ri].next) {
      ++older;
    }
    const Wildcards& wildcards = wildcards_[raw(c.destination())];
    const bool doubtful =
        !certain && wildcards.any() && wildcard_blocker(c, wildcards, side.order) != kNone;
    const std::uint64_t number = c.recvd++ + older;
    if (doubtful || side.overtaken > number || !same_numbers(c)) {
      give_up(side, Finding::kUncertainReceive);
      continue;
    }
    side.ordinal = number - side.overtaken;
    std::uint32_t before = kNone, si = c.head;
    while (si != kNone && slots_[si].ordinal < side.ordinal) {
      before = si;
      si = slots_[si].next;
    }
    if (si == kNone || slots_[si].ordinal != side.ordinal) {
      give_up(side);
      continue;
    }
    give_message(si, side, false);
    take_from_midst(c, before, si, side.freed ? 0 : side.recv_pos);
  }
}

// The slot's message has been received, and ones before it have not.
void MessageQueue::take_from_midst(Channel& c, std::uint32_t before, std::uint32_t si,
                                   std::uint64_t recv_pos) {
  if (before == kNone) return take(c, recv_pos);
  const std::uint32_t head = c.head;
  slots_[before].next = slots_[si].next;
  if (c.tail == si) c.tail = before;
  slots_[si].next = head;
  c.head = si;
  take(c, recv_pos);
}

void MessageQueue::drop_taken() {
  std::vector<std::uint32_t> resumed;
  resumed.swap(resumed_);
  for (const std::uint32_t ci : resumed) {
    Channel& c = channels_[ci];
    if (same_numbers(c)) drop_before(c, first_wanted(c));
  }
}

// ---- counts that begin anew

void MessageQueue::restart(ProcessId process, CommId com, ProcessId peer, Tag tag,
                           std::uint64_t sent_before, std::uint64_t recvd_before) {
  if (is_absent(tag)) {
    const auto line = [&](ProcessId from, ProcessId to) -> Line& {
      const detail::Key128 key = detail::channel_key(com, tag, from, to);
      return lines_[{key.a >> 32, key.b}];
    };
    if (sent_before != 0) {
      Line& out = line(process, peer);
      out.sent = sent_before;
      ++out.sent_serial;
    }
    if (recvd_before != 0) {
      Line& in = line(peer, process);
      in.recvd = recvd_before;
      ++in.recvd_serial;
    }
    return;
  }
  if (sent_before != 0) {
    Channel& c = channels_[channels_.get(detail::channel_key(com, tag, process, peer))];
    if (renew(c) != nullptr) begin_sent(c, sent_before);
  }
  if (recvd_before != 0) {
    Channel& c = channels_[channels_.get(detail::channel_key(com, tag, peer, process))];
    if (renew(c) != nullptr) c.recvd_from = recvd_before;
  }
}

// Its line; nullptr if no count of that has begun anew. Since the last time that one did, the
// channel may not have been told of: then its next message is its first.
const MessageQueue::Line* MessageQueue::renew(Channel& c) {
  const auto at = lines_.find(line_key(c));
  if (at == lines_.end()) return nullptr;
  const Line& line = at->second;
  if (c.sent_serial != line.sent_serial) {
    c.sent_serial = line.sent_serial;
    begin_sent(c, kUnknownNumber);
  }
  if (c.recvd_serial != line.recvd_serial) {
    c.recvd_serial = line.recvd_serial;
    c.recvd_from = kUnknownNumber;
    c.recvd = 0;
  }
  return &line;
}

// Nobody can say any more which receives those sent before belong to.
void MessageQueue::begin_sent(Channel& c, std::uint64_t from) {
  c.sent_from = from;
  c.sent = 0;
  drop_before(c, kUnknownNumber);
  if (from == kUnknownNumber || same_numbers(c)) return;
  while (c.ahead != kNone) {
    give_up(take_ahead(c), Finding::kUncertainReceive);
    to_unwatch_.push_back(c.key);
  }
  judge_settled();
}

void MessageQueue::count_sent_anew(Channel& c) {
  if (renew(c) == nullptr) return;
  Line& line = lines_.find(line_key(c))->second;
  if (c.sent_from == kUnknownNumber) begin_sent(c, line.sent);
  ++line.sent;
}

void MessageQueue::count_recvd_anew(Channel& c) {
  if (renew(c) == nullptr) return;
  Line& line = lines_.find(line_key(c))->second;
  if (c.recvd_from == kUnknownNumber) c.recvd_from = line.recvd;
  ++line.recvd;
}

}  // namespace kojak::earl
