// Memory for the bookkeeping of the measurement: taken from the kernel, not from the program's
// malloc.
//
// The program may replace malloc, may call MPI from inside its own malloc, and may be a C program
// without the C++ runtime; so the measurement library neither calls malloc nor operator new. Blocks
// come from power-of-two size classes with free lists, so that creating and freeing objects in a
// loop uses constant memory; blocks of kLarge and more are mappings of their own, whose untouched
// pages cost nothing. Memory is zeroed. Allocation is thread-safe, the
// containers are not: callers hold the session's bookkeeping lock. Failure: nullptr (callers then
// leave the object unknown).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace kojak::measure {

void* allocate(std::size_t bytes);
void release(void* block, std::size_t bytes);  // the size that was asked for
std::size_t memory_in_use();                   // for tests: sum of what is allocated

template <class T, class... Args>
T* create(Args&&... args) {
  void* block = allocate(sizeof(T));
  return block == nullptr ? nullptr : ::new (block) T{std::forward<Args>(args)...};
}
template <class T>
void destroy(T* object) {
  if (object == nullptr) return;
  object->~T();
  release(object, sizeof(T));
}

// A growing array of trivial values. It has no destructor, nor has HashMap: global ones must
// survive what the program does while it exits. Owners that end before the program call clear().
template <class T>
class Vector {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  Vector() = default;
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;

  bool reserve(std::size_t wanted) {
    if (wanted <= capacity_) return true;
    std::size_t capacity = capacity_ == 0 ? 8 : capacity_;
    while (capacity < wanted) capacity *= 2;
    auto* data = static_cast<T*>(allocate(capacity * sizeof(T)));
    if (data == nullptr) return false;
    if (size_ != 0) std::memcpy(data, data_, size_ * sizeof(T));
    if (data_ != nullptr) release(data_, capacity_ * sizeof(T));
    data_ = data;
    capacity_ = capacity;
    return true;
  }
  bool push_back(const T& value) {
    if (!reserve(size_ + 1)) return false;
    data_[size_++] = value;
    return true;
  }
  bool resize(std::size_t size) {  // new elements are not cleared
    if (!reserve(size)) return false;
    size_ = size;
    return true;
  }
  void pop_back() { --size_; }
  void clear() {
    if (data_ != nullptr) release(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0x9FB21C651E98DF25u;
  x ^= x >> 28;
  return x;
}

// Open addressing from 64-bit keys to pointers or numbers; erasing shifts back, so a long series of
// insertions and removals leaves no tombstones and costs no more than the first.
template <class Value>
class HashMap {
 public:
  static_assert(std::is_trivially_copyable_v<Value>);
  HashMap() = default;
  HashMap(const HashMap&) = delete;
  HashMap& operator=(const HashMap&) = delete;

  Value* find(std::uint64_t key) {
    if (size_ == 0) return nullptr;
    for (std::size_t i = mix(key) & mask_;; i = (i + 1) & mask_) {
      if (!slots_[i].used) return nullptr;
      if (slots_[i].key == key) return &slots_[i].value;
    }
  }
  // Inserts or overwrites; nullptr without memory.
  Value* set(std::uint64_t key, const Value& value) {
    if (Value* found = find(key)) {
      *found = value;
      return found;
    }
    if ((size_ + 1) * 8 > capacity() * 5 && !grow()) return nullptr;
    ++size_;
    return place(key, value);
  }
  void erase(std::uint64_t key) {
    if (size_ == 0) return;
    std::size_t i = mix(key) & mask_;
    while (slots_[i].used && slots_[i].key != key) i = (i + 1) & mask_;
    if (!slots_[i].used) return;
    --size_;
    for (std::size_t j = (i + 1) & mask_; slots_[j].used; j = (j + 1) & mask_) {
      const std::size_t home = mix(slots_[j].key) & mask_;
      if (((j - home) & mask_) >= ((j - i) & mask_)) {
        slots_[i] = slots_[j];
        i = j;
      }
    }
    slots_[i].used = false;
  }
  std::size_t size() const { return size_; }
  void clear() {
    if (slots_ != nullptr) release(slots_, capacity() * sizeof(Slot));
    slots_ = nullptr;
    size_ = mask_ = 0;
  }
  template <class F>
  void for_each(F&& f) {
    for (std::size_t i = 0; i < capacity(); ++i) {
      if (slots_[i].used) f(slots_[i].key, slots_[i].value);
    }
  }

 private:
  struct Slot {
    std::uint64_t key;
    Value value;
    bool used;
  };
  std::size_t capacity() const { return slots_ == nullptr ? 0 : mask_ + 1; }
  Value* place(std::uint64_t key, const Value& value) {
    std::size_t i = mix(key) & mask_;
    while (slots_[i].used) i = (i + 1) & mask_;
    slots_[i] = {key, value, true};
    return &slots_[i].value;
  }
  bool grow() {
    const std::size_t before = capacity();
    const std::size_t after = before == 0 ? 16 : before * 2;
    auto* slots = static_cast<Slot*>(allocate(after * sizeof(Slot)));
    if (slots == nullptr) return false;
    Slot* const old = slots_;
    slots_ = slots;
    mask_ = after - 1;
    for (std::size_t i = 0; i < before; ++i) {
      if (old[i].used) place(old[i].key, old[i].value);
    }
    if (old != nullptr) release(old, before * sizeof(Slot));
    return true;
  }

  Slot* slots_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mask_ = 0;
};

}  // namespace kojak::measure
