#include "tests/support/limit_memory.h"

#include <sys/resource.h>

#include <fstream>
#include <stdexcept>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KOJAK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KOJAK_SANITIZED 1
#endif
#endif

namespace kojak::test {

void limit_memory() {
#ifndef KOJAK_SANITIZED
  static const bool limited = [] {
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    const rlim_t limit = pages * 4096 + (rlim_t{256} << 20);
    const rlimit wanted{limit, limit};
    return ::setrlimit(RLIMIT_AS, &wanted) == 0;
  }();
  if (!limited) throw std::runtime_error("the limit of memory cannot be lowered");
#endif
}

}  // namespace kojak::test
