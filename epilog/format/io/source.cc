// Byte sources: file, gzip or pipe through zlib, memory.
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

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

// gzip, and pipes of either kind: zlib passes plain bytes through.
class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(gzFile file) : file_(file) { gzbuffer(file_, 128 * 1024); }
  ~GzipSource() override { gzclose(file_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  std::ptrdiff_t read(std::byte* to, std::size_t n) override {
    const unsigned want = static_cast<unsigned>(std::min<std::size_t>(n, 1u << 30));
    const int got = gzread(file_, to, want);
    int code = Z_OK;
    if (got <= 0) {
      gzerror(file_, &code);
      // zlib reports a truncated stream as a buffer error after the last bytes it could give.
      if (code != Z_OK && code != Z_STREAM_END) return -1;
    }
    return got;
  }
  bool seekable() const override { return false; }
  bool seek(std::uint64_t) override { return false; }
  std::string error() const override {
    int code = Z_OK;
    const char* text = gzerror(file_, &code);
    if (code == Z_BUF_ERROR) return "the compressed file is truncated";
    if (code == Z_ERRNO) return std::string("cannot be read: ") + strerror(errno);
    return std::string("the compressed data are damaged: ") + (text != nullptr ? text : "");
  }

 private:
  gzFile file_;
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
  bool through_zlib = ::lseek(fd, 0, SEEK_CUR) != 0;  // a pipe, or input begun by another
  if (!through_zlib) {
    unsigned char magic[2] = {0, 0};
    const ssize_t got = ::pread(fd, magic, 2, 0);
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
    through_zlib = got == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
  }
  if (!through_zlib) return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(fd));
  gzFile file = gzdopen(fd, "rb");
  if (file == nullptr) {
    ::close(fd);
    return cannot_open(path, ENOMEM);
  }
  return std::unique_ptr<ByteSource>(std::make_unique<GzipSource>(file));
}

std::unique_ptr<ByteSource> memory_source(const std::byte* data, std::size_t size) {
  return std::make_unique<MemorySource>(data, size);
}

}  // namespace kojak
