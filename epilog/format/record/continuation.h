// Splits strings, groups and bit vectors that do not fit into one record.
//
// Each function calls emit(record) for the first part and its continuations, in order. The records
// are views into the arguments, or into a buffer that lives during the call. Nothing is kept.
// Source: docs/format.md (parts of 250/255, 61/63, 246/255).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "epilog/format/record/records.h"

namespace kojak {

// The final NUL stands in the last part. cntc is one byte: what does not fit is cut off.
template <class Emit>
void emit_string(StringId id, std::string_view text, Emit&& emit) {
  constexpr std::size_t kFirst = 250, kNext = 255;
  std::string bytes(text);
  bytes.push_back('\0');
  const std::size_t all = bytes.size();
  std::size_t parts = all <= kFirst ? 0 : (all - kFirst + kNext - 1) / kNext;
  if (parts > 255) {
    bytes.resize(kFirst + 255 * kNext);
    bytes.back() = '\0';
    parts = 255;
  }
  const std::string_view view(bytes);
  emit(String{id, static_cast<Byte>(parts), view.substr(0, kFirst)});
  for (std::size_t i = 0; i < parts; ++i) emit(StringCnt{view.substr(kFirst + i * kNext, kNext)});
}

template <class Emit>
void emit_group(GroupId id, std::uint8_t mode, const std::uint32_t* ranks, std::size_t count,
                Emit&& emit) {
  constexpr std::size_t kFirst = 61, kNext = 63;
  const auto part = [&](std::size_t from, std::size_t n) {
    return U4Array(reinterpret_cast<const std::byte*>(ranks + from), static_cast<std::uint32_t>(n),
                   false);
  };
  const std::size_t listed = (mode & 1) != 0 ? 0 : count;
  std::size_t done = std::min(listed, kFirst);
  emit(MpiGroup{id, static_cast<Flags>(mode), static_cast<Count>(count), part(0, done)});
  while (done < listed) {
    const std::size_t n = std::min(listed - done, kNext);
    emit(MpiGroupCnt{part(done, n)});
    done += n;
  }
}

template <class Emit>
void emit_comm_bits(CommId id, std::uint8_t uag, const std::uint8_t* bits, std::size_t bytes,
                    Emit&& emit) {
  constexpr std::size_t kFirst = 246, kNext = 255;
  const auto part = [&](std::size_t from, std::size_t n) {
    return ByteArray(reinterpret_cast<const std::byte*>(bits + from), static_cast<std::uint32_t>(n),
                     false);
  };
  std::size_t done = std::min(bytes, kFirst);
  emit(MpiComm{id, static_cast<Byte>(uag), static_cast<Count>(bytes), part(0, done)});
  while (done < bytes) {
    const std::size_t n = std::min(bytes - done, kNext);
    emit(MpiCommCnt{part(done, n)});
    done += n;
  }
}

}  // namespace kojak
