// A trace whose buffers are written by another thread is the same trace; its errors are not lost.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "merge/write/background_writer.h"
#include "tests/support/temp_dir.h"

namespace kojak::test {
namespace {

// With so many helpers.
class BackgroundWriter : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Helpers, BackgroundWriter, testing::Values(0u, 1u, 3u));

// Some buffers full of events, and one record changed at the end.
Status write_trace(TraceWriter& writer) {
  writer.write(NumEvents{Count{0}});
  for (std::uint32_t i = 0; i < 150'000; ++i) {
    writer.write(Enter{LocationId{i % 7}, Seconds{i * 1e-3}, RegionId{i}, {}});
  }
  if (writer.seekable()) {
    std::byte record[kMaxRecord];
    const std::size_t size = encode(NumEvents{Count{150'000}}, writer.dialect(), record);
    if (Status status = writer.overwrite(kHeaderSize, record, size); !status) return status;
  }
  return writer.commit();
}

TEST_P(BackgroundWriter, WritesTheSameTrace) {
  TempDir dir;
  for (const std::uint8_t major : {std::uint8_t{2}, compact::kMajor}) {
    Dialect dialect;
    dialect.major = major;
    auto plain = TraceWriter::create(dir.file("plain.elg"), dialect);
    ASSERT_TRUE(plain);
    ASSERT_TRUE(write_trace(*plain));
    auto writer = TraceWriter::create(dir.file("background.elg"), dialect);
    ASSERT_TRUE(writer);
    merge::Helpers helpers(GetParam());
    merge::BackgroundWriter background(writer->output(), helpers);
    writer->set_sink(&background);
    ASSERT_TRUE(write_trace(*writer));
    const std::vector<std::byte> bytes = read_bytes(dir.file("plain.elg"));
    EXPECT_GT(bytes.size(), dialect.compact() ? 100'000 : 3 * TraceWriter::kBuffer);
    EXPECT_TRUE(read_bytes(dir.file("background.elg")) == bytes);
  }
}

// A reader that is slower than we are: the next buffer is full before the one before is written.
TEST_P(BackgroundWriter, WaitsForASlowReader) {
  TempDir dir;
  auto plain = TraceWriter::create(dir.file("plain.elg"), Dialect{});
  ASSERT_TRUE(plain);
  const std::string pipe = dir.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::size_t bytes = 0;
  std::thread reader([&] {
    const int fd = open(pipe.c_str(), O_RDONLY);
    std::vector<std::byte> chunk(64 * 1024);
    for (ssize_t got; (got = read(fd, chunk.data(), chunk.size())) > 0;) {
      bytes += static_cast<std::size_t>(got);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    close(fd);
  });
  {
    auto writer = TraceWriter::create(pipe, Dialect{});
    ASSERT_TRUE(writer);
    merge::Helpers helpers(GetParam());
    merge::BackgroundWriter background(writer->output(), helpers);
    writer->set_sink(&background);
    EXPECT_TRUE(write_trace(*writer));
  }
  reader.join();
  ASSERT_TRUE(write_trace(*plain));
  EXPECT_EQ(bytes, read_bytes(dir.file("plain.elg")).size());
}

TEST_P(BackgroundWriter, TellsItsError) {
  auto writer = TraceWriter::create("/dev/full", Dialect{});
  ASSERT_TRUE(writer);
  merge::Helpers helpers(GetParam());
  merge::BackgroundWriter background(writer->output(), helpers);
  writer->set_sink(&background);
  const Status status = write_trace(*writer);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ExitCode::kOutputFailed);
  EXPECT_EQ(status.error().file, "/dev/full");
}

TEST_P(BackgroundWriter, AnAbandonedTraceLeavesNothing) {
  TempDir dir;
  {
    auto writer = TraceWriter::create(dir.file("a.elg"), Dialect{});
    ASSERT_TRUE(writer);
    merge::Helpers helpers(GetParam());
    merge::BackgroundWriter background(writer->output(), helpers);
    writer->set_sink(&background);
    for (std::uint32_t i = 0; i < 100'000; ++i) {
      writer->write(Enter{LocationId{0}, Seconds{0}, RegionId{i}, {}});
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

}  // namespace
}  // namespace kojak::test
