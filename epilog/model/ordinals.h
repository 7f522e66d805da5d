// A set of ordinals that were seen, as intervals: almost always one, [first, last].
//
// A value type; memory grows with gaps only. add() wants ascending numbers (others are kept, too,
// but cost a search). Source: docs/merge.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kojak::model {

class Ordinals {
 public:
  void add(std::uint64_t n) {
    if (n == last_ + 1 && count_ != 0) {
      last_ = n;
      ++count_;
    } else if (count_ == 0) {
      first_ = last_ = n;
      count_ = 1;
    } else if (!contains(n)) {
      add_apart(n);
    }
  }
  bool contains(std::uint64_t n) const {
    if (count_ == 0) return false;
    if (n >= first_ && n <= last_) return true;
    return !earlier_.empty() && contains_earlier(n);
  }
  bool empty() const { return count_ == 0; }
  // Forgets the lowest numbers where there are very many gaps.
  void limit(std::size_t intervals) {
    if (earlier_.size() > 2 * intervals) {
      earlier_.erase(earlier_.begin(), earlier_.end() - static_cast<std::ptrdiff_t>(intervals));
    }
  }
  void clear() { *this = {}; }
  template <class Archive>
  void visit(Archive& archive) {
    archive(first_, last_, count_, earlier_);
  }

 private:
  struct Interval {
    std::uint64_t first, last;
  };
  [[gnu::noinline]] void add_apart(std::uint64_t n) {
    if (n > last_) {
      earlier_.push_back({first_, last_});
      first_ = last_ = n;
    } else {
      const auto at =
          std::lower_bound(earlier_.begin(), earlier_.end(), n,
                           [](const Interval& i, std::uint64_t v) { return i.last < v; });
      if (at != earlier_.begin() && (at - 1)->last + 1 == n) {
        (at - 1)->last = n;
      } else {
        earlier_.insert(at, {n, n});
      }
    }
    ++count_;
  }
  bool contains_earlier(std::uint64_t n) const {
    const auto at = std::lower_bound(earlier_.begin(), earlier_.end(), n,
                                     [](const Interval& i, std::uint64_t v) { return i.last < v; });
    return at != earlier_.end() && n >= at->first && n <= at->last;
  }
  std::uint64_t first_ = 0, last_ = 0, count_ = 0;
  std::vector<Interval> earlier_;
};

}  // namespace kojak::model
