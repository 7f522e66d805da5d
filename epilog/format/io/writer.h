// Writes a trace so that it appears under its name complete or not at all.
//
// The writer owns its buffer and the output (output_file.h); commit() gives it the name. "-" writes
// to standard output as it goes. With a dialect of version 3.0 the records are made compact when
// the buffer is full: who fills it, and a BufferSink, see those of version 2.0.
// Errors are remembered: write() never fails visibly, status() and commit() tell the first one
// (exit code 4). A writer that is destroyed before commit() leaves nothing behind.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "epilog/format/error.h"
#include "epilog/format/io/record_output.h"

namespace kojak {

// Takes the full buffers of a TraceWriter off it, to write them elsewhere or at another time.
class BufferSink {
 public:
  virtual ~BufferSink() = default;
  // Takes a buffer with so many bytes, and gives another of the same size.
  virtual std::unique_ptr<std::byte[]> exchange(std::unique_ptr<std::byte[]> full,
                                                std::size_t used) = 0;
  // All that was taken is in the file now; the first error.
  virtual Status drain() = 0;
};

class TraceWriter {
 public:
  static constexpr std::size_t kBuffer = 512 * 1024;

  // Writes the header at once. `dialect.metrics` is the number of METRIC definitions that flow
  // events will carry values for.
  static Result<TraceWriter> create(const std::string& path, const Dialect& dialect,
                                    Compression compression = Compression::kNone);

  const Dialect& dialect() const { return dialect_; }
  // Where the next record will stand, as version 2.0 has it.
  std::uint64_t offset() const { return flushed_ + used_; }

  // Returns false if the record does not fit (too long): a caller's mistake or hostile input.
  template <class R>
  KOJAK_INLINED bool write(const R& record) {
    if (kBuffer - used_ < kMaxRecord) [[unlikely]]
      flush();
    const std::size_t size = encode(record, dialect_, buffer_.get() + used_);
    used_ += size;
    return size != 0;
  }
  // A body that is already in this file's byte order.
  void write_raw(std::uint8_t type, const std::byte* body, std::size_t length) {
    if (kBuffer - used_ < kMaxRecord) [[unlikely]]
      flush();
    std::byte* to = buffer_.get() + used_;
    to[0] = static_cast<std::byte>(length);
    to[1] = static_cast<std::byte>(type);
    if (length != 0) std::memcpy(to + 2, body, length);
    used_ += 2 + length;
  }
  // The free part of the buffer, at least `size` (up to kBuffer) bytes, for callers that encode by
  // themselves; used() tells how much of it they filled.
  std::span<std::byte> room(std::size_t size) {
    if (kBuffer - used_ < size) [[unlikely]]
      flush();
    return {buffer_.get() + used_, kBuffer - used_};
  }
  void used(std::size_t size) { used_ += size; }
  // Replaces earlier records, as what is known later only; only if seekable(), and in compact files
  // only the number of events.
  Status overwrite(std::uint64_t offset, const void* data, std::size_t size);
  bool seekable() const { return output_.seekable(); }

  // A string of any length, with the STRING_CNT records it needs.
  void write_string(StringId id, std::string_view text);
  // A group of any size, with its continuations.
  void write_group(GroupId id, std::uint8_t mode, const std::uint32_t* ranks, std::size_t count);
  // A communicator as a bit vector (classic), with its continuations.
  void write_comm_bits(CommId id, std::uint8_t uag, const std::uint8_t* bits, std::size_t bytes);

  // From now on full buffers go there; it must outlive the last of them. The writer must not be
  // moved any more.
  void set_sink(BufferSink* sink) { sink_ = sink; }
  RecordOutput& output() { return output_; }

  Status status() const { return error_.reason.empty() ? Status() : Status(error_); }
  Status commit();

 private:
  TraceWriter(OutputFile file, const Dialect& dialect, Compression compression);
  void flush();
  void drain();

  RecordOutput output_;
  BufferSink* sink_ = nullptr;
  Dialect dialect_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t used_ = 0;
  std::uint64_t flushed_ = 0;
  Error error_;
};

}  // namespace kojak
