// A file of compact records as a source of the records of version 2.0.
//
// Offsets, as readers have them, are those of the records that come out: the file begins with its
// header, and behind it each record takes as many bytes as in a file of version 2.0. place() tells
// where one stands in the file. Owns the source of the file's bytes and a fixed buffer; seeking
// decodes from the last block that was passed before the offset, of which one in kBlockDistance
// bytes is remembered. Not thread-safe. Errors: as ByteSource says; what is damaged ends the input.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "epilog/format/compact/decode.h"
#include "epilog/format/compact/find_place.h"
#include "epilog/format/io/reader.h"

namespace kojak::compact {

// What ends a file inside of a block with a checksum, where the record before that is whole.
inline constexpr const char* kEndsInsideBlock = "the file ends inside a block of records";

class Source final : public ByteSource {
 public:
  // `begun`: what has been read of the file behind its header.
  Source(std::unique_ptr<ByteSource> file, bool swap, const std::byte* begun, std::size_t size);

  std::ptrdiff_t read(std::byte* to, std::size_t n) override;
  bool seekable() const override { return file_->seekable(); }
  bool seek(std::uint64_t offset) override;
  std::string error() const override;
  std::uint64_t place(std::uint64_t offset) override;
  std::uint64_t consumed() const override { return at_ + in_; }

 private:
  static constexpr std::size_t kInput = 64 * 1024;
  static_assert(kInput >= kMaxBlock);
  static constexpr std::uint64_t kBlockDistance = 1 << 20;

  std::ptrdiff_t decode(std::byte* to, std::size_t n);
  bool fill();  // false: the file cannot be read
  const BlockPlace& before(std::uint64_t offset) const;
  bool go_to(const BlockPlace& block);
  std::size_t left() const { return end_ - in_; }

  std::unique_ptr<ByteSource> file_;
  Decoder decoder_;
  std::unique_ptr<std::byte[]> input_;
  std::size_t in_ = 0, end_ = 0;
  std::uint64_t at_ = kHeaderSize;       // offset of input_[0] in the file
  std::uint64_t records_ = kHeaderSize;  // offset of the next record that is decoded
  bool file_ended_ = false;
  bool file_failed_ = false;
  bool damaged_ = false;
  std::vector<std::byte> ahead_;  // records that were decoded and not given out yet
  std::size_t ahead_at_ = 0;
  std::vector<BlockPlace> blocks_;
};

}  // namespace kojak::compact
