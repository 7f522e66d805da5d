#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "epilog/format/io/compression.h"

namespace kojak {
namespace {

constexpr const char* kTruncated = "the compressed file is truncated";

std::string damaged(const char* why) {
  return std::string("the compressed data are damaged: ") + (why != nullptr ? why : "");
}

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(std::unique_ptr<InputBytes> input) : input_(std::move(input)) {}
  std::ptrdiff_t read(std::byte* to, std::size_t n) override { return input_->read(to, n); }
  bool seekable() const override { return false; }
  bool seek(std::uint64_t) override { return false; }
  std::string error() const override { return input_->error(); }

 private:
  std::unique_ptr<InputBytes> input_;
};

// What both have: packed bytes on their way, and what ended them.
class Unpacker : public ByteSource {
 public:
  explicit Unpacker(std::shared_ptr<InputBytes> input)
      : input_(std::move(input)),
        packed_(std::make_unique_for_overwrite<std::byte[]>(kCompressedPiece)) {}
  bool seekable() const final { return false; }
  bool seek(std::uint64_t) final { return false; }
  std::string error() const final { return error_; }

 protected:
  // More behind what is left; false at the end, or if that fails.
  bool fill() {
    std::memmove(packed_.get(), packed_.get() + in_, end_ - in_);
    end_ -= in_;
    in_ = 0;
    const std::ptrdiff_t got = input_->read(packed_.get() + end_, kCompressedPiece - end_);
    if (got < 0) error_ = input_->error();
    if (got <= 0) return false;
    end_ += static_cast<std::size_t>(got);
    return true;
  }
  std::ptrdiff_t fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
    return -1;
  }
  const std::byte* next() const { return packed_.get() + in_; }
  std::size_t left() const { return end_ - in_; }
  void skip(std::size_t n) { in_ += n; }
  bool failed() const { return !error_.empty(); }

 private:
  std::shared_ptr<InputBytes> input_;
  std::unique_ptr<std::byte[]> packed_;
  std::size_t in_ = 0, end_ = 0;
  std::string error_;
};

// Members one behind the other are one; what else stands behind them is ignored, as gzip does.
class GzipSource final : public Unpacker {
 public:
  explicit GzipSource(std::shared_ptr<InputBytes> input) : Unpacker(std::move(input)) {
    good_ = inflateInit2(&stream_, kWindow) == Z_OK;
  }
  ~GzipSource() override {
    if (good_) inflateEnd(&stream_);
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  std::ptrdiff_t read(std::byte* to, std::size_t n) override {
    if (failed()) return -1;
    if (!good_) return fail(damaged("no memory"));
    while (!ended_) {
      if (behind_member_ && !next_member()) break;
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(next()));
      stream_.avail_in = static_cast<uInt>(left());
      const auto want = static_cast<uInt>(std::min<std::size_t>(n, 1u << 30));
      stream_.next_out = reinterpret_cast<Bytef*>(to);
      stream_.avail_out = want;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      skip(left() - stream_.avail_in);
      behind_member_ = code == Z_STREAM_END;
      const bool bad = code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR;
      if (bad) fail(damaged(stream_.msg));
      if (stream_.avail_out != want) return want - stream_.avail_out;
      if (bad) return -1;
      if (!behind_member_ && left() == 0 && !fill()) return fail(kTruncated);
    }
    return failed() ? -1 : 0;
  }

 private:
  static constexpr int kWindow = 15 + 16;  // 16: a gzip header
  bool next_member() {
    while (left() < 2 && fill()) {
    }
    ended_ = left() < 2 || compression_of({next(), 2}) != Compression::kGzip;
    if (!ended_) inflateReset(&stream_);
    behind_member_ = false;
    return !ended_;
  }
  z_stream stream_{};
  bool good_;
  bool behind_member_ = false, ended_ = false;
};

class ZstdSource final : public Unpacker {
 public:
  explicit ZstdSource(std::shared_ptr<InputBytes> input)
      : Unpacker(std::move(input)), stream_(ZSTD_createDStream()) {}

  std::ptrdiff_t read(std::byte* to, std::size_t n) override {
    if (failed()) return -1;
    if (stream_ == nullptr) return fail(damaged("no memory"));
    for (;;) {
      if (left() != 0 || more_inside_) {
        ZSTD_inBuffer in{next(), left(), 0};
        ZSTD_outBuffer out{to, n, 0};
        const std::size_t code = ZSTD_decompressStream(stream_.get(), &out, &in);
        skip(in.pos);
        if (ZSTD_isError(code) != 0) {
          fail(damaged(ZSTD_getErrorName(code)));
          return out.pos != 0 ? static_cast<std::ptrdiff_t>(out.pos) : -1;
        }
        whole_ = code == 0;
        more_inside_ = out.pos == out.size && !whole_;
        if (out.pos != 0) return static_cast<std::ptrdiff_t>(out.pos);
        if (left() != 0) continue;
      }
      more_inside_ = false;
      if (!fill()) return failed() ? -1 : whole_ ? 0 : fail(kTruncated);
    }
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  bool whole_ = false;  // the frames so far
  bool more_inside_ = false;
};

// Reads another source in a thread of its own, some buffers ahead.
class ReadAhead final : public ByteSource {
 public:
  ReadAhead(std::unique_ptr<ByteSource> source, std::shared_ptr<InputBytes> input)
      : source_(std::move(source)), input_(std::move(input)), thread_([this] { run(); }) {}
  ~ReadAhead() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    input_->stop();
    changed_.notify_all();
    thread_.join();
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  std::ptrdiff_t read(std::byte* to, std::size_t n) override {
    Buffer& buffer = buffers_[taken_ % kBuffers];
    if (at_ == 0) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return filled_ != taken_; });
    }
    if (buffer.size <= 0) return buffer.size;  // the last one
    const auto size = static_cast<std::size_t>(buffer.size);
    const std::size_t given = std::min(n, size - at_);
    std::memcpy(to, buffer.bytes.get() + at_, given);
    at_ += given;
    if (at_ == size) {
      at_ = 0;
      const std::lock_guard lock(mutex_);
      ++taken_;
      changed_.notify_all();
    }
    return static_cast<std::ptrdiff_t>(given);
  }
  bool seekable() const override { return false; }
  bool seek(std::uint64_t) override { return false; }
  // Once read() has told of it, the thread is at its end.
  std::string error() const override { return source_->error(); }

 private:
  static constexpr std::size_t kBuffers = 4, kSize = 128 * 1024;
  struct Buffer {
    std::unique_ptr<std::byte[]> bytes = std::make_unique_for_overwrite<std::byte[]>(kSize);
    std::ptrdiff_t size = 0;
  };

  void run() {
    for (;;) {
      std::uint64_t number;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stop_ || filled_ - taken_ < kBuffers; });
        if (stop_) return;
        number = filled_;
      }
      Buffer& buffer = buffers_[number % kBuffers];
      buffer.size = source_->read(buffer.bytes.get(), kSize);
      const bool last = buffer.size <= 0;
      const std::lock_guard lock(mutex_);
      ++filled_;
      changed_.notify_all();
      if (last) return;
    }
  }

  std::unique_ptr<ByteSource> source_;
  std::shared_ptr<InputBytes> input_;
  std::array<Buffer, kBuffers> buffers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t filled_ = 0, taken_ = 0;  // buffers
  bool stop_ = false;
  std::size_t at_ = 0;  // in the buffer that is taken next
  std::thread thread_;
};

}  // namespace

Compression compression_of(std::span<const std::byte> first) {
  const auto begins = [&](std::initializer_list<unsigned> magic) {
    return first.size() >= magic.size() &&
           std::equal(magic.begin(), magic.end(), first.begin(),
                      [](unsigned m, std::byte b) { return std::byte(m) == b; });
  };
  if (begins({0x1F, 0x8B})) return Compression::kGzip;
  if (begins({0x28, 0xB5, 0x2F, 0xFD})) return Compression::kZstd;
  return Compression::kNone;
}

InputBytes::InputBytes(int fd, std::span<const std::byte> begun)
    : fd_(fd), begun_size_(begun.size()) {
  struct stat info {};
  waits_ = ::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode);
  std::copy(begun.begin(), begun.end(), begun_);
}

InputBytes::~InputBytes() {
  ::close(fd_);
}

std::ptrdiff_t InputBytes::read(std::byte* to, std::size_t n) {
  if (begun_at_ != begun_size_) {
    const std::size_t given = std::min(n, begun_size_ - begun_at_);
    std::memcpy(to, begun_ + begun_at_, given);
    begun_at_ += given;
    return static_cast<std::ptrdiff_t>(given);
  }
  constexpr int kLook = 50;  // milliseconds, then whether to stop
  while (waits_ && !stopped_) {
    pollfd event{fd_, POLLIN, 0};
    const int ready = ::poll(&event, 1, kLook);
    if (ready > 0 || (ready < 0 && errno != EINTR)) break;
  }
  if (stopped_) return 0;
  ssize_t got;
  do {
    got = ::read(fd_, to, n);
  } while (got < 0 && errno == EINTR);
  if (got < 0) errno_ = errno;
  return got;
}

std::string InputBytes::error() const {
  return std::string("cannot be read: ") + strerror(errno_);
}

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<InputBytes> input, Compression how) {
  if (how == Compression::kNone) return std::make_unique<PlainSource>(std::move(input));
  const std::shared_ptr<InputBytes> shared = std::move(input);
  std::unique_ptr<ByteSource> source;
  if (how == Compression::kGzip) {
    source = std::make_unique<GzipSource>(shared);
  } else {
    source = std::make_unique<ZstdSource>(shared);
  }
  if (std::thread::hardware_concurrency() <= 1) return source;
  return std::make_unique<ReadAhead>(std::move(source), shared);
}

}  // namespace kojak
