// Writes a record or joint item that mostly differs from the last one of its type in nothing but
// its time: what OpenMP tells comes as often as a loop turns.
//
// What comes out is what encode() writes; the common case is told by a few comparisons, where
// encode() works out each field's difference.
#pragma once

#include "epilog/format/compact/encode.h"

namespace kojak::compact {

template <class R>
KOJAK_INLINED inline std::byte* encode_quickly(State& state, const R& record, std::byte* to) {
  constexpr std::uint8_t kCode = code_of(static_cast<std::uint8_t>(R::kType));
  std::uint64_t* const last = &state.values[kSlotTable.first[kCode]];
  // What differs from what is expected, times apart.
  std::uint64_t others = raw(record.lid) ^ state.location;
  std::size_t slot = 0;
  if constexpr (requires { record.lkid; }) others |= raw(record.lkid) ^ last[slot++];
  if constexpr (requires { record.rid; }) others |= raw(record.rid) ^ last[slot++];
  if constexpr (requires { record.inner; }) others |= raw(record.inner) ^ last[slot++];
  if constexpr (requires { record.team; }) {
    others |= raw(record.team) ^ (last[slot] + last[slot + 1]);
  }
  const auto time = std::bit_cast<std::uint64_t>(record.time.value);
  const std::uint64_t passed = zigzag(static_cast<std::int64_t>(time - state.time));
  std::uint64_t end = time, lasted = 0;
  if constexpr (requires { record.taken; }) {
    end = std::bit_cast<std::uint64_t>(record.taken.value);
    lasted = zigzag(static_cast<std::int64_t>(end - time));
  }
  const unsigned changed = unsigned{passed != 0} << 1 | unsigned{lasted != 0} << 2;
  if (others != 0 || state.fields[kCode] != changed) [[unlikely]]
    return encode(state, record, to);
  if constexpr (requires { record.team; }) last[slot] = raw(record.team);
  state.time = end;
  *to++ = std::byte{kCode | kSameFields};
  if (passed != 0) to = put_number(to, passed);
  if (lasted != 0) to = put_number(to, lasted);
  return to;
}

}  // namespace kojak::compact
