// A hash index from small keys to 32-bit numbers: open addressing, linear probing, deletion by
// shifting back. Allocates only when it grows.
#pragma once

#include <cstdint>
#include <vector>

#include "earl/pool.h"

namespace kojak::earl::detail {

// Mixes two words well enough for linear probing.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = (a ^ 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
  h ^= h >> 32;
  h = (h ^ b) * 0xD6E8FEB86659FD93u;
  return h ^ (h >> 29);
}

struct Key128 {
  std::uint64_t a = 0, b = 0;
  bool operator==(const Key128&) const = default;
  std::uint64_t hash() const { return mix(a, b); }
};
struct Key64 {
  std::uint64_t a = 0;
  bool operator==(const Key64&) const = default;
  std::uint64_t hash() const { return mix(a, 0); }
};

template <class Key>
class FlatIndex {
 public:
  // kNone if the key is not there.
  std::uint32_t find(const Key& key) const {
    if (entries_.empty()) return kNone;
    for (std::size_t i = key.hash() & mask_;; i = (i + 1) & mask_) {
      const Entry& e = entries_[i];
      if (e.value == kNone) return kNone;
      if (e.key == key) return e.value;
    }
  }
  // Inserts the value if the key is not there yet; else the value that it has. kNone: inserted.
  std::uint32_t add(const Key& key, std::uint32_t value) {
    if ((count_ + 1) * 2 > entries_.size()) grow();
    std::size_t i = key.hash() & mask_;
    for (; entries_[i].value != kNone; i = (i + 1) & mask_) {
      if (entries_[i].key == key) return entries_[i].value;
    }
    entries_[i] = {key, value};
    ++count_;
    return kNone;
  }
  // Removes the key and gives its value; kNone if it was not there.
  std::uint32_t take(const Key& key) {
    if (entries_.empty()) return kNone;
    std::size_t i = key.hash() & mask_;
    while (entries_[i].value == kNone || !(entries_[i].key == key)) {
      if (entries_[i].value == kNone) return kNone;
      i = (i + 1) & mask_;
    }
    const std::uint32_t value = entries_[i].value;
    remove(i);
    return value;
  }
  // The key must not be there yet.
  void insert(const Key& key, std::uint32_t value) {
    if ((count_ + 1) * 2 > entries_.size()) grow();
    place(key, value);
    ++count_;
  }
  void erase(const Key& key) { take(key); }
  std::size_t size() const { return count_; }
  void clear() {
    if (count_ == 0) return;
    for (Entry& e : entries_) e.value = kNone;
    count_ = 0;
  }
  template <class F>
  void for_each(F&& f) const {
    for (const Entry& e : entries_) {
      if (e.value != kNone) f(e.key, e.value);
    }
  }

 private:
  struct Entry {
    Key key;
    std::uint32_t value = kNone;
  };
  // Closes the hole: moves back every later entry that may not be found across it.
  void remove(std::size_t i) {
    for (std::size_t j = (i + 1) & mask_; entries_[j].value != kNone; j = (j + 1) & mask_) {
      const std::size_t home = entries_[j].key.hash() & mask_;
      if (((j - home) & mask_) >= ((j - i) & mask_)) {
        entries_[i] = entries_[j];
        i = j;
      }
    }
    entries_[i].value = kNone;
    --count_;
  }
  void place(const Key& key, std::uint32_t value) {
    std::size_t i = key.hash() & mask_;
    while (entries_[i].value != kNone) i = (i + 1) & mask_;
    entries_[i] = {key, value};
  }
  void grow() {
    std::vector<Entry> old(entries_.empty() ? 16 : entries_.size() * 2);
    old.swap(entries_);
    mask_ = entries_.size() - 1;
    for (const Entry& e : old) {
      if (e.value != kNone) place(e.key, e.value);
    }
  }
  std::vector<Entry> entries_;
  std::size_t mask_ = 0;
  std::size_t count_ = 0;
};

}  // namespace kojak::earl::detail
