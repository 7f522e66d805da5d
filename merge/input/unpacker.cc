#include "merge/input/unpacker.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kojak::merge {

// More behind what is left of the packed bytes.
Status Unpacker::fill() {
  const std::size_t left = end_ - in_;
  if (!input_ || capacity_ < needs_) {
    capacity_ = std::max(capacity_, needs_);
    auto input = std::make_unique_for_overwrite<std::byte[]>(capacity_);
    if (left != 0) std::memcpy(input.get(), input_.get() + in_, left);
    input_ = std::move(input);
  } else {
    std::memmove(input_.get(), input_.get() + in_, left);
  }
  at_ += in_;
  in_ = 0;
  std::size_t got = 0;
  Status status =
      read_trace(files_, trace_, at_ + left, input_.get() + left, capacity_ - left, got);
  end_ = left + got;
  return status;
}

Unpacked Unpacker::next(std::byte* to, std::byte* end) {
  Unpacked block;
  std::byte* out = to;
  bool all = damage_ != nullptr;  // has been read
  while (!all) {
    const bool last = at_ + end_ >= trace_.size || failed_;
    if (end_ - in_ < needs_ && !last) {
      if (Status status = fill(); !status) {
        failed_ = true;
        block.error = std::make_unique<Error>(std::move(status.error()));
      }
      continue;
    }
    const auto piece = decoder_.decode(input_.get() + in_, input_.get() + end_, last, out, end);
    if (piece.block != nullptr && blocks_ != nullptr) {
      blocks_->push_back({at_ + static_cast<std::uint64_t>(piece.block - input_.get()),
                          records_ + static_cast<std::uint64_t>(piece.block_out - out)});
    }
    records_ += static_cast<std::uint64_t>(piece.out - out);
    in_ = static_cast<std::size_t>(piece.in - input_.get());
    needs_ = piece.needs;
    out = piece.out;
    if (piece.stop == compact::Decoder::Stop::kOutput) break;
    if (piece.stop == compact::Decoder::Stop::kDamaged) damage_ = decoder_.reason();
    all = last || damage_ != nullptr;
  }
  block.size = static_cast<std::size_t>(out - to);
  block.position = at_ + in_;
  block.ended = all;
  block.damage = damage_;
  return block;
}

void BlockAhead::post(std::unique_ptr<std::byte[]> buffer, std::size_t buffer_size,
                      std::size_t from, std::size_t size) {
  buffer_ = std::move(buffer);
  buffer_size_ = buffer_size;
  from_ = from;
  size_ = size;
  helpers_.post(*this);
}

std::unique_ptr<std::byte[]> BlockAhead::take(Unpacked& unpacked) {
  helpers_.finish(*this);
  unpacked = std::move(unpacked_);
  return std::move(buffer_);
}

void BlockAhead::run() {
  std::byte* const to = buffer_.get() + from_;
  unpacked_ = unpacker_.next(to, to + size_);
}

}  // namespace kojak::merge
