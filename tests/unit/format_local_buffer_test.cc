// A local trace whose newest part lies in its buffer file: read as one, at every moment of a flush.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "epilog/format/local_buffer.h"
#include "tests/support/temp_dir.h"

namespace kojak {
namespace {

constexpr std::uint64_t kStart = 4096;

class LocalBuffer : public testing::Test {
 protected:
  // The trace is "0123456789...": byte i of it is i modulo 251.
  static std::string bytes(std::uint64_t from, std::uint64_t to) {
    std::string text;
    for (std::uint64_t i = from; i < to; ++i) text.push_back(static_cast<char>(i % 251));
    return text;
  }
  void write(const std::string& file, std::uint64_t base, std::uint64_t end) {
    std::ofstream(trace_, std::ios::binary) << file;
    LocalBufferHeader header{};
    std::copy(std::begin(LocalBufferHeader::kMagic), std::end(LocalBufferHeader::kMagic),
              header.magic);
    header.start = kStart;
    header.capacity = 10000;
    header.base = base;
    header.end = end;
    std::string buffer(kStart + 10000, '\0');
    std::copy_n(reinterpret_cast<const char*>(&header), sizeof header, buffer.begin());
    const std::string records = bytes(base, end);
    const std::size_t room = std::min<std::size_t>(records.size(), 10000);
    std::copy_n(records.begin(), room, buffer.begin() + kStart);
    std::ofstream(local_buffer_path(trace_), std::ios::binary) << buffer;
  }
  static std::string all(ByteSource& source, std::size_t piece) {
    std::string text;
    std::vector<std::byte> part(piece);
    std::ptrdiff_t got;
    while ((got = source.read(part.data(), piece)) > 0) {
      text.append(reinterpret_cast<const char*>(part.data()), static_cast<std::size_t>(got));
    }
    return got < 0 ? "error: " + source.error() : text;
  }
  std::string read(std::size_t piece = 1000) {
    auto source = open_local_source(trace_);
    return source ? all(**source, piece) : source.error().message();
  }

  test::TempDir directory_;
  std::string trace_ = directory_.file("3.0.elg");
};

TEST_F(LocalBuffer, PathOfTheBuffer) {
  EXPECT_EQ(local_buffer_path("a.b/3.1.elg"), "a.b/3.1.buf");
}

TEST_F(LocalBuffer, FileAloneIsTheTrace) {
  std::ofstream(trace_, std::ios::binary) << bytes(0, 500);
  EXPECT_EQ(read(), bytes(0, 500));
}

TEST_F(LocalBuffer, BothPartsAreOne) {
  for (const std::uint64_t base : {0u, 1u, 4999u, 5000u}) {
    write(bytes(0, base), base, 5000);
    EXPECT_EQ(read(), bytes(0, 5000)) << base;
    EXPECT_EQ(read(7), bytes(0, 5000)) << base;
  }
}

TEST_F(LocalBuffer, AnInterruptedFlushCountsOnce) {
  // The flush had copied 100, or all 1000, of the buffer's bytes, and not yet said so.
  write(bytes(0, 4100), 4000, 5000);
  EXPECT_EQ(read(), bytes(0, 5000));
  write(bytes(0, 5000), 4000, 5000);
  EXPECT_EQ(read(), bytes(0, 5000));
  // It has said so: the buffer is empty.
  write(bytes(0, 5000), 5000, 5000);
  EXPECT_EQ(read(), bytes(0, 5000));
}

TEST_F(LocalBuffer, SeeksAcrossTheSeam) {
  write(bytes(0, 3000), 3000, 5000);
  auto source = open_local_source(trace_);
  ASSERT_TRUE(source);
  ASSERT_TRUE((*source)->seekable());
  for (const std::uint64_t at : {4000u, 10u, 2999u, 3000u, 0u, 5000u}) {
    ASSERT_TRUE((*source)->seek(at));
    EXPECT_EQ(all(**source, 600), bytes(at, 5000)) << at;
  }
}

TEST_F(LocalBuffer, AFileThatLostItsEndIsNoWholeTrace) {
  write(bytes(0, 2000), 3000, 5000);
  EXPECT_NE(read().find("a part was lost"), std::string::npos) << read();
}

TEST_F(LocalBuffer, ContradictionsAreRefused) {
  write(bytes(0, 10), 10, 5);
  EXPECT_NE(read().find("contradicts itself"), std::string::npos);
  write(bytes(0, 10), 10, 20000);
  EXPECT_NE(read().find("contradicts itself"), std::string::npos);
  std::ofstream(local_buffer_path(trace_), std::ios::binary) << "nothing";
  EXPECT_NE(read().find("no buffer of a local trace"), std::string::npos);
}

}  // namespace
}  // namespace kojak
