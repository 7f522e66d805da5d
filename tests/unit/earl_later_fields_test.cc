// Records of files that were written before their last field was there.
#include <gtest/gtest.h>

#include "earl/detail/decode.h"

namespace kojak::earl {
namespace {

struct Bytes {
  std::byte bytes[kMaxRecord];
  RawRecord raw;
};
Bytes processor(std::uint8_t less) {
  Bytes made;
  const Processor record{LocationId{1}, Seconds{2}, Count64{3}, Count64{4}, Count64{5}, Byte{2}};
  EXPECT_EQ(encode(record, Dialect{}, made.bytes), 2u + 4 + 8 + 3 * 8 + 1);
  made.raw = {static_cast<std::uint8_t>(Processor::kType),
              static_cast<std::uint8_t>(std::to_integer<std::uint8_t>(made.bytes[0]) - less)};
  return made;
}

TEST(LaterFields, AreZeroWhereTheRecordEndsBefore) {
  for (const std::uint8_t less : {0, 1}) {
    Bytes made = processor(less);
    made.raw.body = made.bytes + 2;
    Processor read;
    EXPECT_EQ(decode(made.raw, Dialect{}, read), nullptr);
    EXPECT_EQ(raw(read.preempted), 5u);
    EXPECT_EQ(raw(read.blocked_kind), less == 0 ? 2 : 0);
    Processor quick;
    EXPECT_TRUE(detail::decode_native(made.raw.body, made.raw.length, 0, quick));
    EXPECT_EQ(raw(quick.preempted), 5u);
    EXPECT_EQ(raw(quick.blocked_kind), less == 0 ? 2 : 0);
  }
}

TEST(LaterFields, NoOtherFieldMayBeMissing) {
  Bytes made = processor(2);
  made.raw.body = made.bytes + 2;
  Processor read;
  EXPECT_STREQ(decode(made.raw, Dialect{}, read), "preempted");
  EXPECT_FALSE(detail::decode_native(made.raw.body, made.raw.length, 0, read));
}

}  // namespace
}  // namespace kojak::earl
