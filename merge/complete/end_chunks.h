// Memory for ends of transfers that wait for their completing record, and the mailbox: the ends
// that one fence of one process releases, whoever issued them.
//
// If processes put to many others, one list for each pair would be somewhere else in memory for
// nearly every operation, and each access would wait for the memory. A mailbox has the
// ends of all origins in the order in which their starts are read; it is sorted when it is
// released, which is cheap, since that order is nearly the right one. A mailbox that has used its
// share of the pool stays full; later ends go to the lists of held_ends.h. The pool
// owns all chunks. Nothing fails: a pool that is used up says so. Source:
// docs/merge.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kojak::merge {

struct HeldEnd {
  double time = 0;  // corrected, of its own record
  std::uint64_t bytes = 0;
  std::uint32_t rmaid = 0;
  std::uint32_t peer = 0;  // rank: of a put's origin, of a get's target
};

// Two cache lines: where a process sends to many others, lists of one end are common.
struct EndChunk {
  static constexpr std::uint32_t kEnds = 5;
  HeldEnd ends[kEnds];
  EndChunk* next;
};

class ChunkPool {
 public:
  explicit ChunkPool(std::size_t bytes) : most_(bytes / sizeof(EndChunk)) {}

  std::size_t most() const { return most_; }
  // Null if the pool is used up.
  EndChunk* take() {
    if (free_ == nullptr && !add_slab()) return nullptr;
    EndChunk* const chunk = free_;
    free_ = chunk->next;
    chunk->next = nullptr;
    return chunk;
  }
  // Takes back a chain.
  void give(EndChunk* first, EndChunk* last) {
    last->next = free_;
    free_ = first;
  }
  // Fetches what take() and the first use of the chunk will write to.
  [[gnu::always_inline]] void prefetch_next() const { __builtin_prefetch(free_, 1); }

 private:
  static constexpr std::size_t kSlab = 256;
  bool add_slab();

  std::vector<std::unique_ptr<EndChunk[]>> slabs_;
  EndChunk* free_ = nullptr;
  std::size_t most_, made_ = 0;
};

struct Mailbox {
  std::uint64_t ordinal = 0;  // of the fence; 0: no mailbox
  EndChunk* head = nullptr;
  EndChunk* tail = nullptr;
  double last = 0;  // time of the end that came last
  std::uint32_t used = EndChunk::kEnds;
  std::uint32_t chunks = 0;
  bool sorted = true;  // by time, and no two at the same
  bool full = false;
};

// What is taken out of mailboxes.
struct Mail {
  std::vector<HeldEnd> ends;
  bool sorted = true;

  bool empty() const { return ends.empty(); }
  void clear() {
    ends.clear();
    sorted = true;
  }
  // Sorts by time, then origin, then number.
  void sort();
};

// False if the mailbox is full; then nothing has happened.
[[gnu::always_inline]] inline bool post(ChunkPool& pool, std::uint32_t share, Mailbox& box,
                                        const HeldEnd& end) {
  if (box.used == EndChunk::kEnds) [[unlikely]] {
    EndChunk* const chunk = box.full || box.chunks >= share ? nullptr : pool.take();
    if (chunk == nullptr) {
      box.full = true;
      return false;
    }
    (box.tail != nullptr ? box.tail->next : box.head) = chunk;
    box.tail = chunk;
    box.used = 0;
    ++box.chunks;
  }
  box.sorted = box.sorted && (box.last < end.time || (box.chunks == 1 && box.used == 0));
  box.last = end.time;
  box.tail->ends[box.used++] = end;
  return true;
}
// Empties the mailbox.
void collect(ChunkPool& pool, Mailbox& box, Mail& mail);

}  // namespace kojak::merge
