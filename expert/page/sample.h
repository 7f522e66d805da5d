// A bounded sample of many things that come one after the other.
//
// Owns what it keeps. Not thread-safe; nothing fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kojak::html {

// Of many things that come one after the other, every 2^n-th, so that at most `limit` are kept.
template <class T>
class Sample {
 public:
  explicit Sample(std::size_t limit) : limit_(std::max<std::size_t>(limit, 1)) {}
  // Where it was put; null if it was left out.
  T* add(T value) {
    if (seen_++ % stride_ != 0) return nullptr;
    if (kept_.size() >= limit_) {
      for (std::size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = std::move(kept_[2 * i]);
      kept_.resize((kept_.size() + 1) / 2);
      stride_ *= 2;
      if ((seen_ - 1) % stride_ != 0) return nullptr;
    }
    return &kept_.emplace_back(std::move(value));
  }
  // Counts the next one if it would be left out anyway; else it is to be added.
  bool skip() {
    if (seen_ % stride_ == 0) return false;
    ++seen_;
    return true;
  }
  std::vector<T>& kept() { return kept_; }
  std::uint64_t seen() const { return seen_; }
  bool complete() const { return kept_.size() == seen_; }

 private:
  std::size_t limit_;
  std::uint64_t seen_ = 0, stride_ = 1;
  std::vector<T> kept_;
};

}  // namespace kojak::html
