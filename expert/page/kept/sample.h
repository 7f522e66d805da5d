// A bounded sample of many things: one of 2^level, those whose identity begins with `level` bits
// that are 0, so that it does not matter when, and in which part of a run, they come.
//
// Owns what it keeps. Not thread-safe; nothing fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kojak::html {

// The identity of a thing: its number among those of one maker. Multiples of an irrational number
// are spread evenly, whatever the period of the numbers.
constexpr std::uint64_t identity_of(std::uint64_t number, std::uint64_t maker) {
  return (number + maker * 0x85EBCA6BU) * 0x9E3779B97F4A7C15U;
}

template <class T>
class Sample {
 public:
  explicit Sample(std::size_t limit) : limit_(std::max<std::size_t>(limit, 1)) {}

  // Counts one that comes; whether it is to be added.
  bool begin(std::uint64_t identity) {
    ++seen_;
    return is_kept(identity);
  }
  void add(std::uint64_t identity, T thing) {
    if (!is_kept(identity)) return;
    kept_.push_back({identity, std::move(thing)});
    fit();
  }
  void add(Sample& behind) {
    seen_ += behind.seen_;
    level_ = std::max(level_, behind.level_);
    for (One& one : behind.kept_) kept_.push_back(std::move(one));
    std::erase_if(kept_, [&](const One& one) { return !is_kept(one.identity); });
    fit();
  }
  template <class Archive>
  void visit(Archive& archive) {
    archive(seen_, level_, kept_);
  }
  std::uint64_t seen() const { return seen_; }
  // Once; in the order of what `order` gives of each.
  template <class Order>
  std::vector<T> finish(Order&& order) {
    std::vector<T> things;
    for (One& one : kept_) things.push_back(std::move(one.thing));
    std::stable_sort(things.begin(), things.end(),
                     [&](const T& a, const T& b) { return order(a) < order(b); });
    return things;
  }

 private:
  struct One {
    std::uint64_t identity = 0;
    T thing;
    template <class Archive>
    void visit(Archive& archive) {
      archive(identity, thing);
    }
  };
  bool is_kept(std::uint64_t identity) const {
    return level_ == 0 || identity >> (64 - level_) == 0;
  }
  void fit() {
    while (kept_.size() > limit_ && level_ < 63) {
      ++level_;
      std::erase_if(kept_, [&](const One& one) { return !is_kept(one.identity); });
    }
  }

  std::size_t limit_;
  std::uint64_t seen_ = 0;
  std::uint32_t level_ = 0;
  std::vector<One> kept_;
};

}  // namespace kojak::html
