// Which SEND belongs to which RECV, and how the queues are saved and loaded.
#include <algorithm>

#include "earl/sequence/message_queues.h"

namespace kojak::earl::sequence {
namespace {

using detail::kNone;

constexpr auto kLater = [](const auto& a, const auto& b) { return a.order > b.order; };

template <class T>
void push(std::vector<T>& heap, T item) {
  heap.push_back(item);
  std::push_heap(heap.begin(), heap.end(), kLater);
}
template <class T>
T pop(std::vector<T>& heap) {
  std::pop_heap(heap.begin(), heap.end(), kLater);
  const T item = heap.back();
  heap.pop_back();
  return item;
}

}  // namespace

// The ordinal of a classic trace begins anew with each recording segment.
void MessageQueues::segment(std::uint64_t& ordinal, std::uint64_t process) const {
  ordinal = std::max(ordinal, std::uint64_t{segments_[process]} << 40);
}

// When the earliest receive that is still pending here was posted; kNoEvent: there is none.
std::uint64_t MessageQueues::first_pending(Channel& c) {
  if (c.pending == 0) {
    if (!c.posts.empty()) c.posts.clear();
    return kNoEvent;
  }
  const auto gone = [&](const Post& p) {
    return !requests_[p.request].pending || requests_[p.request].posted != p.order;
  };
  while (gone(c.posts.front())) c.posts.pop();
  if (c.posts.size() > 2 * c.pending + 32) c.posts.erase_if(gone);
  return c.posts.front().order;
}

std::uint32_t MessageQueues::blocker(std::uint32_t ci, std::uint64_t order) {
  Channel& c = channels_[ci];
  if (first_pending(c) < order) return ci;
  const Wildcards& w = wildcards_[c.key.b & 0xFFFFFFFFu];
  const auto posted = [&](std::uint32_t count, bool any_source, bool any_tag) {
    if (count == 0) return kNone;
    detail::Key128 key = c.key;
    if (any_source) key.b |= std::uint64_t{kAbsent} << 32;
    if (any_tag) key.a |= kAbsent;
    const std::uint32_t found = channels_.find(key);
    return found != kNone && first_pending(channels_[found]) < order ? found : kNone;
  };
  std::uint32_t found = posted(w.source, true, false);
  if (found == kNone) found = posted(w.tag, false, true);
  if (found == kNone) found = posted(w.both, true, true);
  return found;
}

void MessageQueues::unpost(std::uint32_t ri) {
  Request& r = requests_[ri];
  if (!r.pending) return;
  r.pending = false;
  Channel& c = channels_[r.channel];
  --c.pending;
  if (c.key.b >> 32 == kAbsent || (c.key.a & 0xFFFFFFFFu) == kAbsent) --wildcards(c.key);
  if (c.blocked.empty()) return;
  const std::uint64_t first = first_pending(c);
  while (!c.blocked.empty() && c.blocked.front().order <= first) {
    const Waiting w = pop(c.blocked);
    Channel& waiting = channels_[static_cast<std::uint32_t>(w.pos)];
    if (waiting.waits != w.order) continue;  // it waits under an earlier order by now
    waiting.waits = kNoEvent;
    released_.push_back(static_cast<std::uint32_t>(w.pos));
  }
}

// A receive posted at `order` has completed with the RECV `pos`.
void MessageQueues::complete(std::uint32_t ci, std::uint64_t order, std::uint64_t pos) {
  if (channels_[ci].held.empty() && blocker(ci, order) == kNone) {
    settle(ci, pos);
  } else {
    hold(ci, {order, pos});
  }
}

void MessageQueues::hold(std::uint32_t ci, Waiting side) {
  Channel& c = channels_[ci];
  if (c.held.empty() || side.order < c.held.front().order) {
    if (const std::uint32_t blocking = blocker(ci, side.order); blocking != kNone) {
      block(blocking, side.order, ci);
    } else {
      released_.push_back(ci);
    }
  }
  push(c.held, side);
  if (++held_count_ > kMaxHeld) settle_everything();
}

void MessageQueues::block(std::uint32_t blocking, std::uint64_t order, std::uint32_t ci) {
  push(channels_[blocking].blocked, {order, ci});
  channels_[ci].waits = order;
}

// A receive whose place in the channel is final.
void MessageQueues::settle(std::uint32_t ci, std::uint64_t pos) {
  Channel& c = channels_[ci];
  if (!native_) segment(c.recvd, c.key.b & 0xFFFFFFFFu);
  const std::uint64_t ordinal = c.recvd++;
  drop_before(c, ordinal);
  if (!c.sends.empty() && c.sends.front().ordinal == ordinal) {
    take(c, pos);
  } else if (ordinal >= c.sent) {
    wait_for_send(ci, pos, ordinal);
  }
}

void MessageQueues::take(Channel& c, std::uint64_t recv) {
  if (recv != kNoEvent) paired_.push_back({c.sends.front().pos, recv});
  c.sends.pop();
  --in_flight_;
}

void MessageQueues::settle_held(std::uint32_t ci) {
  Channel& c = channels_[ci];
  while (!c.held.empty()) {
    const std::uint64_t order = c.held.front().order;
    if (const std::uint32_t blocking = blocker(ci, order); blocking != kNone) {
      return block(blocking, order, ci);
    }
    --held_count_;
    settle(ci, pop(c.held).pos);
  }
}

void MessageQueues::settle_released() {
  for (std::size_t i = 0; i < released_.size(); ++i) settle_held(released_[i]);
  released_.clear();
}

void MessageQueues::settle_everything() {
  settle_released();
  while (held_count_ != 0) {
    std::vector<std::uint32_t> pending;
    channels_.for_each([&](const detail::Key128&, std::uint32_t ci) {
      if (channels_[ci].blocked.empty()) return;
      for (const Post& p : channels_[ci].posts.items()) {
        const Request& r = requests_[p.request];
        if (r.pending && r.posted == p.order) pending.push_back(p.request);
      }
    });
    for (const std::uint32_t ri : pending) unpost(ri);
    settle_released();
  }
}

void MessageQueues::wait_for_send(std::uint32_t ci, std::uint64_t pos, std::uint64_t ordinal) {
  channels_[ci].ahead.push({pos, ordinal});
  ahead_order_.push({ci, ordinal});
  ++ahead_count_;
  const auto gone = [&](const std::pair<std::uint32_t, std::uint64_t>& a) {
    const Channel& c = channels_[a.first];
    return c.ahead.empty() || c.ahead.front().ordinal > a.second;
  };
  if (ahead_order_.size() > 2 * ahead_count_ + 64) ahead_order_.erase_if(gone);
  if (ahead_count_ <= kMaxAhead) return;
  while (gone(ahead_order_.front())) ahead_order_.pop();
  channels_[ahead_order_.front().first].ahead.pop();
  ahead_order_.pop();
  --ahead_count_;
}

// A SEND has come: receives that were read before theirs.
void MessageQueues::serve_ahead(Channel& c) {
  while (!c.ahead.empty() && c.ahead.front().ordinal < c.sent) {
    const Ahead a = c.ahead.front();
    c.ahead.pop();
    --ahead_count_;
    drop_before(c, a.ordinal);
    if (!c.sends.empty() && c.sends.front().ordinal == a.ordinal) take(c, a.pos);
  }
}

// Messages that the receiver took while it was not recorded, or that it never took.
void MessageQueues::drop_before(Channel& c, std::uint64_t ordinal) {
  while (!c.sends.empty() && c.sends.front().ordinal < ordinal) take(c, kNoEvent);
}

void MessageQueues::finish() {
  paired_.clear();
  settle_everything();
}

void MessageQueues::save(BlobWriter& out) const {
  out.number(channels_.size());
  channels_.for_each([&](const detail::Key128& key, std::uint32_t ci) {
    const Channel& c = channels_[ci];
    out.numbers(ci, key.a >> 32, key.a & 0xFFFFFFFFu, key.b >> 32, key.b & 0xFFFFFFFFu);
    std::uint64_t before = c.sent;
    out.number(c.sent);
    out.step(before, c.recvd);
    const bool quiet = c.sends.empty() && c.held.empty() && c.blocked.empty() && c.ahead.empty() &&
                       c.waits == kNoEvent;
    out.number(quiet);
    if (quiet) return;
    out.numbers(c.waits + 1, c.sends.size(), c.held.size(), c.blocked.size(), c.ahead.size());
    for (const Sent& s : c.sends.items()) out.numbers(s.pos, s.ordinal);
    for (const Waiting& w : c.held) out.numbers(w.order, w.pos + 1);
    for (const Waiting& w : c.blocked) out.numbers(w.order, w.pos);
    for (const Ahead& a : c.ahead.items()) out.numbers(a.pos + 1, a.ordinal);
  });
  out.number(request_index_.size());
  request_index_.for_each([&](const detail::Key64& key, std::uint32_t ri) {
    const Request& r = requests_[ri];
    out.numbers(key.a >> 32, key.a & 0xFFFFFFFFu, r.posted, r.channel, r.send, r.pending);
  });
  for (const std::uint32_t n : segments_) out.number(n);
  for (const std::uint32_t n : pauses_) out.number(n);
  out.number(ahead_order_.size());
  for (const auto& [ci, ordinal] : ahead_order_.items()) out.numbers(ci, ordinal);
  out.number(paired_.size());
  for (const MessagePair& p : paired_) out.numbers(p.send, p.recv);
  out.numbers(requestptr_ + 1, channels_.purge_at(), purge_requests_at_);
}

// Into an object that nothing has been applied to.
void MessageQueues::load(BlobReader& in) {
  std::vector<std::uint32_t> renamed;  // channels by their former numbers
  const auto name = [&](std::uint64_t former) {
    return former < renamed.size() ? renamed[former] : 0;
  };
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    std::uint32_t former = 0;
    std::uint64_t com = 0, tag = 0, source = 0, destination = 0;
    Channel made;
    in.numbers(former, com, tag, source, destination, made.sent);
    made.recvd = made.sent;
    in.step(made.recvd);
    const bool quiet = in.number() != 0;
    if (!quiet) {
      in.get(made.waits);
      --made.waits;
    }
    const std::size_t sends = quiet ? 0 : in.count(), held = quiet ? 0 : in.count(),
                      blocked = quiet ? 0 : in.count(), ahead = quiet ? 0 : in.count();
    if (former > (1u << 30)) return;
    for (std::size_t i = 0; i < sends; ++i) {
      Sent s{};
      in.numbers(s.pos, s.ordinal);
      made.sends.push(s);
    }
    for (std::size_t i = 0; i < held; ++i) {
      Waiting w{};
      in.numbers(w.order, w.pos);
      made.held.push_back({w.order, w.pos - 1});
    }
    for (std::size_t i = 0; i < blocked; ++i) {
      Waiting w{};
      in.numbers(w.order, w.pos);
      made.blocked.push_back(w);
    }
    for (std::size_t i = 0; i < ahead; ++i) {
      Ahead a{};
      in.numbers(a.pos, a.ordinal);
      made.ahead.push({a.pos - 1, a.ordinal});
    }
    in_flight_ += sends;
    held_count_ += held;
    ahead_count_ += ahead;
    const std::uint32_t ci = channels_.get({com << 32 | tag, source << 32 | destination});
    made.key = channels_[ci].key;
    channels_[ci] = std::move(made);
    if (former >= renamed.size()) renamed.resize(former + 1);
    renamed[former] = ci;
  }
  channels_.for_each([&](const detail::Key128&, std::uint32_t ci) {
    for (Waiting& w : channels_[ci].blocked) w.pos = name(w.pos);
  });
  std::vector<std::pair<std::uint32_t, Post>> posts;
  for (std::size_t n = in.count(); n > 0 && in.ok(); --n) {
    std::uint64_t process = 0, id = 0, former = 0, posted = 0;
    bool send = false, pending = false;
    in.numbers(process, id, posted, former, send, pending);
    const std::uint32_t ri =
        new_request(static_cast<ProcessId>(process), static_cast<RequestId>(id), posted);
    if (ri == kNone) continue;
    requests_[ri].send = send;
    requests_[ri].pending = pending;
    requests_[ri].channel = name(former);
    if (pending) posts.push_back({name(former), {posted, ri}});
  }
  std::sort(posts.begin(), posts.end(),
            [](const auto& a, const auto& b) { return a.second.order < b.second.order; });
  for (const auto& [ci, p] : posts) {
    Channel& c = channels_[ci];
    c.posts.push(p);
    ++c.pending;
    if (c.key.b >> 32 == kAbsent || (c.key.a & 0xFFFFFFFFu) == kAbsent) ++wildcards(c.key);
  }
  for (std::uint32_t& n : segments_) in.get(n);
  for (std::uint32_t& n : pauses_) in.get(n);
  for (std::size_t n = in.count(); n > 0; --n) {
    std::uint64_t former = 0, ordinal = 0;
    in.numbers(former, ordinal);
    ahead_order_.push({name(former), ordinal});
  }
  for (std::size_t n = in.count(); n > 0; --n) {
    MessagePair p{};
    in.numbers(p.send, p.recv);
    paired_.push_back(p);
  }
  in.numbers(requestptr_, channels_.purge_at(), purge_requests_at_);
  --requestptr_;
}

}  // namespace kojak::earl::sequence
