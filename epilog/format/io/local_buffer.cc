#include "epilog/format/io/local_buffer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "epilog/format/io/buffer_file.h"
#include "epilog/format/io/running.h"
#include "epilog/format/record/codec.h"

namespace kojak {
namespace {

class LocalSource final : public ByteSource {
 public:
  LocalSource(std::unique_ptr<ByteSource> file, std::unique_ptr<ByteSource> buffer,
              const LocalBufferHeader& header)
      : file_(std::move(file)), buffer_(std::move(buffer)), header_(header) {}

  std::ptrdiff_t read(std::byte* to, std::size_t n) override {
    in_buffer_ = position_ >= header_.base;
    const std::uint64_t stop = in_buffer_ ? header_.end : header_.base;
    n = static_cast<std::size_t>(std::min<std::uint64_t>(n, stop - std::min(position_, stop)));
    if (n == 0) return 0;
    if (in_buffer_ && !buffer_placed_) {
      if (!buffer_->seek(header_.start + (position_ - header_.base))) return -1;
      buffer_placed_ = true;
    }
    const std::ptrdiff_t got = (in_buffer_ ? buffer_ : file_)->read(to, n);
    if (got > 0) position_ += static_cast<std::uint64_t>(got);
    // n is not 0: the file is shorter than it was, and the buffer's part must not close the gap.
    if (got == 0) return gap_ = true, -1;
    return got;
  }
  bool seekable() const override { return file_->seekable(); }
  bool seek(std::uint64_t offset) override {
    position_ = offset;
    buffer_placed_ = false;
    return offset >= header_.base || file_->seek(offset);
  }
  std::string error() const override {
    if (gap_) return "is shorter than the buffer file beside it says: a part was lost";
    return (in_buffer_ ? buffer_ : file_)->error();
  }

 private:
  std::unique_ptr<ByteSource> file_, buffer_;
  LocalBufferHeader header_;
  std::uint64_t position_ = 0;
  bool in_buffer_ = false;
  bool buffer_placed_ = false;
  bool gap_ = false;
};

constexpr int kPatience = 10'000;  // milliseconds that saving a buffer may take
// Milliseconds, for all buffers together, that processes have to end in: a launcher may come back
// before those it has killed are gone.
std::atomic<int> patience_with_the_living = 1500;

bool read_header_at(const std::string& path, std::uint64_t offset, LocalBufferHeader& header) {
  auto file = open_source(path);
  return file && (offset == 0 || (*file)->seek(offset)) &&
         (*file)->read(reinterpret_cast<std::byte*>(&header), sizeof header) ==
             static_cast<std::ptrdiff_t>(sizeof header);
}
// Reads the header of the saved records, if there is one, else that of the buffer.
bool read_header(const std::string& path, LocalBufferHeader& header) {
  return (read_header_at(path, kSavedHeaderAt, header) &&
          std::memcmp(header.magic, LocalBufferHeader::kMagic, sizeof header.magic) == 0) ||
         read_header_at(path, 0, header);
}

// The process has died and the one that keeps its records has not: they will be here soon. So they
// will if the process is about to die.
bool worth_waiting(const LocalBufferHeader& header) {
  return header.state == LocalBufferHeader::kInMemory && header.error == 0 && header.keeper != 0 &&
         header.kernel != 0 && header.kernel == this_kernel() && is_running(header.keeper) &&
         (!is_running(header.process) || patience_with_the_living-- > 0);
}

// Run, process and thread of a trace file; nothing if it is too short to tell. `strange`: it is no
// local trace.
std::optional<LocalRun> run_of(const std::string& path, bool& strange) {
  auto file = open_source(path);
  std::vector<std::byte> head(kHeaderSize + 2 * kMaxRecord);
  std::size_t size = 0;
  while (file && size < head.size()) {
    const std::ptrdiff_t got = (*file)->read(head.data() + size, head.size() - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  auto reader = TraceReader::from(memory_source(head.data(), size), path);
  RawRecord record;
  LocalRun run;
  if (!reader || reader->next(record) != TraceReader::Next::kRecord) return std::nullopt;
  strange = record.type != static_cast<std::uint8_t>(RecordType::kLocalRun) ||
            decode(record, reader->dialect(), run) != nullptr;
  return strange ? std::nullopt : std::optional(run);
}

std::string owner(const LocalBufferHeader& header) {
  return "rank " + std::to_string(header.rank) + ", thread " + std::to_string(header.thread);
}

const char* why_elsewhere(const LocalBufferHeader& header) {
  if (header.error != 0) return strerror(header.error);
  const bool here = header.kernel != 0 && header.kernel == this_kernel();
  if (here && is_running(header.process)) return "the process still runs";
  return header.keeper == 0
             ? "no process kept them when theirs ended"
             : "the process that kept them was ended with theirs, or it runs elsewhere";
}

Error refused(const BufferFile& buffer) {
  return {ExitCode::kBadInput,
          buffer.path,
          std::nullopt,
          "",
          "",
          buffer.reason,
          "move it away to read the trace file beside it alone"};
}

}  // namespace

std::string local_buffer_path(const std::string& trace_path) {
  std::string path = trace_path;
  if (path.ends_with(".elg")) path.resize(path.size() - 4);
  return path + ".buf";
}

BufferFile find_buffer(const std::string& trace_path) {
  using Kind = BufferFile::Kind;
  BufferFile result;
  result.path = local_buffer_path(trace_path);
  struct stat info {
  }, trace{};
  if (result.path == trace_path || ::stat(result.path.c_str(), &info) != 0 ||
      !S_ISREG(info.st_mode) || ::stat(trace_path.c_str(), &trace) != 0 ||
      !S_ISREG(trace.st_mode)) {
    return result;
  }
  const auto is = [&result](Kind kind, std::string reason) {
    result.kind = kind;
    result.reason = std::move(reason);
    return result;
  };
  LocalBufferHeader& header = result.header;
  if (!read_header(result.path, header)) return is(Kind::kBad, "is no buffer of a local trace");
  constexpr std::size_t kVersion = 6;  // of the letters of the magic
  if (std::memcmp(header.magic, LocalBufferHeader::kMagic, sizeof header.magic) != 0) {
    return is(Kind::kBad, std::memcmp(header.magic, LocalBufferHeader::kMagic, kVersion) == 0
                              ? "was written by another version of the measurement library"
                              : "is no buffer of a local trace");
  }
  // Also who ended just now may have saved the records since the header was read: the last look
  // comes after the last question whether it runs.
  for (int waited = 0; header.state == LocalBufferHeader::kInMemory; ++waited) {
    const bool wait = waited < kPatience && worth_waiting(header);
    if (wait) ::usleep(1000);
    if (::stat(result.path.c_str(), &info) != 0) return {};  // all of it was in the trace file
    if (!read_header(result.path, header)) return is(Kind::kBad, "is no buffer of a local trace");
    if (!wait) break;
  }
  bool strange = false;
  const std::optional<LocalRun> run = run_of(trace_path, strange);
  if (strange) return is(Kind::kForeign, "is no buffer of that trace, which is no local one");
  if (run && (raw(run->run_hi) != header.run_hi || raw(run->run_lo) != header.run_lo)) {
    return is(Kind::kForeign, "is the buffer of another run (" + owner(header) + ")");
  }
  if (run && (raw(run->pid) != header.rank || raw(run->tid) != header.thread)) {
    return is(Kind::kForeign, "is the buffer of " + owner(header));
  }
  if (header.state == LocalBufferHeader::kInMemory)
    return is(Kind::kElsewhere, why_elsewhere(header));
  ::stat(result.path.c_str(), &info);
  ::stat(trace_path.c_str(), &trace);
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (header.end < header.base || header.end - header.base > header.capacity ||
      header.start > size || header.end - header.base > size - header.start) {
    return is(Kind::kBad, "the buffer of a local trace contradicts itself");
  }
  const auto length = static_cast<std::uint64_t>(trace.st_size);
  if (length > header.end) {
    return is(Kind::kForeign, "is older than the trace: it ends at byte " +
                                  std::to_string(header.end) + " of " + std::to_string(length));
  }
  if (length < header.end) result.kind = Kind::kRecords;
  return result;
}

Result<std::unique_ptr<ByteSource>> open_local_source(const std::string& trace_path) {
  auto file = open_source(trace_path);
  if (!file) return file;
  const BufferFile buffer = find_buffer(trace_path);
  switch (buffer.kind) {
    case BufferFile::Kind::kNone:
    case BufferFile::Kind::kElsewhere:
      return file;
    case BufferFile::Kind::kForeign:
    case BufferFile::Kind::kBad:
      return refused(buffer);
    case BufferFile::Kind::kRecords:
      break;
  }
  auto records = open_source(buffer.path);
  if (!records) return records;
  return std::unique_ptr<ByteSource>(
      std::make_unique<LocalSource>(std::move(*file), std::move(*records), buffer.header));
}

}  // namespace kojak
