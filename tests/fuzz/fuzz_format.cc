// Any bytes as a trace, maybe compressed, without the analysis: many more inputs in the same time.
//
// Of compact traces the reader, a reader with the smallest buffer, seeking, and blocks decoded one
// by one must have the same records, and packing these gives them back.
#include <cstdint>

#include "earl/access/record_blocks.h"
#include "epilog/format/compact/pack.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace kojak;

TraceReader reader_of(const fuzz::Bytes& trace, std::size_t buffer) {
  auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), "input", buffer);
  fuzz::expect(reader.ok(), "a trace that could be read cannot be read");
  return std::move(*reader);
}

// What random access reads.
fuzz::Bytes from_blocks(const fuzz::Bytes& trace) {
  const auto file = earl::MappedFile::from(trace);
  const earl::RecordBlocks blocks(file, reader_of(trace, 0).dialect());
  fuzz::Bytes records;
  auto window = blocks.at(kHeaderSize);
  while (window.begin != window.end) {
    records.insert(records.end(), window.begin, window.end);
    window = blocks.next(window);
  }
  earl::RecordBlocks again(file, reader_of(trace, 0).dialect());
  fuzz::expect(again.know(blocks.blocks()), "its own blocks are not those of the file");
  return records;
}

void check_compact(const fuzz::Bytes& trace) {
  const fuzz::Bytes records = fuzz::records_of(trace);
  const fuzz::Bytes behind(records.begin() + kHeaderSize, records.end());
  fuzz::expect(from_blocks(trace) == behind, "other records in blocks than one after the other");
  std::vector<std::uint64_t> offsets;
  TraceReader small = reader_of(trace, 0);
  RawRecord record;
  std::size_t at = kHeaderSize;
  while (small.next(record) == TraceReader::Next::kRecord) {
    const std::size_t size = std::size_t{2} + record.length;
    fuzz::expect(record.offset == at && at + size <= records.size() &&
                     std::equal(record.body - 2, record.body + record.length,
                                records.begin() + static_cast<std::ptrdiff_t>(at)),
                 "other records in a small buffer");
    offsets.push_back(at);
    at += size;
  }
  fuzz::expect(at == records.size(), "fewer records in a small buffer");
  // A few from behind, and where they stand: never before those that precede them.
  TraceReader seeking = reader_of(trace, 0);
  std::uint64_t place = trace.size();
  const std::size_t step = 1 + offsets.size() / 8;
  for (std::size_t i = offsets.size(); i-- != 0; i -= std::min(i, step)) {
    const std::uint64_t here = seeking.place(offsets[i]);
    fuzz::expect(here <= place && here >= kHeaderSize, "a record stands behind a later one");
    place = here;
    fuzz::expect(
        seeking.seek(offsets[i]).ok() && seeking.next(record) == TraceReader::Next::kRecord,
        "a record is not found again");
    fuzz::expect(record.offset == offsets[i] &&
                     std::equal(record.body - 2, record.body + record.length,
                                records.begin() + static_cast<std::ptrdiff_t>(offsets[i])),
                 "another record is found again");
  }
  for (const auto blocks : {compact::Blocks::kPlain, compact::Blocks::kChecked}) {
    fuzz::expect(fuzz::records_of(compact::pack(records, blocks)) == records,
                 "packed records come out as others");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  fuzz::Bytes trace(bytes, bytes + size);
  if (auto unpacked = fuzz::check_compressed(trace)) trace = std::move(*unpacked);
  if (!fuzz::check_readers(trace)) return 0;
  fuzz::check_text(trace);
  if (trace[7] == std::byte{compact::kMajor}) check_compact(trace);
  return 0;
}
