// Writing the classic dialect: files of the classic tools, decoded and written again record by
// record, come out byte for byte; and the layout of every event is that of version 1.9.
#include <gtest/gtest.h>

#include <map>

#include "epilog/format/io/reader.h"
#include "epilog/format/io/writer.h"
#include "tests/support/temp_dir.h"

namespace kojak {
namespace {

class ClassicFile : public ::testing::TestWithParam<const char*> {};

TEST_P(ClassicFile, IsWrittenAgainByteForByte) {
  const std::string path = std::string(KOJAK_REFERENCE_DIR) + "/" + GetParam();
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader.ok());
  Dialect dialect = reader->dialect();
  ASSERT_EQ(dialect.major, 1);
  ASSERT_EQ(dialect.minor, 9);
  test::TempDir dir;
  auto writer = TraceWriter::create(dir.file("again.elg"), dialect);
  ASSERT_TRUE(writer.ok());
  RawRecord record;
  std::size_t records = 0;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    ++records;
    const bool known = dispatch_record(record.type, [&]<class R>() {
      R decoded;
      ASSERT_EQ(decode(record, dialect, decoded), nullptr) << R::kName;
      // The one field that a reader does not keep as it stands: a string's final NUL.
      if constexpr (std::is_same_v<R, String>) {
        ASSERT_EQ(raw(decoded.cntc), 0);
        writer->write_string(decoded.strid, decoded.str);
      } else {
        EXPECT_TRUE(writer->write(decoded)) << R::kName;
      }
    });
    ASSERT_TRUE(known) << int{record.type};
  }
  ASSERT_TRUE(writer->commit().ok());
  EXPECT_GT(records, 300u);
  EXPECT_TRUE(test::read_bytes(path) == test::read_bytes(dir.file("again.elg")));
}

INSTANTIATE_TEST_SUITE_P(Reference, ClassicFile, ::testing::Values("fence.elg", "gats.elg"));

// Bodies as the table of docs/format.md adds them up, lid and time (12 bytes) included.
TEST(ClassicLayout, EveryEventHasTheLengthThatOldToolsExpect) {
  const std::map<RecordType, std::size_t> lengths = {
      {RecordType::kEnter, 16},          {RecordType::kExit, 12},
      {RecordType::kEnterCs, 16},        {RecordType::kMpiSend, 28},
      {RecordType::kMpiRecv, 24},        {RecordType::kMpiCollExit, 28},
      {RecordType::kOmpFork, 12},        {RecordType::kOmpJoin, 12},
      {RecordType::kOmpALock, 16},       {RecordType::kOmpRLock, 16},
      {RecordType::kOmpCollExit, 12},    {RecordType::kMpiPut1ts, 28},
      {RecordType::kMpiPut1te, 24},      {RecordType::kMpiGet1ts, 28},
      {RecordType::kMpiGet1te, 24},      {RecordType::kMpiGet1to, 16},
      {RecordType::kMpiWinExit, 21},     {RecordType::kMpiWinCollExit, 16},
      {RecordType::kMpiWinLock, 21},     {RecordType::kMpiWinUnlock, 20},
      {RecordType::kPut1ts, 24},         {RecordType::kPut1te, 20},
      {RecordType::kGet1ts, 24},         {RecordType::kGet1te, 20},
      {RecordType::kCollExit, 28},       {RecordType::kALock, 16},
      {RecordType::kRLock, 16},          {RecordType::kMpiSendComplete, 16},
      {RecordType::kMpiRecvRequest, 16}, {RecordType::kMpiRequestTested, 16},
      {RecordType::kMpiCancelled, 16},   {RecordType::kLogOff, 12},
      {RecordType::kLogOn, 12},          {RecordType::kEnterTracing, 12},
      {RecordType::kExitTracing, 12}};
  Dialect classic;
  classic.major = 1;
  classic.minor = 9;
  for (int type = 100; type < 256; ++type) {
    dispatch_record(static_cast<std::uint8_t>(type), [&]<class R>() {
      if constexpr (in_classic(R::kDialect)) {
        std::byte bytes[kMaxRecord];
        const std::size_t size = encode(R{}, classic, bytes);
        const auto known = lengths.find(R::kType);
        if (known == lengths.end()) return;  // remote records, of local traces only
        EXPECT_EQ(size, known->second + 2) << R::kName;
        EXPECT_EQ(static_cast<std::size_t>(bytes[0]), known->second) << R::kName;
      } else {
        EXPECT_FALSE(lengths.contains(R::kType)) << R::kName;
      }
    });
  }
}

TEST(ClassicLayout, AnEndTellsNoLength) {
  Dialect classic;
  classic.major = 1;
  classic.minor = 9;
  classic.big_endian = false;
  std::byte bytes[kMaxRecord];
  const std::size_t size =
      encode(MpiPut1te{LocationId{1}, Seconds{2.0}, PeerId{3}, WindowId{4}, RmaId{5}, Bytes{6}},
             classic, bytes);
  const unsigned char expected[] = {24, 113, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                    64, 3,   0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0};
  ASSERT_EQ(size, sizeof expected);
  EXPECT_EQ(std::memcmp(bytes, expected, size), 0);
}

}  // namespace
}  // namespace kojak
