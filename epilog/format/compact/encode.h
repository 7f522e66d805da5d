// Writes records in their compact form (state.h has the form).
//
// encode() appends nothing by itself: it writes to where the caller has room for kMaxItem bytes,
// and what it wrote must come into the file, since the state has moved on. In files with ticks a
// record's Seconds hold the bits of a number of ticks (stamp()), and so do Durations. No
// allocation; one State belongs to one writer.
#pragma once

#include "epilog/format/compact/state.h"

namespace kojak::compact {

// No item is longer.
inline constexpr std::size_t kMaxItem = 512;

inline Seconds stamp(std::uint64_t ticks) {
  return {std::bit_cast<double>(ticks)};
}
inline Duration stamp_length(std::uint64_t ticks) {
  return {std::bit_cast<double>(ticks)};
}

template <class U>
KOJAK_INLINED inline std::byte* put_number(std::byte* to, U value) {
  while (value >= 0x80) {
    *to++ = static_cast<std::byte>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<std::byte>(value);
  return to;
}

namespace detail {

// First all differences, then all bytes: a store of bytes may change anything, as far as the
// compiler knows.
template <class R>
class Differences {
 public:
  explicit Differences(State& state) : s_(state) {}

  template <class T>
  KOJAK_INLINED void field(const FieldInfo&, const T& value) {
    if constexpr (std::is_same_v<T, LocationId>) {
      add(zigzag(static_cast<std::int32_t>(raw(value) - s_.location)));
      s_.location = raw(value);
    } else if constexpr (std::is_same_v<T, Seconds>) {
      const auto bits = std::bit_cast<std::uint64_t>(value.value);
      add(zigzag(static_cast<std::int64_t>(bits - s_.time)));
      s_.time = bits;
    } else if constexpr (std::is_same_v<T, Duration>) {
      const auto bits = std::bit_cast<std::uint64_t>(value.value);
      std::uint64_t& last = s_.values[slot_++];
      add(zigzag(static_cast<std::int64_t>(bits - last)));
      last = bits;
    } else if constexpr (sizeof(T) == 1) {
      std::uint64_t& last = s_.values[slot_++];
      const bool other = last != raw(value);
      differences_[bit_] = raw(value);
      changed_ |= std::uint32_t{other} << bit_++;
      last = raw(value);
    } else {
      using U = std::underlying_type_t<T>;
      using I = std::make_signed_t<U>;
      U number = raw(value);
      if constexpr (std::is_same_v<T, PeerId>) number = distance_of(number, s_.location);
      std::uint64_t& last = s_.values[slot_++];
      U expected = static_cast<U>(last);
      if constexpr (kCounts<T>) {
        std::uint64_t& step = s_.values[slot_++];
        expected = static_cast<U>(expected + static_cast<U>(step));
        step = static_cast<U>(number - static_cast<U>(last));
      }
      add(zigzag(static_cast<I>(number - expected)));
      last = number;
    }
  }
  KOJAK_INLINED void metrics(const FieldInfo&, const MetricValues& values) {
    if (!values.empty()) [[unlikely]]
      changed_ |= 1u << bit_;
    ++bit_;
  }
  KOJAK_INLINED void rest(const FieldInfo& info, const MetricValues& values) {
    metrics(info, values);
  }
  std::uint32_t changed() const { return changed_; }
  std::uint64_t operator[](unsigned bit) const { return differences_[bit]; }

 private:
  KOJAK_INLINED void add(std::uint64_t difference) {
    differences_[bit_] = difference;
    changed_ |= std::uint32_t{difference != 0} << bit_++;
  }
  State& s_;
  unsigned bit_ = 0;
  unsigned slot_ = kSlotTable.first[code_of(static_cast<std::uint8_t>(R::kType))];
  std::uint32_t changed_ = 0;
  std::uint64_t differences_[shape_of<R>().bits];
};

template <class R>
class FieldWriter {
 public:
  FieldWriter(State& state, const Differences<R>& differences, std::byte* to)
      : s_(state), d_(differences), to_(to) {}
  template <class T>
  KOJAK_INLINED void field(const FieldInfo&, const T&) {
    if ((d_.changed() >> bit_ & 1) != 0) {
      if constexpr (sizeof(T) == 8) {
        to_ = put_number(to_, d_[bit_]);
      } else if constexpr (sizeof(T) == 1) {
        *to_++ = static_cast<std::byte>(d_[bit_]);
      } else {
        to_ = put_number(to_, static_cast<std::uint32_t>(d_[bit_]));
      }
    }
    ++bit_;
  }
  KOJAK_INLINED void metrics(const FieldInfo&, const MetricValues& values) {
    if ((d_.changed() >> bit_++ & 1) != 0) [[unlikely]]
      put_metrics(values);
  }
  KOJAK_INLINED void rest(const FieldInfo& info, const MetricValues& values) {
    metrics(info, values);
  }
  std::byte* end() const { return to_; }

 private:
  [[gnu::noinline]] void put_metrics(const MetricValues& values) {
    *to_++ = static_cast<std::byte>(values.size());
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      const std::uint64_t value = values[i];
      to_ = put_number(to_, zigzag(static_cast<std::int64_t>(value - s_.metrics[i])));
      s_.metrics[i] = value;
    }
  }
  State& s_;
  const Differences<R>& d_;
  std::byte* to_;
  unsigned bit_ = 0;
};

}  // namespace detail

// Encodes a record of a type that has a code. Returns where it ends.
template <class R>
KOJAK_INLINED inline std::byte* encode(State& state, const R& record, std::byte* to) {
  static_assert(kHasCode<R> && shape_of<R>().bits <= kMostFields);
  constexpr std::uint8_t kCode = code_of(static_cast<std::uint8_t>(R::kType));
  detail::Differences<R> differences(state);
  visit_fields(const_cast<R&>(record), Dialect{}, differences);
  const std::uint32_t changed = differences.changed();
  if (state.fields[kCode] == changed) [[likely]] {
    *to++ = std::byte{kCode | kSameFields};
  } else {
    state.fields[kCode] = changed;
    *to++ = std::byte{kCode};
    to = put_number(to, changed);
  }
  detail::FieldWriter<R> writer(state, differences, to);
  visit_fields(const_cast<R&>(record), Dialect{}, writer);
  return writer.end();
}

// A record that is not compact, in this machine's byte order. Returns where it ends.
template <class R>
inline std::byte* encode_verbatim(const R& record, std::byte* to) {
  const std::size_t size = kojak::encode(record, Dialect{}, to + 1);
  if (size == 0) return to;  // too long for a record
  *to = std::byte{kVerbatim};
  return to + 1 + size;
}

// The beginning of a block. `state` is reset.
inline std::byte* begin_block(State& state, std::byte* to) {
  state.reset();
  *to++ = std::byte{kBlock};
  *to++ = static_cast<std::byte>(Times::kSeconds);
  return to;
}
inline std::byte* begin_block(State& state, const TickClock& clock, std::byte* to) {
  state.reset();
  *to++ = std::byte{kBlock};
  *to++ = static_cast<std::byte>(Times::kTicks);
  std::memcpy(to, &clock.base, 8);
  std::memcpy(to + 8, &clock.scale, 8);
  std::memcpy(to + 16, &clock.shift, 8);
  return to + 24;
}

}  // namespace kojak::compact
