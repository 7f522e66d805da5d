// Memory of logs that grow with the trace: what is more than a limit lies in a temporary file.
//
// The arrays of a LogVector come from a LogMemory. As long as all of its vectors together are below
// the limit, they lie in memory as others do; what is larger is mapped from one unnamed temporary
// file ($TMPDIR or /tmp), which the system writes and drops where memory is short. An array in the
// file grows at its place, nothing is copied; what is given back is used again, since new pages of
// a file cost more than those that are there. Arrays have large pages, which take a tenth of the
// system's time but 2 MB of memory each, and so not those of which many are in use at once. Where
// no file can be had, it is memory after all. The LogMemory must outlive its vectors. Not
// thread-safe; throws std::bad_alloc as vectors do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kojak {

class LogMemory {
 public:
  static constexpr std::size_t kInMemory = std::size_t{8} << 20;
  static constexpr std::size_t kLeastFile = std::size_t{64} << 10;  // smaller arrays stay in memory

  explicit LogMemory(std::size_t in_memory = kInMemory) : limit_(in_memory) {}
  LogMemory(const LogMemory&) = delete;
  LogMemory& operator=(const LogMemory&) = delete;
  ~LogMemory();

  // Where there is nothing yet, or with what is used of an array that is given back. `many`: one of
  // many arrays that are used at the same time.
  void* enlarge(void* place, std::size_t used, std::size_t bytes, std::size_t wanted, bool many);
  void give_back(void* place, std::size_t bytes);
  // The program does not need what lies in files for a while.
  void rest();

  std::size_t in_memory() const { return in_memory_; }
  std::size_t in_files() const { return in_files_; }
  // What they take, used at the moment or not.
  std::size_t file_bytes() const { return file_bytes_; }

 private:
  static constexpr std::size_t kMostParts = 32'000;  // mappings that a process may have
  struct Part {                                      // of the file
    std::size_t offset, bytes;
  };
  struct Mapped {
    std::size_t room = 0;  // of its addresses, of which the first `bytes` are parts of the file
    std::size_t bytes = 0;
    std::size_t unit = 0;  // of which these are multiples
    std::vector<Part> parts;
  };
  void* map(std::size_t bytes, bool many);
  bool grow(char* place, Mapped& mapped, std::size_t bytes, bool many);
  bool take(std::size_t bytes, std::size_t unit, std::vector<Part>& parts);
  void free(const Mapped& mapped);
  void move(void* to, void* from, std::size_t bytes);

  std::size_t limit_, in_memory_ = 0, in_files_ = 0;
  std::string directory_;
  int file_ = -1;
  std::size_t file_bytes_ = 0, parts_ = 0;
  std::vector<Part> small_, large_;  // of the file, unused: by their units
  bool failed_ = false;              // there is no file to be had
  std::unordered_map<void*, Mapped> mapped_;
};

// Of values that may be copied as bytes. As std::vector as far as it goes.
template <class T>
class LogVector {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  using value_type = T;

  LogVector(LogMemory& memory) : memory_(&memory) {}  // NOLINT: a vector is made of it
  // `many`: there are many of them, which are used at the same time.
  LogVector(LogMemory& memory, bool many) : memory_(&memory), many_(many) {}
  LogVector(std::size_t count, LogMemory& memory) : LogVector(memory) { resize(count); }
  LogVector(std::size_t count, const T& value, LogMemory& memory) : LogVector(memory) {
    assign(count, value);
  }
  LogVector(LogVector&& other) noexcept : memory_(other.memory_) { swap(other); }
  LogVector& operator=(LogVector&& other) noexcept {
    LogVector taken(std::move(other));
    swap(taken);
    return *this;
  }
  LogVector(const LogVector&) = delete;
  LogVector& operator=(const LogVector&) = delete;
  ~LogVector() {
    if (data_ != nullptr) memory_->give_back(data_, room_ * sizeof(T));
  }

  LogMemory& memory() const { return *memory_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void push_back(const T& value) {
    if (size_ == room_) [[unlikely]]
      return push_where_no_room_is(value);
    ::new (static_cast<void*>(data_ + size_)) T(value);
    ++size_;
  }
  void append(const T* first, const T* last) {
    const auto count = static_cast<std::size_t>(last - first);
    if (room_ - size_ < count) reserve(std::max(more_room(), size_ + count));
    std::uninitialized_copy(first, last, data_ + size_);
    size_ += count;
  }
  void reserve(std::size_t count) {
    if (count <= room_) return;
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    data_ = static_cast<T*>(
        memory_->enlarge(data_, size_ * sizeof(T), room_ * sizeof(T), count * sizeof(T), many_));
    room_ = count;
  }
  void resize(std::size_t count) {
    reserve(count);
    if (size_ < count) fill(size_, count, T{});
    size_ = count;
  }
  void assign(std::size_t count, const T& value) {
    reserve(count);
    fill(0, count, value);
    size_ = count;
  }
  void clear() { size_ = 0; }
  // The same, and what it had is there for others.
  void drop() { *this = LogVector(*memory_, many_); }
  void swap(LogVector& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
    std::swap(many_, other.many_);
  }

 private:
  // What was written rests after every few MB.
  void fill(std::size_t first, std::size_t last, const T& value) {
    constexpr std::size_t kAtOnce = (std::size_t{4} << 20) / sizeof(T);
    while (last - first > kAtOnce) {
      std::uninitialized_fill_n(data_ + first, kAtOnce, value);
      first += kAtOnce;
      memory_->rest();
    }
    std::uninitialized_fill_n(data_ + first, last - first, value);
  }
  // Large ones grow at their places, and what is not used of them costs time, too.
  std::size_t more_room() const {
    constexpr std::size_t kAtOnce = (std::size_t{2} << 20) / sizeof(T);
    return room_ + std::min(room_, kAtOnce);
  }
  [[gnu::noinline]] void push_where_no_room_is(const T& value) {
    const T copy = value;  // it may be one of these
    reserve(std::max<std::size_t>(more_room(), 16));
    ::new (static_cast<void*>(data_ + size_)) T(copy);
    ++size_;
  }

  LogMemory* memory_;
  T* data_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
  bool many_ = false;
};

}  // namespace kojak
