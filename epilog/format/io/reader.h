// Reads records of a trace, one after the other: plain, gzip or zstd, any byte order and dialect.
//
// Compact records (version 3.0) come out as version 2.0 has them, and so do their offsets; place()
// tells where a record stands in the file.
// A merged trace says how many events it has, and nothing stands behind them: at the end of the
// file the reader compares. What does not agree is damage, in the same words for every tool.
// The reader owns a fixed buffer; a RawRecord and all views decoded from it are valid until the
// next call of next(), seek() or the reader's end. Not thread-safe; several readers of one file are
// fine. Errors: open() fails for what is no trace or has an unknown version (fatal); next() returns
// kDamaged once, behind the last record, when the file ends inside one, cannot be read on, or has
// more or less than its definitions announce, and error() says where. Everything before the damage
// has been delivered. Nothing throws.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "epilog/format/error.h"
#include "epilog/format/record/codec.h"

namespace kojak {

// Where bytes come from. Implementations: file, gzip, zstd, pipe, memory.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads up to n bytes; 0 at the end, -1 on an error that error() explains.
  virtual std::ptrdiff_t read(std::byte* to, std::size_t n) = 0;
  virtual bool seekable() const = 0;
  // Moves to an absolute offset; only if seekable.
  virtual bool seek(std::uint64_t offset) = 0;
  virtual std::string error() const = 0;
  // Where in the file the byte at this offset comes from, and how much of the file has been read.
  virtual std::uint64_t place(std::uint64_t offset) { return offset; }
  virtual std::uint64_t consumed() const { return 0; }
};

// Opens a file, "-" for standard input; gzip and zstd are recognised by their first bytes.
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
    if (is_event(record.type)) [[likely]] {
      ++events_;
    } else {
      other_record(record);
    }
    return Next::kRecord;
  }

  // For a loop that walks the buffer by itself, from cursor() on: records that begin before
  // whole_until() lie in it whole. Then skip_to() where it stopped, with the events that were read
  // in all and whether an attribute stands before that place, and next() again.
  const std::byte* cursor() const { return buffer_.get() + pos_; }
  const std::byte* whole_until() const {
    return buffer_.get() + (end_ < pos_ + kMaxRecord ? pos_ : end_ - kMaxRecord + 1);
  }
  void skip_to(const std::byte* cursor, std::uint64_t events, bool attribute) {
    pos_ = static_cast<std::size_t>(cursor - buffer_.get());
    events_ = events;
    if (attribute) attribute_before_ = events;
  }

  // The bytes that lie behind the last record that was read, as far as they are there by now (some,
  // unless the file ends); the records in them are still to be read.
  std::span<const std::byte> ahead();

  // Offset of the next record.
  std::uint64_t offset() const { return base_ + pos_; }
  // Where the record with this offset stands in the file, for messages: of compact records that
  // takes time.
  std::uint64_t place(std::uint64_t offset) const { return source_->place(offset); }
  // How far reading has come in the file.
  std::uint64_t progress() const { return dialect_.compact() ? source_->consumed() : offset(); }
  // Continues at the record that starts at `offset`. The metric count of the dialect is kept;
  // events are no longer counted.
  Status seek(std::uint64_t offset);
  // A second reader of the same file may take over what the first learned.
  void set_metrics(std::uint32_t metrics) { dialect_.metrics = metrics; }
  const Error& error() const { return error_; }

 private:
  TraceReader() = default;
  bool refill();  // false if nothing is left in the buffer
  Next finish();  // at the end of the data: kEnd, or kDamaged if it is not where it should be
  void other_record(const RawRecord& record);
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

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t events_ = 0;                      // so far
  std::uint64_t attribute_before_ = kNone;        // how many there were at the last attribute
  std::optional<std::uint64_t> announced_;        // by NUM_EVENTS
  bool defined_ = false;                          // LAST_DEF has passed
  std::uint64_t late_ = 0, late_offset_ = kNone;  // definitions behind it
};

// What is wrong with a file whose events are not those that its definitions announce, in words that
// all readers share; nothing if that is as it should be.
std::string wrong_number_of_events(std::uint64_t events, std::uint64_t announced);
inline constexpr const char* kEndsInsideRecord = "the file ends inside a record";
inline constexpr const char* kWrongChecksum = "a block's checksum is wrong: its bytes were changed";
inline constexpr const char* kDefinitionsBehind = "definitions stand behind the last one";
inline constexpr const char* kCutOffRemedy =
    "the whole records that are there were kept; repeat the merge or the copy";
// What to do about a source's error().
const char* damage_remedy(std::string_view reason);

}  // namespace kojak
