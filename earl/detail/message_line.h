// Messages of one receiver, or of one sender, in order of their SENDs: which of them is the oldest
// that has not been received?
//
// Entries are appended in order and forgotten lazily: alive(slot, pos) of the owner tells which are
// still open. While somebody watches, what is taken is remembered with the position of its RECV, so
// that a question about the past can be answered. Memory: twice the open messages. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kojak::earl::detail {

class MessageLine {
 public:
  template <class Alive>
  void append(std::uint64_t pos, std::uint32_t slot, const Alive& alive) {
    if (entries_.size() == entries_.capacity() && live_ * 2 <= entries_.size()) [[unlikely]]
      compact(alive);
    entries_.push_back({pos, slot});
    ++live_;
  }
  void remove(std::uint64_t send_pos, std::uint64_t recv_pos) {
    if (--live_ == 0) {
      entries_.clear();
      head_ = 0;
    }
    if (watchers_ != 0) [[unlikely]]
      taken_.push_back({send_pos, recv_pos});
  }
  // Was a message that is older than `send_pos` not yet received at event `at`?
  template <class Alive>
  bool older_pending(std::uint64_t send_pos, std::uint64_t at, const Alive& alive) {
    while (head_ < entries_.size() && entries_[head_].pos < send_pos) {
      if (alive(entries_[head_].slot, entries_[head_].pos)) return true;
      ++head_;
    }
    return !taken_.empty() && taken_pending(send_pos, at);
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
  template <class Alive>
  void compact(const Alive& alive) {
    std::size_t kept = 0;
    for (std::size_t i = head_; i < entries_.size(); ++i) {
      if (alive(entries_[i].slot, entries_[i].pos)) entries_[kept++] = entries_[i];
    }
    entries_.resize(kept);
    head_ = 0;
  }
  bool taken_pending(std::uint64_t send_pos, std::uint64_t at) const {
    return std::any_of(taken_.begin(), taken_.end(),
                       [&](const Taken& t) { return t.send_pos < send_pos && t.recv_pos > at; });
  }
  std::vector<Entry> entries_;
  std::size_t head_ = 0;
  std::size_t live_ = 0;
  std::uint32_t watchers_ = 0;
  std::vector<Taken> taken_;
};

}  // namespace kojak::earl::detail
