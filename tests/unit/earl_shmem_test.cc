// Pointers of SHMEM: where an operation works, and what ended the waiting for a variable.
#include <gtest/gtest.h>

#include "earl/access/archive.h"
#include "epilog/format/text_reader.h"

namespace kojak::earl {
namespace {

TEST(EarlShmem, AWaitForAVariablePointsToWhatWroteIt) {
  const auto bytes = text_to_trace(
      "ENTER lid=0 time=0 region=main\nENTER lid=1 time=0 region=main\n"              // 0, 1
      "ENTER lid=1 time=2 region=shmem_int_wait_until\n"                              // 2
      "ENTER lid=0 time=3 region=shmem_int_p\n"                                       // 3
      "SHMEM_PLACE lid=0 time=3 dlid=1 rmaid=0 offset=64 ctx=3 flags=0\n"             // 4
      "PUT_1TS lid=0 time=3 dlid=1 rmaid=0 sent=4\nEXIT lid=0 time=4\n"               // 5, 6
      "ENTER lid=0 time=4 region=shmem_int_p\n"                                       // 7
      "SHMEM_PLACE lid=0 time=4 dlid=1 rmaid=1 offset=68 ctx=0 flags=0\n"             // 8
      "PUT_1TS lid=0 time=4 dlid=1 rmaid=1 sent=4\nEXIT lid=0 time=5\n"               // 9, 10
      "SHMEM_WAIT lid=1 time=6 offset=64 bytes=4 cmp=1 value=7\nEXIT lid=1 time=6\n"  // 11, 12
      "ENTER lid=1 time=7 region=shmem_int_wait_until\n"                              // 13
      "SHMEM_WAIT lid=1 time=8 offset=64 bytes=4 cmp=1 value=7\nEXIT lid=1 time=8\n"  // 14, 15
      "ENTER lid=0 time=9 region=shmem_put\n"                                         // 16
      "PUT_1TS lid=0 time=9 dlid=1 rmaid=2 sent=4\nEXIT lid=0 time=9\n"               // 17, 18
      "EXIT lid=0 time=10\nEXIT lid=1 time=10\n");
  ASSERT_TRUE(bytes) << bytes.error().message();
  const auto archive = Archive::from(std::vector<std::byte>(*bytes), "text");
  ASSERT_TRUE(archive);
  EXPECT_EQ(archive->placeptr(5), 4u);
  EXPECT_EQ(archive->placeptr(9), 8u);
  EXPECT_EQ(archive->placeptr(17), kNoEvent);  // nothing was told of it
  EXPECT_EQ(archive->writeptr(11), 5u);        // what was written beside it does not count
  EXPECT_EQ(archive->writeptr(14), kNoEvent);  // written before it waited
  EXPECT_EQ(archive->writeptr(5), kNoEvent);
  EXPECT_EQ(archive->originptr(5), kNoEvent);
  const Event place = (*archive)[4];
  EXPECT_EQ(place.offset, 64u);
  EXPECT_EQ(place.context, 3u);
}

}  // namespace
}  // namespace kojak::earl
