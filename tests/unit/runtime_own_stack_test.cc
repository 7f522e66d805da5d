#include <errno.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "epilog/runtime/own_stack.h"
#include "epilog/runtime/program_floats.h"

namespace kojak::measure {
namespace {

std::uintptr_t stack_pointer() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}
bool near_to(std::uintptr_t a, std::uintptr_t b) {
  return std::max(a, b) - std::min(a, b) < 64 * 1024;
}

#if defined(__x86_64__) || defined(__aarch64__)

TEST(OwnStack, IsAnotherOneAndTheSameForWorkWithinWork) {
  const std::uintptr_t outside = stack_pointer();
  std::uintptr_t inside = 0, deeper = 0;
  const int result = on_own_stack([&] {
    inside = stack_pointer();
    on_own_stack([&] { deeper = stack_pointer(); });
    return 42;
  });
  EXPECT_EQ(result, 42);
  EXPECT_FALSE(near_to(outside, inside));
  EXPECT_TRUE(near_to(inside, deeper));
  EXPECT_TRUE(near_to(outside, stack_pointer()));
}

std::atomic<int> signals_seen;

TEST(OwnStack, SignalsComeWhenTheWorkIsDone) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { ++signals_seen; };
  sigaction(SIGUSR1, &action, &before);
  int during = -1;
  on_own_stack([&] {
    raise(SIGUSR1);
    during = signals_seen;
  });
  EXPECT_EQ(during, 0);
  EXPECT_EQ(signals_seen, 1);
  raise(SIGUSR1);
  EXPECT_EQ(signals_seen, 2);
  sigaction(SIGUSR1, &before, nullptr);
}

__attribute__((noinline)) void* called_by(std::vector<void*>& frames) {
  void* found[64];
  int count = 0;
  on_own_stack([&] { count = backtrace(found, 64); });
  frames.assign(found, found + count);
  return __builtin_return_address(0);
}

TEST(OwnStack, TheUnwinderFindsThoseWhoCalled) {
  std::vector<void*> frames;
  void* const caller = called_by(frames);
  EXPECT_NE(std::find(frames.begin(), frames.end(), caller), frames.end());
}

#endif

TEST(OwnStack, HasRoomAndLeavesErrnoAlone) {
  errno = EDOM;
  const int sum = on_own_stack([] {
    volatile char large[256 * 1024];
    for (std::size_t i = 0; i < sizeof large; i += 1024) large[i] = 1;
    int total = 0;
    for (std::size_t i = 0; i < sizeof large; i += 1024) total += large[i];
    errno = ERANGE;
    return total;
  });
  EXPECT_EQ(sum, 256);
  EXPECT_EQ(errno, EDOM);
}

TEST(OwnStack, ManyThreadsHaveOneEach) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 24; ++t) {
    threads.emplace_back([&wrong, t] {
      for (int i = 0; i < 200; ++i) {
        const bool good = on_own_stack([t] {
          volatile int mine[512];
          for (volatile int& value : mine) value = t;
          std::this_thread::yield();
          return std::all_of(std::begin(mine), std::end(mine),
                             [t](int value) { return value == t; });
        });
        if (!good) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

#if defined(__x86_64__)

std::uint32_t sse_state() {
  std::uint32_t state;
  __asm__ volatile("stmxcsr %0" : "=m"(state));
  return state;
}

TEST(ProgramFloats, FlagsTrapsAndRoundingComeBack) {
  const std::uint32_t before = sse_state();
  // All traps are on, and rounding is upwards.
  const std::uint32_t programs = 0x4000;
  __asm__ volatile("ldmxcsr %0" : : "m"(programs));
  std::uint32_t during = 0, after = 0;
  volatile double one = 1, three = 3, third = 0;
  {
    const ProgramFloats floats;
    during = sse_state();
    third = one / three;
  }
  after = sse_state();
  __asm__ volatile("ldmxcsr %0" : : "m"(before));
  EXPECT_EQ(during, 0x1F80u);
  EXPECT_EQ(after, programs);
  EXPECT_EQ(third, 0x1.5555555555555p-2);
}

#endif

}  // namespace
}  // namespace kojak::measure
