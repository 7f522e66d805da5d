#include "expert/page/kept/box_rows.h"

#include <tuple>
#include <utility>

namespace kojak::html {
namespace {

constexpr std::uint32_t kNoBox = static_cast<std::uint32_t>(-1);
constexpr Nanoseconds kStillOpen = static_cast<Nanoseconds>(-1);
// So much of a cell is a wait that is drawn.
constexpr Nanoseconds kWaitsCount = 8;

Nanoseconds longest_of(const Box& box) {
  return box.instances() == 1 ? box.end - std::min(box.begin, box.end) : box.longest;
}
bool is_short(const Box& box, Scale scale) {
  return box.end != kStillOpen && scale.is_short(longest_of(box));
}
// Of two that follow one another, the second being short.
bool are_one(const Box& first, const Box& second, Scale scale) {
  return is_short(first, scale) && scale.in_one_cell(first.begin, second.begin);
}
void take_in(Box& box, const Box& next) {
  const Nanoseconds longest = longest_of(box), other = longest_of(next);
  if (other > longest) box.path = next.path;
  box.end = std::max(box.end, next.end);
  box.calls = std::min(box.instances() + next.instances(), Box::kMostCalls) & Box::kMostCalls;
  box.joined = box.sleeping = 0;
  box.longest = std::max(longest, other);
}

// What is kept moves to the front: memory of its own for it would be the peak of many a page.
// on_open(box's place, place of the one before it under the same parent) for each that is open;
// gives the last one at each depth under what was there last.
template <class OnOpen>
std::vector<std::uint32_t> condense_boxes(std::vector<Box>& boxes, Scale scale, OnOpen&& on_open) {
  std::vector<std::uint32_t> last;
  std::uint32_t kept = 0, within_short = kNoBox;  // the depth of such a one
  for (const Box box : boxes) {
    if (box.depth > within_short) continue;
    last.resize(box.depth + 1, kNoBox);  // deeper ones have another parent
    std::uint32_t& before = last.back();
    const bool shorter = is_short(box, scale);
    within_short = shorter ? box.depth : kNoBox;
    if (shorter && before != kNoBox && are_one(boxes[before], box, scale)) {
      take_in(boxes[before], box);
      continue;
    }
    if (box.end == kStillOpen) on_open(kept, before);
    boxes[kept] = box;
    before = kept++;
  }
  boxes.resize(kept);
  return last;
}

bool stays(const WaitedCall& call, Scale scale) {
  return call.waited >= (scale.cell() + kWaitsCount - 1) / kWaitsCount;
}
bool is_drawn(const WaitedCall& call, Scale scale) {
  return scale.is_short(call.end - call.begin);
}
// Each once, with its longest wait; those that are too short are gone.
void clean(std::vector<WaitedCall>& calls, Scale scale) {
  const auto key = [](const WaitedCall& c) { return std::tuple(c.begin, ~c.end, c.path); };
  std::sort(calls.begin(), calls.end(), [&](const WaitedCall& a, const WaitedCall& b) {
    return std::tuple_cat(key(a), std::tuple(b.waited)) <
           std::tuple_cat(key(b), std::tuple(a.waited));
  });
  calls.erase(std::unique(calls.begin(), calls.end(),
                          [&](const auto& a, const auto& b) { return key(a) == key(b); }),
              calls.end());
  std::erase_if(calls, [&](const WaitedCall& c) { return !stays(c, scale); });
}
std::size_t drawn(const std::vector<WaitedCall>& calls, Scale scale) {
  return static_cast<std::size_t>(std::count_if(
      calls.begin(), calls.end(), [&](const WaitedCall& c) { return is_drawn(c, scale); }));
}

// How many boxes are short from each level on; those of open calls are at none.
using ShortFrom = std::vector<std::size_t>;
void count_short(const std::vector<Box>& boxes, ShortFrom& from) {
  from.resize(Scale::kMost + 3);
  for (const Box& box : boxes) {
    if (box.end != kStillOpen) {
      ++from[std::min(Scale::short_from(longest_of(box)), Scale::kMost + 2)];
    }
  }
}
// Where so many are no more than the limit if each short one went, and were not drawn within
// another.
Scale least_of(const ShortFrom& from, std::size_t count, std::size_t limit, Scale above,
               unsigned most) {
  std::size_t shorter = 0;
  for (unsigned level = 1; level < most; ++level) {
    shorter += from[level];
    if (level > above.level() && count - std::min(count, shorter) <= limit) return Scale(level);
  }
  return Scale(most);
}

}  // namespace

BoxRows::BoxRows(std::size_t rows, std::size_t limit)
    : limit_(limit), look_at_(2 * limit), rows_(rows) {}

void BoxRows::enter(std::size_t row, Nanoseconds begin, std::uint32_t path) {
  Row& r = rows_[row];
  const auto depth = static_cast<std::uint32_t>(r.frames.size() - 1);
  r.frames.push_back({static_cast<std::uint32_t>(r.boxes.size()), kNone});
  r.boxes.push_back({.begin = begin, .end = kOpen, .path = path, .depth = depth});
  r.latest = begin;
  if (++count_ > look_at_) fit();
}

void BoxRows::exit(std::size_t row, Nanoseconds end) {
  Row& r = rows_[row];
  if (r.frames.size() < 2) return;
  r.boxes[r.frames.back().box].end = end;
  r.latest = end;
  close_innermost(r);
}

void BoxRows::close_innermost(Row& r) {
  const std::uint32_t at = r.frames.back().box;
  r.frames.pop_back();
  settle(r, at);
}

// It has ended, and is the last one at its depth.
void BoxRows::settle(Row& r, std::uint32_t at) {
  std::uint32_t& before = r.frames.back().last_child;
  if (is_short(r.boxes[at], scale_)) {
    cut_off(r, at + 1);
    if (before != kNone && are_one(r.boxes[before], r.boxes[at], scale_)) {
      take_in(r.boxes[before], r.boxes[at]);
      return cut_off(r, at);
    }
  }
  before = at;
}

void BoxRows::cut_off(Row& r, std::uint32_t from) {
  if (r.boxes.size() == from) return;
  count_ -= r.boxes.size() - from;
  r.boxes.resize(from);
  r.first_ones = std::min(r.first_ones, from);
}

Box* BoxRows::innermost(std::size_t row) {
  Row& r = rows_[row];
  return r.frames.size() < 2 ? nullptr : &r.boxes[r.frames.back().box];
}

void BoxRows::waited(std::size_t row, const WaitedCall& call) {
  if (!stays(call, scale_)) return;
  rows_[row].waited.push_back(call);
  if (++count_ > look_at_) fit();
}

void BoxRows::begin_shut(std::size_t row, std::uint32_t standing) {
  Row& r = rows_[row];
  r.standing = r.first_ones = standing;
  r.shut = true;
}

void BoxRows::forget(std::size_t row) {
  Row& r = rows_[row];
  if (r.frames.size() < 2) return;
  const std::uint32_t at = r.frames.back().box;
  r.frames.pop_back();
  cut_off(r, at);
}

void BoxRows::condense(Row& r) {
  std::vector<Frame> frames = {Frame{}};
  const std::vector<std::uint32_t> last =
      condense_boxes(r.boxes, scale_, [&](std::uint32_t at, std::uint32_t before) {
        frames.back().last_child = before;
        frames.push_back({at, kNone});
      });
  if (last.size() >= frames.size()) frames.back().last_child = last[frames.size() - 1];
  r.frames = std::move(frames);
  // Those that were open at the begin are the first ones, each in the one before it: within a short
  // one they are gone.
  std::uint32_t first = 0;
  while (first < r.first_ones && first < r.boxes.size() && r.boxes[first].depth == first) ++first;
  r.first_ones = first;
  clean(r.waited, scale_);
}

void BoxRows::raise_to(Scale scale) {
  scale_ = scale;
  count_ = 0;
  for (Row& r : rows_) {
    condense(r);
    count_ += r.boxes.size() + r.waited.size();
  }
}

// That are drawn at this scale, whatever comes. (An open call may turn out to be short, with all
// in it, until it has lasted for a cell.)
BoxRows::Certain BoxRows::certain() const {
  Certain certain;
  for (const Row& r : rows_) {
    std::size_t boxes = r.shut ? std::min<std::size_t>(r.boxes.size(), r.standing) : r.boxes.size();
    for (const Frame& frame : r.frames) {
      if (frame.box == kNone) continue;
      const Nanoseconds begin = r.boxes[frame.box].begin;
      if (r.latest < begin || scale_.is_short(r.latest - begin)) {
        boxes = std::min<std::size_t>(boxes, frame.box);
      }
    }
    certain.boxes += boxes;
    certain.all += boxes + drawn(r.waited, scale_);
  }
  return certain;
}

void BoxRows::fit() {
  for (Row& r : rows_) clean(r.waited, scale_);
  Nanoseconds latest = 0;  // in cells that are longer nothing changes
  for (const Row& r : rows_) latest = std::max(latest, r.latest);
  const unsigned most = std::min(Scale::kMost, Scale::short_from(latest));
  for (Certain held = certain(); held.all > limit_ && scale_.level() < most; held = certain()) {
    ShortFrom from;
    for (const Row& r : rows_) count_short(r.boxes, from);
    raise_to(least_of(from, held.boxes, limit_, scale_, most));
  }
  count_ = 0;
  for (const Row& r : rows_) count_ += r.boxes.size() + r.waited.size();
  look_at_ = std::max(2 * limit_, count_ + limit_);
}

void BoxRows::add(BoxRows& behind, std::span<const std::uint32_t> paths) {
  const Scale scale(std::max(scale_.level(), behind.scale_.level()));
  for (BoxRows* const part : {this, &behind}) {
    if (part->scale_.level() < scale.level()) part->raise_to(scale);
  }
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    Row &r = rows_[row], &other = behind.rows_[row];
    for (std::size_t i = 0; i < other.boxes.size(); ++i) {
      Box box = other.boxes[i];
      box.path = paths[box.path];
      if (i < other.first_ones && i + 1 < r.frames.size()) {
        r.boxes[r.frames[i + 1].box] = box;  // which goes on there, or ends
        continue;
      }
      while (r.frames.size() > box.depth + 1) close_innermost(r);
      r.frames.push_back({static_cast<std::uint32_t>(r.boxes.size()), kNone});
      r.boxes.push_back(box);
      ++count_;
    }
    std::size_t open = 1;
    while (open < r.frames.size() && r.boxes[r.frames[open].box].end == kOpen) ++open;
    while (r.frames.size() > open) close_innermost(r);
    for (WaitedCall call : other.waited) {
      call.path = paths[call.path];
      r.waited.push_back(call);
    }
    count_ += other.waited.size();
    r.latest = std::max(r.latest, other.latest);
    other = Row();
  }
  if (count_ > look_at_) fit();
}

void BoxRows::finish(Nanoseconds end, TraceContent& content) {
  for (Row& r : rows_) {
    r.shut = false;
    while (r.frames.size() > 1) {
      Box& box = r.boxes[r.frames.back().box];
      if (box.end == kOpen) box.end = std::max(box.begin, end);
      close_innermost(r);
    }
  }
  fit();
  content.calls_within = scale_.cell();
  content.boxes.clear();
  content.waited.clear();
  for (Row& r : rows_) {
    content.boxes.push_back(std::move(r.boxes));
    content.waited.push_back(std::move(r.waited));
  }
}

void condense(std::vector<Box>& boxes, Scale scale) {
  condense_boxes(boxes, scale, [](std::uint32_t, std::uint32_t) {});
}

void condense_to(TraceContent& content, std::size_t limit) {
  for (std::size_t count = drawn(content); count > limit; count = drawn(content)) {
    const Scale now = Scale::of(content.calls_within);
    ShortFrom from;
    std::size_t boxes_of_all = 0;
    Nanoseconds latest = 0;
    for (const auto& boxes : content.boxes) {
      count_short(boxes, from);
      boxes_of_all += boxes.size();
      for (const Box& box : boxes) latest = std::max(latest, box.end);
    }
    const unsigned most = std::min(Scale::kMost, Scale::short_from(latest));
    if (now.level() >= most) return;
    const Scale scale = least_of(from, boxes_of_all, limit, now, most);
    for (auto& boxes : content.boxes) condense(boxes, scale);
    for (auto& calls : content.waited) clean(calls, scale);
    content.calls_within = scale.cell();
  }
}

std::size_t drawn(const TraceContent& content) {
  const Scale scale = Scale::of(content.calls_within);
  std::size_t count = 0;
  for (const auto& boxes : content.boxes) count += boxes.size();
  for (const auto& calls : content.waited) count += drawn(calls, scale);
  return count;
}

std::vector<std::vector<Box>> drawn_boxes(const TraceContent& content) {
  const Scale scale = Scale::of(content.calls_within);
  std::vector<std::vector<Box>> rows = content.boxes;
  for (std::size_t row = 0; row < std::min(rows.size(), content.waited.size()); ++row) {
    const std::vector<Box>& boxes = content.boxes[row];
    std::vector<Box> all;
    auto box = boxes.begin();
    for (const WaitedCall& call : content.waited[row]) {
      if (!is_drawn(call, scale)) continue;
      // Behind what begins before it, or is as long.
      while (box != boxes.end() &&
             (box->begin < call.begin || (box->begin == call.begin && box->end >= call.end))) {
        all.push_back(*box++);
      }
      bool there = false;  // alone in its box
      for (auto b = all.rbegin(); b != all.rend() && b->begin == call.begin && !there; ++b) {
        there = b->end == call.end && b->path == call.path;
      }
      if (!there) all.push_back({.begin = call.begin, .end = call.end, .path = call.path});
    }
    if (all.empty()) continue;
    all.insert(all.end(), box, boxes.end());
    rows[row] = std::move(all);
  }
  return rows;
}

}  // namespace kojak::html
