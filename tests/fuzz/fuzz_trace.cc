// Any bytes as a trace: reader, verifier, printer, text form, profile, and the whole analysis.
#include <cstdint>

#include "tests/fuzz/checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kojak;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const fuzz::Bytes trace(bytes, bytes + size);
  if (!fuzz::check_readers(trace)) return 0;
  fuzz::check_text(trace);
  fuzz::check_analysis(trace);
  return 0;
}
