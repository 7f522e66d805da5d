// How many messages this process has sent to each peer and received from it, by tag; and of posted
// receives, how many of those posted later have taken their messages: what a head tells after a gap
// (state.h).
//
// Memory is bounded: kMostTags for each (communicator, peer, direction), kMostCounts in all. The
// one used longest ago goes, unless a receive that names it is open; a tag that comes back counts
// from 0, and knows how many messages of any tag went before (`first`): where both sides have that
// number alike, they count from the same message on. Callers hold the bookkeeping lock. Without
// memory a message is not counted.
#pragma once

#include <cstdint>

#include "epilog/runtime/memory.h"

namespace kojak::measure {

struct Comm;
struct MessageCount;

inline constexpr std::uint32_t kMostTags = 256, kMostCounts = 65'536;

struct MessageLine {  // all tags of one peer and direction
  std::uint64_t total = 0;
  MessageCount* newest = nullptr;  // used last
  MessageCount* oldest = nullptr;
  std::uint32_t peer = 0, tags = 0;
  bool forgot = false;  // a tag's count has gone
};

struct MessageCount {  // one tag
  std::uint64_t key = 0;
  std::uint64_t count = 0;
  std::uint64_t first = 0;        // messages of the line before the first one; 0: none has gone
  std::uint64_t posted = 0;       // receives that name it, and others that took from it, as posted
  std::uint64_t newest_open = 0;  // order of the receive posted last
  // Receives posted before this one may have been overtaken by some that `posted` does not have.
  std::uint64_t uncertain_before = 0;
  std::uint64_t used = 0;  // when
  MessageLine* line = nullptr;
  MessageCount* newer = nullptr;
  MessageCount* older = nullptr;
  std::uint32_t open = 0;  // receives that name it
  std::uint32_t told = 0;  // of these, while a head is written
  bool changed = false;    // since it was told of
  bool known = false;      // a head has told of `first`

  std::uint32_t peer() const { return static_cast<std::uint32_t>(key >> 32); }
  std::uint32_t tag() const { return static_cast<std::uint32_t>(key >> 1) & 0x7FFF'FFFFu; }
  bool sends() const { return (key & 1) != 0; }
};

// Receives that are open, from any source or with any tag: the youngest one that took a message
// which these could have taken.
struct WildcardPosts {
  std::uint64_t newest_taken;
  std::uint32_t open;
};

struct MessageCounts {  // of a communicator
  HashMap<MessageCount*> tags;
  HashMap<MessageLine*> lines;
  HashMap<WildcardPosts> wildcards;  // by peer and tag as posted
  std::uint32_t open_wildcards = 0;
  bool changed = false;

  MessageCount* other_way(const MessageCount& count) {
    MessageCount** const found = tags.find(count.key ^ 1);
    return found == nullptr ? nullptr : *found;
  }
  void clear();
};

// What an open receive is to these counts.
struct PostedReceive {
  std::uint64_t order = 0;        // of its posting
  std::uint64_t place = 0;        // among those of `count`
  MessageCount* count = nullptr;  // that it names
  bool wildcard = false;
};

void count_sent(Comm& comm, std::uint32_t peer, std::uint32_t tag);
// `by`: the posted receive that took it; null: a call that posted it itself.
void count_received(Comm& comm, std::uint32_t peer, std::uint32_t tag, PostedReceive* by);
// Absent peer or tag: any.
void post_receive(Comm& comm, std::uint32_t peer, std::uint32_t tag, std::uint64_t order,
                  PostedReceive& receive);
// It will take no message, or nobody knows which.
void give_up_receive(Comm& comm, std::uint32_t peer, std::uint32_t tag, PostedReceive& receive);
// How many that were posted later have taken messages of the peer and tag that it names; kCountLost
// if that is not known, and of a wildcard where there are any. `told`: open receives of the same
// count that are older.
std::uint64_t overtaken(Comm& comm, std::uint32_t peer, std::uint32_t tag,
                        const PostedReceive& receive, std::uint32_t told);

}  // namespace kojak::measure
