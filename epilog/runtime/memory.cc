#include "epilog/runtime/memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <bit>

namespace kojak::measure {
namespace {

constexpr std::size_t kSmallest = 32;
constexpr std::size_t kLarge = 64 * 1024;
constexpr std::size_t kChunk = 256 * 1024;
constexpr int kClasses = 12;  // 32 bytes .. 64 KiB

struct FreeBlock {
  FreeBlock* next;
};

FreeBlock* free_lists[kClasses];
std::byte* chunk_position = nullptr;
std::size_t chunk_left = 0;
std::size_t in_use = 0;
std::atomic_flag taken = ATOMIC_FLAG_INIT;

// Threads of a program that calls MPI from one thread only record their regions, too.
class Lock {
 public:
  Lock() {
    for (int spins = 0; taken.test_and_set(std::memory_order_acquire); ++spins) {
      if (spins > 100) syscall(SYS_sched_yield);
    }
  }
  ~Lock() { taken.clear(std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

std::size_t rounded(std::size_t bytes) {
  return bytes <= kSmallest ? kSmallest : std::bit_ceil(bytes);
}
std::size_t page_rounded(std::size_t bytes) {
  return (bytes + 4095) & ~std::size_t{4095};
}
int size_class(std::size_t block) {
  return std::countr_zero(block) - std::countr_zero(kSmallest);
}

void* pages(std::size_t bytes) {
  void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return block == MAP_FAILED ? nullptr : block;
}

}  // namespace

void* allocate(std::size_t bytes) {
  const Lock lock;
  if (bytes > kLarge) {
    void* block = pages(page_rounded(bytes));
    if (block != nullptr) in_use += page_rounded(bytes);
    return block;
  }
  const std::size_t block = rounded(bytes);
  FreeBlock*& list = free_lists[size_class(block)];
  if (list != nullptr) {
    FreeBlock* found = list;
    list = found->next;
    in_use += block;
    return std::memset(static_cast<void*>(found), 0, block);
  }
  if (chunk_left < block) {
    auto* chunk = static_cast<std::byte*>(pages(kChunk));
    if (chunk == nullptr) return nullptr;
    chunk_position = chunk;  // the rest of the old chunk, less than one block, is given up
    chunk_left = kChunk;
  }
  void* found = chunk_position;
  chunk_position += block;
  chunk_left -= block;
  in_use += block;
  return found;
}

void release(void* block, std::size_t bytes) {
  const Lock lock;
  if (bytes > kLarge) {
    in_use -= page_rounded(bytes);
    munmap(block, page_rounded(bytes));
    return;
  }
  const std::size_t size = rounded(bytes);
  in_use -= size;
  FreeBlock*& list = free_lists[size_class(size)];
  list = ::new (block) FreeBlock{list};
}

std::size_t memory_in_use() {
  return in_use;
}

}  // namespace kojak::measure
