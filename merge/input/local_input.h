// A buffered reader over one local trace.
//
// A LocalInput owns its buffers and reads whole records from one; several may read the same trace.
// Compact records come out as version 2.0 has them, and offsets are those that they would have
// there; place() tells where one stands in the trace. With helpers, one of them decodes the next
// block while this one is read, from the start. Pointers into the buffer are valid until the next
// fill(). Bytes come through the FileCache, which must outlive it, as must the helpers. Errors: a
// read that fails ends the input; error() says why. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "epilog/format/error.h"
#include "merge/input/local_trace.h"
#include "merge/input/unpacker.h"

namespace kojak::merge {

// What each of several inputs may have.
struct InputBuffers {
  std::size_t bytes = 64 * 1024;  // twice with helpers
  Helpers* helpers = nullptr;     // or none
};

// A part of a trace: from the record with the offset `first`, which is in `block` or behind it, up
// to the one that ends before `end`. Of traces that are not compact both offsets of `block` are
// `first`.
struct InputPart {
  compact::BlockPlace block = Unpacker::kFirst;
  std::uint64_t first = kHeaderSize;
  std::uint64_t end = ~std::uint64_t{0};
};

class LocalInput {
 public:
  // Starts at the first record. The buffer holds at least a few records.
  LocalInput(FileCache& files, const LocalTrace& trace, const InputBuffers& buffers,
             const InputPart& part = {});

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
    return packed_ != nullptr ? packed_->so_far.ended
                              : base_ + used() >= std::min(trace_->size, end_of_part_) || failed();
  }
  // How far reading has come in the trace.
  std::uint64_t progress() const {
    return packed_ != nullptr ? packed_->so_far.position : offset();
  }
  // Where the record with this offset stands in the trace, for messages: of compact records that
  // takes time.
  std::uint64_t place(std::uint64_t offset) const;
  // When all has been read: why the rest of the trace cannot be, or null.
  const char* damage() const;

  // Keeps the bytes from `keep` (at or before the position) and reads as much as fits behind them.
  // Returns where `keep` is now.
  const std::byte* fill(const std::byte* keep);
  void fill() { fill(p_); }
  bool failed() const { return error_ != nullptr; }
  const Error& error() const { return *error_; }  // only if it failed
  // Passes over what is before a record.
  void skip_to(std::uint64_t offset);
  // Where blocks begin, of a compact trace; while it is read without helpers.
  void note_blocks(std::vector<compact::BlockPlace>& blocks) {
    if (packed_ != nullptr) packed_->unpacker.note_blocks(blocks);
  }
  // The buffer is allocated by the first fill(); a finished input gives it back.
  void release();

  static constexpr std::size_t kLeast = 4096;

 private:
  struct Packed {
    Packed(FileCache& files, const LocalTrace& trace, std::size_t buffer, compact::BlockPlace from)
        : unpacker(files, trace, std::max(buffer / 4, kLeast), from) {}
    Unpacker unpacker;
    Unpacked so_far;
    std::optional<BlockAhead> ahead;
  };
  // Room before a block that a helper makes: for what is kept, as a rule.
  static constexpr std::size_t kRoom = 2048;
  const std::byte* take_block(const std::byte* keep);
  void post_next(std::unique_ptr<std::byte[]> buffer, std::size_t size);
  void take_error();
  void end_with_part();

  std::uint64_t used() const { return static_cast<std::uint64_t>(end_ - buffer_.get()); }
  const std::byte* p_ = nullptr;  // first: all that reading on needs, in the common case
  const std::byte* end_ = nullptr;
  std::uint64_t base_;
  std::unique_ptr<std::byte[]> buffer_;
  FileCache* files_;
  const LocalTrace* trace_;
  std::size_t capacity_;  // records that are read at a time
  std::size_t size_ = 0;  // of the buffer
  std::uint64_t end_of_part_;
  std::unique_ptr<Error> error_;
  std::unique_ptr<Packed> packed_;
};

}  // namespace kojak::merge
