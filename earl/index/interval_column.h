// A column of intervals [begin, end) of event numbers: what is there from one event on, up to
// another one. at(pos) finds all that are there after an event, in time near-logarithmic in the
// column and linear in what it finds.
//
// Rows are added in order of their ends, so that each is written once, as a few bytes: the step
// from the row before, its length, and what else is told of it (contents, of columns that have
// them). Blocks of 64 rows know their least begin: a block behind `pos` whose least begin is not
// behind it holds something that is looked for, and groups of blocks that hold nothing are passed
// over at once. Call finish() after the last row. Owns its bytes; any thread may read. Numbers of
// events have 32 bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "earl/index/numbers.h"

namespace kojak::earl {

class IntervalColumn {
 public:
  enum class Contents : std::uint8_t { kNothing, kSome };
  struct Row {
    std::uint64_t begin, end;
    std::span<const std::byte> contents;
  };

  explicit IntervalColumn(Contents contents = Contents::kNothing) : contents_(contents) {}

  // `end` is not less than that of the row before. An empty interval is in none of at()'s answers.
  void add(std::uint64_t begin, std::uint64_t end) {
    if (used_ + 2 * kLongestNumber > kPending || rows_ == kRows) [[unlikely]]
      make_room();
    std::byte* p = write_number(pending_.get() + used_, end - last_end_);
    p = write_number(p, end - begin);
    used_ = static_cast<std::size_t>(p - pending_.get());
    ++rows_;
    last_end_ = end;
    min_begin_ = std::min(min_begin_, begin);
  }
  // For a column with contents.
  void add(std::uint64_t begin, std::uint64_t end, std::span<const std::byte> contents);
  void finish();

  // f(const Row&) for all with begin <= pos < end, in order of their ends.
  template <class F>
  void at(std::uint64_t pos, F&& f) const {
    for (std::size_t b = next_block(first_block(pos + 1), pos); b < blocks_.size();
         b = next_block(b + 1, pos)) {
      rows(b, [&](const Row& row) {
        if (row.end > pos && row.begin <= pos) f(row);
      });
    }
  }
  // f(const Row&) for all with first <= end <= last, in order of their ends.
  template <class F>
  void ending(std::uint64_t first, std::uint64_t last, F&& f) const {
    for (std::size_t b = first_block(first);
         b < blocks_.size() && (b == 0 || blocks_[b - 1].last_end <= last); ++b) {
      rows(b, [&](const Row& row) {
        if (first <= row.end && row.end <= last) f(row);
      });
    }
  }
  std::size_t memory() const;
  // In this machine's byte order, for a file whose checksum is known to be right.
  void save(std::vector<std::byte>& to) const { save_lists(blocks_, bytes_, to); }
  bool load(std::span<const std::byte>& from);

 private:
  static constexpr std::size_t kRows = 64;   // of a block
  static constexpr std::size_t kGroup = 64;  // blocks of a group, groups of one of the next level
  struct Block {
    std::uint64_t offset;  // of its first row
    std::uint32_t min_begin, last_end;
  };
  // The first block that has a row with this end or a later one.
  std::size_t first_block(std::uint64_t end) const;
  // The first block from `block` on with a row that begins at `pos` or earlier.
  std::size_t next_block(std::size_t block, std::uint64_t pos) const;
  template <class F>
  void rows(std::size_t block, F&& f) const {
    const std::size_t end = block + 1 < blocks_.size() ? blocks_[block + 1].offset : bytes_.size();
    NumberReader in(std::span<const std::byte>(bytes_).subspan(blocks_[block].offset,
                                                               end - blocks_[block].offset));
    Row row{0, block == 0 ? 0 : blocks_[block - 1].last_end, {}};
    while (!in.at_end()) {
      row.end += in.number();
      row.begin = row.end - in.number();
      if (contents_ == Contents::kSome) row.contents = in.bytes(in.number());
      f(static_cast<const Row&>(row));
    }
  }
  void make_room();
  void flush();
  void end_block();
  void make_groups();

  Contents contents_;
  // While rows are added: those of the block that is not full yet, bytes that wait to be appended.
  static constexpr std::size_t kPending = 256;
  static constexpr std::uint64_t kNever = 0xFFFFFFFFu;
  std::size_t rows_ = 0, used_ = kPending;
  std::uint64_t last_end_ = 0, min_begin_ = kNever, offset_ = 0;
  std::unique_ptr<std::byte[]> pending_;
  std::vector<Block> blocks_;
  std::vector<std::byte> bytes_;
  std::vector<std::vector<std::uint32_t>> groups_;  // by level: the least begin of each group
};

}  // namespace kojak::earl
