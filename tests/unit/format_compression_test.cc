// Files that are compressed as a whole: written, read, cut off, damaged, and given up.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>

#include "epilog/format/io/reader.h"
#include "epilog/format/io/writer.h"
#include "tests/support/temp_dir.h"

namespace kojak {
namespace {

using Bytes = std::vector<std::byte>;

constexpr Compression kBoth[] = {Compression::kGzip, Compression::kZstd};

// As many ENTERs, at times that no compressor foretells. Their offsets in a plain file of version
// 2.0: 10 for the header, then 2 + 4 + 8 + 4 each.
constexpr std::size_t kEnter = 18;
double time_of(std::mt19937_64& random, double last) {
  return last + static_cast<double>(random() % 1'000'000) * 1e-9;
}

void write_trace(const std::string& path, std::size_t events, Compression how, int major = 2) {
  Dialect dialect;
  dialect.major = static_cast<std::uint8_t>(major);
  auto writer = TraceWriter::create(path, dialect, how);
  ASSERT_TRUE(writer.ok()) << writer.error().message();
  EXPECT_EQ(writer->seekable(), how == Compression::kNone);
  std::mt19937_64 random(events);
  double time = 0;
  for (std::size_t i = 0; i < events; ++i) {
    time = time_of(random, time);
    writer->write(Enter{LocationId{0}, Seconds{time}, RegionId{static_cast<std::uint32_t>(i)}, {}});
  }
  ASSERT_TRUE(writer->commit().ok());
}

struct Got {
  std::size_t events = 0;
  bool right = true;  // they are those that were written
  TraceReader::Next end = TraceReader::Next::kDamaged;
  std::string reason;
};

Got read_trace(const std::string& path, std::size_t written) {
  Got got;
  auto reader = TraceReader::open(path);
  if (!reader) {
    got.reason = reader.error().reason;
    return got;
  }
  std::mt19937_64 random(written);
  double time = 0;
  RawRecord record;
  for (; (got.end = reader->next(record)) == TraceReader::Next::kRecord; ++got.events) {
    time = time_of(random, time);
    Enter enter;
    got.right = got.right && record.type == static_cast<std::uint8_t>(RecordType::kEnter) &&
                decode(record, reader->dialect(), enter) == nullptr && enter.time.value == time &&
                raw(enter.rid) == got.events;
  }
  if (got.end == TraceReader::Next::kDamaged) got.reason = reader->error().reason;
  return got;
}

TEST(Compression, WhatWasWrittenIsReadAgain) {
  const test::TempDir dir;
  for (const Compression how : kBoth) {
    for (const int major : {2, 3}) {
      // 50,000 times 18 bytes: some buffers of the writer, and more than the reader is ahead.
      for (const std::size_t events : {0u, 1u, 50'000u}) {
        const std::string path = dir.file("a.elg");
        write_trace(path, events, how, major);
        const Bytes bytes = test::read_bytes(path);
        EXPECT_EQ(compression_of(bytes), how);
        const Got got = read_trace(path, events);
        EXPECT_EQ(got.end, TraceReader::Next::kEnd) << got.reason;
        EXPECT_EQ(got.events, events);
        EXPECT_TRUE(got.right);
        write_trace(dir.file("again.elg"), events, how, major);
        EXPECT_TRUE(test::read_bytes(dir.file("again.elg")) == bytes);
      }
    }
  }
}

TEST(Compression, PartsOneBehindTheOtherAreOne) {
  const test::TempDir dir;
  for (const Compression how : kBoth) {
    // The second part has no header of its own: a plain file, cut where an event ends.
    write_trace(dir.file("whole"), 1'000, Compression::kNone);
    const Bytes whole = test::read_bytes(dir.file("whole"));
    const std::size_t cut = kHeaderSize + 300 * kEnter;
    Bytes joined;
    for (const auto& [from, to] : {std::pair{std::size_t{0}, cut}, std::pair{cut, whole.size()}}) {
      auto file = OutputFile::create(dir.file("part"));
      const auto compressor = make_compressor(how);
      ASSERT_TRUE(compressor->write(*file, whole.data() + from, to - from).ok());
      ASSERT_TRUE(compressor->finish(*file).ok());
      ASSERT_TRUE(file->commit().ok());
      const Bytes part = test::read_bytes(dir.file("part"));
      joined.insert(joined.end(), part.begin(), part.end());
    }
    test::write_file(dir.file("joined"), joined);
    const Got got = read_trace(dir.file("joined"), 1'000);
    EXPECT_EQ(got.end, TraceReader::Next::kEnd) << got.reason;
    EXPECT_EQ(got.events, 1'000u);
    EXPECT_TRUE(got.right);
  }
}

TEST(Compression, AFileThatIsCutOffIsReadUpToThere) {
  const test::TempDir dir;
  constexpr std::size_t kEvents = 20'000;
  for (const Compression how : kBoth) {
    write_trace(dir.file("a"), kEvents, how);
    const Bytes whole = test::read_bytes(dir.file("a"));
    std::size_t most = 0;
    for (std::size_t n = kCompressionMagic; n < whole.size(); n += n < 32 ? 1 : whole.size() / 50) {
      test::write_file(dir.file("cut"), Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(n)));
      const Got got = read_trace(dir.file("cut"), kEvents);
      EXPECT_EQ(got.end, TraceReader::Next::kDamaged) << n;
      EXPECT_EQ(got.reason, "the compressed file is truncated") << n;
      EXPECT_TRUE(got.right) << n;
      EXPECT_GE(got.events, most) << n;
      most = got.events;
    }
    EXPECT_GT(most, kEvents / 2);
  }
}

TEST(Compression, ADamagedFileIsToldApart) {
  const test::TempDir dir;
  constexpr std::size_t kEvents = 20'000;
  for (const Compression how : kBoth) {
    write_trace(dir.file("a"), kEvents, how);
    const Bytes whole = test::read_bytes(dir.file("a"));
    for (std::size_t n = 40; n < whole.size(); n += whole.size() / 60) {
      Bytes changed = whole;
      changed[n] ^= std::byte{0x10};
      test::write_file(dir.file("bad"), changed);
      const Got got = read_trace(dir.file("bad"), kEvents);
      EXPECT_EQ(got.end, TraceReader::Next::kDamaged) << n;
      // Wrong bytes may look like a stream that is longer, and like records.
      EXPECT_FALSE(got.reason.empty()) << n;
    }
  }
}

// Gives bytes to whoever reads from path(), and then an end, or nothing more.
class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    close_writer();
    ::close(ends_[0]);
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(ends_[0]); }
  bool give(const Bytes& bytes) {
    return ::write(ends_[1], bytes.data(), bytes.size()) == std::ptrdiff_t(bytes.size());
  }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2];
};

TEST(Compression, APipeIsReadByItsFirstBytes) {
  const test::TempDir dir;
  for (const Compression how : {Compression::kNone, Compression::kGzip, Compression::kZstd}) {
    write_trace(dir.file("a"), 50'000, how);
    const Bytes bytes = test::read_bytes(dir.file("a"));
    Pipe pipe;
    std::thread writer([&] {
      // The first bytes one by one.
      for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(pipe.give({bytes[i]}));
      EXPECT_TRUE(pipe.give({bytes.begin() + 6, bytes.end()}));
      pipe.close_writer();
    });
    const Got got = read_trace(pipe.path(), 50'000);
    writer.join();
    EXPECT_EQ(got.end, TraceReader::Next::kEnd) << got.reason;
    EXPECT_EQ(got.events, 50'000u);
    EXPECT_TRUE(got.right);
  }
}

// A thread waits for bytes that do not come: whoever reads may go all the same.
TEST(Compression, AReaderMayBeGivenUp) {
  const test::TempDir dir;
  for (const Compression how : kBoth) {
    write_trace(dir.file("a"), 1'000, how);
    const Bytes bytes = test::read_bytes(dir.file("a"));
    Pipe pipe;
    ASSERT_TRUE(pipe.give(bytes));  // another part might follow
    auto source = open_source(pipe.path());
    ASSERT_TRUE(source.ok());
    std::byte some[10];
    EXPECT_EQ((*source)->read(some, sizeof some), std::ptrdiff_t(sizeof some));
    source->reset();  // does not return if the thread is not told
  }
  for (const Compression how : kBoth) {  // one that is ahead as far as it may be
    write_trace(dir.file("a"), 200'000, how);
    auto source = open_source(dir.file("a"));
    std::byte some[10];
    EXPECT_EQ((*source)->read(some, sizeof some), std::ptrdiff_t(sizeof some));
  }
}

TEST(Compression, AnAbandonedFileLeavesNothing) {
  const test::TempDir dir;
  {
    auto writer = TraceWriter::create(dir.file("a"), Dialect{}, Compression::kZstd);
    ASSERT_TRUE(writer.ok());
    writer->write(Exit{LocationId{0}, Seconds{1}, {}});
  }
  EXPECT_NE(::access(dir.file("a").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace kojak
