// When a thread that computes counts as kept from it, and by what: the rule of PROCESSOR's
// blocked_kind, for who writes it and who reads it.
//
// Whole numbers only: recorded calls may not compute with others. Pure; nothing fails; any thread.
#pragma once

#include <cstdint>

namespace kojak {

enum class BlockedKind : std::uint8_t {
  kNone,    // it ran, or nobody looked
  kPauses,  // a function by which a program pauses
  kFaults,  // pages that came from a disk
  kFiles,
  kOther
};
inline constexpr std::uint8_t kBlockedKinds = 5;
// Of a field; a later version may know more.
constexpr BlockedKind blocked_kind(std::uint8_t value) {
  return value < kBlockedKinds ? BlockedKind{value} : BlockedKind::kOther;
}

// What it does outside of calls for so long is looked at.
inline constexpr std::uint64_t kStretchNs = 1'000'000;

// What a thread had in a time of that length. In nanoseconds, and counts.
struct ThreadTime {
  std::uint64_t length = 0;
  std::uint64_t ran = 0;
  std::uint64_t wanted = 0;    // ready to run, and without a processor; 0 if unknown
  std::uint64_t paused = 0;    // in functions that pause
  std::uint64_t switches = 0;  // how often it gave the processor up
  std::uint64_t faults = 0;    // pages that came from a disk
  std::uint64_t blocks = 0;    // of files, read or written

  // It ran for nine tenths of it or more.
  constexpr bool ran_through() const { return ran >= length || length - ran <= length / 10; }
  constexpr std::uint64_t blocked() const {
    const std::uint64_t at_work = ran + wanted;
    return at_work < length ? length - at_work : 0;
  }
  // Of one that did not run through.
  constexpr BlockedKind kind() const {
    if (paused != 0 && 2 * paused >= blocked()) return BlockedKind::kPauses;
    if (faults != 0 && 2 * faults >= switches) return BlockedKind::kFaults;
    return blocks != 0 ? BlockedKind::kFiles : BlockedKind::kOther;
  }
};

}  // namespace kojak
