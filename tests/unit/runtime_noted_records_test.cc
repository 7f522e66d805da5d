#include <gtest/gtest.h>

#include "epilog/format/compact/encode.h"
#include "epilog/runtime/noted_records.h"

namespace kojak::measure {
namespace {

// Half a second a tick, from tick 1000 on, and two seconds more: all of that is exact.
LocalBufferHeader header_of_clock() {
  LocalBufferHeader header{};
  header.clock_base = 1000;
  header.clock_scale = 0.5;
  header.clock_shift = 2;
  return header;
}

TEST(NotedRecords, HaveTheirTimesInSeconds) {
  LocalBufferNote note{};
  std::byte* p = note.records;
  p = compact::encode_verbatim(Enter{LocationId{3}, compact::stamp(1010), RegionId{7}, {}}, p);
  p = compact::encode_verbatim(
      MpiOpenCall{LocationId{3}, compact::stamp(1013), CommId{1}, WindowId{2}, PeerId{0}, PeerId{1},
                  Tag{5}, Count64{9}, Count{1}},
      p);
  p = compact::encode_verbatim(
      MpiAwaits{LocationId{3}, compact::stamp(998), Byte{1}, PeerId{1}, CommId{1}, Tag{5}}, p);
  note.size = static_cast<std::uint64_t>(p - note.records);
  std::byte expected[LocalBufferNote::kRoom];
  p = expected;
  p = compact::encode_verbatim(Enter{LocationId{3}, Seconds{7}, RegionId{7}, {}}, p);
  p = compact::encode_verbatim(MpiOpenCall{LocationId{3}, Seconds{8.5}, CommId{1}, WindowId{2},
                                           PeerId{0}, PeerId{1}, Tag{5}, Count64{9}, Count{1}},
                               p);
  p = compact::encode_verbatim(
      MpiAwaits{LocationId{3}, Seconds{1}, Byte{1}, PeerId{1}, CommId{1}, Tag{5}}, p);
  const NotedRecords noted(header_of_clock(), note);
  ASSERT_EQ(noted.size, note.size);
  EXPECT_EQ(std::memcmp(noted.bytes, expected, noted.size), 0);
}

// A series of polls that was open: 6 ticks in calls are 3 s.
TEST(NotedRecords, HaveTheLengthsOfASeriesInSeconds) {
  MpiPoll poll{};
  poll.lid = LocationId{3};
  poll.kind = Byte{1};
  poll.count = Count64{4};
  MpiPollCall call{};
  call.lid = LocationId{3};
  call.count = Count64{9};
  call.ran = Count64{700};
  call.kind = Byte{1};
  const auto fill = [&](auto time, auto length) {
    poll.time = time(1010);
    poll.first_enter = time(1002);
    poll.last_enter = time(1008);
    call.time = time(1000);
    call.exit = time(1010);
    call.called = length(6);
    call.paused = length(3);
    call.asleep = length(2);
    call.rest = length(1);
    call.least = length(0);
    call.last_enter = time(1009);
  };
  const auto written = [&](std::byte* to) {
    return compact::encode_verbatim(call, compact::encode_verbatim(poll, to));
  };
  LocalBufferNote note{};
  fill(compact::stamp, compact::stamp_length);
  note.size = static_cast<std::uint64_t>(written(note.records) - note.records);
  std::byte expected[LocalBufferNote::kRoom];
  fill([](std::uint64_t ticks) { return Seconds{static_cast<double>(ticks - 1000) / 2 + 2}; },
       [](std::uint64_t ticks) { return Duration{static_cast<double>(ticks) / 2}; });
  written(expected);
  const NotedRecords noted(header_of_clock(), note);
  ASSERT_EQ(noted.size, note.size);
  EXPECT_EQ(std::memcmp(noted.bytes, expected, noted.size), 0);
}

// Half written, or changed by the program: nothing outside of it is touched.
TEST(NotedRecords, OfADamagedNoteAreCopiedAsFarAsTheyGo) {
  LocalBufferNote note{};
  note.size = LocalBufferNote::kRoom + 1;
  EXPECT_EQ(NotedRecords(header_of_clock(), note).size, 0u);
  for (std::uint64_t size = 0; size < 40; ++size) {
    note.size = size;
    for (std::byte& byte : note.records) byte = std::byte{0};
    EXPECT_EQ(NotedRecords(header_of_clock(), note).size, size);
    for (std::byte& byte : note.records) byte = std::byte{0xFF};
    EXPECT_EQ(NotedRecords(header_of_clock(), note).size, size);
  }
}

}  // namespace
}  // namespace kojak::measure
