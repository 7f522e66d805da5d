// The part of a held list that is not in memory, and its reader. Internal to held_ends.cc and
// held_overflow.cc.
//
// By reference: segments of the input, each with the position of its first operation and how many
// operations of the list follow from there. Spilled: a chain of blocks in the spill file; each
// knows where the next one will be. Operations that were taken out are remembered as intervals of
// their numbers, which are few because requests complete about in order.
#pragma once

#include <map>
#include <vector>

#include "merge/complete/held_ends.h"
#include "merge/complete/transfer_ends.h"

namespace kojak::merge {

struct SpillBlock {
  static constexpr std::size_t kEnds = 42;  // small: each spilled list holds one
  std::uint64_t next = 0;
  std::uint64_t count = 0;
  HeldEnd ends[kEnds];
};

struct HeldEnds::Overflow {
  struct Segment {
    std::uint64_t position;
    std::uint64_t count;
  };
  std::vector<Segment> segments;
  // Spilled: where the first block is, where the last will be, and the last one itself.
  std::unique_ptr<SpillBlock> block;
  std::uint64_t first_block = 0, last_block = 0;
  std::size_t first_at = 0;  // ends before it in the first block are gone
  // First number to last number.
  std::map<std::uint32_t, std::uint32_t> removed;

  bool is_removed(std::uint32_t rmaid) const {
    if (removed.empty()) return false;
    auto it = removed.upper_bound(rmaid);
    return it != removed.begin() && rmaid <= (--it)->second;
  }
  void remove(std::uint32_t rmaid) {
    auto next = removed.upper_bound(rmaid);
    if (next != removed.begin()) {
      auto before = std::prev(next);
      if (before->second + 1 == rmaid) {
        before->second = rmaid;
        if (next != removed.end() && next->first == rmaid + 1) {
          before->second = next->second;
          removed.erase(next);
        }
        return;
      }
    }
    if (next != removed.end() && next->first == rmaid + 1) {
      const std::uint32_t last = next->second;
      removed.erase(next);
      removed.emplace(rmaid, last);
      return;
    }
    removed.emplace(rmaid, rmaid);
  }
};

class OverflowReader {
 public:
  OverflowReader(HeldEnds& held, const ListInfo& info, const HeldEnds::Overflow& overflow);
  bool next(HeldEnd& end);
  // All that has been read is gone from the list for good.
  void drop_read(HeldEnds::Overflow& overflow) const;

 private:
  bool next_reference(HeldEnd& end);
  bool next_spilled(HeldEnd& end);
  bool scan(LocalEnd& end);

  HeldEnds& held_;
  const ListInfo& info_;
  const HeldEnds::Overflow& overflow_;
  const HeldSource& source_;
  std::unique_ptr<LocalInput> input_;
  Dialect dialect_;
  std::optional<ControlledCursor> cursor_;
  std::uint64_t position_ = 0;  // of the record read last
  std::size_t segment_ = 0;
  std::uint64_t left_ = 0;  // in the segment
  std::unique_ptr<SpillBlock> block_;
  const SpillBlock* current_ = nullptr;
  std::uint64_t current_place_ = 0;
  std::size_t at_ = 0;
};

}  // namespace kojak::merge
