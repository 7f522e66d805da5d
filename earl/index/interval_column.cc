#include "earl/index/interval_column.h"

#include <algorithm>

namespace kojak::earl {

void IntervalColumn::add(std::uint64_t begin, std::uint64_t end,
                         std::span<const std::byte> contents) {
  add(begin, end);
  if (used_ + kLongestNumber > kPending) flush();
  std::byte* const p = write_number(pending_.get() + used_, contents.size());
  used_ = static_cast<std::size_t>(p - pending_.get());
  if (used_ + contents.size() > kPending) {
    flush();
    bytes_.insert(bytes_.end(), contents.begin(), contents.end());
  } else {
    std::copy(contents.begin(), contents.end(), p);
    used_ += contents.size();
  }
}

// Before a row.
void IntervalColumn::make_room() {
  if (pending_ == nullptr) {
    pending_ = std::make_unique<std::byte[]>(kPending);
    used_ = 0;
  }
  if (used_ + 2 * kLongestNumber > kPending) flush();
  if (rows_ == kRows) end_block();
}

void IntervalColumn::flush() {
  bytes_.insert(bytes_.end(), pending_.get(), pending_.get() + used_);
  used_ = 0;
}

void IntervalColumn::end_block() {
  blocks_.push_back(
      {offset_, static_cast<std::uint32_t>(min_begin_), static_cast<std::uint32_t>(last_end_)});
  offset_ = bytes_.size() + used_;
  min_begin_ = kNever;
  rows_ = 0;
}

void IntervalColumn::finish() {
  if (pending_ != nullptr) {
    flush();
    if (rows_ != 0) end_block();
    pending_.reset();
  }
  blocks_.shrink_to_fit();
  bytes_.shrink_to_fit();
  make_groups();
}

void IntervalColumn::make_groups() {
  groups_.clear();
  const auto group = [&](std::size_t size, auto&& value) {
    std::vector<std::uint32_t> least((size + kGroup - 1) / kGroup, 0xFFFFFFFFu);
    for (std::size_t i = 0; i < size; ++i) {
      least[i / kGroup] = std::min(least[i / kGroup], value(i));
    }
    groups_.push_back(std::move(least));
  };
  if (blocks_.size() <= kGroup) return;
  group(blocks_.size(), [&](std::size_t i) { return blocks_[i].min_begin; });
  while (groups_.back().size() > kGroup) {
    const std::vector<std::uint32_t> below = groups_.back();
    group(below.size(), [&](std::size_t i) { return below[i]; });
  }
}

std::size_t IntervalColumn::first_block(std::uint64_t end) const {
  const auto it = std::lower_bound(blocks_.begin(), blocks_.end(), end,
                                   [](const Block& b, std::uint64_t e) { return b.last_end < e; });
  return static_cast<std::size_t>(it - blocks_.begin());
}

std::size_t IntervalColumn::next_block(std::size_t block, std::uint64_t pos) const {
  while (block < blocks_.size()) {
    // The largest group that begins here and has nothing.
    std::size_t step = 0, size = kGroup;
    for (std::size_t level = 0; level < groups_.size() && block % size == 0; ++level) {
      if (groups_[level][block / size] <= pos) break;
      step = size;
      size *= kGroup;
    }
    if (step == 0) {
      if (blocks_[block].min_begin <= pos) return block;
      step = 1;
    }
    block += step;
  }
  return block;
}

std::size_t IntervalColumn::memory() const {
  std::size_t bytes = sizeof *this + blocks_.capacity() * sizeof(Block) + bytes_.capacity();
  for (const std::vector<std::uint32_t>& level : groups_) bytes += level.capacity() * 4;
  return bytes;
}

bool IntervalColumn::load(std::span<const std::byte>& from) {
  if (!load_lists(from, blocks_, bytes_)) return false;
  make_groups();
  return true;
}

}  // namespace kojak::earl
