// What is noted of an open call, as it goes into a file: with its times in seconds.
//
// In memory they are ticks, since no recorded call computes with doubles. This does.
#pragma once

#include <cstring>

#include "epilog/format/compact/state.h"
#include "epilog/format/io/local_buffer_header.h"

namespace kojak::measure {

struct NotedRecords {
  std::byte bytes[LocalBufferNote::kRoom];
  std::size_t size;

  NotedRecords(const LocalBufferHeader& header, const LocalBufferNote& note)
      : size(note.size <= note.kRoom ? note.size : 0) {
    const compact::TickClock clock{header.clock_base, header.clock_scale, header.clock_shift};
    std::memcpy(bytes, note.records, size);
    std::size_t at = 0;
    while (at + note.kTimeAt + sizeof(std::uint64_t) <= size) {
      std::uint64_t ticks;
      std::memcpy(&ticks, bytes + at + note.kTimeAt, sizeof ticks);
      const double time = clock.seconds(ticks).value;
      std::memcpy(bytes + at + note.kTimeAt, &time, sizeof time);
      at += 3 + std::to_integer<std::size_t>(bytes[at + 1]);
    }
  }
};

}  // namespace kojak::measure
