#include "tests/support/compact_items.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "epilog/format/compact/decode.h"
#include "epilog/format/io/reader.h"

namespace kojak::support {
namespace {

bool swapped(std::span<const std::byte> file) {
  return Dialect{compact::kMajor, 0, file[kHeaderSize - 1] == std::byte{2}}.swapped();
}

// Where the next block with a checksum begins, from `at` on; the end if none does.
std::size_t next_checked(std::span<const std::byte> file, std::size_t at) {
  constexpr std::byte kHead[] = {std::byte{compact::kBlock}, std::byte{compact::kCheckedBlock}};
  const auto from = file.begin() + static_cast<std::ptrdiff_t>(std::min(at, file.size()));
  const auto found = std::search(from, file.end(), std::begin(kHead), std::end(kHead));
  return static_cast<std::size_t>(found - file.begin());
}

std::uint32_t u4(const std::byte* from, bool swap) {
  std::uint32_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return swap ? byte_swapped(value) : value;
}

void put_u4(std::byte* to, std::size_t number, bool swap) {
  auto value = static_cast<std::uint32_t>(number);
  if (swap) value = byte_swapped(value);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

bool is_compact(std::span<const std::byte> file) {
  return file.size() >= kHeaderSize && file[7] == std::byte{compact::kMajor};
}

std::vector<std::byte> unpacked(const std::vector<std::byte>& trace) {
  auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), "input");
  if (!reader || !reader->dialect().compact()) return trace;
  std::vector<std::byte> records(trace.begin(), trace.begin() + kHeaderSize);
  records[7] = std::byte{2};
  RawRecord record;
  while (reader->next(record) == TraceReader::Next::kRecord) {
    records.insert(records.end(), record.body - 2, record.body + record.length);
  }
  return records;
}

std::vector<std::vector<std::byte>> items_of(std::span<const std::byte> file) {
  std::vector<std::vector<std::byte>> items;
  compact::Decoder decoder(swapped(file));
  const std::byte* at = file.data() + kHeaderSize;
  const std::byte* const end = file.data() + file.size();
  std::byte records[kMaxRecord];  // room for those of one item only
  while (at != end) {
    const auto piece = decoder.decode(at, end, true, records, records + kMaxRecord);
    if (piece.in == at) break;
    const std::size_t head = end - at < 2 ? 0 : compact::head_size(at);
    if (head != 0 && at + head <= piece.in) {
      items.emplace_back(at, at + head);
      at += head;
    }
    if (at != piece.in) items.emplace_back(at, piece.in);
    at = piece.in;
  }
  if (at != end) items.emplace_back(at, end);
  return items;
}

void repair_blocks(std::span<std::byte> file) {
  const bool swap = swapped(file);
  std::size_t head = next_checked(file, kHeaderSize);
  while (head + compact::kCheckedHead <= file.size()) {
    const std::size_t from = head + compact::kCheckedHead;
    std::size_t next = from + u4(&file[head + 2], swap);
    // The same two bytes may stand inside of a block: its length is kept if a block follows there.
    if (next != file.size() && next_checked(file, next) != next) next = next_checked(file, from);
    put_u4(&file[head + 2], next - from, swap);
    const auto* bytes = reinterpret_cast<const Bytef*>(file.data() + from);
    put_u4(&file[head + 6], crc32(0, bytes, static_cast<uInt>(next - from)), swap);
    head = next;
  }
}

}  // namespace kojak::support
