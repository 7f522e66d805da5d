#include "epilog/runtime/small_buffers.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "epilog/format/io/local_buffer_header.h"
#include "epilog/runtime/memory.h"
#include "epilog/runtime/session.h"

namespace kojak::measure {
namespace {

constexpr std::size_t kSizes[] = {8 * 1024, 32 * 1024, 128 * 1024};
constexpr std::size_t kKinds = sizeof kSizes / sizeof *kSizes;
constexpr std::size_t kFirstSet = 64 * 1024, kLargestSet = 1024 * 1024;

// Several buffers of one size, which the keeper has as one memory. While a buffer is unused, its
// records begin with the address of the next one.
struct Set {
  std::byte* memory;
  std::size_t size;
  bool kept;
  Set* next;
};
Set* sets = nullptr;
std::byte* unused[kKinds];
std::size_t next_set[kKinds];

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
class Lock {
 public:
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

std::size_t kind_of(std::size_t size) {
  std::size_t kind = 0;
  while (kSizes[kind] != size) ++kind;
  return kind;
}

std::byte*& next_of(std::byte* buffer) {
  return *reinterpret_cast<std::byte**>(buffer + kBufferRecordsAt);
}

bool add_set(std::size_t kind) {
  const std::size_t each = kSizes[kind];
  std::size_t& bytes = next_set[kind];
  if (bytes == 0) bytes = each < kFirstSet ? kFirstSet : each;
  Set* const set = create<Set>();
  if (set == nullptr) return false;
  const BufferMemory memory = new_buffers(bytes, each);
  if (memory.data == nullptr) {
    destroy(set);
    return false;
  }
  *set = {memory.data, bytes, memory.kept, sets};
  sets = set;
  for (std::size_t at = bytes; at >= each; at -= each) {
    next_of(memory.data + at - each) = unused[kind];
    unused[kind] = memory.data + at - each;
  }
  if (bytes < kLargestSet) bytes *= 2;
  return true;
}

bool is_kept(const std::byte* buffer) {
  for (const Set* set = sets; set != nullptr; set = set->next) {
    if (buffer >= set->memory && buffer < set->memory + set->size) return set->kept;
  }
  return false;
}

}  // namespace

std::size_t small_buffer_size(std::size_t bytes) {
  for (const std::size_t size : kSizes) {
    if (size >= bytes && size - kBufferRecordsAt < the_session.config.buffer_size) return size;
  }
  return 0;
}

BufferMemory take_small_buffer(std::size_t size) {
  const Lock lock;
  const std::size_t kind = kind_of(size);
  if (unused[kind] == nullptr && !add_set(kind)) return {nullptr, false};
  std::byte* const buffer = unused[kind];
  unused[kind] = next_of(buffer);
  memset(buffer, 0, kBufferRecordsAt);
  return {buffer, is_kept(buffer)};
}

void give_back_small_buffer(std::byte* buffer, std::size_t size) {
  const Lock lock;
  const std::size_t kind = kind_of(size);
  next_of(buffer) = unused[kind];
  unused[kind] = buffer;
}

void drop_small_buffers() {
  const Lock lock;
  while (sets != nullptr) {
    Set* const set = sets;
    sets = set->next;
    munmap(set->memory, set->size);
    destroy(set);
  }
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    unused[kind] = nullptr;
    next_set[kind] = 0;
  }
}

}  // namespace kojak::measure
