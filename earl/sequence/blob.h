// Writes and reads the contents of state aspects as bytes: numbers of seven bits a byte. Lists
// whose numbers hardly differ are written as differences.
//
// A BlobWriter has appended everything when it is gone.
// A BlobReader never reads past its end: it then gives 0 and ok() is false; counts that the bytes
// left cannot hold are refused in the same way. Owns nothing but what it appends to. Not
// thread-safe. Internal to the state bookmarks of random access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kojak::earl::sequence {

class BlobWriter {
 public:
  explicit BlobWriter(std::vector<std::byte>& out) : out_(out) {}
  ~BlobWriter() { flush(); }
  BlobWriter(const BlobWriter&) = delete;
  BlobWriter& operator=(const BlobWriter&) = delete;

  void number(std::uint64_t value) {
    if (used_ > sizeof buffer_ - kLongest) flush();
    while (value >= 0x80) {
      buffer_[used_++] = static_cast<std::byte>(value | 0x80);
      value >>= 7;
    }
    buffer_[used_++] = static_cast<std::byte>(value);
  }
  template <class... T>
  void numbers(T... values) {
    (number(static_cast<std::uint64_t>(values)), ...);
  }
  // The step from `before`, up or down; `before` becomes the value.
  void step(std::uint64_t& before, std::uint64_t value) {
    const std::uint64_t by = value - before;
    number(by << 1 ^ (0 - (by >> 63)));
    before = value;
  }

 private:
  static constexpr std::size_t kLongest = 10;  // bytes of a number
  void flush() {
    out_.insert(out_.end(), buffer_, buffer_ + used_);
    used_ = 0;
  }
  std::vector<std::byte>& out_;
  std::size_t used_ = 0;
  std::byte buffer_[512];
};

class BlobReader {
 public:
  explicit BlobReader(std::span<const std::byte> bytes)
      : p_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; p_ != end_ && shift < 64; shift += 7) {
      const auto b = static_cast<std::uint64_t>(*p_++);
      value |= (b & 0x7F) << shift;
      if (b < 0x80) return value;
    }
    p_ = end_;
    ok_ = false;
    return 0;
  }
  template <class T>
  void get(T& value) {
    value = static_cast<T>(number());
  }
  template <class... T>
  void numbers(T&... values) {
    (get(values), ...);
  }
  std::uint64_t step(std::uint64_t& before) {
    const std::uint64_t n = number();
    return before += n >> 1 ^ (0 - (n & 1));
  }
  // How many elements follow; each takes a byte at least.
  std::size_t count() {
    const std::uint64_t n = number();
    if (n <= static_cast<std::uint64_t>(end_ - p_)) return static_cast<std::size_t>(n);
    ok_ = false;
    p_ = end_;
    return 0;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return p_ == end_; }

 private:
  const std::byte* p_;
  const std::byte* end_;
  bool ok_ = true;
};

}  // namespace kojak::earl::sequence
