#include "epilog/format/compact/find_place.h"

#include <cstring>
#include <memory>

#include "epilog/format/compact/decode.h"

namespace kojak::compact {

std::uint64_t find_place(BlockPlace from, std::uint64_t offset, bool swap, const ReadAt& read) {
  constexpr std::size_t kInput = 64 * 1024;
  static_assert(kInput >= kMaxBlock);
  const auto input = std::make_unique_for_overwrite<std::byte[]>(kInput);
  std::byte record[kMaxRecord];
  Decoder decoder(swap);
  std::uint64_t at = from.file;  // of input[0]
  std::uint64_t records = from.records;
  std::size_t in = 0, end = 0, needs = kMaxItem;
  bool ended = false;
  while (records < offset) {
    if (end - in < needs && !ended) {
      std::memmove(input.get(), input.get() + in, end - in);
      at += in;
      end -= in;
      in = 0;
      const std::size_t got = read(at + end, input.get() + end, kInput - end);
      ended = got == 0;
      end += got;
      continue;
    }
    const Decoder::Piece piece =
        decoder.decode(input.get() + in, input.get() + end, ended, record, record + kMaxRecord);
    const auto behind = static_cast<std::size_t>(piece.in - input.get());
    if (behind == in && (ended || piece.needs <= end - in)) break;
    needs = piece.needs;
    const auto made = static_cast<std::uint64_t>(piece.out - record);
    if (records + made > offset) break;  // one of several that this item stands for
    in = behind;
    records += made;
  }
  // The record, and not the block that begins with it.
  if (end - in >= 2) in += head_size(&input[in]);
  return at + in;
}

}  // namespace kojak::compact
