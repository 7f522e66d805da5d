#include "epilog/runtime/own_stack.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "epilog/runtime/recorder.h"

namespace kojak::measure {

#if !defined(KOJAK_SANITIZED) && (defined(__x86_64__) || defined(__aarch64__))

// Calls work(data) with the stack pointer at `top`. The frame pointer says where the caller's frame
// is, for the unwinder, too.
extern "C" void kojak_call_on_stack(Work work, void* data, void* top)
    __attribute__((visibility("hidden")));
#if defined(__x86_64__)
__asm__(
    ".pushsection .text\n"
    ".p2align 4\n"
    ".globl kojak_call_on_stack\n"
    ".hidden kojak_call_on_stack\n"
    ".type kojak_call_on_stack, @function\n"
    "kojak_call_on_stack:\n"
    ".cfi_startproc\n"
    "pushq %rbp\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset %rbp, -16\n"
    "movq %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    "movq %rdx, %rsp\n"
    "movq %rdi, %rax\n"
    "movq %rsi, %rdi\n"
    "callq *%rax\n"
    "movq %rbp, %rsp\n"
    "popq %rbp\n"
    ".cfi_def_cfa %rsp, 8\n"
    "retq\n"
    ".cfi_endproc\n"
    ".size kojak_call_on_stack, . - kojak_call_on_stack\n"
    ".popsection\n");
#else
__asm__(
    ".pushsection .text\n"
    ".p2align 4\n"
    ".globl kojak_call_on_stack\n"
    ".hidden kojak_call_on_stack\n"
    ".type kojak_call_on_stack, %function\n"
    "kojak_call_on_stack:\n"
    ".cfi_startproc\n"
    "stp x29, x30, [sp, #-16]!\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset x29, -16\n"
    ".cfi_offset x30, -8\n"
    "mov x29, sp\n"
    ".cfi_def_cfa_register x29\n"
    "mov sp, x2\n"
    "mov x9, x0\n"
    "mov x0, x1\n"
    "blr x9\n"
    "mov sp, x29\n"
    ".cfi_def_cfa_register sp\n"
    "ldp x29, x30, [sp], #16\n"
    ".cfi_restore x29\n"
    ".cfi_restore x30\n"
    ".cfi_def_cfa_offset 0\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size kojak_call_on_stack, . - kojak_call_on_stack\n"
    ".popsection\n");
#endif

namespace {

// What the work needs is some 30 KB; pages that are not touched cost nothing.
constexpr std::size_t kSize = 512 * 1024;
constexpr std::size_t kGuard = 64 * 1024;  // below it

// Valgrind would take a jump to memory that it does not know for a stack for a mistake of the
// program's. It knows a request by instructions that do nothing elsewhere. (The request lies on the
// new stack, since there is little room on the one we are on.)
void tell_valgrind(std::byte* begin, std::byte* end) {
  constexpr std::uint64_t kRegisterStack = 0x1501;
  auto* const request = reinterpret_cast<volatile std::uint64_t*>(end) - 6;
  request[0] = kRegisterStack;
  request[1] = reinterpret_cast<std::uintptr_t>(begin);
  request[2] = reinterpret_cast<std::uintptr_t>(end);
  std::uint64_t answer = 0;
#if defined(__x86_64__)
  __asm__ volatile(
      "rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
      : "=d"(answer)
      : "a"(request), "0"(answer)
      : "cc", "memory");
#else
  __asm__ volatile(
      "mov x3, %1; mov x4, %2; ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51;"
      "ror x12, x12, #61; orr x10, x10, x10; mov %0, x3"
      : "=r"(answer)
      : "r"(answer), "r"(request)
      : "cc", "memory", "x3", "x4");
#endif
}

// Those that wait for their next thread. Not by a lock, which a child of fork() may find taken.
constexpr std::size_t kKept = 16;
std::atomic<std::byte*> kept[kKept];

std::byte* take_stack() {
  for (std::atomic<std::byte*>& slot : kept) {
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    if (std::byte* const stack = slot.exchange(nullptr, std::memory_order_acquire)) return stack;
  }
  void* const memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  mprotect(memory, kGuard, PROT_NONE);
  auto* const stack = static_cast<std::byte*>(memory);
  tell_valgrind(stack + kGuard, stack + kSize);
  return stack;
}

void give_back(std::byte* stack) {
  for (std::atomic<std::byte*>& slot : kept) {
    std::byte* none = nullptr;
    if (slot.load(std::memory_order_relaxed) == nullptr &&
        slot.compare_exchange_strong(none, stack, std::memory_order_release)) {
      return;
    }
  }
  munmap(stack, kSize);
}

// All but those that tell of what the thread itself does wrong. By the kernel's own call: the C
// library would leave two out.
using SignalSet = std::uint64_t;
constexpr SignalSet set_of(int signal) {
  return SignalSet{1} << (signal - 1);
}
constexpr SignalSet kBlocked = ~(set_of(SIGSEGV) | set_of(SIGBUS) | set_of(SIGFPE) |
                                 set_of(SIGILL) | set_of(SIGTRAP) | set_of(SIGSYS));

// What the thread gets back at the end. It lies at the top of our stack: each byte of the caller's
// counts.
struct alignas(16) Before {
  SignalSet mask;
  int cancel;
  int error;
};
void set_mask(const SignalSet& mask, SignalSet* before) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, before, sizeof mask);
}

// Nullptr without memory.
[[gnu::noinline]] Before* begin() {
  const int error = errno;
  std::byte* const stack = take_stack();
  if (stack == nullptr) return nullptr;
  auto* const before = reinterpret_cast<Before*>(stack + kSize - sizeof(Before));
  before->error = error;
  set_mask(kBlocked, &before->mask);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->cancel);
  the_recorder.on_own_stack = true;
  return before;
}
[[gnu::noinline]] void end(Before* before) {
  the_recorder.on_own_stack = false;
  pthread_setcancelstate(before->cancel, nullptr);
  const SignalSet mask = before->mask;
  const int error = before->error;
  give_back(reinterpret_cast<std::byte*>(before) + sizeof(Before) - kSize);
  set_mask(mask, nullptr);  // last: a handler may leave us
  errno = error;
}

[[gnu::cold, gnu::noinline]] void run_here(Work work, void* data) {
  const int error = errno;
  SignalSet mask = 0;
  int cancel = 0;
  set_mask(kBlocked, &mask);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  work(data);
  pthread_setcancelstate(cancel, nullptr);
  set_mask(mask, nullptr);
  errno = error;
}

}  // namespace

void run_on_own_stack(Work work, void* data) {
  if (the_recorder.on_own_stack) return work(data);
  Before* const before = begin();
  if (before == nullptr) return run_here(work, data);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  kojak_call_on_stack(work, data, before);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  end(before);
}

#else

void run_on_own_stack(Work work, void* data) {
  work(data);
}

#endif

}  // namespace kojak::measure
