// One local trace on its way through pass 2: where it stands, and what it needs to be translated.
//
// advance() moves to the next event; its record and the attributes before it stay in the buffer
// until the next advance(). Owns its input buffer and region stack; the translation belongs to the
// survey. Errors: a trace that can no longer be read ends there.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "merge/clock/correct_clocks.h"
#include "merge/clock/series_on_the_way.h"
#include "merge/complete/placement.h"
#include "merge/input/local_input.h"

namespace kojak::merge {

// A transfer whose start has been read, and whose end's own record is still to come.
struct InFlight {
  enum class Kind : std::uint8_t {
    kHeld,   // its end is held already: nothing is written for the record
    kBasic,  // its end stays there, under this mark
    kLater,  // the end could not be seen from the start: place it when it is read
  };
  std::uint32_t rmaid;
  bool put;
  Kind kind;
  Mark mark;
  std::uint32_t target, window;  // the end must name them, too
  OpEpoch epoch;
};

// Open regions that are no definitions.
inline constexpr std::uint32_t kPausing = 0xFFFFFFFEu, kTracing = 0xFFFFFFFDu;
// A caller that was entered with a call and is left with it (classic files).
inline constexpr std::uint32_t kCaller = 0xFFFFFFFCu;

// What every event needs comes first, in three cache lines: where there are many ranks, each turn
// is another stream's, and these are fetched anew.
struct alignas(64) Stream {
  Stream(FileCache& files, const LocalTrace& local, const InputBuffers& buffers,
         const InputPart& part = {})
      : input(files, local, buffers, part), trace(&local), dialect(local.dialect) {
    dialect.metrics = 0;
  }

  double time = 0;                        // of the current event, corrected
  const std::byte* record = nullptr;      // the current event
  const std::byte* attributes = nullptr;  // the first record before it that belongs to it, or null
  std::uint32_t lid = 0;
  std::uint32_t index = 0;
  std::uint32_t rank = 0;
  std::uint8_t type = 0;
  bool inside_call = false;  // the first half of a whole-call record has been written
  bool plain_times = true;   // neither `controlled` nor `lock_times`
  LocalInput input;
  LinearClock clock;
  const Translation* translation = nullptr;
  std::vector<std::uint32_t> stack;  // merged regions that are open, kPausing ..., or absent
  std::size_t callers_to_leave = 0;  // once the current exit is written
  std::uint32_t assertion = 0;

  std::vector<InFlight> in_flight;
  // SHMEM_PLACE of the call that is open; `got`: a get followed; how many quiets of the process had
  // begun.
  struct Placed {
    std::uint32_t rmaid, context;
    bool non_blocking, got;
    std::uint64_t quiets_begun;
  };
  std::vector<Placed> placed;
  std::uint64_t quiets_begun = kAllIssued;  // likewise, at the enter of a whole-call record
  // Open calls that may quiet contexts, where the process has several threads: how deep they stand
  // in `stack`, and what they complete.
  std::vector<std::pair<std::size_t, std::uint64_t>> quiets;
  std::size_t callers_in_call = 0;  // of a whole-call record
  double entered = 0;               // time of the last ENTER or ENTER_CS
  SeriesOnTheWay polls;
  std::optional<MpiRmaPlace> place;  // of the one-sided operation that follows
  std::optional<ControlledCursor> controlled;
  double controlled_base = 0;
  double linear = 0;  // time of the current event without `controlled`
  // Times of lock and unlock records, by their number in the trace; NaN: as recorded.
  std::optional<SpillReader<double>> lock_times;
  std::uint64_t lock_records = 0;
  double moved_to = 0;  // of a lock record: when it is granted, if that is later
  const LocalTrace* trace;
  const TraceFacts* facts = nullptr;
  Dialect dialect;
  std::vector<std::uint64_t> metrics;  // as last seen, in merged order
  std::uint64_t backwards = 0, too_short = 0;

  RawRecord raw_record() const {
    return {type, static_cast<std::uint8_t>(record[0]), record + 2, 0};
  }
  std::uint64_t position() const { return input.offset(record); }

  // Fetches what every event needs; then what its record leads to.
  [[gnu::always_inline]] void fetch() const {
    const auto* const s = reinterpret_cast<const std::byte*>(this);
    for (std::size_t at = 0; at < 256; at += 64) __builtin_prefetch(s + at, 1);
  }
  [[gnu::always_inline]] void fetch_record() const {
    __builtin_prefetch(record);
    __builtin_prefetch(input.position());
    __builtin_prefetch(stack.data() + stack.size(), 1);
  }
  // The target of a transfer that a record of this byte order tells; for other records anything.
  [[gnu::always_inline]] std::uint32_t target() const {
    constexpr std::size_t kTargetAt = 2 + 4 + 8 + 8 + 4;
    std::uint32_t target = kAbsent;
    if (type == type_of(RecordType::kMpiRmaCall)) {
      std::memcpy(&target, record + kTargetAt, sizeof target);
    }
    return target;
  }

  // Corrected clocks, beyond the linear correction.
  void correct(const CorrectedClocks& corrected, std::size_t trace_index) {
    if (auto cursor = corrected.cursor(trace_index)) {
      control(std::move(*cursor));
      controlled_base = corrected.base;
    } else {
      clock.base += corrected.base;
    }
  }
  void control(ControlledCursor cursor) {
    controlled.emplace(std::move(cursor));
    plain_times = false;
  }
  void move_locks(SpillReader<double> times) {
    lock_times.emplace(std::move(times));
    plain_times = false;
  }

  // Records ahead that stay visible behind the current one, if the trace has them.
  static constexpr std::size_t kAhead = 1024;
  static constexpr std::size_t kPrefetch = 128;

  // The next event; false at the end of the trace.
  [[gnu::always_inline]] bool advance() {
    attributes = nullptr;
    for (;;) {
      if (input.available() < kAhead && !input.exhausted()) [[unlikely]] {
        if (attributes != nullptr) {
          attributes = input.fill(attributes);
        } else {
          input.fill();
        }
      }
      const std::byte* p = input.position();
      const std::size_t available = input.available();
      if (available < 2) [[unlikely]]
        return false;
      const std::size_t size = std::size_t{2} + static_cast<std::uint8_t>(p[0]);
      if (available < size) [[unlikely]]
        return false;
      input.skip(size);
      type = static_cast<std::uint8_t>(p[1]);
      if (is_event(type)) [[likely]] {
        if (size >= 14) [[likely]] {
          record = p;
          // Where ranks take turns, the next turn's record is fetched early (a fifth of the time of
          // 1024 ranks).
          __builtin_prefetch(p + kPrefetch);
          if (!plain_times && lock_times) [[unlikely]] {
            move_lock(p);
          } else {
            move_time(p);
          }
          return true;
        }
        ++too_short;
        attributes = nullptr;
      } else if (is_attribute(type)) {
        if (attributes == nullptr) attributes = p;
      } else if (type == static_cast<std::uint8_t>(RecordType::kMetric)) {
        ++dialect.metrics;
      }
    }
  }
  // Whether the next event is of this type; it is near the current one.
  bool next_is(RecordType wanted) {
    const std::byte* const p = next_event();
    return p != nullptr && p[1] == std::byte{static_cast<std::uint8_t>(wanted)};
  }
  // Passes the next event, and what stands before it, over.
  void skip_next() {
    if (const std::byte* const p = next_event()) {
      input.set_position(p + 2 + static_cast<std::uint8_t>(p[0]));
    }
  }
  // The corrected time, which never goes back.
  [[gnu::always_inline]] double corrected(double recorded) {
    double t = clock(recorded);
    if (!plain_times && controlled) [[unlikely]]
      t = controlled_time(t);
    if (t >= time && t < kForever) [[likely]]
      return t;
    return held_time(t);
  }

 private:
  static constexpr double kForever = 1e18;
  // The record of the next event, if it and what stands before it are visible.
  const std::byte* next_event() const {
    const std::byte* p = input.position();
    const std::byte* const end = p + input.available();
    while (end - p >= 2) {
      const std::ptrdiff_t size = 2 + static_cast<std::uint8_t>(p[0]);
      if (end - p < size) break;
      if (is_event(static_cast<std::uint8_t>(p[1]))) return p;
      if (p[1] == std::byte{static_cast<std::uint8_t>(RecordType::kMetric)}) break;
      p += size;
    }
    return nullptr;
  }
  [[gnu::always_inline]] void move_time(const std::byte* p) {
    double t;
    std::memcpy(&t, p + 6, 8);
    if (dialect.swapped()) [[unlikely]]
      t = byte_swapped(t);
    time = corrected(t);
    if (!plain_times && controlled) [[unlikely]]
      linear = std::max(linear, clock(t));
  }
  [[gnu::noinline, gnu::cold]] void move_lock(const std::byte* p) {
    const double previous = time;
    move_time(p);
    const auto kind = static_cast<RecordType>(type);
    if (kind != RecordType::kMpiWinLock && kind != RecordType::kMpiWinUnlock) return;
    const double moved = (*lock_times)[lock_records++];
    moved_to = moved > time ? moved : 0;
    if (moved < time) time = std::max(previous, moved);
  }
  [[gnu::noinline, gnu::cold]] double controlled_time(double t) {
    return controlled->at(position(), std::max(t, linear)) - controlled_base;
  }
  [[gnu::noinline, gnu::cold]] double held_time(double t) {
    // The difference may be nothing but the rounding of the correction.
    if (!(t >= time - 1e-9) || !(t < kForever)) ++backwards;
    return time;
  }
};

}  // namespace kojak::merge
