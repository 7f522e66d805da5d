#include "expert/html/condense.h"

#include <algorithm>

namespace kojak::html {
namespace {

constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
// No run is longer than some years.
constexpr Nanoseconds kLongest = Nanoseconds{1} << 60;

std::size_t count(const std::vector<std::vector<Box>>& rows) {
  std::size_t total = 0;
  for (const auto& boxes : rows) total += boxes.size();
  return total;
}

}  // namespace

void put_in_order(std::vector<Box>& boxes) {
  std::reverse(boxes.begin(), boxes.end());
  std::stable_sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
}

void condense(std::vector<Box>& boxes, Nanoseconds threshold) {
  // What a box merged into takes its place as the parent of the boxes inside.
  struct Open {
    Nanoseconds end;
    std::size_t into;  // position in `kept`
  };
  struct Kept {
    std::size_t last_child = kNobody;
    Nanoseconds longest = 0;  // of the calls that it stands for
  };
  std::vector<Box> kept;
  std::vector<Kept> about;
  std::vector<Open> open;
  std::size_t last_root = kNobody;
  for (const Box& box : boxes) {
    while (!open.empty() && open.back().end <= box.begin && open.back().end < box.end) {
      open.pop_back();
    }
    const std::size_t parent = open.empty() ? kNobody : open.back().into;
    std::size_t into = parent == kNobody ? last_root : about[parent].last_child;
    const Nanoseconds length = box.end - box.begin;
    if (into != kNobody && box.end - kept[into].begin < threshold) {
      Box& merged = kept[into];
      merged.end = std::max(merged.end, box.end);
      merged.calls += box.calls;
      if (length > about[into].longest) {
        merged.region = box.region;
        about[into].longest = length;
      }
    } else {
      into = kept.size();
      kept.push_back(box);
      about.push_back({kNobody, length});
      (parent == kNobody ? last_root : about[parent].last_child) = into;
    }
    open.push_back({box.end, into});
  }
  boxes = std::move(kept);
}

void condense_to(std::vector<std::vector<Box>>& rows, std::size_t limit, Nanoseconds& threshold) {
  while (count(rows) > limit && threshold < kLongest) {
    threshold = std::max<Nanoseconds>(threshold * 2, 1000);
    for (auto& boxes : rows) condense(boxes, threshold);
  }
}

}  // namespace kojak::html
