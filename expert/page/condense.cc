#include "expert/page/condense.h"

#include <algorithm>

namespace kojak::html {
namespace {

constexpr std::uint32_t kNoBox = 0xFFFFFFFFu;
// No run is longer than some years.
constexpr Nanoseconds kLongest = Nanoseconds{1} << 60;

// Waits are this much more worth than calls.
constexpr Nanoseconds kWaitsCount = 8;

Nanoseconds raised(Nanoseconds threshold) {
  return std::max<Nanoseconds>(threshold + threshold / 2, 250);
}

// Whether a wait within the box is long enough for the box to stay as it is; `next` is the first
// wait that does not begin before the box. In a box that may merge they are short, and mostly one.
bool waits_long(const Box& box, std::vector<WaitBox>::const_iterator next,
                std::vector<WaitBox>::const_iterator end, Nanoseconds threshold) {
  for (int looked = 0; next != end && next->begin < box.end && looked < 4; ++looked, ++next) {
    if (next->waited * kWaitsCount >= threshold) return true;
  }
  return false;
}

// What must merge at least for `excess` boxes to go: two that follow one another at the same depth
// merge only below a threshold that is longer than both together. Every few-th such pair is looked
// at.
Nanoseconds least_threshold(const std::vector<std::vector<Box>>& rows, std::size_t excess) {
  constexpr std::size_t kEach = 8;
  std::vector<Nanoseconds> lengths, ends;
  std::vector<Nanoseconds> begins;  // of the last box at each depth
  std::size_t seen = 0;
  for (const std::vector<Box>& boxes : rows) {
    ends.clear();
    begins.clear();
    for (const Box& box : boxes) {
      while (!ends.empty() && ends.back() <= box.begin && ends.back() < box.end) ends.pop_back();
      const std::size_t depth = ends.size();
      if (depth < begins.size()) {
        if (++seen % kEach == 0) lengths.push_back(box.end - begins[depth]);
        begins[depth] = box.begin;
      } else {
        begins.push_back(box.begin);
      }
      ends.push_back(box.end);
    }
  }
  if (lengths.empty()) return 0;
  const std::size_t at = std::min(excess / kEach, lengths.size() - 1);
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(at),
                   lengths.end());
  return std::min(lengths[at], kLongest);
}

}  // namespace

void condense(std::vector<Box>& boxes, Nanoseconds threshold, const std::vector<WaitBox>& waits) {
  // What a box merged into takes its place as the parent of the boxes inside.
  struct Open {
    Nanoseconds end;
    std::uint32_t into;  // position in what is kept
  };
  struct Kept {
    Nanoseconds longest = 0;  // of the calls that it stands for
    std::uint32_t last_child = kNoBox;
    bool alone = false;  // takes nothing in
  };
  // What is kept moves to the front: memory of its own for it would be the peak of many a page.
  std::uint32_t kept = 0;
  std::vector<Kept> about;
  std::vector<Open> open;
  std::uint32_t last_root = kNoBox;
  auto next_wait = waits.begin();
  for (const Box box : boxes) {
    while (!open.empty() && open.back().end <= box.begin && open.back().end < box.end) {
      open.pop_back();
    }
    const std::uint32_t parent = open.empty() ? kNoBox : open.back().into;
    std::uint32_t into = parent == kNoBox ? last_root : about[parent].last_child;
    const Nanoseconds length = box.end - box.begin;
    while (next_wait != waits.end() && next_wait->begin < box.begin) ++next_wait;
    const bool alone = length < threshold && waits_long(box, next_wait, waits.end(), threshold);
    if (into != kNoBox && !alone && !about[into].alone && box.end - boxes[into].begin < threshold) {
      Box& merged = boxes[into];
      merged.end = std::max(merged.end, box.end);
      merged.calls =
          std::min(merged.instances() + box.instances(), Box::kMostCalls) & Box::kMostCalls;
      merged.joined = merged.sleeping = 0;
      if (length > about[into].longest) {
        merged.path = box.path;
        about[into].longest = length;
      }
    } else {
      into = kept++;
      boxes[into] = box;
      about.push_back({length, kNoBox, alone});
      (parent == kNoBox ? last_root : about[parent].last_child) = into;
    }
    open.push_back({box.end, into});
  }
  boxes.resize(kept);
}

void condense(std::vector<WaitBox>& waits, Nanoseconds threshold) {
  std::size_t kept = 0;
  Nanoseconds longest = 0;  // of those that the last one stands for
  for (const WaitBox& wait : waits) {
    if (kept > 0 && wait.end - std::min(waits[kept - 1].begin, wait.end) < threshold) {
      WaitBox& merged = waits[kept - 1];
      merged.end = std::max(merged.end, wait.end);
      merged.waited += wait.waited;
      merged.waits += wait.waits;
      if (wait.waited > longest) {
        longest = wait.waited;
        merged.metric = wait.metric;
        merged.path = wait.path;
        merged.awaited = wait.awaited;
        merged.ended = wait.ended;
      }
    } else {
      waits[kept++] = wait;
      longest = wait.waited;
    }
  }
  waits.resize(kept);
}

void condense_to(std::vector<std::vector<Box>>& rows,
                 const std::vector<std::vector<WaitBox>>& waits, std::size_t limit,
                 Nanoseconds& threshold) {
  static const std::vector<WaitBox> kNoWaits;
  const std::size_t all = count_all(rows);
  if (all <= limit) return;
  // (Less than needed: the first step raises it.)
  threshold = std::max(threshold, least_threshold(rows, all - limit) / 3 * 2);
  while (count_all(rows) > limit && threshold < kLongest) {
    threshold = raised(threshold);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      condense(rows[row], threshold, row < waits.size() ? waits[row] : kNoWaits);
    }
  }
}

void condense_to(std::vector<std::vector<WaitBox>>& rows, std::size_t limit,
                 Nanoseconds& threshold) {
  while (count_all(rows) > limit && threshold < kLongest) {
    threshold = raised(threshold);
    for (auto& waits : rows) condense(waits, threshold);
  }
}

}  // namespace kojak::html
