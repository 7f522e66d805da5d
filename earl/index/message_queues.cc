#include "earl/index/message_queues.h"

#include <algorithm>

namespace kojak::earl::sequence {

MessageQueues::MessageQueues(const Trace& trace)
    : trace_(&trace), feed_(std::make_unique<MessageFeed>(trace)) {}

MessageQueues::MessageQueues(const Trace& trace, const MessageColumns& columns)
    : trace_(&trace), columns_(columns) {}

void MessageQueues::forget() {
  paired_.clear();
  if (streams()) feed_->forget();
  changed_ = false;
}

void MessageQueues::change(const Event& e) {
  paired_.clear();
  changed_ = true;
  if (is_send(e.type)) send(e);
  if (streams()) {
    feed_->apply(e);
    for (const MessageQueue::Departure& d : feed_->departed()) depart(d.send, d.recv);
  } else {
    follow(e);
  }
  if (paired_.size() > 1) [[unlikely]]
    sort_pairs();
}

void MessageQueues::sort_pairs() {
  std::sort(paired_.begin(), paired_.end(),
            [](const MessagePair& a, const MessagePair& b) { return a.send < b.send; });
}

void MessageQueues::send(const Event& e) {
  if (!MessageFeed::sends(*trace_, e)) return;
  const std::uint32_t i = sent_.take();
  const auto process = [&](std::uint32_t location) {
    return trace_->process(trace_->index(static_cast<LocationId>(location)));
  };
  sent_[i] = {e.pos, e.com, e.tag, process(raw(e.loc)), process(raw(e.peer))};
  under_way_.insert({e.pos}, i);
}

void MessageQueues::depart(std::uint64_t send, std::uint64_t recv) {
  const std::uint32_t i = under_way_.take({send});
  if (i != kNone) sent_.give_back(i);
  if (log_ != nullptr && i != kNone) log_->add(send, now_);
  if (recv != kNoEvent) paired_.push_back({send, recv});
}

// What left with the event, as the index has it. Messages that left without a RECV stay in the
// table; select() passes over them.
void MessageQueues::follow(const Event& e) {
  const auto departs = [&](std::uint32_t recv) { depart(columns_.link[recv], recv); };
  for (auto it = std::lower_bound(
           columns_.late.begin(), columns_.late.end(), e.pos,
           [](const MessageColumns::Late&l, std::uint64_t pos) { return l.final < pos; });
       it != columns_.late.end() && it->final == e.pos; ++it) {
    departs(it->recv);
  }
  if (!is_recv(e.type)) return;
  const std::uint32_t send = columns_.link[e.pos];
  if (send != kNone && columns_.link[send] == e.pos) departs(static_cast<std::uint32_t>(e.pos));
}

void MessageQueues::finish() {
  paired_.clear();
  feed_->finish();
  for (const MessageQueue::Departure& d : feed_->departed()) depart(d.send, d.recv);
  sort_pairs();
}

template <class Pred>
std::vector<std::uint64_t> MessageQueues::select(Pred&& pred) const {
  std::vector<std::uint64_t> result;
  under_way_.for_each([&](const detail::Key64&, std::uint32_t i) {
    const Sent& s = sent_[i];
    if (pred(s) && (streams() || columns_.link[s.pos] > now_)) result.push_back(s.pos);
  });
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<std::uint64_t> MessageQueues::queue(CommId com, ProcessId source, ProcessId destination,
                                                Tag tag) const {
  return select([&](const Sent& s) {
    return s.com == com && s.source == source && s.destination == destination && s.tag == tag;
  });
}

std::vector<std::uint64_t> MessageQueues::sends() const {
  return select([](const Sent&) { return true; });
}

void MessageQueues::end_record(std::uint64_t end) {
  now_ = end;
  finish();
  for (const std::uint64_t send : sends()) log_->add(send, end);
}

}  // namespace kojak::earl::sequence
