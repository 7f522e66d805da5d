// An array of plain values in the spill file, with one block of it in memory.
//
// Grows at its end and may be changed anywhere; neighbours are cheap, jumps cost a read and a
// write. Several readers may follow one array that no longer changes, each with a block of its own
// (SpillReader). The spill file belongs to the FileCache, which must outlive both. Errors: the
// first one is kept, and error() tells; what could not be read is a default value.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "merge/input/file_cache.h"

namespace kojak::merge {

template <class T>
class SpillArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr std::size_t kBlock = 8192 / sizeof(T);
  using Block = std::array<T, kBlock>;

  explicit SpillArray(FileCache& files) : files_(&files) {}

  std::uint64_t size() const { return size_; }
  void append(const T& value) {
    const std::uint64_t block = size_ / kBlock;
    if (block == places_.size()) {
      store();
      places_.push_back(files_->reserve(sizeof(Block)));
      if (!block_) block_ = std::make_unique<Block>();
      current_ = block;
    } else {
      load(block);
    }
    (*block_)[size_++ % kBlock] = value;
    changed_ = true;
  }
  // f(T&) on one value.
  template <class F>
  void update(std::uint64_t index, F&& f) {
    const std::uint64_t block = index / kBlock;
    if (block == current_) {
      f((*block_)[index % kBlock]);
      changed_ = true;
      return;
    }
    const std::uint64_t place = places_[block] + index % kBlock * sizeof(T);
    T value{};
    note(files_->read(FileCache::kSpill, place, &value, sizeof value));
    f(value);
    note(files_->write(place, &value, sizeof value));
  }
  // f(T&) on all values, last to first.
  template <class F>
  void update_backwards(F&& f) {
    for (std::uint64_t i = size_; i-- > 0;) {
      load(i / kBlock);
      f((*block_)[i % kBlock]);
      changed_ = true;
    }
  }
  // Nothing will change any more: writes what is only in memory, and gives the memory back.
  void close() {
    store();
    block_.reset();
    current_ = kNone;
  }
  void read_block(std::uint64_t block, Block& to) const {
    note(files_->read(FileCache::kSpill, places_[block], &to, sizeof to));
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  void load(std::uint64_t block) {
    if (block == current_) return;
    store();
    if (!block_) block_ = std::make_unique<Block>();
    read_block(block, *block_);
    current_ = block;
  }
  void store() {
    if (changed_) note(files_->write(places_[current_], block_.get(), sizeof(Block)));
    changed_ = false;
  }
  void note(Status status) const {
    if (!status && !error_) error_ = status.error();
  }

  FileCache* files_;
  std::vector<std::uint64_t> places_;  // of the blocks
  std::uint64_t size_ = 0, current_ = kNone;
  std::unique_ptr<Block> block_;
  bool changed_ = false;
  mutable std::optional<Error> error_;
};

// Reads a closed array.
template <class T>
class SpillReader {
 public:
  explicit SpillReader(const SpillArray<T>& array) : array_(&array) {}
  const T& operator[](std::uint64_t index) {
    const std::uint64_t block = index / SpillArray<T>::kBlock;
    if (block != current_) {
      if (!block_) block_ = std::make_unique<typename SpillArray<T>::Block>();
      array_->read_block(block, *block_);
      current_ = block;
    }
    return (*block_)[index % SpillArray<T>::kBlock];
  }

 private:
  const SpillArray<T>* array_;
  std::uint64_t current_ = ~std::uint64_t{0};
  std::unique_ptr<typename SpillArray<T>::Block> block_;
};

}  // namespace kojak::merge
