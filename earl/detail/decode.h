// Decodes native event records of this machine's byte order: one check of the length, then plain
// loads. A longer body than the fields is accepted (later minor versions append).
#pragma once

#include <cmath>

#include "epilog/format/record/codec.h"

namespace kojak::earl::detail {

// No clock shows more seconds than this. Only damaged traces have such times, or times that are no
// numbers; kept within bounds, sums of their differences stay finite, and disorder is noticed.
inline constexpr double kForever = 1e18;
KOJAK_INLINED inline void keep_within_bounds(Seconds& time) {
  if (std::abs(time.value) <= kForever) [[likely]]
    return;
  time.value = std::isnan(time.value) ? 0 : std::copysign(kForever, time.value);
}

// Loads fields without a check each; the body was measured before.
class FieldLoader {
 public:
  FieldLoader(const std::byte* body, std::size_t length, std::uint32_t metrics)
      : p_(body), end_(body + length), metrics_(metrics) {}
  template <class T>
  KOJAK_INLINED void field(const FieldInfo& info, T& value) {
    if (info.later && static_cast<std::size_t>(end_ - p_) < sizeof(T)) return;
    if constexpr (kIsTime<T>) {
      std::memcpy(&value.value, p_, 8);
    } else {
      std::memcpy(&value, p_, sizeof value);
    }
    p_ += sizeof(T);
  }
  KOJAK_INLINED void metrics(const FieldInfo&, MetricValues& view) {
    if (metrics_ != 0) [[unlikely]] {
      view = {p_, metrics_, false};
      p_ += std::size_t{metrics_} * 8;
    }
  }

 private:
  const std::byte* p_;
  const std::byte* end_;
  std::uint32_t metrics_;
};

class FieldSizes {
 public:
  explicit FieldSizes(std::uint32_t metrics) : metrics_(metrics) {}
  template <class T>
  KOJAK_INLINED void field(const FieldInfo& info, const T&) {
    if (!info.later) size_ += sizeof(T);
  }
  KOJAK_INLINED void metrics(const FieldInfo&, const MetricValues&) {
    size_ += std::size_t{metrics_} * 8;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
  std::uint32_t metrics_;
};

// Whether a body of that length holds all fields.
template <class R>
KOJAK_INLINED inline bool fits_native(std::size_t length, std::uint32_t metrics) {
  const Dialect dialect;  // no event field depends on the minor version
  R none;
  FieldSizes sizes(metrics);
  visit_fields(none, dialect, sizes);
  return length >= sizes.size();
}

template <class R>
KOJAK_INLINED inline bool decode_native(const std::byte* body, std::size_t length,
                                        std::uint32_t metrics, R& out) {
  if (!fits_native<R>(length, metrics)) [[unlikely]]
    return false;
  const Dialect dialect;
  FieldLoader loader(body, length, metrics);
  visit_fields(out, dialect, loader);
  return true;
}

// dispatch_record for events, inlined.
template <class F>
KOJAK_INLINED inline bool dispatch_event(std::uint8_t type, F&& f) {
  switch (type) {
#define KOJAK_RECORD(type_, Struct, NAME, kind)             \
  case type_:                                               \
    if constexpr (RecordKind::kind == RecordKind::kEvent) { \
      f.template operator()<Struct>();                      \
      return true;                                          \
    }                                                       \
    return false;
#include "epilog/format/record/records_each.h"
    default:
      return false;
  }
}

}  // namespace kojak::earl::detail
