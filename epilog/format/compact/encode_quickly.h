// Writes a record or joint item that mostly differs from the last one of its type in nothing but
// its times: a call in a loop, what OpenMP tells as often as a loop turns.
//
// What comes out is what encode() writes; the common case is told by a few comparisons, where
// encode() works out each field's difference.
#pragma once

#include "epilog/format/compact/encode.h"

namespace kojak::compact {
namespace detail {

// Whether all fields but times are as expected, and how much time passed.
template <class R>
class Passed {
 public:
  explicit Passed(const State& state) : s_(state), time_(state.time) {}

  template <class T>
  KOJAK_INLINED void field(const FieldInfo&, const T& value) {
    if constexpr (std::is_same_v<T, LocationId>) {
      others_ |= raw(value) ^ s_.location;
    } else if constexpr (std::is_same_v<T, Seconds>) {
      const auto bits = std::bit_cast<std::uint64_t>(value.value);
      const std::uint64_t passed = zigzag(static_cast<std::int64_t>(bits - time_));
      time_ = bits;
      passed_[times_++] = passed;
      changed_ |= std::uint32_t{passed != 0} << bit_;
    } else if constexpr (std::is_same_v<T, Duration>) {
      others_ |= std::bit_cast<std::uint64_t>(value.value) ^ s_.values[slot_++];
    } else if constexpr (std::is_same_v<T, PeerId>) {
      others_ |= distance_of(raw(value), s_.location) ^ s_.values[slot_++];
    } else if constexpr (kCounts<T>) {
      using U = std::underlying_type_t<T>;
      others_ |= raw(value) ^ static_cast<U>(s_.values[slot_] + s_.values[slot_ + 1]);
      slot_ += 2;
    } else {
      others_ |= raw(value) ^ s_.values[slot_++];
    }
    ++bit_;
  }
  KOJAK_INLINED void metrics(const FieldInfo&, const MetricValues& values) {
    others_ |= values.size();
    ++bit_;
  }
  KOJAK_INLINED void rest(const FieldInfo& info, const MetricValues& values) {
    metrics(info, values);
  }
  bool nothing_else() const { return others_ == 0; }
  std::uint32_t changed() const { return changed_; }
  std::uint64_t time() const { return time_; }
  KOJAK_INLINED std::byte* put(std::byte* to) const {
    for (unsigned i = 0; i < times_; ++i) {
      if (passed_[i] != 0) to = put_number(to, passed_[i]);
    }
    return to;
  }

 private:
  const State& s_;
  unsigned bit_ = 0, times_ = 0;
  unsigned slot_ = kSlotTable.first[code_of(static_cast<std::uint8_t>(R::kType))];
  std::uint64_t others_ = 0;
  std::uint32_t changed_ = 0;
  std::uint64_t time_;
  std::uint64_t passed_[shape_of<R>().bits];
};

// What counts has moved one step on.
template <class R>
class CountOn {
 public:
  explicit CountOn(State& state) : s_(state) {}
  template <class T>
  KOJAK_INLINED void field(const FieldInfo&, const T& value) {
    if constexpr (kCounts<T>) {
      s_.values[slot_] = raw(value);
      slot_ += 2;
    } else if constexpr (!std::is_same_v<T, LocationId> && !std::is_same_v<T, Seconds>) {
      ++slot_;
    }
  }
  KOJAK_INLINED void metrics(const FieldInfo&, const MetricValues&) {}
  KOJAK_INLINED void rest(const FieldInfo&, const MetricValues&) {}

 private:
  State& s_;
  unsigned slot_ = kSlotTable.first[code_of(static_cast<std::uint8_t>(R::kType))];
};

}  // namespace detail

// encode(), not in place: hundreds of wrappers write the same records.
template <class R>
[[gnu::noinline]] std::byte* encode_apart(State& state, const R& record, std::byte* to) {
  return encode(state, record, to);
}

template <class R>
KOJAK_INLINED inline std::byte* encode_quickly(State& state, const R& record, std::byte* to) {
  constexpr std::uint8_t kCode = code_of(static_cast<std::uint8_t>(R::kType));
  detail::Passed<R> passed(state);
  visit_fields(const_cast<R&>(record), Dialect{}, passed);
  if (!passed.nothing_else() || state.fields[kCode] != passed.changed()) [[unlikely]]
    return encode_apart(state, record, to);
  detail::CountOn<R> counts(state);
  visit_fields(const_cast<R&>(record), Dialect{}, counts);
  state.time = passed.time();
  *to++ = std::byte{kCode | kSameFields};
  return passed.put(to);
}

}  // namespace kojak::compact
