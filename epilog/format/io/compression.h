// How a file may be compressed as a whole: gzip or zstd, recognised by its first bytes.
//
// Sources decompress in a thread of their own where there is a second processor: what is read is
// ahead of the reader by a few buffers. Outputs compress as they go. Owns what it is given. Errors:
// as ByteSource and OutputFile say; data that end too early, or are damaged, are told apart. Not
// thread-safe, but for the thread inside.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "epilog/format/io/output_file.h"
#include "epilog/format/io/reader.h"

namespace kojak {

enum class Compression : std::uint8_t { kNone, kGzip, kZstd };

inline constexpr std::size_t kCompressedPiece = 128 * 1024;  // read or written at once, in bytes
inline constexpr std::size_t kCompressionMagic = 4;
// How a file is compressed that begins with these bytes, kCompressionMagic of them or all it has.
Compression compression_of(std::span<const std::byte> first);

// The bytes of a file or pipe, after some that have been read already.
class InputBytes {
 public:
  InputBytes(int fd, std::span<const std::byte> begun);  // takes the descriptor
  ~InputBytes();
  InputBytes(const InputBytes&) = delete;
  InputBytes& operator=(const InputBytes&) = delete;
  // What ByteSource::read() does; after stop() an end.
  std::ptrdiff_t read(std::byte* to, std::size_t n);
  // From any thread: whoever waits for bytes of a pipe waits no longer.
  void stop() { stopped_ = true; }
  std::string error() const;

 private:
  int fd_;
  bool waits_;  // for somebody who writes
  std::byte begun_[kCompressionMagic];
  std::size_t begun_at_ = 0, begun_size_;
  int errno_ = 0;
  std::atomic<bool> stopped_{false};
};

// What the input holds; with kNone its bytes as they are.
std::unique_ptr<ByteSource> decompressed(std::unique_ptr<InputBytes> input, Compression how);

// Compresses what is written into a file. finish() before the file's commit().
class Compressor {
 public:
  virtual ~Compressor() = default;
  virtual Status write(OutputFile& file, const std::byte* data, std::size_t size) = 0;
  virtual Status finish(OutputFile& file) = 0;
};
// Null for kNone.
std::unique_ptr<Compressor> make_compressor(Compression how);

}  // namespace kojak
