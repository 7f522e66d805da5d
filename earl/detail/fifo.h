// First in, first out, over one vector: what has been taken goes when half of it is gone.
//
// Allocates only while it grows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kojak::earl::detail {

template <class T>
class Fifo {
 public:
  bool empty() const { return head_ == items_.size(); }
  std::size_t size() const { return items_.size() - head_; }
  const T& front() const { return items_[head_]; }
  void push(const T& item) { items_.push_back(item); }
  void pop() {
    ++head_;
    if (head_ == items_.size()) {
      clear();
    } else if (head_ >= 32 && head_ * 2 >= items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }
  void clear() {
    items_.clear();
    head_ = 0;
  }
  std::span<const T> items() const { return std::span(items_).subspan(head_); }

 private:
  std::vector<T> items_;
  std::size_t head_ = 0;
};

}  // namespace kojak::earl::detail
