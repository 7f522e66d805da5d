#include "merge/complete/end_chunks.h"

#include <algorithm>

namespace kojak::merge {
namespace {

bool before(const HeldEnd& a, const HeldEnd& b) {
  if (a.time != b.time) return a.time < b.time;
  if (a.peer != b.peer) return a.peer < b.peer;
  return a.rmaid < b.rmaid;
}

}  // namespace

bool ChunkPool::add_slab() {
  const std::size_t fresh = std::min(kSlab, most_ - made_);
  if (fresh == 0) return false;
  made_ += fresh;
  slabs_.push_back(std::make_unique_for_overwrite<EndChunk[]>(fresh));
  EndChunk* const slab = slabs_.back().get();
  for (std::size_t i = fresh; i-- > 0;) {
    slab[i].next = free_;
    free_ = &slab[i];
  }
  return true;
}

void collect(ChunkPool& pool, Mailbox& box, Mail& mail) {
  if (!mail.empty()) mail.sorted = false;
  mail.sorted = mail.sorted && box.sorted;
  for (EndChunk* chunk = box.head; chunk != nullptr; chunk = chunk->next) {
    if (chunk->next != nullptr) {
      __builtin_prefetch(chunk->next);
      __builtin_prefetch(&chunk->next->ends[EndChunk::kEnds - 1]);
    }
    const std::uint32_t n = chunk == box.tail ? box.used : EndChunk::kEnds;
    mail.ends.insert(mail.ends.end(), chunk->ends, chunk->ends + n);
  }
  if (box.head != nullptr) pool.give(box.head, box.tail);
  box = {};
}

// Ends come in the order of their calls' beginnings: few stand far from their place.
void Mail::sort() {
  if (sorted) return;
  constexpr std::size_t kMovesEach = 8;
  std::size_t moves = kMovesEach * ends.size();
  sorted = true;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    const HeldEnd end = ends[i];
    std::size_t at = i;
    for (; at > 0 && before(end, ends[at - 1]) && moves > 0; --moves, --at) ends[at] = ends[at - 1];
    ends[at] = end;
    if (moves == 0) {
      std::sort(ends.begin(), ends.end(), before);
      return;
    }
  }
}

}  // namespace kojak::merge
