// Objects that come and go, at stable addresses, named by small numbers.
//
// The pool owns all objects; a freed one is kept with whatever memory it holds and handed out
// again, so that a steady state allocates nothing. The user resets what it takes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace kojak::earl {

inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;

template <class T>
class Pool {
 public:
  std::uint32_t take() {
    ++live_;
    if (!free_.empty()) [[likely]] {
      const std::uint32_t i = free_.back();
      free_.pop_back();
      return i;
    }
    if (next_ % kChunk == 0) chunks_.push_back(std::make_unique<T[]>(kChunk));
    return next_++;
  }
  void give_back(std::uint32_t i) {
    --live_;
    free_.push_back(i);
  }
  T& operator[](std::uint32_t i) { return chunks_[i / kChunk][i % kChunk]; }
  const T& operator[](std::uint32_t i) const { return chunks_[i / kChunk][i % kChunk]; }
  std::size_t live() const { return live_; }
  // Numbers below it have been handed out at some time.
  std::uint32_t capacity() const { return next_; }

 private:
  static constexpr std::uint32_t kChunk = 128;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<std::uint32_t> free_;
  std::uint32_t next_ = 0;
  std::size_t live_ = 0;
};

}  // namespace kojak::earl
