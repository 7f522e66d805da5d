#include "tests/malformed/compact_readers.h"

#include <algorithm>

#include "earl/access/record_blocks.h"
#include "epilog/format/compact/pack.h"
#include "epilog/format/io/reader.h"
#include "tests/support/compact_items.h"

namespace kojak::test {
namespace {

using Octets = std::vector<std::byte>;

TraceReader reader_of(const Octets& trace, std::size_t buffer) {
  auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), "input", buffer);
  return std::move(*reader);
}

bool is_at(const RawRecord& record, const Octets& records, std::uint64_t offset) {
  const std::size_t size = std::size_t{2} + record.length;
  return record.offset == offset && offset + size <= records.size() &&
         std::equal(record.body - 2, record.body + record.length,
                    records.begin() + static_cast<std::ptrdiff_t>(offset));
}

// What random access reads.
std::string differing_blocks(const Octets& trace, const Octets& records) {
  const auto file = earl::MappedFile::from(trace);
  const Dialect dialect = reader_of(trace, 0).dialect();
  const earl::RecordBlocks blocks(file, dialect);
  Octets read(records.begin(), records.begin() + kHeaderSize);
  auto window = blocks.at(kHeaderSize);
  while (window.begin != window.end) {
    read.insert(read.end(), window.begin, window.end);
    window = blocks.next(window);
  }
  if (read != records) return "blocks have other records";
  earl::RecordBlocks again(file, dialect);
  return again.know(blocks.blocks()) ? "" : "the blocks that were found are not those of the file";
}

// A few records from behind: they are found again, and stand in the file in their order.
std::string differing_places(const Octets& trace, const Octets& records,
                             const std::vector<std::uint64_t>& offsets) {
  TraceReader reader = reader_of(trace, 0);
  RawRecord record;
  std::uint64_t behind = trace.size();
  const std::size_t step = 1 + offsets.size() / 8;
  for (std::size_t left = offsets.size(); left != 0; left -= std::min(left, step)) {
    const std::uint64_t offset = offsets[left - 1];
    const std::uint64_t place = reader.place(offset);
    if (place > behind || place < kHeaderSize) return "a record stands behind a later one";
    behind = place;
    if (!reader.seek(offset) || reader.next(record) != TraceReader::Next::kRecord ||
        !is_at(record, records, offset)) {
      return "another record is found at an offset";
    }
  }
  return "";
}

}  // namespace

std::string compact_difference(const Octets& trace) {
  const Octets records = support::unpacked(trace);
  std::vector<std::uint64_t> offsets;
  TraceReader small = reader_of(trace, 0);
  RawRecord record;
  std::uint64_t at = kHeaderSize;
  while (small.next(record) == TraceReader::Next::kRecord) {
    if (!is_at(record, records, at)) return "a small buffer has other records";
    offsets.push_back(at);
    at += std::uint64_t{2} + record.length;
  }
  if (at != records.size()) return "a small buffer has fewer records";
  for (const auto blocks : {compact::Blocks::kPlain, compact::Blocks::kChecked}) {
    if (support::unpacked(compact::pack(records, blocks)) != records)
      return "packed records are others";
  }
  const std::string difference = differing_blocks(trace, records);
  return difference.empty() ? differing_places(trace, records, offsets) : difference;
}

}  // namespace kojak::test
