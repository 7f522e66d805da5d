// Times on each location's row, waits, epochs, stretches without a processor: short ones of one
// kind that begin in one cell (scale.h) become one.
//
// In which order they come does not matter: what one becomes is told by all that are in it, of
// several by the longest, of equally long ones by the first, of these by what they say. Memory:
// about twice the limit. Not thread-safe; nothing fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "expert/page/kept/scale.h"
#include "expert/page/trace_content.h"

namespace kojak::html {

// What follows is said of each such thing: how many it stands for, what those have in common that
// may become one, what tells it from others, and that another one joins it.
inline std::uint32_t number_of(const WaitBox& wait) {
  return wait.waits;
}
inline std::uint32_t number_of(const Band& band) {
  return band.epochs;
}
inline std::uint32_t number_of(const Stripe& stripe) {
  return stripe.readings;
}
inline auto kind_of(const WaitBox&) {
  return std::tuple();
}
inline auto kind_of(const Band& band) {
  return std::tuple(band.window, band.kind);
}
inline auto kind_of(const Stripe&) {
  return std::tuple();
}
inline auto order_of(const WaitBox& w) {
  return std::tuple(w.begin, w.end, w.waited, w.metric, w.awaited, w.ended);
}
inline auto order_of(const Band& b) {
  return std::tuple(b.begin, b.end, b.window, b.kind);
}
inline auto order_of(const Stripe& s) {
  return std::tuple(s.begin, s.end, s.without);
}
void join(WaitBox& wait, const WaitBox& other);
void join(Band& band, const Band& other);
void join(Stripe& stripe, const Stripe& other);

template <class T>
bool is_short(const T& thing, Scale scale) {
  return scale.level() != 0 &&
         (number_of(thing) > 1 || scale.is_short(thing.end - std::min(thing.begin, thing.end)));
}

// Of one row, in order of their begins then.
template <class T>
void condense(std::vector<T>& things, Scale scale) {
  const auto earlier = [](const T& a, const T& b) { return order_of(a) < order_of(b); };
  if (scale.level() != 0) {
    const auto cell = [&](const T& t) {
      return std::tuple(t.begin >> scale.level(), !is_short(t, scale), kind_of(t));
    };
    const auto by_cell = [&](const T& a, const T& b) {
      return std::tuple_cat(cell(a), order_of(a)) < std::tuple_cat(cell(b), order_of(b));
    };
    if (!std::is_sorted(things.begin(), things.end(), by_cell)) {
      std::stable_sort(things.begin(), things.end(), by_cell);
    }
    std::size_t kept = 0;
    for (const T thing : things) {
      if (kept > 0 && is_short(thing, scale) && cell(things[kept - 1]) == cell(thing)) {
        join(things[kept - 1], thing);
      } else {
        things[kept++] = thing;
      }
    }
    things.resize(kept);
  }
  if (!std::is_sorted(things.begin(), things.end(), earlier)) {
    std::stable_sort(things.begin(), things.end(), earlier);
  }
}

// Of all rows, at `scale` and at the least coarser one at which there are at most `limit`.
template <class T>
std::size_t condense_to(std::vector<std::vector<T>>& rows, std::size_t limit, Scale& scale) {
  while (true) {
    std::size_t count = 0;
    Nanoseconds latest = 0;  // in cells that are longer nothing changes
    std::vector<std::size_t> short_from(Scale::kMost + 3);
    for (std::vector<T>& things : rows) {
      condense(things, scale);
      count += things.size();
      for (const T& t : things) {
        const Nanoseconds length = t.end - std::min(t.begin, t.end);
        latest = std::max(latest, t.end);
        ++short_from[number_of(t) > 1 ? 1 : std::min(Scale::short_from(length), Scale::kMost + 2)];
      }
    }
    const unsigned most = std::min(Scale::kMost, Scale::short_from(latest));
    if (count <= limit || scale.level() >= most) return count;
    // None lower is enough, whichever of the short ones become one.
    unsigned level = 1;
    std::size_t less = short_from[1];
    while (level < most && (level <= scale.level() || count - less > limit)) {
      less += short_from[++level];
    }
    scale = Scale(level);
  }
}

template <class T>
class Cells {
 public:
  Cells(std::size_t rows, std::size_t limit) : limit_(limit), look_at_(2 * limit), rows_(rows) {}

  void add(std::size_t row, const T& thing) {
    seen_ += number_of(thing);
    std::vector<T>& things = rows_[row];
    if (!things.empty() && is_short(thing, scale_) && is_short(things.back(), scale_) &&
        scale_.in_one_cell(things.back().begin, thing.begin) &&
        kind_of(things.back()) == kind_of(thing)) {
      return join(things.back(), thing);
    }
    things.push_back(thing);
    if (++count_ > look_at_) fit();
  }
  std::vector<T>& row(std::size_t row) { return rows_[row]; }
  // Of the part behind this one, each as `translated` gives it back.
  template <class F>
  void add(Cells& behind, F&& translated) {
    scale_ = Scale(std::max(scale_.level(), behind.scale_.level()));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (const T& thing : behind.rows_[i]) rows_[i].push_back(translated(thing));
      behind.rows_[i] = {};
    }
    seen_ += behind.seen_;
    fit();
  }
  template <class Archive>
  void visit(Archive& archive) {
    std::uint32_t level = scale_.level();
    archive(rows_, level, seen_, count_);
    scale_ = Scale(level);
  }
  std::uint64_t seen() const { return seen_; }
  Scale scale() const { return scale_; }
  // Once.
  std::vector<std::vector<T>> finish() {
    fit();
    return std::move(rows_);
  }

 private:
  void fit() {
    count_ = condense_to(rows_, limit_, scale_);
    look_at_ = std::max(2 * limit_, count_ + limit_);
  }

  std::size_t limit_, look_at_;  // when so many are held, whether they are too many
  std::size_t count_ = 0;
  std::uint64_t seen_ = 0;
  Scale scale_;
  std::vector<std::vector<T>> rows_;
};

}  // namespace kojak::html
