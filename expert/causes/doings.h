// How long somebody did what within an interval, or the weighted mean of several.
//
// Sparse sums over stretches, over functions, and over the calls that waited. Used again and again:
// clear() costs what was added. Not thread-safe; nothing fails.
#pragma once

#include <vector>

#include "expert/causes/timeline.h"

namespace kojak::expert {

class Doings {
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

  // What is done in [from, to].
  void add(const Timeline& timeline, const Stretches& stretches, Ticks from, Ticks to,
           double weight, double place) {
    timeline.each(from, to, [&](const Piece& piece, Ticks begin, Ticks end) {
      const Stretch& stretch = stretches[piece.stretch];
      if (stretch.kind == Stretch::Kind::kOverhead) return;
      const double length = weight * static_cast<double>(end - begin);
      if (piece.wait != kNoWait) return put(waits_, waits_used_, piece.stretch, length, place);
      put(stretches_, stretches_used_, piece.stretch, length, place);
      put(functions_, functions_used_, stretch.function, length, place);
    });
  }
  Sum stretch(StretchId id) const { return get(stretches_, id); }
  Sum function(std::uint32_t id) const { return get(functions_, id); }
  Sum waited(StretchId call) const { return get(waits_, call); }
  const std::vector<std::uint32_t>& stretches() const { return stretches_used_; }
  const std::vector<std::uint32_t>& waits() const { return waits_used_; }

  void clear() {
    clear(stretches_, stretches_used_);
    clear(functions_, functions_used_);
    clear(waits_, waits_used_);
  }

 private:
  struct Cell {
    Sum sum;
    bool used = false;
  };
  using Cells = std::vector<Cell>;
  using Used = std::vector<std::uint32_t>;

  static void put(Cells& cells, Used& used, std::uint32_t id, double length, double place) {
    if (id >= cells.size()) cells.resize(id + 1);
    Cell& cell = cells[id];
    if (!cell.used) used.push_back(id);
    cell.used = true;
    cell.sum.add(length, place);
  }
  static Sum get(const Cells& cells, std::uint32_t id) {
    return id < cells.size() ? cells[id].sum : Sum{};
  }
  static void clear(Cells& cells, Used& used) {
    for (const std::uint32_t id : used) cells[id] = {};
    used.clear();
  }

  Cells stretches_, functions_, waits_;
  Used stretches_used_, functions_used_, waits_used_;
};

}  // namespace kojak::expert
