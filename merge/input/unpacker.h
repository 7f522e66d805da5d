// Makes version 2.0's records of one compact local trace, block by block; and a block that a helper
// makes ahead.
//
// An Unpacker goes over the trace once, by one thread at a time. It owns the packed bytes that it
// has read and not decoded yet. Errors: what can no longer be read ends the trace; each block says
// what was so when it was made, so that it does not matter when that is.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "epilog/format/compact/decode.h"
#include "epilog/format/compact/find_place.h"
#include "epilog/format/error.h"
#include "merge/input/helpers.h"
#include "merge/input/local_trace.h"

namespace kojak::merge {

// How far unpacking has come, behind a block.
struct Unpacked {
  std::size_t size = 0;                  // of the block
  std::uint64_t position = kHeaderSize;  // in the trace
  bool ended = false;
  const char* damage = nullptr;  // when it has ended: why the rest cannot be decoded
  std::unique_ptr<Error> error;  // the trace could not be read
};

class Unpacker {
 public:
  // From the beginning, or from a block that begins there.
  Unpacker(FileCache& files, const LocalTrace& trace, std::size_t capacity,
           compact::BlockPlace from = kFirst)
      : files_(files),
        trace_(trace),
        decoder_(trace.dialect.swapped()),
        capacity_(capacity),
        at_(from.file),
        records_(from.records) {}
  static constexpr compact::BlockPlace kFirst{kHeaderSize, kHeaderSize};
  // Where the blocks begin that are unpacked from now on, those of one next() by the last of them.
  void note_blocks(std::vector<compact::BlockPlace>& blocks) { blocks_ = &blocks; }

  // As many records as fit into [to, end), or all that are left.
  Unpacked next(std::byte* to, std::byte* end);

 private:
  Status fill();
  FileCache& files_;
  const LocalTrace& trace_;
  compact::Decoder decoder_;
  std::size_t capacity_;
  std::unique_ptr<std::byte[]> input_;
  std::size_t in_ = 0, end_ = 0;           // what of it is to be decoded
  std::size_t needs_ = compact::kMaxItem;  // bytes to go on
  std::uint64_t at_;                       // of input_[0] in the trace
  std::uint64_t records_;                  // and of its records, as LocalInput counts
  std::vector<compact::BlockPlace>* blocks_ = nullptr;
  bool failed_ = false;
  const char* damage_ = nullptr;
};

// The next block, with room before it, from post() to take().
class BlockAhead : private Helpers::Job {
 public:
  explicit BlockAhead(Unpacker& unpacker, Helpers& helpers)
      : unpacker_(unpacker), helpers_(helpers) {}
  ~BlockAhead() override { helpers_.drop(*this); }
  BlockAhead(const BlockAhead&) = delete;
  BlockAhead& operator=(const BlockAhead&) = delete;

  // Into the `size` bytes behind `from` of this buffer.
  void post(std::unique_ptr<std::byte[]> buffer, std::size_t buffer_size, std::size_t from,
            std::size_t size);
  bool posted() const { return buffer_ != nullptr; }
  std::size_t buffer_size() const { return buffer_size_; }
  // The buffer, when the block is there.
  std::unique_ptr<std::byte[]> take(Unpacked& unpacked);

 private:
  void run() override;
  Unpacker& unpacker_;
  Helpers& helpers_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t buffer_size_ = 0, from_ = 0, size_ = 0;
  Unpacked unpacked_;
};

}  // namespace kojak::merge
