// Memory of logs that grow with the trace: what is more than a limit lies in temporary files.
//
// A LogVector is a std::vector whose arrays come from a LogMemory. As long as all of its vectors
// together are below the limit, they lie in memory as others do; what is larger is mapped from
// unnamed temporary files ($TMPDIR or /tmp), one for each array, which the system writes and drops
// where memory is short. Where no such file can be had, it is memory after all. The LogMemory must
// outlive its vectors. Not thread-safe; throws std::bad_alloc as vectors do.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace kojak::expert {

class LogMemory {
 public:
  static constexpr std::size_t kInMemory = std::size_t{64} << 20;

  explicit LogMemory(std::size_t in_memory = kInMemory) : limit_(in_memory) {}
  LogMemory(const LogMemory&) = delete;
  LogMemory& operator=(const LogMemory&) = delete;

  void* take(std::size_t bytes);
  void give_back(void* place, std::size_t bytes);
  // The program does not need what lies in files for a while.
  void rest();

  std::size_t in_memory() const { return in_memory_; }
  std::size_t in_files() const { return in_files_; }

 private:
  static constexpr std::size_t kLeastFile = std::size_t{64} << 10;  // smaller arrays get none
  static constexpr std::size_t kMostFiles = 32'000;  // mappings that a process may have
  void* map(std::size_t bytes);

  std::size_t limit_, in_memory_ = 0, in_files_ = 0;
  std::string directory_;
  bool failed_ = false;                            // there are no files to be had
  std::unordered_map<void*, std::size_t> mapped_;  // and of what size
};

template <class T>
class LogAllocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  LogAllocator(LogMemory& memory) : memory_(&memory) {}
  template <class U>
  LogAllocator(const LogAllocator<U>& other) : memory_(other.memory()) {}

  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(memory_->take(count * sizeof(T)));
  }
  void deallocate(T* place, std::size_t count) { memory_->give_back(place, count * sizeof(T)); }

  LogMemory* memory() const { return memory_; }
  template <class U>
  bool operator==(const LogAllocator<U>& other) const {
    return memory_ == other.memory();
  }

 private:
  LogMemory* memory_;
};

template <class T>
using LogVector = std::vector<T, LogAllocator<T>>;

}  // namespace kojak::expert
