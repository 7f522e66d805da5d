// Messages of one receiver, or of one sender, in order of their SENDs: which of them is the oldest
// that has not been received?
//
// Entries are appended in order and forgotten lazily: alive(slot, pos) of the owner tells which are
// still open. While somebody watches, what is taken is remembered with the position of its RECV, so
// that a question about the past can be answered. Memory: twice the open messages, and at most
// kMaxTaken of the past.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace kojak::earl::detail {

class MessageLine {
 public:
  static constexpr std::size_t kMaxTaken = 1u << 16;

  template <class Alive>
  void append(std::uint64_t pos, std::uint32_t slot, const Alive& alive) {
    if (size_ == capacity_) [[unlikely]]
      make_room(alive);
    entries_[size_++] = {pos, slot};
    ++live_;
  }
  void remove(std::uint64_t send_pos, std::uint64_t recv_pos) {
    if (--live_ == 0) head_ = size_ = 0;
    if (watchers_ != 0) [[unlikely]]
      remember(send_pos, recv_pos);
  }
  // Is a message that is older than `send_pos` still open?
  template <class Alive>
  bool older_pending(std::uint64_t send_pos, const Alive& alive) {
    for (; head_ < size_ && entries_[head_].pos < send_pos; ++head_) {
      if (alive(entries_[head_].slot, entries_[head_].pos)) return true;
    }
    return false;
  }
  // Was one still open at event `at`, when somebody watched?
  template <class Alive>
  bool older_was_pending(std::uint64_t send_pos, std::uint64_t at, const Alive& alive) {
    if (older_pending(send_pos, alive)) return true;
    // The first that was received later has the oldest send of all those.
    const auto it = std::upper_bound(taken_.begin(), taken_.end(), at, after);
    return it != taken_.end() && it->send_pos < send_pos;
  }
  void watch() { ++watchers_; }
  void unwatch() {
    if (watchers_ > 0 && --watchers_ == 0) taken_.clear();
  }

 private:
  struct Entry {
    std::uint64_t pos;
    std::uint32_t slot;
  };
  struct Taken {
    std::uint64_t send_pos, recv_pos;
  };
  // Forgets what has been received; grows if that does not help.
  template <class Alive>
  void make_room(const Alive& alive) {
    const std::size_t capacity = std::max<std::size_t>(8, live_ * 2 <= size_ ? size_ : 2 * size_);
    auto entries = std::make_unique<Entry[]>(capacity);
    std::size_t kept = 0;
    for (std::size_t i = head_; i < size_; ++i) {
      if (alive(entries_[i].slot, entries_[i].pos)) entries[kept++] = entries_[i];
    }
    entries_ = std::move(entries);
    capacity_ = capacity;
    size_ = kept;
    head_ = 0;
  }
  static bool after(std::uint64_t at, const Taken& t) { return at < t.recv_pos; }
  // Both positions ascend in taken_: one that was received no later and sent no earlier than
  // another never answers a question.
  void remember(std::uint64_t send_pos, std::uint64_t recv_pos) {
    auto it = std::upper_bound(taken_.begin(), taken_.end(), recv_pos, after);
    if (it != taken_.end() && it->send_pos <= send_pos) return;
    auto first = it;
    while (first != taken_.begin() && std::prev(first)->send_pos >= send_pos) --first;
    it = taken_.erase(first, it);
    if (taken_.size() < kMaxTaken) taken_.insert(it, {send_pos, recv_pos});
  }
  std::unique_ptr<Entry[]> entries_;
  std::size_t size_ = 0, capacity_ = 0;
  std::size_t head_ = 0;
  std::size_t live_ = 0;
  std::uint32_t watchers_ = 0;
  std::vector<Taken> taken_;
};

}  // namespace kojak::earl::detail
