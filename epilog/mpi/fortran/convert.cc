#include "epilog/mpi/fortran/convert.h"

namespace kojak::measure::fortran {
namespace {

Block* unused_blocks = nullptr;
constexpr std::size_t kLeast = 1024;  // so that most never grow

}  // namespace

Block* take_block(std::size_t size) {
  if (size < kLeast) size = kLeast;
  const BookkeepingLock lock;
  Block* const block = unused_blocks != nullptr ? unused_blocks : create<Block>();
  if (block == nullptr) return nullptr;
  if (block == unused_blocks) unused_blocks = block->next;
  if (block->size >= size) return block;
  if (block->data != nullptr) release(block->data, block->size);
  block->data = static_cast<std::byte*>(allocate(size));
  block->size = block->data != nullptr ? size : 0;
  if (block->data != nullptr) return block;
  block->next = unused_blocks;
  unused_blocks = block;
  return nullptr;
}

void give_back(Block* block) {
  const BookkeepingLock lock;
  block->next = unused_blocks;
  unused_blocks = block;
}

#if !defined(MPICH)
namespace {

RequestArray* unused_arrays = nullptr;

}  // namespace

RequestArray* convert_requests(const MPI_Fint* user, std::size_t count) {
  const BookkeepingLock lock;
  RequestArray* const array = unused_arrays != nullptr ? unused_arrays : create<RequestArray>();
  if (array == nullptr) return nullptr;
  if (array == unused_arrays) unused_arrays = array->next;
  const bool known =
      array->holds && array->ended == ended_requests && array->fortran.size() == count;
  array->holds = true;
  array->ended = ended_requests;
  const std::size_t bytes = count * sizeof *user;
  if (known && (count == 0 || std::memcmp(array->fortran.data(), user, bytes) == 0)) return array;
  if (!array->fortran.resize(count) || !array->c.resize(count)) {
    (void)array->fortran.resize(0);
    array->next = unused_arrays;
    unused_arrays = array;
    return nullptr;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (known && array->fortran[i] == user[i]) continue;
    array->fortran[i] = user[i];
    array->c[i] = RequestKindOf::from(user[i]);
  }
  return array;
}

void give_back(RequestArray* array, std::uint64_t completed) {
  const BookkeepingLock lock;
  const std::uint64_t now = ended_requests;
  array->holds = array->holds && now - array->ended == completed;
  array->ended = now;
  array->next = unused_arrays;
  unused_arrays = array;
}
#endif

}  // namespace kojak::measure::fortran
