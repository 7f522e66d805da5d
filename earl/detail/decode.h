// Decodes event records of a known dialect: one check of the length, then plain loads.
//
// The dialect is a compile-time matter here, so that nothing about it is asked for each field. A
// longer body than the dialect's fields is accepted (later minor versions append).
#pragma once

#include "epilog/format/codec.h"

namespace kojak::earl::detail {

// Loads fields without a check each; the body was measured before.
template <bool kSwap>
class FieldLoader {
 public:
  FieldLoader(const std::byte* body, std::uint32_t metrics) : p_(body), metrics_(metrics) {}
  template <class T>
  [[gnu::always_inline]] void field(const FieldInfo&, T& value) {
    if constexpr (std::is_same_v<T, Seconds>) {
      double d;
      std::memcpy(&d, p_, 8);
      value.value = kSwap ? byte_swapped(d) : d;
    } else {
      std::underlying_type_t<T> u;
      std::memcpy(&u, p_, sizeof u);
      value = static_cast<T>(kSwap ? byte_swapped(u) : u);
    }
    p_ += sizeof(T);
  }
  [[gnu::always_inline]] void metrics(const FieldInfo&, MetricValues& view) {
    if (metrics_ != 0) [[unlikely]] {
      view = {p_, metrics_, kSwap};
      p_ += std::size_t{metrics_} * 8;
    }
  }

 private:
  const std::byte* p_;
  std::uint32_t metrics_;
};

class FieldSizes {
 public:
  explicit FieldSizes(std::uint32_t metrics) : metrics_(metrics) {}
  template <class T>
  [[gnu::always_inline]] void field(const FieldInfo&, const T&) {
    size_ += sizeof(T);
  }
  [[gnu::always_inline]] void metrics(const FieldInfo&, const MetricValues&) {
    size_ += std::size_t{metrics_} * 8;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
  std::uint32_t metrics_;
};

template <bool kNative, bool kSwap, class R>
[[gnu::always_inline]] inline bool decode_event(const std::byte* body, std::size_t length,
                                                std::uint32_t metrics, R& out) {
  Dialect dialect;
  dialect.major = kNative ? 2 : 1;
  dialect.minor = 0;  // no event field depends on the minor version
  FieldSizes sizes(metrics);
  visit_fields(out, dialect, sizes);
  if (length < sizes.size()) [[unlikely]]
    return false;
  FieldLoader<kSwap> loader(body, metrics);
  visit_fields(out, dialect, loader);
  return true;
}

}  // namespace kojak::earl::detail
