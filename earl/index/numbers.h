// Writes and reads numbers as bytes: seven bits a byte. Lists whose numbers hardly differ are
// written as differences.
//
// write_number() puts one where there is room for kLongestNumber bytes and returns what follows.
// A NumberWriter has appended everything when it is gone.
// A NumberReader never reads past its end: it then gives 0 and ok() is false; counts that the bytes
// left cannot hold are refused in the same way. save_lists() and load_lists() are for files. Owns
// nothing but what it appends to. Internal to the columns of random access.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace kojak::earl {

inline constexpr std::size_t kLongestNumber = 10;  // bytes

inline std::byte* write_number(std::byte* to, std::uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<std::byte>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<std::byte>(value);
  return to;
}

class NumberWriter {
 public:
  explicit NumberWriter(std::vector<std::byte>& out) : out_(out) {}
  ~NumberWriter() { flush(); }
  NumberWriter(const NumberWriter&) = delete;
  NumberWriter& operator=(const NumberWriter&) = delete;

  void number(std::uint64_t value) {
    if (used_ > sizeof buffer_ - kLongestNumber) flush();
    used_ = static_cast<std::size_t>(write_number(buffer_ + used_, value) - buffer_);
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
  void flush() {
    out_.insert(out_.end(), buffer_, buffer_ + used_);
    used_ = 0;
  }
  std::vector<std::byte>& out_;
  std::size_t used_ = 0;
  std::byte buffer_[64];
};

// The contents of two lists as they are in memory, one after the other, and back: false if the
// bytes do not hold them whole.
template <class T>
void save_lists(const std::vector<T>& list, const std::vector<std::byte>& bytes,
                std::vector<std::byte>& to) {
  const std::uint64_t sizes[2] = {list.size(), bytes.size()};
  const auto append = [&](const void* data, std::size_t size) {
    const auto* const p = static_cast<const std::byte*>(data);
    to.insert(to.end(), p, p + size);
  };
  append(sizes, sizeof sizes);
  append(list.data(), list.size() * sizeof(T));
  append(bytes.data(), bytes.size());
}
template <class T>
bool load_lists(std::span<const std::byte>& from, std::vector<T>& list,
                std::vector<std::byte>& bytes) {
  std::uint64_t sizes[2];
  if (from.size() < sizeof sizes) return false;
  std::memcpy(sizes, from.data(), sizeof sizes);
  from = from.subspan(sizeof sizes);
  if (sizes[0] > from.size() / sizeof(T) || sizes[1] > from.size() - sizes[0] * sizeof(T)) {
    return false;
  }
  list.resize(sizes[0]);
  if (sizes[0] != 0)
    std::memcpy(static_cast<void*>(list.data()), from.data(), sizes[0] * sizeof(T));
  from = from.subspan(sizes[0] * sizeof(T));
  bytes.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(sizes[1]));
  from = from.subspan(sizes[1]);
  return std::all_of(list.begin(), list.end(),
                     [&](const T& item) { return item.offset <= bytes.size(); });
}

class NumberReader {
 public:
  explicit NumberReader(std::span<const std::byte> bytes)
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
  // The next `n` bytes, or as many as there are.
  std::span<const std::byte> bytes(std::size_t n) {
    if (n > static_cast<std::size_t>(end_ - p_)) {
      n = static_cast<std::size_t>(end_ - p_);
      ok_ = false;
    }
    const std::byte* const from = p_;
    p_ += n;
    return {from, n};
  }
  bool ok() const { return ok_; }
  bool at_end() const { return p_ == end_; }

 private:
  const std::byte* p_;
  const std::byte* end_;
  bool ok_ = true;
};

}  // namespace kojak::earl
