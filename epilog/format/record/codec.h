// Packs records into bytes and back, in either byte order and dialect.
//
// decode<R>() reads a body that the caller guarantees to stay alive while views in R are used; it
// checks every length and returns false, naming the field, when the body is too short for the type.
// A body longer than the fields of this dialect is accepted: later minor versions append fields.
// encode() appends nothing itself: it writes into a caller's buffer of at least kMaxRecord bytes.
// No allocation, no global state, safe from any thread.
#pragma once

#include <cstring>

#include "epilog/format/record/records.h"

namespace kojak {

inline constexpr std::size_t kMaxBody = 255;
inline constexpr std::size_t kMaxRecord = 2 + kMaxBody;
inline constexpr std::size_t kHeaderSize = 10;

// A record as it lies in a buffer.
struct RawRecord {
  std::uint8_t type = 0;
  std::uint8_t length = 0;  // of the body
  const std::byte* body = nullptr;
  std::uint64_t offset = 0;  // of the length byte in the (uncompressed) file
};

namespace detail {

class Decoder {
 public:
  Decoder(const std::byte* body, std::size_t length, bool swap, std::uint32_t metrics)
      : p_(body), end_(body + length), metrics_(metrics), swap_(swap) {}

  template <class T>
  KOJAK_INLINED void field(const FieldInfo& info, T& value) {
    if (static_cast<std::size_t>(end_ - p_) < sizeof(T)) [[unlikely]] {
      if (info.later && p_ == end_) return;
      fail(info.name);
      return;
    }
    if constexpr (kIsTime<T>) {
      double d;
      std::memcpy(&d, p_, 8);
      value.value = swap_ ? byte_swapped(d) : d;
    } else {
      std::underlying_type_t<T> u;
      std::memcpy(&u, p_, sizeof u);
      value = static_cast<T>(swap_ ? byte_swapped(u) : u);
    }
    p_ += sizeof(T);
  }
  template <class T>
  KOJAK_INLINED void array(const FieldInfo& info, PackedArray<T>& view, std::uint32_t count) {
    list(info.name, view, count);
  }
  template <class T>
  KOJAK_INLINED void rest(const FieldInfo& info, PackedArray<T>& view) {
    const std::size_t left = static_cast<std::size_t>(end_ - p_);
    list(info.name, view, static_cast<std::uint32_t>(left / sizeof(T)));
  }
  KOJAK_INLINED void text(const FieldInfo&, Text& text) {
    text = {reinterpret_cast<const char*>(p_), static_cast<std::size_t>(end_ - p_)};
    while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
    p_ = end_;
  }
  KOJAK_INLINED void metrics(const FieldInfo& info, MetricValues& view) {
    if (metrics_ != 0) [[unlikely]]
      list(info.name, view, metrics_);
  }
  const char* failed() const { return failed_; }
  // Bytes behind the last field: of a later minor version.
  std::size_t left() const { return static_cast<std::size_t>(end_ - p_); }

 private:
  // What is not inlined gets names, no FieldInfo: each of these would be made in memory before the
  // first field of any record is looked at.
  template <class T>
  void list(const char* name, PackedArray<T>& view, std::uint32_t count) {
    const std::size_t bytes = std::size_t{count} * sizeof(T);
    if (static_cast<std::size_t>(end_ - p_) < bytes) [[unlikely]] {
      fail(name);
      return;
    }
    view = {p_, count, swap_};
    p_ += bytes;
  }
  [[gnu::cold]] void fail(const char* name) {
    if (failed_ == nullptr) failed_ = name;
    p_ = end_;
  }
  const std::byte* p_;
  const std::byte* end_;
  std::uint32_t metrics_;
  bool swap_;
  const char* failed_ = nullptr;
};

// Writes in this machine's order or, for tests and conversions, in the other one.
class Encoder {
 public:
  Encoder(std::byte* to, bool swap) : begin_(to), p_(to), swap_(swap) {}

  template <class T>
  KOJAK_INLINED void field(const FieldInfo&, const T& value) {
    // Known while compiling, but behind an array.
    if (size() + sizeof value > kMaxBody) [[unlikely]] {
      overflow_ = true;
      return;
    }
    if constexpr (kIsTime<T>) {
      put(value.value);
    } else {
      put(raw(value));
    }
  }
  template <class T>
  KOJAK_INLINED void array(const FieldInfo&, const PackedArray<T>& view, std::uint32_t count) {
    if (view.size() != count) overflow_ = true;
    list(view);
  }
  template <class T>
  KOJAK_INLINED void rest(const FieldInfo&, const PackedArray<T>& view) {
    list(view);
  }
  KOJAK_INLINED void text(const FieldInfo&, const Text& text) { put_text(text); }
  KOJAK_INLINED void metrics(const FieldInfo&, const MetricValues& view) {
    if (!view.empty()) [[unlikely]]
      list(view);
  }
  std::size_t size() const { return static_cast<std::size_t>(p_ - begin_); }
  bool overflow() const { return overflow_; }

 private:
  // (No FieldInfo: see Decoder.)
  template <class T>
  void list(const PackedArray<T>& view) {
    if (room() < std::size_t{view.size()} * sizeof(T)) {
      overflow_ = true;
      return;
    }
    for (std::uint32_t i = 0; i < view.size(); ++i) put(view[i]);
  }
  void put_text(const Text& text) {
    if (room() < text.size()) {
      overflow_ = true;
      return;
    }
    std::memcpy(p_, text.data(), text.size());
    p_ += text.size();
  }
  std::size_t room() const { return kMaxBody - size(); }
  template <class U>
  KOJAK_INLINED void put(U value) {
    if (swap_) value = byte_swapped(value);
    std::memcpy(p_, &value, sizeof value);
    p_ += sizeof value;
  }
  std::byte* begin_;
  std::byte* p_;
  bool swap_;
  bool overflow_ = false;
};

}  // namespace detail

// Decodes a body. On failure returns the name of the field that did not fit, else nullptr.
template <class R>
KOJAK_INLINED inline const char* decode(const RawRecord& record, const Dialect& dialect, R& out) {
  detail::Decoder decoder(record.body, record.length, dialect.swapped(), dialect.metrics);
  visit_fields(out, dialect, decoder);
  return decoder.failed();
}

// Encodes length, type and body at `to`, which has room for kMaxRecord bytes. Returns the number of
// bytes, or 0 if the record does not fit into 255 bytes of body or an array's count is wrong.
template <class R>
KOJAK_INLINED inline std::size_t encode(const R& record, const Dialect& dialect, std::byte* to) {
  detail::Encoder encoder(to + 2, dialect.swapped());
  visit_fields(const_cast<R&>(record), dialect, encoder);
  if (encoder.overflow() || encoder.size() > kMaxBody) [[unlikely]]
    return 0;
  to[0] = static_cast<std::byte>(encoder.size());
  to[1] = static_cast<std::byte>(R::kType);
  return 2 + encoder.size();
}

// Writes the 10 bytes of a file header.
inline void encode_header(const Dialect& dialect, std::byte* to) {
  std::memcpy(to, "EPILOG", 7);
  to[7] = static_cast<std::byte>(dialect.major);
  to[8] = static_cast<std::byte>(dialect.minor);
  to[9] = static_cast<std::byte>(dialect.big_endian ? 2 : 1);
}

// Lid and time of any event, which lie at the same place in all of them; the body must hold 12
// bytes.
inline LocationId event_location(const RawRecord& record, bool swap) {
  std::uint32_t lid;
  std::memcpy(&lid, record.body, 4);
  return static_cast<LocationId>(swap ? byte_swapped(lid) : lid);
}
inline Seconds event_time(const RawRecord& record, bool swap) {
  double time;
  std::memcpy(&time, record.body + 4, 8);
  return {swap ? byte_swapped(time) : time};
}

}  // namespace kojak
