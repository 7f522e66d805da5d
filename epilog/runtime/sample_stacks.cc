#include "epilog/runtime/sample_stacks.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "epilog/runtime/sampler.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

namespace kojak::measure {
namespace {

std::size_t least_alternate = 0;

// For our handler, the program's, and what that calls.
constexpr std::size_t kForHandlers = 16 * 1024;
// How large the kernel's frame is where the kernel does not tell (before 5.14).
constexpr std::size_t kLikelyFrame = 4 * 1024;

// What the C library knows of the stack of a thread that it has started: address and size stand
// side by side in its description of the thread, which lies at the stack's upper end.
// (pthread_getattr_np takes memory.) 0 if there is nothing of that kind.
std::size_t stack_size() {
  constexpr std::size_t kDescription = 1824, kMostAbove = std::size_t{1} << 20;
  const auto self = static_cast<std::uintptr_t>(pthread_self());
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::uintptr_t word[3];
  for (std::size_t at = 0; at + sizeof word <= kDescription; at += sizeof word[0]) {
    memcpy(word, reinterpret_cast<const char*>(self) + at, sizeof word);
    const auto [stack, size, guard] = word;
    const std::uintptr_t end = stack + size;
    if (stack != 0 && stack < self && end > self && end - self < kMostAbove && size > guard &&
        guard % page == 0) {
      return size - guard;
    }
  }
  return 0;
}

}  // namespace

void prepare_sample_stacks() {
  const std::size_t frame = getauxval(AT_MINSIGSTKSZ);
  least_alternate = 2 * (frame != 0 ? frame : kLikelyFrame) + kForHandlers;
}

bool own_stack_has_room() {
  const std::size_t size = stack_size();
  return size == 0 || size >= kLeastOwnStack;
}

bool alternate_stack_is_small() {
  stack_t stack{};
  return syscall(SYS_sigaltstack, nullptr, &stack) == 0 && (stack.ss_flags & SS_DISABLE) == 0 &&
         stack.ss_size < least_alternate;
}

std::size_t least_alternate_stack() {
  return least_alternate;
}

}  // namespace kojak::measure

// The sanitizers have a function of this name of their own in the programs that they are linked to.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

extern "C" __attribute__((visibility("default"), used)) int sigaltstack(const stack_t* wanted,
                                                                        stack_t* before) noexcept {
  using Function = int (*)(const stack_t*, stack_t*);
  static std::atomic<Function> known{nullptr};
  Function next = known.load(std::memory_order_relaxed);
  if (next == nullptr) {
    next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "sigaltstack"));
    known.store(next, std::memory_order_relaxed);
  }
  const int result = next != nullptr ? next(wanted, before)
                                     : static_cast<int>(syscall(SYS_sigaltstack, wanted, before));
  if (wanted != nullptr && result == 0) {
    const int saved = errno;
    kojak::measure::alternate_stack_changed();
    errno = saved;
  }
  return result;
}

#endif
