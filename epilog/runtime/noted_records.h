// What is noted of an open call, as it goes into a file: with its times in seconds.
//
// In memory they are ticks, since no recorded call computes with doubles. This does.
#pragma once

#include <cstring>

#include "epilog/format/compact/state.h"
#include "epilog/format/io/local_buffer_header.h"
#include "epilog/format/record/records.h"

namespace kojak::measure {

// The times and lengths of a record: fields of whatever type in their order, from `p` on.
class NotedTimes {
 public:
  NotedTimes(const compact::TickClock& clock, std::byte* p, std::byte* end)
      : clock_(clock), p_(p), end_(end) {}

  template <class T>
  void field(const FieldInfo&, const T&) {
    if constexpr (std::is_same_v<T, Seconds>) {
      replace([this](std::uint64_t ticks) { return clock_.seconds(ticks).value; });
    } else if constexpr (std::is_same_v<T, Duration>) {
      replace([this](std::uint64_t ticks) { return clock_.length(ticks).value; });
    }
    p_ += sizeof(T);
  }

 private:
  template <class F>
  void replace(F&& seconds) {
    std::uint64_t ticks;
    if (end_ - p_ < static_cast<std::ptrdiff_t>(sizeof ticks)) return;
    std::memcpy(&ticks, p_, sizeof ticks);
    const double time = seconds(ticks);
    std::memcpy(p_, &time, sizeof time);
  }

  const compact::TickClock& clock_;
  std::byte* p_;
  std::byte* end_;
};

struct NotedRecords {
  std::byte bytes[LocalBufferNote::kRoom];
  std::size_t size;

  NotedRecords(const LocalBufferHeader& header, const LocalBufferNote& note)
      : size(note.size <= note.kRoom ? note.size : 0) {
    const compact::TickClock clock{header.clock_base, header.clock_scale, header.clock_shift};
    std::memcpy(bytes, note.records, size);
    std::size_t at = 0;
    while (at + note.kTimeAt + sizeof(std::uint64_t) <= size) {
      const std::size_t length = 3 + std::to_integer<std::size_t>(bytes[at + 1]);
      NotedTimes times(clock, bytes + at + 3, bytes + (at + length < size ? at + length : size));
      const auto type = static_cast<RecordType>(bytes[at + 2]);
      if (type == RecordType::kMpiPollCall) {
        visit_fields(none_.call, Dialect{}, times);
      } else if (type == RecordType::kMpiPoll) {
        visit_fields(none_.poll, Dialect{}, times);
      } else {
        times.field({}, LocationId{});
        times.field({}, Seconds{});
      }
      at += length;
    }
  }

 private:
  // Only types of fields matter.
  struct {
    MpiPollCall call;
    MpiPoll poll;
  } none_{};
};

}  // namespace kojak::measure
