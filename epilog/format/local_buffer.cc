#include "epilog/format/local_buffer.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>

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

Error damaged(const std::string& path, const char* reason) {
  return {ExitCode::kBadInput,
          path,
          std::nullopt,
          "",
          "",
          reason,
          "remove it to read the trace file beside it alone"};
}

}  // namespace

std::string local_buffer_path(const std::string& trace_path) {
  std::string path = trace_path;
  if (path.ends_with(".elg")) path.resize(path.size() - 4);
  return path + ".buf";
}

Result<std::unique_ptr<ByteSource>> open_local_source(const std::string& trace_path) {
  auto file = open_source(trace_path);
  if (!file) return file;
  const std::string path = local_buffer_path(trace_path);
  struct stat info {};
  if (path == trace_path || ::stat(path.c_str(), &info) != 0) return file;
  auto buffer = open_source(path);
  if (!buffer) return buffer;
  LocalBufferHeader header{};
  if ((*buffer)->read(reinterpret_cast<std::byte*>(&header), sizeof header) !=
          static_cast<std::ptrdiff_t>(sizeof header) ||
      std::memcmp(header.magic, LocalBufferHeader::kMagic, sizeof header.magic) != 0) {
    return damaged(path, "is no buffer of a local trace");
  }
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (header.end < header.base || header.end - header.base > header.capacity ||
      header.start > size || header.end - header.base > size - header.start) {
    return damaged(path, "the buffer of a local trace contradicts itself");
  }
  return std::unique_ptr<ByteSource>(
      std::make_unique<LocalSource>(std::move(*file), std::move(*buffer), header));
}

}  // namespace kojak
