#include "earl/access/record_blocks.h"

#include <algorithm>

#include "epilog/format/compact/decode.h"
#include "epilog/format/io/reader.h"

namespace kojak::earl {

RecordBlocks::RecordBlocks(const MappedFile& file, const Dialect& dialect)
    : file_(file), compact_(dialect.compact()), swap_(dialect.swapped()) {
  if (compact_) {
    blocks_.push_back({kHeaderSize, kHeaderSize});
    kept_.resize(kKept);
  }
}

bool RecordBlocks::know(std::vector<Block> blocks) {
  if (!compact_) return blocks.empty();
  if (blocks.empty() || blocks[0].file != kHeaderSize || blocks[0].records != kHeaderSize) {
    return false;
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].file > file_.bytes().size()) return false;
    if (i != 0 &&
        (blocks[i].file <= blocks[i - 1].file || blocks[i].records < blocks[i - 1].records)) {
      return false;
    }
  }
  blocks_ = std::move(blocks);
  complete_ = true;
  return true;
}

// Goes on to the next block, or to the end; with the mutex held.
RecordBlocks::Window RecordBlocks::decode(std::size_t block) const {
  const std::byte* in = file_.bytes().data() + blocks_[block].file;
  const std::byte* const end = file_.bytes().data() + file_.bytes().size();
  compact::Decoder decoder(swap_);
  std::size_t room = 2 * compact::kBlockRecords;
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(room);
  std::size_t used = 0;
  compact::Decoder::Stop stop;
  while (true) {
    const auto piece = decoder.decode_block(in, end, bytes.get() + used, bytes.get() + room);
    in = piece.in;
    used = static_cast<std::size_t>(piece.out - bytes.get());
    stop = piece.stop;
    if (stop != compact::Decoder::Stop::kOutput) break;
    auto larger = std::make_unique_for_overwrite<std::byte[]>(room * 2);
    std::memcpy(larger.get(), bytes.get(), used);
    bytes = std::move(larger);
    room *= 2;
  }
  if (!complete_ && block + 1 == blocks_.size()) {
    if (stop == compact::Decoder::Stop::kNextBlock) {
      blocks_.push_back(
          {static_cast<std::uint64_t>(in - file_.bytes().data()), blocks_[block].records + used});
    } else {
      complete_ = true;
    }
  }
  if (stop == compact::Decoder::Stop::kDamaged) {
    reason_ = decoder.reason();
    damaged_at_ = static_cast<std::uint64_t>(in - file_.bytes().data());
  }
  Window window;
  window.begin = bytes.get();
  window.end = bytes.get() + used;
  window.offset = blocks_[block].records;
  window.bytes = std::move(bytes);
  return window;
}

RecordBlocks::Window RecordBlocks::decoded(std::size_t block) const {
  Kept& kept = kept_[block % kKept];
  if (kept.block != block) {
    kept.window = decode(block);
    kept.block = block;
  }
  return kept.window;
}

RecordBlocks::Window RecordBlocks::at(std::uint64_t offset) const {
  if (!compact_) {
    const auto bytes = file_.bytes();
    const std::size_t from = std::min<std::uint64_t>(offset, bytes.size());
    return {bytes.data() + from, bytes.data() + bytes.size(), from, nullptr};
  }
  const std::lock_guard lock(mutex_);
  while (!complete_ && blocks_.back().records <= offset) {
    if (const Window last = decoded(blocks_.size() - 1);
        complete_ && last.offset + static_cast<std::uint64_t>(last.end - last.begin) <= offset) {
      return {nullptr, nullptr, offset, nullptr};
    }
  }
  // Where several begin at one offset the last is meant: the others are empty.
  const auto behind =
      std::upper_bound(blocks_.begin(), blocks_.end(), offset,
                       [](std::uint64_t o, const Block& b) { return o < b.records; });
  Window window = decoded(static_cast<std::size_t>(behind - blocks_.begin()) - 1);
  const auto size = static_cast<std::uint64_t>(window.end - window.begin);
  window.begin += std::min(offset - window.offset, size);
  window.offset = offset;
  return window;
}

RecordBlocks::Window RecordBlocks::next(const Window& window) const {
  const std::uint64_t end = window.offset + static_cast<std::uint64_t>(window.end - window.begin);
  if (!compact_) return {window.end, window.end, end, nullptr};
  return at(end);
}

std::optional<Error> RecordBlocks::damage(const std::string& path) const {
  if (reason_ == nullptr) return std::nullopt;
  return Error{ExitCode::kBadInput, path, damaged_at_, "", "", reason_, damage_remedy(reason_)};
}

}  // namespace kojak::earl
