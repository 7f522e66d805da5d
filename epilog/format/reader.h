// Reads records of a trace, one after the other: plain or gzip, either byte order, either dialect.
//
// The reader owns a fixed buffer; a RawRecord and all views decoded from it are valid until the
// next call of next(), seek() or the reader's end. Not thread-safe; several readers of one file are
// fine. Errors: open() fails for what is no trace or has an unknown version (fatal); next() returns
// kDamaged once when the file ends inside a record or cannot be read on, and error() says where.
// Everything before the damage has been delivered. Nothing throws.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "epilog/format/codec.h"
#include "epilog/format/error.h"

namespace kojak {

// Where bytes come from. Implementations: file, gzip, pipe, memory.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads up to n bytes; 0 at the end, -1 on an error that error() explains.
  virtual std::ptrdiff_t read(std::byte* to, std::size_t n) = 0;
  virtual bool seekable() const = 0;
  // Moves to an absolute offset; only if seekable.
  virtual bool seek(std::uint64_t offset) = 0;
  virtual std::string error() const = 0;
};

// Opens a file, "-" for standard input; gzip is recognised by its first bytes.
Result<std::unique_ptr<ByteSource>> open_source(const std::string& path);
// Over bytes that must outlive the source.
std::unique_ptr<ByteSource> memory_source(const std::byte* data, std::size_t size);

class TraceReader {
 public:
  enum class Next : std::uint8_t { kRecord, kEnd, kDamaged };
  static constexpr std::size_t kDefaultBuffer = 256 * 1024;

  static Result<TraceReader> open(const std::string& path, std::size_t buffer = kDefaultBuffer);
  static Result<TraceReader> from(std::unique_ptr<ByteSource> source, std::string name,
                                  std::size_t buffer = kDefaultBuffer);

  const Dialect& dialect() const { return dialect_; }
  const std::string& path() const { return path_; }
  bool seekable() const { return source_->seekable(); }

  // The next record of any kind. METRIC definitions are counted into the dialect as they pass.
  KOJAK_INLINED Next next(RawRecord& record) {
    if (end_ - pos_ < kMaxRecord) [[unlikely]] {
      if (!refill()) return finish();
    }
    const std::byte* p = buffer_.get() + pos_;
    record.length = static_cast<std::uint8_t>(p[0]);
    record.type = static_cast<std::uint8_t>(p[1]);
    record.body = p + 2;
    record.offset = base_ + pos_;
    const std::size_t size = std::size_t{2} + record.length;
    if (end_ - pos_ < size) [[unlikely]]
      return finish();
    pos_ += size;
    if (record.type == static_cast<std::uint8_t>(RecordType::kMetric)) [[unlikely]] {
      ++dialect_.metrics;
    }
    return Next::kRecord;
  }

  // For a loop that walks the buffer by itself, from cursor() on: records that begin before
  // whole_until() lie in it whole. Then skip_to() where it stopped, and next() again.
  const std::byte* cursor() const { return buffer_.get() + pos_; }
  const std::byte* whole_until() const {
    return buffer_.get() + (end_ < pos_ + kMaxRecord ? pos_ : end_ - kMaxRecord + 1);
  }
  void skip_to(const std::byte* cursor) { pos_ = static_cast<std::size_t>(cursor - buffer_.get()); }

  // Offset of the next record.
  std::uint64_t offset() const { return base_ + pos_; }
  // Continues at the record that starts at `offset`. The metric count of the dialect is kept.
  Status seek(std::uint64_t offset);
  // A second reader of the same file may take over what the first learned.
  void set_metrics(std::uint32_t metrics) { dialect_.metrics = metrics; }
  const Error& error() const { return error_; }

 private:
  TraceReader() = default;
  bool refill();  // false if nothing is left in the buffer
  Next finish();  // at the end of the data: kEnd, or kDamaged if bytes are left over
  Status read_header();

  std::unique_ptr<ByteSource> source_;
  std::string path_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t pos_ = 0;
  std::size_t end_ = 0;
  std::uint64_t base_ = 0;  // file offset of buffer_[0]
  Dialect dialect_;
  bool at_end_ = false;
  bool failed_ = false;
  Error error_;
};

}  // namespace kojak
