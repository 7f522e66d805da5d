#include "epilog/mpi/message_counts.h"

#include <algorithm>

#include "epilog/format/field_values.h"
#include "epilog/mpi/comm.h"
#include "epilog/mpi/request.h"
#include "epilog/runtime/own_stack.h"

namespace kojak::measure {
namespace {

std::uint32_t counts_in_all = 0;
std::uint32_t look_for_old_at = kMostCounts;
std::uint64_t uses = 0;
Vector<std::uint64_t> used_at;  // kept for its memory only

std::uint64_t count_key(std::uint32_t peer, std::uint32_t tag, bool sends) {
  return std::uint64_t{peer} << 32 | (tag & 0x7FFF'FFFFu) << 1 | (sends ? 1u : 0u);
}
std::uint64_t wildcard_key(std::uint32_t peer, std::uint32_t tag) {
  return std::uint64_t{peer} << 32 | tag;
}

void unlink(MessageCount& c) {
  (c.newer != nullptr ? c.newer->older : c.line->newest) = c.older;
  (c.older != nullptr ? c.older->newer : c.line->oldest) = c.newer;
}
void put_in_front(MessageCount& c) {
  c.newer = nullptr;
  c.older = c.line->newest;
  (c.older != nullptr ? c.older->newer : c.line->oldest) = &c;
  c.line->newest = &c;
}

void forget_count(MessageCounts& counts, MessageCount* c) {
  unlink(*c);
  counts.tags.erase(c->key);
  c->line->forgot = true;
  --c->line->tags;
  --counts_in_all;
  destroy(c);
}

void forget_oldest(MessageCounts& counts, MessageLine& line) {
  MessageCount* c = line.oldest;
  while (c != nullptr && c->open != 0) c = c->newer;
  if (c != nullptr) forget_count(counts, c);
}

template <class F>
void for_each_free(F&& f) {
  for (Comm* comm = first_comm(); comm != nullptr; comm = comm->next) {
    comm->messages.lines.for_each([&](std::uint64_t, MessageLine* line) {
      for (MessageCount *c = line->oldest, *newer; c != nullptr; c = newer) {
        newer = c->newer;
        if (c->open == 0) f(comm->messages, c);
      }
    });
  }
}

// An eighth of all at a time, since finding them takes as long as there are counts.
[[gnu::noinline]] void forget_old_ones() {
  constexpr std::uint32_t kAtATime = kMostCounts / 8;
  (void)used_at.resize(0);
  bool good = true;
  for_each_free(
      [&](MessageCounts&, MessageCount* c) { good = good && used_at.push_back(c->used); });
  look_for_old_at = counts_in_all + kAtATime;  // if too many are held by open receives
  if (!good || used_at.size() < kAtATime) return;
  std::nth_element(used_at.begin(), used_at.begin() + (kAtATime - 1), used_at.end());
  const std::uint64_t last = used_at[kAtATime - 1];
  for_each_free([last](MessageCounts& counts, MessageCount* c) {
    if (c->used <= last) forget_count(counts, c);
  });
  look_for_old_at = kMostCounts;
}

MessageLine* line_of(MessageCounts& counts, std::uint32_t peer, bool sends) {
  const std::uint64_t key = std::uint64_t{peer} << 1 | (sends ? 1u : 0u);
  if (MessageLine** const found = counts.lines.find(key)) return *found;
  auto* const line = create<MessageLine>();
  if (line == nullptr) return nullptr;
  line->peer = peer;
  if (counts.lines.set(key, line) == nullptr) {
    destroy(line);
    return nullptr;
  }
  return line;
}

[[gnu::noinline]] MessageCount* make_count(MessageCounts& counts, std::uint64_t key) {
  MessageLine* const line = line_of(counts, static_cast<std::uint32_t>(key >> 32), (key & 1) != 0);
  if (line == nullptr) return nullptr;
  if (line->tags >= kMostTags) forget_oldest(counts, *line);
  if (counts_in_all >= look_for_old_at) forget_old_ones();
  auto* const c = create<MessageCount>();
  if (c == nullptr) return nullptr;
  if (counts.tags.set(key, c) == nullptr) {
    destroy(c);
    return nullptr;
  }
  c->key = key;
  c->line = line;
  c->used = ++uses;
  put_in_front(*c);
  ++line->tags;
  ++counts_in_all;
  return c;
}

MessageCount* count_of(MessageCounts& counts, std::uint64_t key) {
  MessageCount** const found = counts.tags.find(key);
  if (found != nullptr) return *found;
  return on_own_stack([&] { return make_count(counts, key); });
}

void use(MessageCounts& counts, MessageCount& c) {
  if (c.count++ == 0) c.first = c.line->forgot ? c.line->total : 0;
  ++c.line->total;
  c.used = ++uses;
  c.changed = counts.changed = true;
  if (c.line->newest != &c) {
    unlink(c);
    put_in_front(c);
  }
}

// Those that could have taken what a receive of this order has taken.
[[gnu::noinline]] void pass_wildcards(MessageCounts& counts, std::uint32_t peer, std::uint32_t tag,
                                      std::uint64_t order) {
  for (const std::uint64_t key :
       {wildcard_key(kAbsent, tag), wildcard_key(peer, kAbsent), wildcard_key(kAbsent, kAbsent)}) {
    if (WildcardPosts* const posts = counts.wildcards.find(key)) {
      posts->newest_taken = std::max(posts->newest_taken, order);
    }
  }
}

void close_wildcard(MessageCounts& counts, std::uint64_t key) {
  --counts.open_wildcards;
  WildcardPosts* const posts = counts.wildcards.find(key);
  if (posts != nullptr && --posts->open == 0) counts.wildcards.erase(key);
}

void close_exact(PostedReceive& receive) {
  MessageCount& c = *receive.count;
  --c.open;
  c.uncertain_before = std::max(c.uncertain_before, receive.order);
  receive.count = nullptr;
}

}  // namespace

void MessageCounts::clear() {
  tags.for_each([](std::uint64_t, MessageCount* c) {
    --counts_in_all;
    destroy(c);
  });
  lines.for_each([](std::uint64_t, MessageLine* line) { destroy(line); });
  tags.clear();
  lines.clear();
  wildcards.clear();
}

void count_sent(Comm& comm, std::uint32_t peer, std::uint32_t tag) {
  MessageCount* const c = count_of(comm.messages, count_key(peer, tag, true));
  if (c != nullptr) use(comm.messages, *c);
}

// `c`: of the channel; null if there is no memory for it.
static void count_received_in(MessageCounts& counts, MessageCount* c, std::uint32_t peer,
                              std::uint32_t tag, PostedReceive* by) {
  const std::uint64_t order = by != nullptr ? by->order : next_order();
  if (c != nullptr) {
    use(counts, *c);
    if (by != nullptr && by->count == c) {
      --c->open;
      by->count = nullptr;
    } else if (c->open == 0 || order > c->newest_open) {
      ++c->posted;
      // Another thread may have posted this one before any that is open.
      if (by == nullptr && the_session.multi_threaded) c->uncertain_before = order;
    } else {
      c->uncertain_before = std::max(c->uncertain_before, order);
    }
  }
  if (by != nullptr && by->count != nullptr) close_exact(*by);
  if (counts.open_wildcards != 0) pass_wildcards(counts, peer, tag, order);
}

// All of it on our stack, or Fortran's calls, which come here from deep down, take too much.
[[gnu::cold, gnu::noinline]] static void count_first_received(MessageCounts& counts,
                                                              std::uint32_t peer, std::uint32_t tag,
                                                              PostedReceive* by) {
  on_own_stack([&counts, peer, tag, by] {
    MessageCount* const c = make_count(counts, count_key(peer, tag, false));
    count_received_in(counts, c, peer, tag, by);
  });
}

void count_received(Comm& comm, std::uint32_t peer, std::uint32_t tag, PostedReceive* by) {
  MessageCounts& counts = comm.messages;
  MessageCount** const found = counts.tags.find(count_key(peer, tag, false));
  if (found == nullptr) [[unlikely]]
    return count_first_received(counts, peer, tag, by);
  count_received_in(counts, *found, peer, tag, by);
}

void post_receive(Comm& comm, std::uint32_t peer, std::uint32_t tag, std::uint64_t order,
                  PostedReceive& receive) {
  MessageCounts& counts = comm.messages;
  receive = {order, 0, nullptr, false};
  if (peer == kAbsent || tag == kAbsent) {
    const std::uint64_t key = wildcard_key(peer, tag);
    WildcardPosts* posts = counts.wildcards.find(key);
    if (posts == nullptr) posts = counts.wildcards.set(key, {0, 0});
    if (posts == nullptr) return;
    ++posts->open;
    ++counts.open_wildcards;
    receive.wildcard = true;
    return;
  }
  MessageCount* const c = count_of(counts, count_key(peer, tag, false));
  if (c == nullptr) return;
  ++c->open;
  c->newest_open = order;
  receive.place = c->posted++;
  receive.count = c;
}

void give_up_receive(Comm& comm, std::uint32_t peer, std::uint32_t tag, PostedReceive& receive) {
  if (receive.wildcard) close_wildcard(comm.messages, wildcard_key(peer, tag));
  receive.wildcard = false;
  if (receive.count != nullptr) close_exact(receive);
}

std::uint64_t overtaken(Comm& comm, std::uint32_t peer, std::uint32_t tag,
                        const PostedReceive& receive, std::uint32_t told) {
  if (receive.wildcard) {
    const WildcardPosts* const posts = comm.messages.wildcards.find(wildcard_key(peer, tag));
    return posts != nullptr && receive.order < posts->newest_taken ? kCountLost : 0;
  }
  const MessageCount* const c = receive.count;
  if (c == nullptr || receive.order < c->uncertain_before) return kCountLost;
  const std::uint64_t younger_open = c->open - 1 - told;
  return c->posted - receive.place - 1 - younger_open;
}

}  // namespace kojak::measure
