#include "merge/complete/held_ends.h"

#include <algorithm>

#include "merge/complete/held_overflow.h"
#include "merge/complete/transfer_ends.h"

namespace kojak::merge {
namespace {

// Cursors on one input at the same time: each would skip what belongs to the others.
constexpr std::uint32_t kMostReferences = 4;

}  // namespace

HeldEnds::HeldEnds(FileCache& files, std::vector<HeldSource> sources, std::size_t pool)
    : files_(files),
      sources_(std::move(sources)),
      references_(sources_.size(), 0),
      pool_(pool),
      share_(static_cast<std::uint32_t>((pool_.most() + 7) / 8)) {}

HeldEnds::~HeldEnds() = default;

ListId HeldEnds::open(const ListInfo& info) {
  ListId id;
  if (free_.empty()) {
    id = static_cast<ListId>(lists_.size());
    lists_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  List& list = lists_[id];
  list.info = info;
  list.is_open = true;
  return id;
}

bool HeldEnds::add_chunk(List& list) {
  if (list.chunks >= share_) return false;
  Chunk* const chunk = pool_.take();
  if (chunk == nullptr) return false;
  if (list.tail == nullptr) {
    list.head = chunk;
    list.head_at = 0;
  } else {
    list.tail->next = chunk;
  }
  list.tail = chunk;
  list.tail_used = 0;
  ++list.chunks;
  return true;
}

void HeldEnds::append_slow(List& list, const HeldEnd& end, std::uint64_t position,
                           bool consecutive) {
  if (!list.overflow) {
    if (add_chunk(list)) {
      list.tail->ends[list.tail_used++] = end;
      return;
    }
    list.overflow = std::make_unique<Overflow>();
    std::uint32_t& references = references_[list.info.stream];
    if (references < kMostReferences) {
      ++references;
    } else {
      list.overflow->block = std::make_unique<SpillBlock>();
      list.overflow->first_block = list.overflow->last_block = files_.reserve(sizeof(SpillBlock));
    }
  }
  Overflow& overflow = *list.overflow;
  if (overflow.block) {
    append_spilled(overflow, end);
  } else if (consecutive && !overflow.segments.empty()) {
    ++overflow.segments.back().count;
  } else {
    overflow.segments.push_back({position, 1});
  }
}

void HeldEnds::append_spilled(Overflow& overflow, const HeldEnd& end) {
  SpillBlock& block = *overflow.block;
  if (block.count == SpillBlock::kEnds) {
    block.next = files_.reserve(sizeof(SpillBlock));
    if (Status status = files_.write(overflow.last_block, &block, sizeof block); !status) {
      fail(status.error());
    }
    overflow.last_block = block.next;
    block.count = 0;
  }
  block.ends[block.count++] = end;
}

void HeldEnds::empty(List& list) {
  if (list.head != nullptr) pool_.give(list.head, list.tail);
  if (list.overflow && !list.overflow->block) --references_[list.info.stream];
  list.overflow.reset();
  list.head = list.tail = nullptr;
  list.head_at = 0;
  list.tail_used = kChunkEnds;
  list.size = 0;
  list.chunks = list.removed = 0;
}

void HeldEnds::close(ListId id) {
  List& list = lists_[id];
  empty(list);
  list.is_open = false;
  ++list.serial;
  free_.push_back(id);
}

std::vector<ListId> HeldEnds::open_lists() const {
  std::vector<ListId> open;
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    if (lists_[i].is_open) open.push_back(static_cast<ListId>(i));
  }
  return open;
}

std::optional<HeldEnd> HeldEnds::extract(ListId id, std::uint32_t rmaid) {
  List& list = lists_[id];
  for (Chunk* chunk = list.head; chunk != nullptr; chunk = chunk->next) {
    const std::uint32_t stop = chunk == list.tail ? list.tail_used : kChunkEnds;
    for (std::uint32_t i = chunk == list.head ? list.head_at : 0; i < stop; ++i) {
      if (chunk->ends[i].rmaid != rmaid) continue;
      const HeldEnd end = chunk->ends[i];
      chunk->ends[i].rmaid = kRemoved;
      --list.size;
      ++list.removed;
      if (list.size == 0) {
        empty(list);
      } else if (list.removed > 4 * kChunkEnds && list.removed > list.chunks * kChunkEnds / 2) {
        compact(list);
      }
      return end;
    }
  }
  if (list.overflow) return extract_overflow(id, rmaid);
  return std::nullopt;
}

// Moves the ends that are left to the front and gives back the chunks behind them.
void HeldEnds::compact(List& list) {
  Chunk* to = list.head;
  std::uint32_t to_at = 0;
  Chunk* last = to;
  for (Chunk* chunk = list.head; chunk != nullptr; chunk = chunk->next) {
    const std::uint32_t stop = chunk == list.tail ? list.tail_used : kChunkEnds;
    for (std::uint32_t i = chunk == list.head ? list.head_at : 0; i < stop; ++i) {
      if (chunk->ends[i].rmaid == kRemoved) continue;
      if (to_at == kChunkEnds) {
        to = to->next;
        to_at = 0;
      }
      to->ends[to_at++] = chunk->ends[i];
      last = to;
    }
  }
  if (last->next != nullptr) {
    pool_.give(last->next, list.tail);
    last->next = nullptr;
  }
  list.chunks = 1;
  for (Chunk* chunk = list.head; chunk != last; chunk = chunk->next) ++list.chunks;
  list.tail = last;
  list.head_at = 0;
  list.removed = 0;
  if (!list.overflow) {
    list.tail_used = to_at;
  } else {
    // What comes next must stay behind the overflow: fill the last chunk with removed ends.
    for (; to_at < kChunkEnds; ++to_at) {
      last->ends[to_at].rmaid = kRemoved;
      ++list.removed;
    }
    list.tail_used = kChunkEnds;
  }
}

std::optional<HeldEnd> HeldEnds::extract_overflow(ListId id, std::uint32_t rmaid) {
  List& list = lists_[id];
  OverflowReader reader(*this, list.info, *list.overflow);
  HeldEnd end;
  bool first = true;
  for (; reader.next(end); first = false) {
    if (end.rmaid != rmaid) continue;
    Overflow& overflow = *list.overflow;
    if (first) {
      // Numbers ascend: what was taken out before this one need not be remembered any longer.
      reader.drop_read(overflow);
      overflow.removed.erase(overflow.removed.begin(), overflow.removed.upper_bound(rmaid));
    } else {
      overflow.remove(rmaid);
    }
    if (--list.size == 0) empty(list);
    return end;
  }
  return std::nullopt;
}

HeldEnds::Reader::Reader(HeldEnds& held, ListId id) : held_(&held) {
  const List& list = held.lists_[id];
  chunk_ = list.head;
  tail_ = list.tail;
  at_ = list.head_at;
  tail_used_ = list.tail_used;
  stop_ = chunk_ == tail_ ? tail_used_ : kChunkEnds;
  info_ = &list.info;
  overflow_ = list.overflow.get();
}

HeldEnds::Reader::Reader(Reader&&) noexcept = default;
HeldEnds::Reader& HeldEnds::Reader::operator=(Reader&&) noexcept = default;
HeldEnds::Reader::~Reader() = default;

bool HeldEnds::Reader::next_chunk() {
  chunk_ = chunk_ == tail_ ? nullptr : chunk_->next;
  at_ = 0;
  stop_ = chunk_ == tail_ ? tail_used_ : kChunkEnds;
  return chunk_ != nullptr;
}

bool HeldEnds::Reader::next_overflow(HeldEnd& end) {
  if (!reader_) reader_ = std::make_unique<OverflowReader>(*held_, *info_, *overflow_);
  return reader_->next(end);
}

}  // namespace kojak::merge
