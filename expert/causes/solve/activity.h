// How long somebody did what within an interval, and the weighted sum of that of several.
//
// Used again and again: each use costs what was done in it.
#pragma once

#include <vector>

#include "expert/causes/timeline.h"

namespace kojak::expert {

// What one location does in an interval, each stretch once; no overhead of the measurement.
class Activity {
 public:
  struct Part {
    StretchId stretch;
    std::uint32_t function;  // that it is compared with
    Ticks time;
  };
  struct Waited {
    WaitId wait;
    StretchId call;
    Ticks time;
  };

  void look_at(const Timeline& timeline, const Stretches& stretches, Ticks from, Ticks to) {
    look_at(timeline, stretches, from, to, [](WaitId, Ticks begin) { return begin; });
  }
  // counts_from(wait, begin): of a wait only what comes then counts, no earlier than `begin`.
  template <class CountsFrom>
  void look_at(const Timeline& timeline, const Stretches& stretches, Ticks from, Ticks to,
               CountsFrom&& counts_from) {
    parts_.clear();
    waits_.clear();
    waited_.clear();
    if (done_.size() < stretches.size()) {
      done_.resize(stretches.size(), 0);
      in_waits_.resize(stretches.size(), 0);
    }
    pieces_ = 0;
    timeline.each(from, to, [&](const Piece& piece, Ticks begin, Ticks end) {
      ++pieces_;
      if (piece.wait == kNoWait) [[likely]] {
        Ticks& sum = done_[piece.stretch];
        if (sum == 0) parts_.push_back({piece.stretch, 0, 0});
        sum += end - begin;
        return;
      }
      begin = counts_from(piece.wait, begin);
      if (end <= begin) return;
      Ticks& sum = in_waits_[piece.stretch];
      if (sum == 0) waits_.push_back({piece.stretch, 0, 0});
      sum += end - begin;
      waited_.push_back({piece.wait, piece.stretch, end - begin});
    });
    for (Part& w : waits_) {
      w = {w.stretch, stretches[w.stretch].function, in_waits_[w.stretch]};
      in_waits_[w.stretch] = 0;
    }
    std::size_t kept = 0;
    for (const Part& p : parts_) {
      const Stretch& stretch = stretches[p.stretch];
      if (stretch.kind != Stretch::Kind::kOverhead) {
        parts_[kept++] = {p.stretch, stretch.function, done_[p.stretch]};
      }
      done_[p.stretch] = 0;
    }
    parts_.resize(kept);
  }
  // Computing and calls, without waits.
  const std::vector<Part>& parts() const { return parts_; }
  // The calls that waited, and each of their waits.
  const std::vector<Part>& waits() const { return waits_; }
  const std::vector<Waited>& waited() const { return waited_; }
  // That it looked at, to know how much memory was touched.
  std::size_t pieces() const { return pieces_; }

 private:
  std::vector<Part> parts_, waits_;
  std::vector<Waited> waited_;
  std::vector<Ticks> done_, in_waits_;  // by stretch; zeros in between
  std::size_t pieces_ = 0;
};

// Sums over stretches, over functions, and over the calls that waited, of those who wait.
class ActivityOfWaiters {
 public:
  // Of waiters in the order of their enters: what is compared with a later one comes from two sums.
  struct Sum {
    double all = 0;     // ticks x weight
    double behind = 0;  // and x place
    void add(double value, double place) {
      all += value;
      behind += value * place;
    }
    // The sum of value x (place - its own place).
    double at(double place) const { return place * all - behind; }
  };

  void add(const Activity& activity, double weight, double place) {
    for (const Activity::Part& p : activity.parts()) {
      const double length = weight * static_cast<double>(p.time);
      put(stretches_, p.stretch, length, place);
      put(functions_, p.function, length, place);
    }
    for (const Activity::Part& p : activity.waits()) {
      put(waits_, p.function, weight * static_cast<double>(p.time), place);
    }
  }
  Sum stretch(StretchId id) const { return get(stretches_, id); }
  Sum function(std::uint32_t id) const { return get(functions_, id); }
  Sum waited(std::uint32_t function) const { return get(waits_, function); }

  bool empty() const { return stretches_.used.empty() && waits_.used.empty(); }
  void clear() {
    clear(stretches_);
    clear(functions_);
    clear(waits_);
  }

 private:
  struct Cell {
    Sum sum;
    bool used = false;
  };
  struct Cells {
    std::vector<Cell> all;
    std::vector<std::uint32_t> used;
  };

  static void put(Cells& cells, std::uint32_t id, double length, double place) {
    if (id >= cells.all.size()) cells.all.resize(id + 1);
    Cell& cell = cells.all[id];
    if (!cell.used) cells.used.push_back(id);
    cell.used = true;
    cell.sum.add(length, place);
  }
  static Sum get(const Cells& cells, std::uint32_t id) {
    return id < cells.all.size() ? cells.all[id].sum : Sum{};
  }
  static void clear(Cells& cells) {
    for (const std::uint32_t id : cells.used) cells.all[id] = {};
    cells.used.clear();
  }

  Cells stretches_, functions_, waits_;
};

// The same sums of one location. Each use costs what is done in it.
class ActivityOfOne {
 public:
  void set(const Activity& activity, const Stretches& stretches) {
    clear();
    parts_.assign(activity.parts().begin(), activity.parts().end());
    waits_.assign(activity.waits().begin(), activity.waits().end());
    if (of_stretch_.size() < stretches.size()) of_stretch_.resize(stretches.size(), 0);
    if (of_function_.size() < stretches.functions()) {
      of_function_.resize(stretches.functions(), 0);
      of_waits_.resize(stretches.functions(), 0);
    }
    for (const Activity::Part& p : parts_) {
      of_stretch_[p.stretch] = p.time;
      of_function_[p.function] += p.time;
    }
    for (const Activity::Part& p : waits_) of_waits_[p.function] += p.time;
  }
  double stretch(StretchId id) const { return static_cast<double>(of_stretch_[id]); }
  double function(std::uint32_t id) const { return static_cast<double>(of_function_[id]); }
  double waited_in(std::uint32_t function) const {
    return static_cast<double>(of_waits_[function]);
  }

 private:
  void clear() {
    for (const Activity::Part& p : parts_) of_stretch_[p.stretch] = of_function_[p.function] = 0;
    for (const Activity::Part& p : waits_) of_waits_[p.function] = 0;
  }

  std::vector<Activity::Part> parts_, waits_;
  std::vector<Ticks> of_stretch_, of_function_, of_waits_;
};

}  // namespace kojak::expert
