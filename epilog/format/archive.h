// Values as bytes, for another process of this program: as they lie in memory, one after the other.
//
// What is written and read alike has one function for both, visit(archive), which names its values
// in order: archive(a_, b_). Values are plain ones, strings, vectors, maps, sets, optional ones,
// and what has visit(). Reading beyond the end gives zeros, and good() says so. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kojak {

template <class T, class Archive>
concept Visited = requires(T& value, Archive& archive) {
  value.visit(archive);
};
template <class T>
concept Plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;
template <class T>
concept Keyed = requires {
  typename T::key_type;
};
template <class T>
concept Mapped = Keyed<T> && requires {
  typename T::mapped_type;
};

class Packer {
 public:
  template <class... T>
  void operator()(T&... values) {
    (put(values), ...);
  }
  // A pointer into this table.
  template <class T>
  void pointer(const T*& to, std::span<const T> table) {
    std::uint64_t place = to == nullptr ? 0 : static_cast<std::uint64_t>(to - table.data()) + 1;
    put(place);
  }
  static constexpr bool kReads = false;
  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }  // once

 private:
  template <class T>
  void put(T& value) {
    if constexpr (Visited<T, Packer>) {
      value.visit(*this);
    } else if constexpr (Plain<T>) {
      raw(&value, sizeof value);
    } else if constexpr (Mapped<T>) {
      size(value.size());
      for (auto& [key, mapped] : value) {
        auto copy = key;
        put(copy);
        put(mapped);
      }
    } else if constexpr (Keyed<T>) {
      size(value.size());
      for (auto key : value) put(key);
    } else {
      size(value.size());
      if constexpr (Plain<typename T::value_type>) {
        raw(value.data(), value.size() * sizeof(typename T::value_type));
      } else {
        for (auto& each : value) put(each);
      }
    }
  }
  template <class T>
  void put(std::optional<T>& value) {
    bool there = value.has_value();
    put(there);
    if (there) put(*value);
  }
  template <class A, class B>
  void put(std::pair<A, B>& value) {
    put(value.first);
    put(value.second);
  }
  void size(std::uint64_t n) { put(n); }
  void raw(const void* from, std::size_t n) {
    const auto* const p = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), p, p + n);
  }
  std::vector<std::byte> bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  template <class T>
  void pointer(const T*& to, std::span<const T> table) {
    std::uint64_t place = 0;
    get(place);
    if (place > table.size()) good_ = false;
    to = place == 0 || !good_ ? nullptr : table.data() + (place - 1);
  }
  static constexpr bool kReads = true;
  // All was there, and nothing is left.
  bool good() const { return good_ && bytes_.empty(); }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (Visited<T, Unpacker>) {
      value.visit(*this);
    } else if constexpr (Plain<T>) {
      raw(&value, sizeof value);
    } else if constexpr (Mapped<T>) {
      value.clear();
      for (std::uint64_t n = size(1); n != 0; --n) {
        typename T::key_type key{};
        get(key);
        get(value[key]);
      }
    } else if constexpr (Keyed<T>) {
      value.clear();
      for (std::uint64_t n = size(1); n != 0; --n) {
        typename T::key_type key{};
        get(key);
        value.insert(std::move(key));
      }
    } else {
      using Value = typename T::value_type;
      value.clear();
      if constexpr (Plain<Value>) {
        value.resize(size(sizeof(Value)));
        raw(value.data(), value.size() * sizeof(Value));
      } else {
        value.resize(size(1));
        for (auto& each : value) get(each);
      }
    }
  }
  template <class T>
  void get(std::optional<T>& value) {
    bool there = false;
    get(there);
    value.reset();
    if (there) get(value.emplace());
  }
  template <class A, class B>
  void get(std::pair<A, B>& value) {
    get(value.first);
    get(value.second);
  }
  // How many things follow, of which each takes so many bytes or more.
  std::uint64_t size(std::size_t each) {
    std::uint64_t n = 0;
    get(n);
    if (n <= bytes_.size() / each) return n;
    good_ = false;
    return 0;
  }
  void raw(void* to, std::size_t n) {
    good_ = good_ && n <= bytes_.size();
    if (n == 0) return;
    if (!good_) {  // what is behind has another meaning
      std::memset(to, 0, n);
      return;
    }
    std::memcpy(to, bytes_.data(), n);
    bytes_ = bytes_.subspan(n);
  }
  std::span<const std::byte> bytes_;
  bool good_ = true;
};

// One value, whole.
template <class T>
std::vector<std::byte> packed(T value) {
  Packer packer;
  packer(value);
  return packer.take();
}
// Whether the bytes are one.
template <class T>
bool unpack(std::span<const std::byte> bytes, T& value) {
  Unpacker unpacker(bytes);
  unpacker(value);
  return unpacker.good();
}

}  // namespace kojak
