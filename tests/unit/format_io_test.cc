// Reading from files, gzip, pipes and buffer files; and outputs that appear complete or not at all.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>
#include <set>
#include <thread>

#include "epilog/format/io/local_buffer.h"
#include "epilog/format/io/reader.h"
#include "epilog/format/io/temporary_files.h"
#include "epilog/format/io/writer.h"
#include "epilog/format/text/text_reader.h"
#include "tests/support/temp_dir.h"

namespace kojak {
namespace {

std::string reference() {
  return std::string(KOJAK_REFERENCE_DIR) + "/gats.elg";
}

// Everything that a reader delivers, as bytes again, without the header.
std::vector<std::byte> records_of(TraceReader& reader, TraceReader::Next* how = nullptr) {
  std::vector<std::byte> bytes;
  RawRecord record;
  TraceReader::Next next;
  while ((next = reader.next(record)) == TraceReader::Next::kRecord) {
    EXPECT_EQ(record.offset, bytes.size() + kHeaderSize);
    bytes.push_back(static_cast<std::byte>(record.length));
    bytes.push_back(static_cast<std::byte>(record.type));
    bytes.insert(bytes.end(), record.body, record.body + record.length);
  }
  if (how != nullptr) *how = next;
  return bytes;
}

std::vector<std::byte> without_header(const std::vector<std::byte>& file) {
  return {file.begin() + kHeaderSize, file.end()};
}

void write_gzip(const std::string& path, const std::vector<std::byte>& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())),
            static_cast<int>(bytes.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
}

TEST(Reading, PlainFileInBuffersOfAnySize) {
  const auto file = test::read_bytes(reference());
  for (const std::size_t buffer : {std::size_t{0}, std::size_t{1031}, std::size_t{1} << 20}) {
    auto reader = TraceReader::open(reference(), buffer);
    ASSERT_TRUE(reader.ok());
    TraceReader::Next how;
    EXPECT_TRUE(records_of(*reader, &how) == without_header(file)) << buffer;
    EXPECT_EQ(how, TraceReader::Next::kEnd);
  }
}

TEST(Reading, GzipIsRecognised) {
  test::TempDir dir;
  const auto file = test::read_bytes(reference());
  write_gzip(dir.file("a.elg.gz"), file);
  auto reader = TraceReader::open(dir.file("a.elg.gz"));
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  EXPECT_FALSE(reader->seekable());
  EXPECT_TRUE(records_of(*reader) == without_header(file));
}

TEST(Reading, TruncatedGzipIsDamageAfterWholeRecords) {
  test::TempDir dir;
  const auto file = test::read_bytes(reference());
  write_gzip(dir.file("whole.gz"), file);
  auto compressed = test::read_bytes(dir.file("whole.gz"));
  compressed.resize(compressed.size() / 2);
  test::write_file(dir.file("half.gz"), compressed);
  auto reader = TraceReader::open(dir.file("half.gz"));
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  TraceReader::Next how;
  const auto bytes = records_of(*reader, &how);
  EXPECT_EQ(how, TraceReader::Next::kDamaged);
  EXPECT_GT(bytes.size(), 1000u);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), file.begin() + kHeaderSize));
  EXPECT_EQ(reader->error().reason, "the compressed file is truncated");
}

TEST(Reading, DamagedGzipIsAnError) {
  test::TempDir dir;
  write_gzip(dir.file("a.gz"), test::read_bytes(reference()));
  auto compressed = test::read_bytes(dir.file("a.gz"));
  for (std::size_t i = compressed.size() / 2; i < compressed.size() / 2 + 64; ++i) {
    compressed[i] = ~compressed[i];
  }
  test::write_file(dir.file("bad.gz"), compressed);
  auto reader = TraceReader::open(dir.file("bad.gz"));
  TraceReader::Next how = TraceReader::Next::kDamaged;
  if (reader) records_of(*reader, &how);
  EXPECT_EQ(how, TraceReader::Next::kDamaged);
}

// NUM_EVENTS of the reference trace is 305.
TEST(Reading, TheEndIsWhereTheDefinitionsSayItIs) {
  const auto file = test::read_bytes(reference());
  std::vector<std::size_t> events;  // offsets behind each
  auto whole = TraceReader::from(memory_source(file.data(), file.size()), "whole");
  for (RawRecord record; whole->next(record) == TraceReader::Next::kRecord;) {
    if (is_event(record.type)) events.push_back(record.offset + 2 + record.length);
  }
  ASSERT_EQ(events.size(), 305u);
  for (std::size_t n = 1; n < events.size(); ++n) {
    auto cut = TraceReader::from(memory_source(file.data(), events[n - 1]), "cut");
    TraceReader::Next how;
    EXPECT_EQ(records_of(*cut, &how).size() + kHeaderSize, events[n - 1]);
    ASSERT_EQ(how, TraceReader::Next::kDamaged) << n;
    EXPECT_EQ(cut->error().message(), "cut: offset " + std::to_string(events[n - 1]) +
                                          ": the trace ends after " + std::to_string(n) +
                                          " of its 305 events (" + kCutOffRemedy + ")");
    RawRecord record;
    EXPECT_EQ(cut->next(record), TraceReader::Next::kEnd);  // said once
  }
  const auto end_of = [&](const std::vector<std::byte>& behind) {
    auto longer = file;
    longer.insert(longer.end(), behind.begin(), behind.end());
    auto reader = TraceReader::from(memory_source(longer.data(), longer.size()), "longer");
    TraceReader::Next how;
    records_of(*reader, &how);
    return how == TraceReader::Next::kDamaged ? reader->error().reason : "";
  };
  const std::byte zero{0}, event{216}, attribute{70};
  EXPECT_EQ(end_of({}), "");
  EXPECT_EQ(end_of({zero, event}), "the trace has 305 events, but 1 more stand behind them");
  EXPECT_EQ(end_of({zero, zero}), kDefinitionsBehind);
  EXPECT_EQ(end_of({zero, attribute}), "an attribute of no event stands at the end");
  EXPECT_EQ(end_of({event}), kEndsInsideRecord);
}

TEST(Reading, ManyEventsAreAnnouncedInSixtyFourBits) {
  const std::string events = "LAST_DEF\nENTER lid=0 time=0 rid=0\nEXIT lid=0 time=1\n";
  const auto reason = [&](const std::string& announced) {
    const auto bytes = text_to_trace(announced + events);
    EXPECT_TRUE(bytes);
    auto reader = TraceReader::from(memory_source(bytes->data(), bytes->size()), "text");
    TraceReader::Next how;
    records_of(*reader, &how);
    return how == TraceReader::Next::kDamaged ? reader->error().reason : "";
  };
  EXPECT_EQ(reason("NUM_EVENTS eventc=2\n"), "");
  EXPECT_EQ(reason("NUM_EVENTS eventc=absent\nEVENT_COUNT64 eventc=5000000000\n"),
            "the trace ends after 2 of its 5000000000 events");
  EXPECT_EQ(reason("NUM_EVENTS eventc=absent\nEVENT_COUNT64 eventc=2\n"), "");
  EXPECT_EQ(reason("NUM_EVENTS eventc=absent\n"), "");  // more than fit, how many is not known
}

class FromPipe : public testing::TestWithParam<bool> {};

TEST_P(FromPipe, BytesMayComeInSmallPieces) {
  test::TempDir dir;
  const auto file = test::read_bytes(reference());
  auto sent = file;
  if (GetParam()) {
    write_gzip(dir.file("a.gz"), file);
    sent = test::read_bytes(dir.file("a.gz"));
  }
  const std::string fifo = dir.file("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::thread writer([&] {
    const int fd = ::open(fifo.c_str(), O_WRONLY);
    for (std::size_t at = 0; at < sent.size(); at += 777) {
      const std::size_t n = std::min<std::size_t>(777, sent.size() - at);
      if (::write(fd, sent.data() + at, n) != static_cast<ssize_t>(n)) break;
    }
    ::close(fd);
  });
  auto reader = TraceReader::open(fifo);
  EXPECT_TRUE(reader.ok());
  if (reader) {
    EXPECT_TRUE(records_of(*reader) == without_header(file));
  }
  writer.join();
}

INSTANTIATE_TEST_SUITE_P(PlainOrGzip, FromPipe, testing::Bool());

TEST(Reading, SeekGoesBackAndForth) {
  const auto file = test::read_bytes(reference());
  auto reader = TraceReader::open(reference(), 2048);
  ASSERT_TRUE(reader.ok());
  std::vector<std::uint64_t> offsets;
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) offsets.push_back(record.offset);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::uint64_t offset = offsets[i * 7919 % offsets.size()];
    ASSERT_TRUE(reader->seek(offset).ok());
    ASSERT_EQ(reader->next(record), TraceReader::Next::kRecord);
    ASSERT_EQ(record.offset, offset);
    ASSERT_EQ(static_cast<std::byte>(record.length), file[offset]);
    ASSERT_EQ(static_cast<std::byte>(record.type), file[offset + 1]);
  }
}

struct NoTrace {
  std::string bytes;
  std::string reason;
};

class Header : public testing::TestWithParam<NoTrace> {};

TEST_P(Header, ThatIsNoneIsRefused) {
  test::TempDir dir;
  const std::string path = dir.file("x.elg");
  test::write_file(path, GetParam().bytes);
  const auto reader = TraceReader::open(path);
  ASSERT_FALSE(reader.ok());
  EXPECT_EQ(reader.error().code, ExitCode::kBadInput);
  EXPECT_EQ(reader.error().file, path);
  EXPECT_NE(reader.error().message().find(GetParam().reason), std::string::npos)
      << reader.error().message();
  EXPECT_FALSE(reader.error().remedy.empty());
}

std::string header(char major, char minor, char order) {
  return std::string("EPILOG") + '\0' + major + minor + order;
}

INSTANTIATE_TEST_SUITE_P(
    Files, Header,
    testing::Values(NoTrace{"", "the file is empty"}, NoTrace{"OTF2", "this is no EPILOG trace"},
                    NoTrace{"EPI", "the file ends inside its header"},
                    NoTrace{header(2, 0, 1).substr(0, 9), "the file ends inside its header"},
                    NoTrace{"EPILOGx\2\0\1", "this is no EPILOG trace"},
                    NoTrace{header(3, 1, 1), "unknown format version 3.1"},
                    NoTrace{header(0, 9, 1), "unknown format version 0.9"},
                    NoTrace{header(2, 0, 3), "unknown byte order 3"}));

TEST(Reading, AMissingFileAndADirectoryAreRefused) {
  test::TempDir dir;
  EXPECT_EQ(TraceReader::open(dir.file("none.elg")).error().reason,
            "cannot be opened: No such file or directory");
  const auto directory = TraceReader::open(dir.path().string());
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().remedy, "give a trace file, not a directory");
}

TEST(Reading, MemoryIsASourceToo) {
  const auto trace = text_to_trace("ENTER lid=0 time=0 region=f\nEXIT lid=0 time=1\n");
  ASSERT_TRUE(trace.ok());
  auto reader = TraceReader::from(memory_source(trace->data(), trace->size()), "memory");
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(records_of(*reader) == without_header(*trace));
}

// A process that was killed: the file is valid up to `base`, the rest lies in the buffer file.
class TraceWithBuffer : public testing::Test {
 protected:
  void write(std::uint64_t base, std::uint64_t end, std::size_t file_size) {
    trace_ = *text_to_trace(
        "LOCAL_RUN size=1 pid=0\nENTER lid=0 time=0 region=f\n"
        "ENTER lid=0 time=1 region=g\nEXIT lid=0 time=2\n");
    LocalBufferHeader header{};
    std::memcpy(header.magic, LocalBufferHeader::kMagic, sizeof header.magic);
    header.start = 256;
    header.capacity = 4096;
    header.base = base == 0 ? trace_.size() - 14 : base;
    header.end = end == 0 ? trace_.size() : end;
    header.state = LocalBufferHeader::kSaved;
    if (auto reader = TraceReader::from(memory_source(trace_.data(), trace_.size()), "trace")) {
      RawRecord record;
      LocalRun run;
      if (reader->next(record) == TraceReader::Next::kRecord &&
          decode(record, reader->dialect(), run) == nullptr) {
        header.run_hi = raw(run.run_hi);
        header.run_lo = raw(run.run_lo);
      }
    }
    std::vector<std::byte> buffer(256 + 4096);
    std::memcpy(buffer.data(), &header, sizeof header);
    if (header.base < trace_.size()) {
      std::copy(trace_.begin() + static_cast<std::ptrdiff_t>(header.base), trace_.end(),
                buffer.begin() + 256);
    }
    auto file = trace_;
    file.resize(file_size == 0 ? header.base : file_size);
    test::write_file(dir_.file("0.0.elg"), file);
    test::write_file(dir_.file("0.0.buf"), buffer);
  }
  Result<TraceReader> open() {
    auto source = open_local_source(dir_.file("0.0.elg"));
    if (!source) return source.error();
    return TraceReader::from(std::move(*source), "0.0.elg");
  }
  test::TempDir dir_;
  std::vector<std::byte> trace_;
};

TEST_F(TraceWithBuffer, ContinuesTheTrace) {
  write(0, 0, 0);
  auto reader = open();
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  TraceReader::Next how;
  EXPECT_TRUE(records_of(*reader, &how) == without_header(trace_));
  EXPECT_EQ(how, TraceReader::Next::kEnd);
  ASSERT_TRUE(reader->seek(kHeaderSize).ok());
  EXPECT_TRUE(records_of(*reader) == without_header(trace_));
}

TEST_F(TraceWithBuffer, ReplacesWhatAnInterruptedFlushHadCopied) {
  write(0, 0, 0);
  write(0, 0, trace_.size() - 3);
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  TraceReader::Next how;
  EXPECT_TRUE(records_of(*reader, &how) == without_header(trace_));
  EXPECT_EQ(how, TraceReader::Next::kEnd);
}

TEST_F(TraceWithBuffer, ClosesNoGap) {
  write(0, 0, 100);  // the file lost bytes that the buffer believes written
  auto reader = open();
  ASSERT_TRUE(reader.ok());
  TraceReader::Next how;
  records_of(*reader, &how);
  EXPECT_EQ(how, TraceReader::Next::kDamaged);
}

TEST_F(TraceWithBuffer, ThatContradictsItselfIsRefused) {
  write(500, 400, 0);
  EXPECT_FALSE(open().ok());
  write(100, 100 + 5000, 0);
  EXPECT_FALSE(open().ok());
  test::write_file(dir_.file("0.0.buf"), std::string("no buffer"));
  const auto reader = open();
  ASSERT_FALSE(reader.ok());
  EXPECT_EQ(reader.error().file, dir_.file("0.0.buf"));
}

TEST(Writing, AFileAppearsWhenItIsComplete) {
  test::TempDir dir;
  const std::string path = dir.file("a.elg");
  auto writer = TraceWriter::create(path, Dialect{});
  ASSERT_TRUE(writer.ok());
  EXPECT_TRUE(writer->write(LastDef{}));
  EXPECT_TRUE(std::filesystem::is_empty(dir.path())) << "nothing is seen before";
  ASSERT_TRUE(writer->commit().ok());
  EXPECT_EQ(std::filesystem::file_size(path), kHeaderSize + 2);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
    (void)entry;
    ++files;
  }
  EXPECT_EQ(files, 1u) << "no temporary file is left";
}

TEST(Writing, AnOlderFileStaysUntilThen) {
  test::TempDir dir;
  const std::string path = dir.file("a.elg");
  test::write_file(path, std::string("old"));
  {
    auto abandoned = TraceWriter::create(path, Dialect{});
    ASSERT_TRUE(abandoned.ok());
    abandoned->write(LastDef{});
  }
  EXPECT_EQ(test::read_text(path), "old");
  auto writer = TraceWriter::create(path, Dialect{});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->commit().ok());
  EXPECT_EQ(std::filesystem::file_size(path), kHeaderSize);
}

TEST(Writing, WhatCannotBeWrittenIsExitCode4) {
  test::TempDir dir;
  const auto missing = TraceWriter::create(dir.file("no/such/place.elg"), Dialect{});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ExitCode::kOutputFailed);
  const auto directory = TraceWriter::create(dir.path().string(), Dialect{});
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().code, ExitCode::kOutputFailed);
  auto full = TraceWriter::create("/dev/full", Dialect{});
  ASSERT_TRUE(full.ok());
  const Status status = full->commit();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ExitCode::kOutputFailed);
  EXPECT_EQ(status.error().file, "/dev/full");
  EXPECT_FALSE(status.error().remedy.empty());
}

// What is in a directory after a process that was writing a.elg there died by a signal.
std::size_t files_left_after(int signal, OutputFile::Temporary temporary) {
  test::TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    remove_temporary_files_on_signals();
    auto file = OutputFile::create(dir.file("a.elg"), temporary);
    if (!file.ok() || !file->write("half", 4).ok()) ::_exit(1);
    ::raise(signal);
    ::_exit(2);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), signal);
  const std::filesystem::directory_iterator entries(dir.path());
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

TEST(Writing, ASignalLeavesNothingBehind) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EQ(files_left_after(signal, OutputFile::Temporary::kUnnamed), 0u) << signal;
    EXPECT_EQ(files_left_after(signal, OutputFile::Temporary::kHidden), 0u) << signal;
  }
}

// Others may write to the folder, and have put links to somebody's file there.
TEST(Writing, LinksInTheFolderLeadNowhere) {
  for (const auto temporary : {OutputFile::Temporary::kUnnamed, OutputFile::Temporary::kHidden}) {
    test::TempDir dir;
    test::write_file(dir.file("victim"), std::string("precious"));
    const std::string guessed = dir.file(".a.elg." + std::to_string(::getpid()) + ".part");
    for (const std::string& name : {guessed, dir.file("a.elg")}) {
      ASSERT_EQ(::symlink("victim", name.c_str()), 0);
    }
    auto file = OutputFile::create(dir.file("a.elg"), temporary);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write("whole", 5).ok());
    ASSERT_TRUE(file->commit().ok());
    EXPECT_EQ(test::read_text(dir.file("victim")), "precious");
    EXPECT_EQ(test::read_text(dir.file("a.elg")), "whole");
    EXPECT_TRUE(std::filesystem::is_symlink(guessed)) << "it is not ours to remove";
  }
}

TEST(Writing, NamesOfTemporaryFilesCannotBeGuessed) {
  test::TempDir dir;
  std::vector<OutputFile> files;
  std::set<std::string> names;
  for (int i = 0; i < 8; ++i) {
    auto file = OutputFile::create(dir.file("a.elg"), OutputFile::Temporary::kHidden);
    ASSERT_TRUE(file.ok());
    files.push_back(std::move(*file));
    for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
      names.insert(entry.path().filename());
    }
  }
  EXPECT_EQ(names.size(), 8u);  // of one process, for one output
}

TEST(Writing, AHiddenTemporaryFileBecomesTheOutput) {
  test::TempDir dir;
  auto file = OutputFile::create(dir.file("a.elg"), OutputFile::Temporary::kHidden);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write("whole", 5).ok());
  EXPECT_FALSE(std::filesystem::exists(dir.file("a.elg")));
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(test::read_text(dir.file("a.elg")), "whole");
  remove_temporary_files();
  EXPECT_TRUE(std::filesystem::exists(dir.file("a.elg"))) << "it is nobody's temporary file now";
}

}  // namespace
}  // namespace kojak
