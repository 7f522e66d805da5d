// A trace that is handed to another thread is the same trace; whichever side ends, the other does.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "epilog/format/io/block_pipe.h"
#include "tests/support/temp_dir.h"

namespace kojak::test {
namespace {

constexpr std::size_t kMore = 8;  // blocks, more than the pipe holds

// Buffers whose bytes are the number of the buffer.
Status write_blocks(BlockPipe& pipe, std::size_t blocks) {
  auto buffer = std::make_unique<std::byte[]>(TraceWriter::kBuffer);
  for (std::size_t i = 0; i < blocks; ++i) {
    std::fill_n(buffer.get(), TraceWriter::kBuffer, static_cast<std::byte>(i));
    buffer = pipe.exchange(std::move(buffer), TraceWriter::kBuffer);
    if (Status status = pipe.status(); !status) return status;
  }
  return {};
}

TEST(BlockPipe, GivesWhatWasWrittenInOrderToASlowReader) {
  auto pipe = std::make_shared<BlockPipe>();
  int told = 0;
  pipe->before_first([&] { ++told; });
  std::thread writer([&] {
    EXPECT_TRUE(write_blocks(*pipe, kMore));
    pipe->close(true);
  });
  std::size_t size = 0;
  bool right = true;
  {
    const auto source = pipe_source(pipe);
    std::vector<std::byte> part(100'000);  // does not divide a buffer
    for (std::ptrdiff_t n; (n = source->read(part.data(), part.size())) != 0;) {
      ASSERT_GT(n, 0);
      for (std::ptrdiff_t i = 0; i < n; ++i, ++size) {
        right = right && part[static_cast<std::size_t>(i)] ==
                             static_cast<std::byte>(size / TraceWriter::kBuffer);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    EXPECT_EQ(source->read(part.data(), part.size()), 0);  // the end stays the end
  }
  writer.join();
  EXPECT_TRUE(right);
  EXPECT_EQ(size, kMore * TraceWriter::kBuffer);
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(pipe->abandoned());
}

TEST(BlockPipe, AWriterThatFailsIsAnErrorBehindWhatItWrote) {
  auto pipe = std::make_shared<BlockPipe>();
  std::thread writer([&] {
    EXPECT_TRUE(write_blocks(*pipe, 1));
    pipe->close(false);
  });
  const auto source = pipe_source(pipe);
  std::vector<std::byte> part(TraceWriter::kBuffer);
  EXPECT_EQ(source->read(part.data(), part.size()),
            static_cast<std::ptrdiff_t>(TraceWriter::kBuffer));
  EXPECT_EQ(source->read(part.data(), part.size()), -1);
  EXPECT_FALSE(source->error().empty());
  writer.join();
}

TEST(BlockPipe, AReaderThatLeavesEndsAWriterThatWaits) {
  auto pipe = std::make_shared<BlockPipe>();
  Status status;
  std::thread writer([&] {
    status = write_blocks(*pipe, kMore);  // more than there is room for: waits
    pipe->close(false);
  });
  {
    const auto source = pipe_source(pipe);
    std::byte one{};
    EXPECT_EQ(source->read(&one, 1), 1);
  }
  writer.join();
  EXPECT_FALSE(status);
  EXPECT_TRUE(pipe->abandoned());
}

TEST(BlockPipe, AReaderThatNeverCameEndsTheWriter) {
  auto pipe = std::make_shared<BlockPipe>();
  pipe_source(pipe).reset();
  EXPECT_FALSE(write_blocks(*pipe, kMore));
}

}  // namespace
}  // namespace kojak::test
