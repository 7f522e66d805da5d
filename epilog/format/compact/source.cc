#include "epilog/format/compact/source.h"

#include <algorithm>

namespace kojak::compact {

Source::Source(std::unique_ptr<ByteSource> file, bool swap, const std::byte* begun,
               std::size_t size)
    : file_(std::move(file)),
      decoder_(swap),
      input_(std::make_unique_for_overwrite<std::byte[]>(std::max(kInput, size))),
      end_(size) {
  if (size != 0) std::memcpy(input_.get(), begun, size);
  blocks_.push_back({kHeaderSize, kHeaderSize});
}

bool Source::fill() {
  if (file_ended_) return true;
  const std::size_t kept = left();
  std::memmove(input_.get(), input_.get() + in_, kept);
  at_ += in_;
  in_ = 0;
  end_ = kept;
  const std::ptrdiff_t got = file_->read(input_.get() + end_, kInput - end_);
  if (got < 0) {
    file_failed_ = file_ended_ = true;
    return false;
  }
  if (got == 0) file_ended_ = true;
  end_ += static_cast<std::size_t>(got);
  return true;
}

// At least one record, unless the file ends or is damaged.
std::ptrdiff_t Source::decode(std::byte* to, std::size_t n) {
  std::byte* out = to;
  std::size_t needs = kMaxItem;
  while (out == to && !damaged_) {
    if (left() < needs && !file_ended_) {
      (void)fill();
      continue;
    }
    const std::byte* const from = input_.get() + in_;
    const Decoder::Piece piece =
        decoder_.decode(from, input_.get() + end_, file_ended_, out, to + n);
    if (piece.block != nullptr) {
      const BlockPlace block{at_ + static_cast<std::uint64_t>(piece.block - input_.get()),
                             records_ + static_cast<std::uint64_t>(piece.block_out - out)};
      if (block.file >= blocks_.back().file + kBlockDistance) blocks_.push_back(block);
    }
    records_ += static_cast<std::uint64_t>(piece.out - out);
    out = piece.out;
    in_ += static_cast<std::size_t>(piece.in - from);
    needs = piece.needs;
    if (piece.stop == Decoder::Stop::kDamaged) damaged_ = true;
    if (piece.stop == Decoder::Stop::kInput && file_ended_) break;
  }
  return out - to;
}

std::ptrdiff_t Source::read(std::byte* to, std::size_t n) {
  if (ahead_at_ == ahead_.size() && n < kMaxRecord) {
    ahead_.resize(kMaxRecord);
    const std::ptrdiff_t got = decode(ahead_.data(), ahead_.size());
    ahead_.resize(static_cast<std::size_t>(got));
    ahead_at_ = 0;
  }
  if (const std::size_t kept = std::min(n, ahead_.size() - ahead_at_); kept != 0) {
    std::memcpy(to, ahead_.data() + ahead_at_, kept);
    ahead_at_ += kept;
    return static_cast<std::ptrdiff_t>(kept);
  }
  if (n == 0) return 0;
  const std::ptrdiff_t got = n < kMaxRecord ? 0 : decode(to, n);
  if (got == 0 && (damaged_ || file_failed_)) return -1;
  return got;
}

const BlockPlace& Source::before(std::uint64_t offset) const {
  const auto next =
      std::upper_bound(blocks_.begin(), blocks_.end(), offset,
                       [](std::uint64_t o, const BlockPlace& block) { return o < block.records; });
  return *std::prev(next);
}

bool Source::go_to(const BlockPlace& block) {
  if (!file_->seekable() || !file_->seek(block.file)) return false;
  decoder_.restart();
  in_ = end_ = 0;
  at_ = block.file;
  records_ = block.records;
  file_ended_ = file_failed_ = damaged_ = false;
  ahead_.clear();
  ahead_at_ = 0;
  return true;
}

bool Source::seek(std::uint64_t offset) {
  if (offset < kHeaderSize || !go_to(BlockPlace(before(offset)))) return false;
  while (records_ < offset) {
    ahead_.resize(kInput);
    const std::uint64_t from = records_;
    const std::ptrdiff_t got = decode(ahead_.data(), ahead_.size());
    if (got == 0) break;  // beyond the end: nothing comes
    ahead_.resize(static_cast<std::size_t>(got));
    ahead_at_ = static_cast<std::size_t>(std::min(offset, records_) - from);
  }
  return true;
}

// What is not whole at the end is the fault of a file that could not be read on.
std::string Source::error() const {
  return file_failed_ ? file_->error() : decoder_.reason();
}

std::uint64_t Source::place(std::uint64_t offset) {
  if (damaged_ && offset >= records_) return consumed();
  const BlockPlace block = before(offset);
  if (!file_->seekable()) return block.file;
  const std::uint64_t back = at_ + end_;
  const auto read = [this](std::uint64_t at, std::byte* to, std::size_t n) {
    if (!file_->seek(at)) return std::size_t{0};
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(file_->read(to, n), 0));
  };
  const std::uint64_t found = find_place(block, offset, decoder_.swap(), read);
  file_->seek(back);
  return found;
}

}  // namespace kojak::compact
