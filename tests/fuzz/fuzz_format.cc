// Any bytes as a trace, maybe compressed, without the analysis: many more inputs in the same time.
//
// Of compact traces the reader, a reader with the smallest buffer, seeking, and blocks decoded one
// by one must have the same records, and packing these gives them back.
#include <cstdint>

#include "tests/fuzz/checks.h"
#include "tests/malformed/compact_readers.h"
#include "tests/support/compact_items.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kojak;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  fuzz::Bytes trace(bytes, bytes + size);
  if (auto unpacked = fuzz::check_compressed(trace)) trace = std::move(*unpacked);
  if (!fuzz::check_readers(trace)) return 0;
  fuzz::check_text(trace);
  if (support::is_compact(trace)) {
    const std::string difference = test::compact_difference(trace);
    fuzz::expect(difference.empty(), difference);
  }
  return 0;
}
