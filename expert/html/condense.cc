#include "expert/html/condense.h"

#include <algorithm>

namespace kojak::html {
namespace {

constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
// No run is longer than some years.
constexpr Nanoseconds kLongest = Nanoseconds{1} << 60;

// Waits are this much more worth than calls.
constexpr Nanoseconds kWaitsCount = 8;

Nanoseconds raised(Nanoseconds threshold) {
  return std::max<Nanoseconds>(threshold + threshold / 2, 250);
}

// Whether a wait within the box is long enough for the box to stay as it is. In a box that may
// merge they are short, and mostly one.
bool waits_long(const Box& box, const std::vector<WaitBox>& waits, Nanoseconds threshold) {
  auto wait = std::lower_bound(waits.begin(), waits.end(), box.begin,
                               [](const WaitBox& w, Nanoseconds time) { return w.begin < time; });
  for (int looked = 0; wait != waits.end() && wait->begin < box.end && looked < 4; ++looked) {
    if (wait->waited * kWaitsCount >= threshold) return true;
    ++wait;
  }
  return false;
}

}  // namespace

void put_in_order(std::vector<Box>& boxes) {
  std::reverse(boxes.begin(), boxes.end());
  std::stable_sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
}

void condense(std::vector<Box>& boxes, Nanoseconds threshold, const std::vector<WaitBox>& waits) {
  // What a box merged into takes its place as the parent of the boxes inside.
  struct Open {
    Nanoseconds end;
    std::size_t into;  // position in `kept`
  };
  struct Kept {
    std::size_t last_child = kNobody;
    Nanoseconds longest = 0;  // of the calls that it stands for
    bool alone = false;       // takes nothing in
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
    const bool alone = length < threshold && waits_long(box, waits, threshold);
    if (into != kNobody && !alone && !about[into].alone && box.end - kept[into].begin < threshold) {
      Box& merged = kept[into];
      merged.end = std::max(merged.end, box.end);
      merged.calls += box.calls;
      if (length > about[into].longest) {
        merged.path = box.path;
        about[into].longest = length;
      }
    } else {
      into = kept.size();
      kept.push_back(box);
      about.push_back({kNobody, length, alone});
      (parent == kNobody ? last_root : about[parent].last_child) = into;
    }
    open.push_back({box.end, into});
  }
  boxes = std::move(kept);
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
  static const std::vector<WaitBox> kNone;
  while (count_all(rows) > limit && threshold < kLongest) {
    threshold = raised(threshold);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      condense(rows[row], threshold, row < waits.size() ? waits[row] : kNone);
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
