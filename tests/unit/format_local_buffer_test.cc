// A local trace whose newest part lies in its buffer file: read as one, at every moment of a flush.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "epilog/format/io/local_buffer.h"
#include "epilog/format/io/running.h"
#include "epilog/format/record/codec.h"
#include "tests/support/temp_dir.h"

namespace kojak {
namespace {

constexpr std::uint64_t kStart = 4096;

class LocalBuffer : public testing::Test {
 protected:
  // The trace is a header, LOCAL_RUN of rank 3, and bytes that are their number modulo 251.
  static std::string bytes(std::uint64_t from, std::uint64_t to) {
    std::byte head[kHeaderSize + kMaxRecord];
    encode_header(Dialect{}, head);
    const std::size_t size =
        kHeaderSize + encode(LocalRun{Hash64{11}, Hash64{22}, Count{8}, ProcessId{3}, ThreadId{0}},
                             Dialect{}, head + kHeaderSize);
    std::string text(reinterpret_cast<const char*>(head), size);
    for (std::uint64_t i = size; i < to; ++i) text.push_back(static_cast<char>(i % 251));
    return from < to ? text.substr(from, to - from) : std::string();
  }
  template <class F = void (*)(LocalBufferHeader&)>
  void write(
      const std::string& file, std::uint64_t base, std::uint64_t end,
      const F& change = [](LocalBufferHeader&) {}) {
    std::ofstream(trace_, std::ios::binary) << file;
    LocalBufferHeader header{};
    std::copy(std::begin(LocalBufferHeader::kMagic), std::end(LocalBufferHeader::kMagic),
              header.magic);
    header.start = kStart;
    header.capacity = 10000;
    header.base = base;
    header.end = end;
    header.state = LocalBufferHeader::kSaved;
    header.run_hi = 11;
    header.run_lo = 22;
    header.rank = 3;
    change(header);
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

TEST_F(LocalBuffer, BuffersOfOthersAreRefusedByName) {
  const auto expect = [this](const char* words, auto change) {
    write(bytes(0, 3000), 3000, 5000, change);
    const std::string said = read();
    EXPECT_NE(said.find(words), std::string::npos) << said;
    EXPECT_NE(said.find("3.0.buf"), std::string::npos) << said;
    EXPECT_EQ(find_buffer(trace_).kind, BufferFile::Kind::kForeign);
  };
  expect("another run (rank 3, thread 0)", [](LocalBufferHeader& h) { h.run_lo = 23; });
  expect("another run", [](LocalBufferHeader& h) { h.run_hi = 0; });
  expect("buffer of rank 4, thread 0", [](LocalBufferHeader& h) { h.rank = 4; });
  expect("buffer of rank 3, thread 1", [](LocalBufferHeader& h) { h.thread = 1; });
  // Its own, but of before the trace was finished.
  write(bytes(0, 6000), 3000, 5000);
  EXPECT_NE(read().find("older than the trace: it ends at byte 5000 of 6000"), std::string::npos)
      << read();
}

TEST_F(LocalBuffer, RecordsThatAreElsewhereAreSaidSo) {
  write(bytes(0, 3000), 3000, 5000, [](LocalBufferHeader& h) {
    h.state = LocalBufferHeader::kInMemory;
    h.process = static_cast<std::uint32_t>(::getpid());
    h.kernel = this_kernel();
  });
  EXPECT_EQ(read(), bytes(0, 3000));
  EXPECT_EQ(find_buffer(trace_).reason, "the process still runs");
  write(bytes(0, 3000), 3000, 5000, [](LocalBufferHeader& h) {
    h.state = LocalBufferHeader::kInMemory;
    h.error = ENOSPC;
  });
  EXPECT_EQ(find_buffer(trace_).kind, BufferFile::Kind::kElsewhere);
  EXPECT_EQ(find_buffer(trace_).reason, "No space left on device");
}

TEST_F(LocalBuffer, SavingIsWaitedFor) {
  // A process that has ended, and one that keeps its records and needs a while.
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  ::waitpid(ended, nullptr, 0);
  const std::string done = directory_.file("done");
  std::filesystem::rename((write(bytes(0, 3000), 3000, 5000), local_buffer_path(trace_)), done);
  int written[2];
  ASSERT_EQ(::pipe(written), 0);
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    ::close(written[1]);
    char byte;
    if (::read(written[0], &byte, 1) != 0) ::_exit(1);  // until the other end is closed
    ::usleep(100'000);
    ::_exit(::rename(done.c_str(), local_buffer_path(trace_).c_str()) == 0 ? 0 : 1);
  }
  write(bytes(0, 3000), 3000, 5000, [&](LocalBufferHeader& h) {
    h.state = LocalBufferHeader::kInMemory;
    h.process = static_cast<std::uint32_t>(ended);
    h.keeper = static_cast<std::uint32_t>(keeper);
    h.kernel = this_kernel();
  });
  ::close(written[0]);
  ::close(written[1]);
  EXPECT_EQ(read(), bytes(0, 5000));
  int status = 1;
  ::waitpid(keeper, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(LocalBuffer, AProcessThatIsAboutToDieIsWaitedFor) {
  // As when a launcher is back before the processes that it killed are gone.
  const std::string done = directory_.file("done");
  std::filesystem::rename((write(bytes(0, 3000), 3000, 5000), local_buffer_path(trace_)), done);
  int ended[2];
  ASSERT_EQ(::pipe(ended), 0);
  const pid_t dying = ::fork();
  if (dying == 0) {
    ::usleep(200'000);
    ::_exit(0);
  }
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    ::close(ended[1]);
    char byte;
    if (::read(ended[0], &byte, 1) != 0) ::_exit(1);
    ::_exit(::rename(done.c_str(), local_buffer_path(trace_).c_str()) == 0 ? 0 : 1);
  }
  write(bytes(0, 3000), 3000, 5000, [&](LocalBufferHeader& h) {
    h.state = LocalBufferHeader::kInMemory;
    h.process = static_cast<std::uint32_t>(dying);
    h.keeper = static_cast<std::uint32_t>(keeper);
    h.kernel = this_kernel();
  });
  std::thread launcher([&] {
    ::waitpid(dying, nullptr, 0);
    ::close(ended[0]);
    ::close(ended[1]);
  });
  EXPECT_EQ(read(), bytes(0, 5000));
  launcher.join();
  int status = 1;
  ::waitpid(keeper, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(LocalBuffer, ContradictionsAreRefused) {
  write(bytes(0, 100), 100, 50);
  EXPECT_NE(read().find("contradicts itself"), std::string::npos);
  write(bytes(0, 100), 100, 20000);
  EXPECT_NE(read().find("contradicts itself"), std::string::npos);
  std::ofstream(local_buffer_path(trace_), std::ios::binary) << std::string(200, 'x');
  EXPECT_NE(read().find("no buffer of a local trace"), std::string::npos);
}

}  // namespace
}  // namespace kojak
