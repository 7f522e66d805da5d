#include "merge/complete/held_ends.h"

#include <algorithm>

namespace kojak::merge {

// Reads the part of a list that is not in chunks.
class SpilledReader {
 public:
  SpilledReader(HeldEnds& held, const HeldEnds::Spilled& spilled)
      : held_(held), spilled_(spilled), place_(spilled.first_place), at_(spilled.taken) {
    load();
  }
  bool next(HeldEnd& end) {
    do {
      // The first block may have been taken out of the list whole.
      while (at_ == stop_) {
        if (current_ == nullptr || current_ == &spilled_.last) return false;
        place_ = current_->next;
        at_ = 0;
        ++passed_;
        load();
      }
      end = current_->ends[at_++];
      ++held_.reread_;
    } while (spilled_.is_removed(end.rmaid));
    return true;
  }
  // All that has been read is gone from the list for good.
  void drop_read(HeldEnds::Spilled& spilled) const {
    if (passed_ != 0) held_.free_blocks_.push_back({spilled.first_place, passed_});
    spilled.blocks -= passed_;
    spilled.first_place = place_;
    spilled.taken = at_;
  }

 private:
  void load() {
    if (place_ == spilled_.last_place) {
      current_ = &spilled_.last;
      stop_ = spilled_.used;
      return;
    }
    if (!block_) block_ = std::make_unique_for_overwrite<HeldEnds::SpillBlock>();
    const Status status =
        held_.files_.read(FileCache::kSpill, place_, block_.get(), sizeof *block_);
    if (!status) held_.fail(status.error());
    current_ = status ? block_.get() : nullptr;
    stop_ = status ? HeldEnds::SpillBlock::kEnds : at_;
  }

  HeldEnds& held_;
  const HeldEnds::Spilled& spilled_;
  std::uint64_t place_, passed_ = 0;
  std::uint32_t at_, stop_ = 0;
  std::unique_ptr<HeldEnds::SpillBlock> block_;
  const HeldEnds::SpillBlock* current_ = nullptr;
};

void HeldEnds::Spilled::remove(std::uint32_t rmaid) {
  auto next = removed.upper_bound(rmaid);
  std::uint32_t until = rmaid;
  if (next != removed.end() && next->first == rmaid + 1) {
    until = next->second;
    next = removed.erase(next);
  }
  if (next != removed.begin() && std::prev(next)->second + 1 == rmaid) {
    std::prev(next)->second = until;
  } else {
    removed.emplace_hint(next, rmaid, until);
  }
}

HeldEnds::HeldEnds(FileCache& files, std::size_t pool)
    : files_(files), pool_(pool), share_(static_cast<std::uint32_t>((pool_.most() + 7) / 8)) {}

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

void HeldEnds::append_slow(List& list, const HeldEnd& end) {
  if (list.spilled == nullptr) {
    if (add_chunk(list)) {
      list.tail->ends[list.tail_used++] = end;
      return;
    }
    list.spilled = std::make_unique<Spilled>();
    list.spilled->first_place = list.spilled->last_place = take_block();
  }
  spill(*list.spilled, end);
}

void HeldEnds::spill(Spilled& spilled, const HeldEnd& end) {
  SpillBlock& block = spilled.last;
  if (spilled.used == SpillBlock::kEnds) {
    block.next = take_block();
    if (Status status = files_.write(spilled.last_place, &block, sizeof block); !status) {
      fail(status.error());
    }
    spilled.last_place = block.next;
    spilled.used = 0;
    ++spilled.blocks;
  }
  block.ends[spilled.used++] = end;
}

// Lists that are gone leave chains of blocks behind.
std::uint64_t HeldEnds::take_block() {
  if (free_blocks_.empty()) return files_.reserve(sizeof(SpillBlock));
  FreeBlocks& chain = free_blocks_.back();
  const std::uint64_t block = chain.first;
  if (--chain.count == 0) {
    free_blocks_.pop_back();
  } else if (Status status =
                 files_.read(FileCache::kSpill, block, &chain.first, sizeof chain.first);
             !status) {
    fail(status.error());
    free_blocks_.pop_back();
  }
  return block;
}

void HeldEnds::empty(List& list) {
  if (list.head != nullptr) pool_.give(list.head, list.tail);
  if (list.spilled != nullptr) {
    free_blocks_.push_back({list.spilled->first_place, list.spilled->blocks});
    list.spilled.reset();
  }
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
  if (list.spilled != nullptr) return extract_spilled(list, rmaid);
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
  if (list.spilled == nullptr) {
    list.tail_used = to_at;
  } else {
    // What comes next must stay behind what was spilled: fill the last chunk with removed ends.
    for (; to_at < kChunkEnds; ++to_at) {
      last->ends[to_at].rmaid = kRemoved;
      ++list.removed;
    }
    list.tail_used = kChunkEnds;
  }
}

std::optional<HeldEnd> HeldEnds::extract_spilled(List& list, std::uint32_t rmaid) {
  Spilled& spilled = *list.spilled;
  SpilledReader reader(*this, spilled);
  HeldEnd end;
  for (bool first = true; reader.next(end); first = false) {
    if (end.rmaid != rmaid) continue;
    if (first) {
      // Numbers ascend: what was taken out before this one need not be remembered any longer.
      reader.drop_read(spilled);
      spilled.removed.erase(spilled.removed.begin(), spilled.removed.upper_bound(rmaid));
    } else {
      spilled.remove(rmaid);
    }
    if (--list.size == 0) empty(list);
    return end;
  }
  return std::nullopt;
}

HeldEnds::Reader::Reader(HeldEnds& held, ListId id) {
  const List& list = held.lists_[id];
  chunk_ = list.head;
  tail_ = list.tail;
  at_ = list.head_at;
  tail_used_ = list.tail_used;
  stop_ = chunk_ == tail_ ? tail_used_ : kChunkEnds;
  if (list.spilled != nullptr) spilled_ = std::make_unique<SpilledReader>(held, *list.spilled);
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

bool HeldEnds::Reader::next_spilled(HeldEnd& end) {
  return spilled_->next(end);
}

}  // namespace kojak::merge
