// Any bytes as a trace, maybe compressed: reader, verifier, printer, text form, profile, the whole
// analysis, and random access.
#include <cstdint>

#include "tests/fuzz/checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kojak;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  fuzz::Bytes trace(bytes, bytes + size);
  if (auto unpacked = fuzz::check_compressed(trace)) trace = std::move(*unpacked);
  if (!fuzz::check_readers(trace)) return 0;
  fuzz::check_text(trace);
  fuzz::check_analysis(trace);
  fuzz::check_random_access(trace);
  return 0;
}
