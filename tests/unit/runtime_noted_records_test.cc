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
