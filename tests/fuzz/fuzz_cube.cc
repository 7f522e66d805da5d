// Any bytes as a CUBE report.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "expert/cube/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int fd = ::memfd_create("kojak-fuzz", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  const auto report = kojak::cube::read_report("/proc/self/fd/" + std::to_string(fd));
  if (!report && report.error().reason.empty()) {
    std::fprintf(stderr, "expectation broken: an error without a reason\n");
    std::abort();
  }
  return 0;
}
