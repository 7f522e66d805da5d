// One local trace as the merge reads it: where its bytes are, and a buffered reader over them.
//
// A LocalTrace is a description only: the parts of the trace file and of the buffer file beside it,
// one after the other. A LocalInput owns one buffer and reads whole records from it; several may
// read the same trace. Compact records come out as version 2.0 has them, and offsets are those that
// they would have there; place() tells where one stands in the trace. Pointers into the buffer are
// valid until the next fill(). Bytes come through the FileCache, which must outlive it. Errors: a
// read that fails ends the input; error() says why. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "epilog/format/compact/decode.h"
#include "epilog/format/error.h"
#include "epilog/format/record/codec.h"
#include "merge/input/file_cache.h"

namespace kojak::merge {

struct LocalTrace {
  struct Part {
    FileCache::FileId file = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  std::string path;
  std::vector<Part> parts;
  std::uint64_t size = 0;  // of all parts
  Dialect dialect;
  std::uint64_t run_hi = 0, run_lo = 0;
  std::uint32_t run_size = 0;
  std::uint32_t rank = 0;
  std::uint32_t thread = 0;
  bool damaged = false;  // the source ended with an error: what was read is kept
  std::uint64_t device = 0, inode = 0;
};

class LocalInput {
 public:
  // Starts at the first record. The buffer holds at least a few records.
  LocalInput(FileCache& files, const LocalTrace& trace, std::size_t buffer)
      : files_(&files), trace_(&trace), capacity_(buffer < kLeast ? kLeast : buffer) {
    seek(kHeaderSize);
    if (trace.dialect.compact()) packed_ = std::make_unique<Packed>(trace, capacity_);
  }

  const std::byte* position() const { return p_; }
  const std::byte* end() const { return end_; }
  std::size_t available() const { return static_cast<std::size_t>(end_ - p_); }
  void skip(std::size_t n) { p_ += n; }
  void set_position(const std::byte* p) { p_ = p; }
  // Offset in the trace of a pointer into the buffer.
  std::uint64_t offset(const std::byte* p) const {
    return base_ + static_cast<std::uint64_t>(p - buffer_.get());
  }
  std::uint64_t offset() const { return offset(p_); }
  // Nothing will come after what the buffer holds.
  bool exhausted() const {
    return (packed_ != nullptr ? packed_->ended : base_ + used() >= trace_->size) || failed();
  }
  // How far reading has come in the trace.
  std::uint64_t progress() const { return packed_ != nullptr ? packed_->position() : offset(); }
  // Where the record with this offset stands in the trace, for messages: of compact records that
  // takes time.
  std::uint64_t place(std::uint64_t offset) const;
  // When all has been read: why the rest of the trace cannot be, or null.
  const char* damage() const;

  // Keeps the bytes from `keep` (at or before the position) and reads as much as fits behind them.
  // Returns where `keep` is now.
  const std::byte* fill(const std::byte* keep);
  void fill() { fill(p_); }
  void seek(std::uint64_t offset);
  bool failed() const { return error_ != nullptr; }
  const Error& error() const { return *error_; }  // only if it failed
  // The buffer is allocated by the first fill(); a finished input gives it back.
  void release() {
    buffer_.reset();
    p_ = end_ = nullptr;
    base_ = trace_->size;
    if (packed_ != nullptr) packed_->finish();
  }

  static constexpr std::size_t kLeast = 4096;

 private:
  // Compact records on their way into the buffer.
  struct Packed {
    Packed(const LocalTrace& trace, std::size_t buffer)
        : decoder(trace.dialect.swapped()), capacity(std::max(buffer / 4, kLeast)) {}
    std::uint64_t position() const { return at + in; }
    void finish() {
      input.reset();
      at += end;
      in = end = 0;
      ended = true;
    }
    compact::Decoder decoder;
    std::size_t capacity;
    std::unique_ptr<std::byte[]> input;
    std::size_t in = 0, end = 0;
    std::size_t needs = compact::kMaxItem;  // bytes to go on
    std::uint64_t at = kHeaderSize;         // of input[0] in the trace
    bool ended = false;
    const char* damage = nullptr;
  };
  Status read(std::uint64_t at, std::byte* to, std::size_t n, std::size_t& got) const;
  Status fill(Packed& packed) const;
  void fail_by(Status status);
  std::size_t unpack(std::byte* to, std::byte* end);

  std::uint64_t used() const { return static_cast<std::uint64_t>(end_ - buffer_.get()); }
  const std::byte* p_ = nullptr;  // first: all that reading on needs, in the common case
  const std::byte* end_ = nullptr;
  std::uint64_t base_ = 0;
  std::unique_ptr<std::byte[]> buffer_;
  FileCache* files_;
  const LocalTrace* trace_;
  std::size_t capacity_;
  std::unique_ptr<Error> error_;
  std::unique_ptr<Packed> packed_;
};

}  // namespace kojak::merge
