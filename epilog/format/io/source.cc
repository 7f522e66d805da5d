// Byte sources: file, memory; what is compressed or a pipe is decompress.cc's.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "epilog/format/io/compression.h"
#include "epilog/format/io/reader.h"

namespace kojak {
namespace {

class FileSource final : public ByteSource {
 public:
  explicit FileSource(int fd) : fd_(fd) {}
  ~FileSource() override { ::close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  std::ptrdiff_t read(std::byte* to, std::size_t n) override {
    ssize_t got;
    do {
      got = ::pread(fd_, to, n, static_cast<off_t>(position_));
    } while (got < 0 && errno == EINTR);
    if (got < 0) errno_ = errno;
    if (got > 0) position_ += static_cast<std::uint64_t>(got);
    return got;
  }
  bool seekable() const override { return true; }
  bool seek(std::uint64_t offset) override {
    position_ = offset;
    return true;
  }
  std::string error() const override { return std::string("cannot be read: ") + strerror(errno_); }

 private:
  int fd_;
  int errno_ = 0;
  std::uint64_t position_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(const std::byte* data, std::size_t size) : data_(data), size_(size) {}
  std::ptrdiff_t read(std::byte* to, std::size_t n) override {
    n = std::min(n, size_ - position_);
    if (n != 0) std::memcpy(to, data_ + position_, n);
    position_ += n;
    return static_cast<std::ptrdiff_t>(n);
  }
  bool seekable() const override { return true; }
  bool seek(std::uint64_t offset) override {
    position_ = static_cast<std::size_t>(std::min<std::uint64_t>(offset, size_));
    return true;
  }
  std::string error() const override { return {}; }

 private:
  const std::byte* data_;
  std::size_t size_;
  std::size_t position_ = 0;
};

Error cannot_open(const std::string& path, int code) {
  return {ExitCode::kBadInput,
          path,
          std::nullopt,
          "",
          "",
          std::string("cannot be opened: ") + strerror(code),
          code == ENOENT ? "check the name" : "check its permissions"};
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path) {
  const bool standard_input = path == "-";
  const int fd = standard_input ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cannot_open(path, errno);
  const bool stream = ::lseek(fd, 0, SEEK_CUR) != 0;  // a pipe, or input begun by another
  std::byte first[kCompressionMagic];
  std::size_t size = 0;
  ssize_t got;
  do {  // a pipe may give them one by one
    got = stream ? ::read(fd, first + size, sizeof first - size)
                 : ::pread(fd, first + size, sizeof first - size, static_cast<off_t>(size));
    if (got > 0) size += static_cast<std::size_t>(got);
  } while ((got > 0 && size != sizeof first) || (got < 0 && errno == EINTR));
  if (got < 0) {
    const int code = errno;
    ::close(fd);
    return Error{ExitCode::kBadInput,
                 path,
                 0,
                 "",
                 "",
                 std::string("cannot be read: ") + strerror(code),
                 code == EISDIR ? "give a trace file, not a directory" : "check the file"};
  }
  const Compression how = compression_of({first, size});
  if (!stream && how == Compression::kNone) {
    return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(fd));
  }
  auto input =
      std::make_unique<InputBytes>(fd, std::span<const std::byte>(first, stream ? size : 0));
  return decompressed(std::move(input), how);
}

std::unique_ptr<ByteSource> memory_source(const std::byte* data, std::size_t size) {
  return std::make_unique<MemorySource>(data, size);
}

}  // namespace kojak
